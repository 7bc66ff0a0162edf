"""What an answer shows and the index may still lack: what the answer's consistency token names. Pure.

shown                                                    named
a document that was changed before a minute and the lag  no: the index has it, or the answer says how late it is
a later one, in a version that the journal tells         no: the token tells up to where the journal was read
any other                                                its version
what a token has laid over                               as long as the index may show it elsewhere
that an issue is gone which the index has                that it is deleted
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple, Self

from gridview.derive.issue_changes import IssueChange
from gridview.derive.ledger import SHOWN_SECONDS
from gridview.encoding.consistency import DELETED, MAX_ISSUES
from gridview.support import clock
from gridview.view.moves import Logged

TAKEN_IN = 60.0
"""Seconds after a write in which a consumer that is on time has it."""


class ShownVersion(NamedTuple):
    """A version of an issue, and when it was made (stored form). `removed`: it is deleted (version 0: nobody knows which)."""

    num: int
    version: int
    made: str = ""
    removed: bool = False

    @property
    def told(self) -> int:
        """The version as tokens have it."""
        return DELETED if self.removed else self.version


class Laid(NamedTuple):
    """What was laid over the index.

    `logged`: what the journal told. `versions`: issue number -> version of the document that was read; None: nobody knows which.
    `again`: what tokens named and has to be laid over again. `outrun`: what was read of the index may tell more than the journal.
    """

    logged: Logged
    versions: Mapping[int, int | None]
    again: Sequence[ShownVersion]
    outrun: bool = False


class Shown(NamedTuple):
    """What one answer shows and the index may still lack, of up to 500 issues.

    `versions`: issue number -> version, or DELETED. `number`: up to where the answer counts the journal; 0: everybody is shown as
    much of it.
    """

    versions: Mapping[int, int] = {}
    number: int = 0

    @classmethod
    def of(
        cls,
        shown: Iterable[ShownVersion],
        late: float | None,
        laid: Iterable[ShownVersion] = (),
        logged: Logged | None = None,
    ) -> Self:
        """Of an answer that shows these. `late`: how many seconds the index is behind; None: nobody knows.

        `laid`: what was laid over, and has to be again; it comes first. `logged`: what the journal tells.
        """
        since = clock.stored(clock.seconds() - TAKEN_IN - max(late or 0.0, 0.0))
        known = _known(logged)
        young = (one for one in shown if one.made >= since and not _covers(known, one))
        found: dict[int, int] = {}
        again = (one for one in laid if not _covers(known, one))
        for one in (*again, *sorted(young, key=attrgetter("made"), reverse=True)):
            found.setdefault(one.num, one.told)
        versions = dict(islice(found.items(), MAX_ISSUES))
        return cls(versions, 0 if logged is None else _unshown(logged))


class Answered(NamedTuple):
    """What a caller gets, as JSON takes it, and what of it the index may still lack."""

    body: dict[str, Any]
    shown: Shown


def beyond(logged: Logged | None) -> list[ShownVersion]:
    """The versions that the journal tells behind a number that is missing: who reads up to that number does not come to them."""
    items = () if logged is None else logged.beyond
    return [
        ShownVersion(change.num, change.version, removed=change.removed)
        for item in reversed(items)
        for change in item.changes
    ]


def _known(logged: Logged | None) -> dict[int, IssueChange]:
    """The last version of each issue that the journal has put into the index."""
    items = () if logged is None else logged.items
    return {change.num: change for item in items for change in item.changes}


def _covers(known: Mapping[int, IssueChange], one: ShownVersion) -> bool:
    change = known.get(one.num)
    return change is not None and change.version >= one.version and change.removed >= one.removed


def _unshown(logged: Logged) -> int:
    """The number up to which the journal was read, unless everybody has been shown as much for long."""
    young = logged.items and logged.items[-1].made > clock.seconds() - SHOWN_SECONDS
    return logged.last if young else 0
