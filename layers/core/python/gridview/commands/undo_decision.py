"""Taking a change back in one issue: the next write, and its obstacles. Pure.

A change made one or several versions of an issue, its *parts*. They are taken back together. An issue that
the change created or restored is deleted, and one that it deleted is restored. Each field that it set gets
the value from before its first part. Changes by others since stay, field by field.

Everything is decided by the present document, which has for each field the version that changed it, and by
the history. The undo's own earlier writes count as taken back. So a repeated undo, or one that continues for
a killed container, never takes anything back twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import UUID

from gridview.derive.room import require_room
from gridview.schema import documents, formats
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Changes, Document
from gridview.schema.fields import Field, FieldType, UnknownOption
from gridview.schema.history import Change, Kind, Values
from gridview.schema.trash import is_restorable, living
from gridview.support.errors import Conflict, EditConflict, FieldError, NotFound, RequestError

_TO_LIFE = frozenset({"create", "restore"})


@dataclass(frozen=True, slots=True)
class Undo:
    """The undo of a change by a `user`, under the present definitions. `change`: the change that its own
    writes are part of.
    """

    catalog: Catalog
    user: str
    change: UUID

    def wrote(self, change: Change) -> bool:
        """Return whether a version was made by this undo."""
        return change.change == self.change.bytes and change.by == self.user and not change.only_places

    def wrote_last(self, document: Document) -> bool:
        """Return whether the version of a document was."""
        return document.get("change") == self.change.bytes and document["updated_by"] == self.user


@dataclass(frozen=True, slots=True)
class Affected:
    """An issue of the change: the versions that are `parts` of it, in order, and the present document (None:
    there is none).

    `others`: the recorded changes of further versions since the first part. `own`: versions that the undo has
    made, which the history may not have yet, each with its kind, if that is known.
    """

    num: int
    parts: Sequence[Change]
    found: Document | None
    others: Mapping[int, Change] = field(default_factory=dict)
    own: Mapping[int, Kind | None] = field(default_factory=dict)


class UndoStep(NamedTuple):
    """A write over the version of the document that was looked at. `document`: the new one; None: the issue
    is deleted.
    """

    document: Document | None = None


class UndoVerdict(NamedTuple):
    """The decision about an issue: the next write, if any; why some or all of the change stays; whether any
    was taken back.
    """

    step: UndoStep | None = None
    refused: RequestError | None = None
    taken: bool = False


def decide(undo: Undo, affected: Affected, now: str, seconds: float) -> UndoVerdict:
    """Decide about an issue at a stored instant, the same in seconds since 1970."""
    try:
        return _Decision(undo, affected, now, seconds).verdict()
    except UnknownOption:
        return UndoVerdict(refused=Conflict("The issue has an option that the project does not have."))


@dataclass(slots=True)
class _Decision:
    undo: Undo
    affected: Affected
    now: str
    seconds: float
    errors: list[FieldError] = field(default_factory=list)
    conflicts: list[dict[str, Any]] = field(default_factory=list)
    versions: set[int] = field(default_factory=set)
    """Versions of others that prevent the undo."""
    refusal: RequestError | None = None
    taken: bool = False
    is_back: bool = False
    """Whether the undo has deleted the issue, or restored it, before."""

    def verdict(self) -> UndoVerdict:
        found = self.affected.found
        if found is None:
            return UndoVerdict(refused=NotFound("The issue was permanently deleted."))
        self.taken = self._is_own(found["version"])
        existence = [part for part in self.affected.parts if part.kind != "update"]
        step = self._existence(found, existence) if existence else None
        is_alive, was = living(found) is not None, not existence or existence[0].kind not in _TO_LIFE
        if is_alive and (step is None or existence[0].kind == "restore"):
            # An issue that was restored and then changed has its former values in the trash again.
            step = self._values(found) or step
        elif step is None and not is_alive and was and self._refused() is None:
            self.refusal = NotFound(f"The issue was deleted since, in version {found['version']}.")
        return UndoVerdict(step, self._refused(), self.taken)

    # Whether there is an issue

    def _existence(self, found: Document, existence: Sequence[Change]) -> UndoStep | None:
        """Delete it, or bring it back, or leave that as it is."""
        was, made = existence[0].kind not in _TO_LIFE, existence[-1].kind in _TO_LIFE
        if was == made:
            return None
        is_alive = living(found) is not None
        strangers = self._strangers(found, existence[-1].version, "restore" if was else "delete")
        if is_alive == was and not self.is_back:
            return None  # an undo of a part of the change has taken it back, or another writer
        if strangers:
            self._changed_by_others(found, strangers)
            return None
        for key, values in existence[-1].fields.items() if was else ():
            self._unavailable(key, values)
        if self.is_back:
            self.taken = True
            return None
        if is_alive:
            return UndoStep()
        if not is_restorable(found, self.seconds):
            self.refusal = NotFound("The issue was deleted too long ago to be restored.")
            return None
        undo = self.undo
        document = documents.restored(undo.catalog, found, user=undo.user, now=self.now, change=undo.change)
        return UndoStep(document)

    def _strangers(self, found: Document, version: int, back: Kind) -> list[int]:
        """Return the versions of others after one, unless the undo has taken that `back` before: later
        versions are then no obstacle.
        """
        strangers: list[int] = []
        for at in self._since(found, version):
            if not self._is_own(at):
                strangers.append(at)
            elif not strangers and self._kind_of(at) == back:
                self.is_back = True
                return []
        return strangers

    def _since(self, found: Document, version: int) -> Iterator[int]:
        """Return the versions after one that are not parts of the change, and did more than place the issue."""
        passed = {part.version for part in self.affected.parts}
        passed |= {at for at, known in self.affected.others.items() if known.only_places}
        return (
            at for at in documents.versions_between(found, version, found["version"] + 1) if at not in passed
        )

    def _is_own(self, version: int) -> bool:
        """Return whether the undo made a version."""
        known = self.affected.others.get(version)
        return version in self.affected.own or (known is not None and self.undo.wrote(known))

    def _kind_of(self, version: int) -> Kind | None:
        """Return the kind of a version's change, if that is known."""
        known = self.affected.others.get(version)
        return self.affected.own.get(version) if known is None else known.kind

    def _changed_by_others(self, found: Document, versions: Sequence[int]) -> None:
        """The issue is not as the change left it: name the fields that others have changed, each once, by the
        last who did.
        """
        self.versions.update(versions)
        named: set[str] = set()
        for at in reversed(versions):
            known = self.affected.others.get(at)
            if known is None or known.kind != "update":
                continue
            for key in known.fields:
                one = self.undo.catalog.living(key)
                if one is not None and key not in named:
                    named.add(key)
                    self._conflict(found, one, None, at)

    # Values

    def _values(self, found: Document) -> UndoStep | None:
        """Put back the values that the change has set, as far as nobody else has changed them."""
        wanted: dict[str, Any] = {}
        for key, chain in self._chains().items():
            target = self._target(found, key, chain)
            now = documents.values_of(found).get(key)
            last = documents.changed_at(found, key)
            if documents.same_value(now, target):
                self.taken = self.taken or self._is_own(last)
            elif self._unavailable(key, Values(target, chain[-1].fields[key].new)):
                continue
            elif last != chain[-1].version:
                self._overwritten(found, key, target, last)
            else:
                wanted[key] = target
        return self._put(found, wanted) if wanted else None

    def _chains(self) -> dict[str, list[Change]]:
        """Return the parts that set each field, in order."""
        chains: dict[str, list[Change]] = {}
        for part in self.affected.parts:
            if part.kind == "update":
                for key in part.fields:
                    chains.setdefault(key, []).append(part)
        return chains

    def _target(self, found: Document, key: str, chain: Sequence[Change]) -> Any:
        """Return the value of a field before the first part that set it, or the last value that others set
        between two parts.
        """
        for earlier, later in reversed(list(pairwise(chain))):
            at = self._touched(found, key, earlier.version, later.version)
            if at is not None:
                self._overwritten(found, key, earlier.fields[key].old, at)
                return later.fields[key].old
        return chain[0].fields[key].old

    def _touched(self, found: Document, key: str, after: int, before: int) -> int | None:
        """Return the last version between two that another writer made and that changed a field, or may have.

        A delete and a restore name all fields, but change none.
        """
        parts = {part.version for part in self.affected.parts}
        for at in reversed(list(documents.versions_between(found, after, before))):
            known = self.affected.others.get(at)
            if at not in parts and (known is None or (known.kind == "update" and key in known.fields)):
                return at
        return None

    def _overwritten(self, found: Document, key: str, target: Any, version: int) -> None:
        self.versions.add(version)
        one = self.undo.catalog.living(key)
        if one is not None:
            self._conflict(found, one, target, version)

    def _put(self, found: Document, wanted: Mapping[str, Any]) -> UndoStep | None:
        undo = self.undo
        builtins = {key: value for key, value in wanted.items() if key in ("name", "state")}
        fields = {key: value for key, value in wanted.items() if key not in builtins}
        bare = {name: value for name, value in found.items() if name != "mark"}
        try:
            document = documents.merged(
                undo.catalog,
                bare,
                Changes(builtins, fields),
                user=undo.user,
                now=self.now,
                change=undo.change,
            )
            require_room(undo.catalog, document)
        except RequestError as error:
            self.refusal = error
            return None
        return UndoStep(document)

    # Refusals

    def _unavailable(self, key: str, values: Values) -> bool:
        """Return whether a field cannot have its old value any more. Adds an error, unless nothing of the
        field is visible either way.
        """
        one, value = self.undo.catalog.living(key), values.old
        if one is None:
            error = FieldError("fields", "an attribute that the change set was deleted")
            # An edit also takes out the rest of attributes that had been deleted before.
            if None not in values and error not in self.errors:
                self.errors.append(error)
            return True
        name = one.id if one.builtin else f"fields.{one.id}"
        if value is None and one.required:
            self.errors.append(FieldError(name, "is required"))
            return True
        if value is not None and one.type.has_options:
            chosen = value if one.type is FieldType.MULTI_ENUM else [value]
            if not {option.id for option in one.live_options}.issuperset(chosen):
                self.errors.append(FieldError(name, "the former option was deleted"))
                return True
        return False

    def _conflict(self, found: Document, one: Field, target: Any, version: int) -> None:
        known = self.affected.others.get(version)
        by = None if known is None else known.by or None
        if by is None and version == found["version"]:
            by = found["updated_by"]
        self.conflicts.append(
            {
                "field": one.id,
                "yours": _value_json(one, target),
                "theirs": _value_json(one, one.value_in(found)),
                "by": by,
                "version": version,
            }
        )

    def _refused(self) -> RequestError | None:
        if self.versions:
            listed = ", ".join(map(str, sorted(self.versions)[:10]))
            further = () if self.refusal is None else self.refusal.errors
            return EditConflict(
                f"The issue was changed since, in version{'s' if len(self.versions) > 1 else ''} {listed}.",
                [*self.errors, *further],
                conflicts=self.conflicts,
            )
        if self.refusal is not None:
            return self.refusal
        if self.errors:
            return Conflict("The former values cannot be restored, for the reasons in `errors`.", self.errors)
        return None


def _value_json(one: Field, stored: Any) -> Any:
    """Return a value as the API has it; None for one that the catalog does not know any more."""
    try:
        return None if stored is None else formats.value_json(one, stored)
    except UnknownOption:
        return None
