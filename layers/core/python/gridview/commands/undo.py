"""Takes changes back: finds the versions under an X-Change-Id, makes sure that all of them are known, and
writes issue by issue.

`undo_decision` decides the writes. Each write is on condition of the version that was looked at, and part of
the undo's own change; so an undo can be undone. Large changes are taken back by a job
(`maintenance.undo_job`), by the same functions.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Self
from uuid import UUID

from gridview.commands import jobs
from gridview.commands.actor import Actor, Role
from gridview.commands.changes import CHANGE_ID
from gridview.commands.context import WriteContext
from gridview.commands.issues import delete_issue
from gridview.commands.requests import UndoRequest
from gridview.commands.trash import require_place
from gridview.commands.undo_answers import TakenBack
from gridview.commands.undo_decision import Affected, Undo, UndoStep, UndoVerdict, decide
from gridview.commands.written_changes import WrittenChange
from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import version_is
from gridview.dynamodb.table import Table
from gridview.encoding.consistency import DELETED, Recent, issues_in
from gridview.journal.change_members import ChangeMember, members_of
from gridview.journal.history import read_changes
from gridview.schema.catalog import Catalog
from gridview.schema.document_store import documents_by_number
from gridview.schema.documents import Document, versions_between
from gridview.schema.history import Change, Kind, floor_of
from gridview.schema.trash import DELETED_AT, DELETED_BY, living
from gridview.support import clock
from gridview.support.concurrency import chunked, in_threads
from gridview.support.errors import (
    Conflict,
    FieldError,
    Forbidden,
    HistoryDisabled,
    HistoryExpired,
    HistoryNotReady,
    InvalidRequest,
    NotFound,
    Overloaded,
    RequestError,
    VersionMismatch,
)
from gridview.support.validation import parse
from gridview.view import freshness
from gridview.view.block_cache import BlockCache

MAX_AT_ONCE = 500
"""Issues that one request takes back. More are a job."""

SETTLED = 3.0
"""Seconds without further versions of a change, beyond the lag of the index, after which it is taken to be
whole.
"""

_MARGIN = 3_600.0
"""Seconds before the oldest version of a change is forgotten from which on it is not taken back: the table
forgets one by one.
"""

_LATE = 86_400.0
"""Seconds for which a stream keeps a record: until then, the history may receive a version."""

_GROUP = 50
"""Issues whose documents and histories are in memory together."""
_KNOWN = 50
"""Versions of an issue by others, the last ones, that are looked up. The changes of earlier ones are unknown."""
_AT_ONCE = 16
_ATTEMPTS = 8
_NAMED = 20
"""Issues or users that an error names."""


@dataclass(frozen=True, slots=True)
class UndoOrder:
    """The change that is to be taken back, and whose it is."""

    change: UUID
    by: str

    def to_stored(self) -> dict[str, Any]:
        """Encode, as a job keeps it."""
        return {"change": self.change.bytes, "by": self.by}

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Self:
        """Decode."""
        return cls(UUID(bytes=stored["change"]), stored["by"])


@dataclass(frozen=True, slots=True)
class Extent:
    """The known part of a change: its versions, by issue, and the stored instants of the first and the last.
    `more`: there are more.
    """

    versions: Mapping[int, Sequence[int]]
    first: str = ""
    last: str = ""
    more: bool = False

    def spanning(self, member: ChangeMember) -> Self:
        """With the instant of one more version."""
        at = member.at
        return replace(self, first=min(self.first or at, at or self.first), last=max(self.last, at))


def parse_undo(body: Any) -> UndoRequest:
    """Return the request. InvalidRequest."""
    return parse(UndoRequest, body)


def require_another(asked: UndoRequest, change: UUID) -> None:
    """Raise InvalidRequest if an undo were part of the change that it takes back."""
    if UUID(asked.change) == change:
        message = "must not be the change to undo"
        raise InvalidRequest(f"{CHANGE_ID} {message}.", [FieldError(CHANGE_ID, message)])


def find(
    table: Table, catalog: Catalog, actor: Actor, asked: UndoRequest, recent: Recent
) -> tuple[UndoOrder, Extent]:
    """Return the change that a request means, as far as one request takes it back, with its user. A read unit
    for each 30 versions.

    `recent`: writes of the change that the caller knows of; otherwise it must have settled
    (`require_settled`), half a read unit or one. Without `by` the caller's own change comes first. If the
    history has none, notes and jobs show whether it is to come: a read unit and a Query more. NotFound,
    Forbidden, Conflict, HistoryDisabled, HistoryExpired, HistoryNotReady.
    """
    require_history(catalog)
    require_recorded(table, catalog, recent)
    if asked.by not in (None, actor.user):
        _require_admin(actor)
    search = _Search(table, catalog, UUID(asked.change))
    by = asked.by or actor.user
    extent = search.of(by)
    if extent is None and asked.by is None:
        search.require_nothing_to_come(by)
        by, extent = search.of_others(actor)
    if extent is None:
        search.require_nothing_to_come(by)
        search.require_on_time()
        raise NotFound(
            "The history has no write under this change. Check `change`, and `by` if someone else made it."
        )
    require_remembered(catalog, extent)
    if issues_in(recent).isdisjoint(extent.versions):
        require_settled(table, catalog, extent.last)
    return UndoOrder(search.change, by), extent


def _require_admin(actor: Actor) -> None:
    if actor.role < Role.ADMIN:
        raise Forbidden("Someone else made this change. Ask an administrator to undo it.")


class _Search:
    """Looks for a change in the history, and if it is not there, for signs that it is to come."""

    def __init__(self, table: Table, catalog: Catalog, change: UUID) -> None:
        self.change = change
        self._table = table
        self._catalog = catalog
        self._written: WrittenChange | None = None

    def of(self, user: str) -> Extent | None:
        """Return a user's versions, as far as one request takes them back; None: the history has none."""
        return _at_once(self._members(user))

    def of_others(self, actor: Actor) -> tuple[str, Extent | None]:
        """Return who wrote the change, and its versions, if the caller wrote nothing. Forbidden; Conflict if
        several users wrote.

        For an administrator, all versions of the change are read.
        """
        users = set(self.written.users)
        if actor.role < Role.ADMIN:
            if users or next(self._members(None), None) is not None:
                _require_admin(actor)
            return actor.user, None
        users |= {member.by for member in self._members(None)}
        if len(users) > 1:
            raise _several(sorted(users))
        by = next(iter(users), actor.user)
        return by, self.of(by) if users else None

    def require_nothing_to_come(self, user: str) -> None:
        """Raise HistoryNotReady if the history may lack a user's writes, by the change's id, a note or a job.
        Conflict while a job is open.
        """
        written = self.written
        if user in written.working:
            raise jobs.still_open()
        if user in written.noted:
            self._require_recorded_since(written.noted[user], freshness.UNNOTICED)
        elif written.stated is not None:
            self._require_recorded_since(written.stated)

    def require_on_time(self) -> None:
        """Raise HistoryNotReady if the history is so late that it may lack anything."""
        self._refuse_for(self._lag - SETTLED)

    @cached_property
    def written(self) -> WrittenChange:
        """Return the records of the change outside the history."""
        return WrittenChange.read(self._table, self._catalog.tenant, self._catalog.project, self.change)

    @cached_property
    def _lag(self) -> float:
        return lag_of(self._table, self._catalog)

    def _require_recorded_since(self, instant: float, margin: float = 0.0) -> None:
        """Raise HistoryNotReady unless the history has the writes of an instant. `margin`: seconds for which its lag
        may be unknown.
        """
        self._refuse_for(self._lag + SETTLED + margin - (clock.seconds() - instant))

    def _refuse_for(self, missing: float) -> None:
        if missing > 0:
            wait = min(missing, self._lag + SETTLED)
            raise HistoryNotReady(
                "The history does not contain this change yet. Try again, or send the consistency tokens of its "
                "writes.",
                headers={"Retry-After": str(max(math.ceil(wait), 1))},
            )

    def _members(self, by: str | None) -> Iterator[ChangeMember]:
        place = self._catalog.tenant, self._catalog.project
        return members_of(self._table, *place, self.change.bytes, by=by)


