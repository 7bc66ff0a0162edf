"""The versions that an answer shows and the index may still lack: the answer's consistency token names them. Pure.

- A document changed earlier than a minute and the lag ago: not named. The index has it, or the answer reports the lag.
- A later one, in a version that the journal has: not named. The token has the number up to which the journal was read.
- Any other document: its version.
- An issue laid over because a token named it: named again while the index may show it elsewhere.
- A deleted issue that the index still has: its deletion.
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
    """A version of an issue, and when it was made (stored form). `removed`: it is deleted (version 0: unknown version)."""

    num: int
    version: int
    made: str = ""
    removed: bool = False

    @property
    def in_token(self) -> int:
        """The version as tokens represent it."""
        return DELETED if self.removed else self.version


class Overlaid(NamedTuple):
    """The changes that were laid over the index.

    - `logged`: the journal's changes.
    - `versions`: issue number -> version of the document that was read; None: unknown.
    - `again`: the versions that tokens named and that must be laid over again.
    - `outrun`: the reads of the index may contain more than the journal did.
    """

    logged: Logged
    versions: Mapping[int, int | None]
    again: Sequence[ShownVersion]
    outrun: bool = False


class Shown(NamedTuple):
    """The versions that one answer shows and the index may still lack, of up to 500 issues.

    - `versions`: issue number -> version, or DELETED.
    - `number`: the journal's number up to which the answer counts it; 0: every reader is shown as much of it.
    """

    versions: Mapping[int, int] = {}
    number: int = 0

    @classmethod
    def of(
        cls,
        shown: Iterable[ShownVersion],
        late: float | None,
        overlaid: Iterable[ShownVersion] = (),
        logged: Logged | None = None,
    ) -> Self:
        """Return the versions of an answer. `late`: the lag of the index in seconds; None: unknown.

        `overlaid`: the versions that were laid over and must be again; they come first. `logged`: the journal's changes.
        """
        since = clock.stored(clock.seconds() - TAKEN_IN - max(late or 0.0, 0.0))
        known = _known(logged)
        young = (one for one in shown if one.made >= since and not _covers(known, one))
        found: dict[int, int] = {}
        again = (one for one in overlaid if not _covers(known, one))
        for one in (*again, *sorted(young, key=attrgetter("made"), reverse=True)):
            found.setdefault(one.num, one.in_token)
        versions = dict(islice(found.items(), MAX_ISSUES))
        return cls(versions, 0 if logged is None else _unshown(logged))


class Answered(NamedTuple):
    """The body of an answer, ready for JSON, and the versions in it that the index may still lack."""

    body: dict[str, Any]
    shown: Shown


def beyond(logged: Logged | None) -> list[ShownVersion]:
    """The versions in journal items after a missing number, which a reader up to that number does not reach."""
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
    """The number up to which the journal was read; 0 if every reader has been shown as much for SHOWN_SECONDS."""
    young = logged.items and logged.items[-1].made > clock.seconds() - SHOWN_SECONDS
    return logged.last if young else 0
