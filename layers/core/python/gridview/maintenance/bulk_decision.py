"""The decision about an issue in a bulk change, and the fate of an issue whose batch was interrupted. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple
from uuid import UUID

from pyroaring import BitMap

from gridview.derive.room import require_room
from gridview.maintenance.bulk_edits import Edit
from gridview.maintenance.bulk_place import Again, Begun
from gridview.query.predicates import Filter
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Document
from gridview.schema.fields import UnknownOption
from gridview.schema.formats import value_json
from gridview.schema.previews import Preview
from gridview.schema.trash import living
from gridview.support.errors import Conflict, NotFound, RequestError

TRIES = 8
"""How often an issue is decided again because others keep changing it."""


_SET_BY_EACH_WRITE = frozenset(("updated", "updated_by"))


class BulkVerdict(NamedTuple):
    """The decision about an issue whose document is `found`.

    It is refused, or `done` without a write, or not `meant` at all. Otherwise the version found is written
    over with `write`, or deleted.
    """

    issue: Again
    found: Document | None = None
    write: Document | None = None
    done: bool = False
    meant: bool = True
    refused: RequestError | None = None

    @property
    def writes(self) -> bool:
        """Whether anything is written."""
        return self.meant and not self.done and self.refused is None

    @property
    def begun(self) -> Begun:
        """Return the note of it in a checkpoint."""
        version = self.found["version"] if self.found is not None and self.writes else 0
        return Begun(self.issue.num, version, self.issue.tries)


class Fate(Enum):
    """The fate of an issue that was to be written when the worker was killed."""

    WRITTEN = "the job has written it"
    OPEN = "the job has not written it"
    GONE = "another writer deleted it"
    UNSURE = "unknown, because others have changed it since"


@dataclass(frozen=True, slots=True)
class BulkRule:
    """A bulk change under the present definitions: matching issues are edited, or deleted (None).

    `mark` is in the documents that the job writes, if a document does not show that it has all that it is to have.
    `undecided`: issues of which it was not known whether they match when the numbers were frozen.
    """

    catalog: Catalog
    only: Filter | None
    edit: Edit | None
    user: str
    change: UUID
    undecided: BitMap
    mark: str

    def verdict(self, issue: Again, found: Document | None, now: str) -> BulkVerdict:
        """Return the decision about an issue, by its present document (None: there is none)."""
        try:
            return self._verdict(issue, found, now)
        except RequestError as error:
            return BulkVerdict(issue, refused=error)
        except UnknownOption:
            reason = "The issue has an option that the project does not have."
            return BulkVerdict(issue, refused=Conflict(reason))

    def _verdict(self, issue: Again, stored: Document | None, now: str) -> BulkVerdict:
        if issue.version:
            match self.fate(issue.begun, stored):
                case Fate.WRITTEN:
                    return BulkVerdict(issue, stored, done=True)
                case Fate.UNSURE:
                    raise unsure()
        found = living(stored)
        matches = found is not None and (self.only is None or self.only.matches(found))
        if not matches and issue.num in self.undecided and not issue.tries:
            return BulkVerdict(issue, meant=False)
        if found is None:
            raise NotFound("Issue not found.")
        if not matches:
            raise Conflict("The issue was changed, and no longer matches the filter.")
        if issue.tries >= TRIES:
            raise Conflict("Other requests keep changing the issue.")
        if self.edit is None:
            return BulkVerdict(issue, found)
        after = self._changed(found, self.edit, now)
        return (
            BulkVerdict(issue, found, done=True) if after is None else BulkVerdict(issue, found, write=after)
        )

    def _changed(self, found: Document, edit: Edit, now: str) -> Document | None:
        """Return the next version of a document; None if it has all that it is to have."""
        bare = {name: value for name, value in found.items() if name != "mark"}
        changes = edit.changes(bare)
        after = documents.merged(self.catalog, bare, changes, user=self.user, now=now, change=self.change)
        if after is bare:
            return None
        require_room(self.catalog, after)
        return after if edit.settles else {**after, "mark": self.mark}

    def fate(self, begun: Begun, found: Document | None) -> Fate:
        """Return the fate of an issue that was to be written over the version noted, by its present document.

        A purged issue has no document any more; it had been deleted before.
        """
        if found is None:
            return Fate.WRITTEN if self.edit is None else Fate.GONE
        version = found["version"]
        if version == begun.version:
            return Fate.OPEN
        if version == begun.version + 1:
            if self._is_own(found):
                return Fate.WRITTEN
            return Fate.GONE if living(found) is None else Fate.OPEN
        return Fate.WRITTEN if living(found) is not None and self._has_all(found) else Fate.UNSURE

    def is_own_change(self, change: Mapping[str, Any]) -> bool:
        """Return whether the recorded change of a version was the job's."""
        return bool(change.get("change") == self.change.bytes and change["by"] == self.user)

    def _is_own(self, found: Document) -> bool:
        """Return whether a version is the one that the job was to write. Its user may have written others as
        part of the same change.
        """
        if found.get("change") != self.change.bytes or found["updated_by"] != self.user:
            return False
        if self.edit is None:
            return living(found) is None
        if not self.edit.settles:
            return bool(found.get("mark") == self.mark)
        return living(found) is not None and self._has_all(found)

    def _has_all(self, found: Document) -> bool:
        """Return whether an issue has all that it is to have."""
        if self.edit is None or not self.edit.settles:
            return False
        try:
            return self._changed(found, self.edit, found["updated"]) is None
        except RequestError:
            return False


def previewed(preview: Preview, catalog: Catalog, before: Document, after: Document) -> Preview:
    """Return a preview with one more issue that would change. UnknownOption."""
    return preview.with_issue(_edits(catalog, before, after) if preview.has_room else ())


def _edits(catalog: Catalog, before: Document, after: Document) -> Iterator[dict[str, Any]]:
    """Return the values that differ in two versions of an issue, in the form of the API."""
    for field in (*catalog.builtins, *catalog.attributes):
        old, new = field.value_in(before), field.value_in(after)
        stored = not field.computed and field.key not in _SET_BY_EACH_WRITE
        if stored and not documents.same_value(old, new):
            shown = {
                name: None if one is None else value_json(field, one)
                for name, one in (("old", old), ("new", new))
            }
            yield {"num": before["num"], "field": field.id, **shown}


def open_again(begun: Begun, found: Document | None, tries: int) -> Again:
    """Return an issue that the job has not written, by its document as it is now. A late write can only come
    over the version noted.
    """
    unchanged = found is not None and found["version"] == begun.version
    return Again(begun.num, tries, begun.version if unchanged else 0)


def unsure() -> Conflict:
    """Return the refusal of an issue that the job may or may not have written."""
    return Conflict(
        "The issue was changed several times while the job wrote it. The job does not write it again."
    )