def _at_once(members: Iterable[ChangeMember]) -> Extent | None:
    """Return these versions, as far as one request takes them back; None if there are none."""
    taken: list[ChangeMember] = []
    issues: set[int] = set()
    for member in members:
        if member.num not in issues and len(issues) == MAX_AT_ONCE:
            return extent_of(taken, more=True)
        issues.add(member.num)
        taken.append(member)
    return extent_of(taken) if taken else None


def _several(users: Sequence[str]) -> Conflict:
    """Return the error of a change under whose id several users wrote."""
    named = ", ".join(f"`{one}`" for one in users[:_NAMED])
    more = f" and {len(users) - _NAMED} more" if len(users) > _NAMED else ""
    return Conflict(
        f"Several users wrote under this id: {named}{more}. Name one in `by`.",
        [FieldError("by", "must name one of the users who wrote the change")],
    )


def extent_of(members: Iterable[ChangeMember], *, more: bool = False) -> Extent:
    """Return the extent of these versions."""
    versions: dict[int, list[int]] = defaultdict(list)
    extent = Extent(versions, more=more)
    for one in members:
        versions[one.num].append(one.version)
        extent = extent.spanning(one)
    return extent


def of_issues(
    table: Table, catalog: Catalog, order: UndoOrder, extent: Extent, nums: Sequence[int]
) -> Extent:
    """Return the part of a change that it made in these issues. A read unit for each 30 versions if `extent`
    is not all of it.

    InvalidRequest lists the issues that the change did not touch; HistoryNotReady while it may have, HistoryExpired.
    """
    wanted = frozenset(nums)
    if extent.more:
        place = catalog.tenant, catalog.project, order.change.bytes
        members = members_of(table, *place, by=order.by, first=min(wanted), last=max(wanted))
        part = extent_of(one for one in members if one.num in wanted)
        require_remembered(catalog, part)
    else:
        versions = {num: found for num, found in extent.versions.items() if num in wanted}
        part = replace(extent, versions=versions)
    unknown = [place for place, num in enumerate(nums) if num not in part.versions]
    if unknown:
        require_settled(table, catalog, extent.last)
        named = ", ".join(str(nums[place]) for place in unknown[:_NAMED])
        more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        raise InvalidRequest(
            f"The change did not touch the issue{'s' if len(unknown) > 1 else ''} {named}{more}. Leave "
            f"{'them' if len(unknown) > 1 else 'it'} out of `nums`.",
            [FieldError(f"nums.{place}", "must be an issue that the change touched") for place in unknown],
        )
    return part


