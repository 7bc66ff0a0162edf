"""The issue before and after each of its changes, as far as some fields go. Pure.

A change has the old and the new value of each field that it touches. The values of other fields come from a
later change, an earlier one, or else the document. A field that no later version has changed is as it was.

```
version      2              3             4 (the document)
start        05-01 -> 05-02               05-02 -> 05-03
kind                        a -> b                           kind at 2: a, by version 3; start at 3: 05-02, by
version 4
```
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from gridview.live.followed_rows import IssueImage
from gridview.schema.documents import Document, changed_at
from gridview.schema.history import Change

CREATED, UPDATED = "created", "updated"
CREATED_BY, UPDATED_BY = "created_by", "updated_by"

_OF_VERSIONS = frozenset({CREATED, UPDATED, CREATED_BY, UPDATED_BY})
"""The fields that no change sets: every change has them, or the document."""

_KINDS_OF_A_WHOLE = frozenset({"create", "restore"})
"""Changes that contain every value that the issue has afterwards."""


class Passage(NamedTuple):
    """The issue before and after a change; None: there is no such issue."""

    before: IssueImage | None
    after: IssueImage | None


class Creation(NamedTuple):
    """When an issue was created, and by whom."""

    at: str
    by: str


class _Unknown(Exception):
    """No change and no document says when a version was made, or by whom."""


@dataclass(frozen=True, slots=True)
class Course:
    """Changes of one issue whose versions follow each other, and the known values after the last of them.

    `missing`: the fields (internal keys) whose values are not known yet. `created`: the issue's creation,
    None if not known yet.
    """

    changes: Sequence[Change]
    values: Mapping[str, Any] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    created: Creation | None = None

    @classmethod
    def of(cls, changes: Sequence[Change], wanted: Iterable[str]) -> Self:
        """Return a course with the values that the changes themselves contain, for the fields with these
        keys.
        """
        last = changes[-1]
        values: dict[str, Any] = {}
        missing = set(wanted) - _OF_VERSIONS
        if last.kind == "delete":
            missing.clear()
        for change in reversed(changes):
            if not missing:
                break
            found = {key: change.fields[key].new for key in missing if key in change.fields}
            if change.kind in _KINDS_OF_A_WHOLE:
                found = {key: found.get(key) for key in missing}
            values |= found
            missing -= found.keys()
        created = next((one for one in map(_creation, changes) if one), None)
        return cls(changes, values, frozenset(missing), created)

    @property
    def version(self) -> int:
        """The version after the last change."""
        return self.changes[-1].version

    def with_document(self, document: Document) -> Self:
        """With the values of a document of this version or a later one that no version in between has changed."""
        held = {"name": document["name"], "state": document["state"], **document["fields"]}
        found = {key: held.get(key) for key in self.missing if changed_at(document, key) <= self.version}
        return self._with(found, Creation(document[CREATED], document.get(CREATED_BY, "")))

    def with_later(self, changes: Iterable[Change]) -> Self:
        """Return this course with the values in later changes, which are the next versions without a gap."""
        course = self
        for change in changes:
            found = {key: change.fields[key].old for key in course.missing if key in change.fields}
            if change.kind == "delete":
                found = {key: found.get(key) for key in course.missing}
            course = course._with(found, _creation(change))
        return course

    def _with(self, found: Mapping[str, Any], created: Creation | None) -> Self:
        return replace(
            self,
            values={**self.values, **found},
            missing=self.missing - found.keys(),
            created=self.created or created,
        )

    def lacks(self, wanted: frozenset[str]) -> bool:
        """Return whether a value of the fields with these keys is not known yet."""
        return bool(self.missing) or (bool(wanted & {CREATED, CREATED_BY}) and self.created is None)

    def passages(self, wanted: frozenset[str]) -> list[Passage | None]:
        """Return the issue before and after each change, as far as the fields with these keys go.

        None: it is not recorded when the version was made, or by whom, and that is wanted.
        """
        found: list[Passage | None] = []
        values = dict(self.values)
        for place in range(len(self.changes) - 1, -1, -1):
            change = self.changes[place]
            earlier = self.changes[place - 1] if place else None
            was, was_by = (change.was, change.was_by) if earlier is None else earlier.updated
            later = values
            values = {
                key: change.fields[key].old if key in change.fields else values.get(key)
                for key in wanted - _OF_VERSIONS
            }
            is_first = change.kind in _KINDS_OF_A_WHOLE
            try:
                after = (
                    None
                    if change.kind == "delete"
                    else self._image(change.num, later, *change.updated, wanted)
                )
                before = None if is_first else self._image(change.num, values, was, was_by, wanted)
            except _Unknown:
                found.append(None)
            else:
                found.append(Passage(before, after))
        return found[::-1]

    def _image(
        self, num: int, values: Mapping[str, Any], updated: str, updated_by: str, wanted: frozenset[str]
    ) -> IssueImage:
        created = self.created or Creation("", "")
        of_version = {
            CREATED: created.at,
            CREATED_BY: created.by,
            UPDATED: updated,
            UPDATED_BY: updated_by,
        }
        if not all(of_version[key] for key in wanted & of_version.keys()):
            raise _Unknown
        plain = {key: values.get(key) for key in ("name", "state")}
        return {
            "num": num,
            **plain,
            **of_version,
            "fields": {key: value for key, value in values.items() if key not in plain and value is not None},
        }


def _creation(change: Change) -> Creation | None:
    """Return the issue's creation, if the change contains that."""
    if change.kind == "create":
        return Creation(change.at, change.by)
    return Creation(change.created, change.created_by) if change.created else None
