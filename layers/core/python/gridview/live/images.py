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

_KINDS_OF_A_WHOLE = frozenset({"create", "restore"})
"""Changes that contain every value that the issue has afterwards."""


class Passage(NamedTuple):
    """The issue before and after a change; None: there is no such issue.

    `updated` is empty where no document says when the version was made; a filter or an order that needs it
    raises ValueError.
    """

    before: IssueImage | None
    after: IssueImage | None


@dataclass(frozen=True, slots=True)
class Course:
    """Changes of one issue whose versions follow each other, and the known values after the last of them.

    `missing`: the fields (internal keys) whose values are not known yet. `created`: when the issue was
    created, None if not known yet.
    """

    changes: Sequence[Change]
    values: Mapping[str, Any] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    created: str | None = None

    @classmethod
    def of(cls, changes: Sequence[Change], wanted: Iterable[str]) -> Self:
        """Return a course with the values that the changes themselves contain, for the fields with these
        keys.
        """
        last = changes[-1]
        values: dict[str, Any] = {}
        missing = set(wanted) - {CREATED, UPDATED}
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
        return self._with(found, document[CREATED])

    def with_later(self, changes: Iterable[Change]) -> Self:
        """Return this course with the values in later changes, which are the next versions without a gap."""
        course = self
        for change in changes:
            found = {key: change.fields[key].old for key in course.missing if key in change.fields}
            if change.kind == "delete":
                found = {key: found.get(key) for key in course.missing}
            course = course._with(found, _creation(change))
        return course

    def _with(self, found: Mapping[str, Any], created: str | None) -> Self:
        return replace(
            self,
            values={**self.values, **found},
            missing=self.missing - found.keys(),
            created=self.created or created or None,
        )

    def passages(self, wanted: frozenset[str]) -> list[Passage]:
        """Return the issue before and after each change, as far as the fields with these keys go."""
        found: list[Passage] = []
        values = dict(self.values)
        for place in range(len(self.changes) - 1, -1, -1):
            change = self.changes[place]
            earlier = self.changes[place - 1].at if place else change.was
            after = None if change.kind == "delete" else self._image(change, values, change.at)
            values = {
                key: change.fields[key].old if key in change.fields else values.get(key)
                for key in wanted - {CREATED, UPDATED}
            }
            before = None if change.kind in _KINDS_OF_A_WHOLE else self._image(change, values, earlier)
            found.append(Passage(before, after))
        return found[::-1]

    def _image(self, change: Change, values: Mapping[str, Any], updated: str) -> IssueImage:
        plain = {key: values.get(key) for key in ("name", "state")}
        return {
            "num": change.num,
            **plain,
            CREATED: self.created,
            UPDATED: updated,
            "fields": {key: value for key, value in values.items() if key not in plain and value is not None},
        }


def _creation(change: Change) -> str | None:
    """Return when the issue was created, if the change contains that."""
    return change.at if change.kind == "create" else change.created or None