def looked_at(extent: Extent) -> dict[str, Any]:
    """Return the answer of an undo that only says how many issues it is about; None: more than one request
    takes back.
    """
    return {
        "undone": [],
        "change": None,
        "refused": [],
        "issues": None if extent.more else len(extent.versions),
    }


# The known part of a change


def require_history(catalog: Catalog) -> None:
    """Raise HistoryDisabled if the project does not remember changes."""
    if not catalog.history.enabled:
        raise HistoryDisabled(
            "The project's history is off, so its changes cannot be undone. An administrator can turn it on for "
            f'later changes: PATCH /v1/projects/{catalog.project} {{"history": {{"enabled": true}}}}.'
        )


def require_remembered(catalog: Catalog, extent: Extent) -> None:
    """Raise HistoryExpired unless all of a change is remembered for certain."""
    begun = math.inf if not extent.first else clock.instant(extent.first)
    if begun < clock.instant(floor_of(catalog.history)) + _MARGIN:
        raise HistoryExpired(
            f"The project keeps changes for {catalog.history.days} days. This change is older, or is about to "
            "expire."
        )


def require_recorded(table: Table, catalog: Catalog, recent: Recent) -> None:
    """Raise HistoryNotReady unless the history holds these writes: a read unit for each, and another for a delete."""
    versions: dict[int, int] = {}
    for num, version in chain.from_iterable(one.versions.items() for one in recent):
        versions[num] = max(versions.get(num, DELETED), version)
    if not versions:
        return
    # the token of a delete names no version, and another token may name an earlier one of its issue
    gone = {num for one in recent for num, version in one.versions.items() if version == DELETED}
    for num, document in documents_by_number(table, catalog.tenant, catalog.project, gone).items():
        versions[num] = max(versions[num], document["version"])
    wanted = [(num, version) for num, version in versions.items() if version != DELETED]
    found = read_changes(table, catalog.tenant, catalog.project, wanted, consistent=True)
    if len(found) < len(wanted):
        raise HistoryNotReady(
            "The history does not contain all of the change yet. Try again.", headers={"Retry-After": "1"}
        )


def require_settled(table: Table, catalog: Catalog, last: str) -> None:
    """Raise HistoryNotReady unless the index is so far that more of a change would have come, if there were any. Half a
    read unit, or one.

    `last`: the stored instant of the last version that is known; empty if none is.
    """
    lag = lag_of(table, catalog)
    missing = lag + SETTLED - (clock.seconds() - clock.instant(last)) if last else lag - SETTLED
    if missing > 0:
        raise HistoryNotReady(
            "The change may have more writes: it was made just now, or the history is late. Send the consistency "
            "tokens of its writes, or try again.",
            headers={"Retry-After": str(math.ceil(missing))},
        )


def lag_of(table: Table, catalog: Catalog) -> float:
    """Return how many seconds the history is late: half a read unit, or one. HistoryNotReady if that is unknown."""
    lag = freshness.read(table, catalog, BlockCache()).seconds
    if lag is None:
        raise HistoryNotReady(
            "The lag of the history is not known yet. Send the consistency tokens of the change, or try again "
            "later.",
            headers={"Retry-After": "60"},
        )
    return lag


# Taking it back


def take_back(
    table: Table,
    undo: Undo,
    order: UndoOrder,
    extent: Extent,
    *,
    only_look: bool = False,
) -> list[TakenBack]:
    """Take back these versions, by issue. Finds versions taken back before, and does not repeat them.

    For each issue and its versions a strongly consistent read, and the write units of its document; a delete
    reads once more. `only_look`: nothing is written, and issues that need a write are left out of the answer.
    """
    results: list[TakenBack | None] = []
    for group in chunked(sorted(extent.versions), _GROUP):
        work = _Group(table, undo, order, extent, group, only_look=only_look)
        results += in_threads(work.take_back, group, _AT_ONCE)
    return [one for one in results if one is not None]


class _Group:
    """Issues that are worked on together."""

    def __init__(
        self,
        table: Table,
        undo: Undo,
        order: UndoOrder,
        extent: Extent,
        nums: Sequence[int],
        *,
        only_look: bool,
    ) -> None:
        self._table = table
        self._undo = undo
        self._order = order
        self._only_look = only_look
        self._last = extent.last
        self._versions = {num: extent.versions[num] for num in nums}
        self._parts = self._read_parts()
        documents = documents_by_number(table, undo.catalog.tenant, undo.catalog.project, nums)
        others = self._read_others(documents)
        self._affected = {
            num: Affected(num, self._parts.get(num, ()), found, others.get(num, {}), self._own(found))
            for num in nums
            for found in [documents.get(num)]
        }

    def _read_parts(self) -> dict[int, list[Change]]:
        """Return the parts of each issue of which all are remembered."""
        wanted = [(num, version) for num, versions in self._versions.items() for version in versions]
        found = self._changes(wanted)
        return {
            num: [found[num, version] for version in sorted(versions)]
            for num, versions in self._versions.items()
            if all((num, version) in found for version in versions)
        }

    def _read_others(self, documents: Mapping[int, Document]) -> dict[int, dict[int, Change]]:
        """Return the last versions of others since the first part, as far as they are remembered."""
        wanted = []
        for num, document in documents.items():
            versions = self._versions[num]
            made = list(versions_between(document, min(versions), document["version"] + 1))
            since = made[-_KNOWN - len(versions) :]
            wanted += [(num, version) for version in since if version not in versions]
        others: dict[int, dict[int, Change]] = defaultdict(dict)
        for (num, version), change in self._changes(wanted).items():
            others[num][version] = change
        return others

    def _own(self, found: Document | None) -> dict[int, Kind | None]:
        """Return the version of a document, if the undo has made it, perhaps in an attempt that was killed."""
        return {found["version"]: None} if found is not None and self._undo.wrote_last(found) else {}

    def _changes(self, wanted: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Change]:
        if not wanted:
            return {}
        catalog = self._undo.catalog
        return read_changes(self._table, catalog.tenant, catalog.project, wanted, consistent=True)

    def take_back(self, num: int) -> TakenBack | None:
        """Take back the change of one issue, write by write."""
        affected, undo = self._affected[num], self._undo
        if (unknown := self._unknown(affected)) is not None:
            return TakenBack(num, None, unknown)
        for _ in range(_ATTEMPTS):
            verdict = decide(undo, affected, clock.now(), clock.seconds())
            before = affected.found
            if verdict.step is None or before is None:
                return self._outcome(affected, verdict)
            if self._only_look:
                return None
            try:
                found = self._write(before, verdict.step)
            except (ConditionFailed, VersionMismatch, NotFound, Conflict):
                affected = self._again(affected)
            except Overloaded:
                raise
            except RequestError as error:
                return self._outcome(affected, verdict._replace(refused=error))
            else:
                kind = _kind_of(before, found)
                affected = replace(affected, found=found, own={**affected.own, found["version"]: kind})
        busy = Conflict("Other requests keep changing the issue. Try again.")
        return TakenBack(num, None, busy, wrote=bool(affected.own))

    def _unknown(self, affected: Affected) -> RequestError | None:
        """Return why nothing can be decided about an issue; None if it can."""
        found = affected.found
        if found is None and not affected.parts:
            return NotFound("The issue was permanently deleted.")
        lacks_last = found is not None and self._lacks_version_of(found)
        since = _written_at(found) if found is not None and lacks_last else self._last
        if (lacks_last or not affected.parts) and since and _is_late(since):
            return HistoryNotReady(
                "The history does not contain all changes of the issue yet. Try again.",
                headers={"Retry-After": "1"},
            )
        if lacks_last:  # the history was off when it was written
            return Conflict("The history does not contain all of this change in the issue.")
        return None if affected.parts else Conflict("The history of this change in the issue has expired.")

    def _outcome(self, affected: Affected, verdict: UndoVerdict) -> TakenBack:
        """Return the outcome for an issue for which nothing more can be done."""
        found = affected.found
        wrote = bool(affected.own) or any(map(self._undo.wrote, affected.others.values()))
        if found is None or not (verdict.taken or verdict.refused is None):
            return TakenBack(affected.num, None, verdict.refused, wrote=wrote)
        return TakenBack(affected.num, found["version"], verdict.refused, living(found) is None, wrote)

    def _lacks_version_of(self, found: Document) -> bool:
        """Return whether a document is a version of the change that the history does not have."""
        return (
            found.get("change") == self._order.change.bytes
            and found["updated_by"] == self._order.by
            and found["version"] not in self._versions[found["num"]]
        )

    def _write(self, found: Document, step: UndoStep) -> Document:
        undo = self._undo
        if step.document is None:
            actor = Actor(undo.catalog.tenant, undo.user, Role.EDITOR)
            context = WriteContext(self._table, undo.catalog, actor, undo.change)
            delete_issue(context, found["num"], frozenset({found["version"]}))
            return {
                **found,
                "version": found["version"] + 1,
                "updated_by": undo.user,
                "change": undo.change.bytes,
                DELETED_BY: undo.user,
            }
        if living(found) is None:
            require_place(self._table, undo.catalog)
        try:
            self._table.put(step.document, version_is(found["version"]))
        except ConditionFailed as error:
            if not error.is_repeat_of(step.document):
                raise
        return step.document

    def _again(self, affected: Affected) -> Affected:
        """Read again an issue that another writer has changed first, or this undo by a call whose answer was
        lost.
        """
        num = affected.num
        documents = documents_by_number(
            self._table, self._undo.catalog.tenant, self._undo.catalog.project, [num]
        )
        found, others = documents.get(num), self._read_others(documents).get(num, {})
        return replace(affected, found=found, others=others, own={**self._own(found), **affected.own})


def _written_at(found: Document) -> str:
    """Return the instant of a document's version. A delete does not change `updated`."""
    return str(found.get(DELETED_AT, found["updated"]))


def _is_late(at: str) -> bool:
    """Return whether the history may still receive a version of an instant. Its lists are written first."""
    return clock.seconds() - clock.instant(at) < _LATE


def _kind_of(before: Document, after: Document) -> Kind:
    """Return the kind of change in the write of a document."""
    if living(after) is None:
        return "delete"
    return "restore" if living(before) is None else "update"
