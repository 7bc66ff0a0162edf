"""Comments on issues as data, and how they are stored. Pure.

- `comment-T.P`, `<num>.<id>`: the comment.
- `comment-T.P`, `<num>`: the register: the last id given out, and how many comments there are.
- `activity-T.P`, `<at>.<num>.comment.<id>`: whom it mentions, among the project's changes, as long as these
  are remembered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from gridview.encoding import derived_keys, keys
from gridview.encoding.values import datetime_json
from gridview.schema.catalog import Catalog
from gridview.schema.history import expiry_of

MAX_COMMENTS = 1_000
"""Comments of an issue."""
MAX_COMMENT_LENGTH = 10_000
"""Characters of a comment."""
MAX_MENTIONS = 50
"""Users whom a comment mentions."""
COMMENTED = "comment"
"""The kind of a comment among a project's changes."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment of a user on an issue, and the ids of the tenant's users that it mentions."""

    num: int
    id: int
    text: str
    mentions: tuple[str, ...]
    version: int
    created: str
    created_by: str
    updated: str
    updated_by: str

    def next_version(self, user: str, now: str) -> Self:
        """Return the comment as the next version, written by `user`."""
        return replace(self, version=self.version + 1, updated=now, updated_by=user)

    def to_item(self, tenant: str, project: str) -> dict[str, Any]:
        """Return the stored item."""
        return {
            keys.PK: keys.comments(tenant, project),
            keys.SK: keys.comment(self.num, self.id),
            "num": self.num,
            "id": self.id,
            "text": self.text,
            "mentions": list(self.mentions),
            "version": self.version,
            "created": self.created,
            "created_by": self.created_by,
            "updated": self.updated,
            "updated_by": self.updated_by,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Return the comment that a stored item holds."""
        stored = {name: item[name] for name in cls.__slots__}
        return cls(**{**stored, "mentions": tuple(item["mentions"])})

    def to_json(self) -> dict[str, Any]:
        """Return the comment as the API returns it."""
        return {
            "id": self.id,
            "num": self.num,
            "text": self.text,
            "mentions": list(self.mentions),
            "version": self.version,
            "created": datetime_json(self.created),
            "updated": datetime_json(self.updated),
            "created_by": self.created_by,
            "updated_by": self.updated_by,
        }

    def event(self) -> dict[str, Any]:
        """Return its event in the issue's history, the same as in the project's activity."""
        return _event(self.num, self.id, self.created_by, self.created, self.mentions)

    def activity_key(self, tenant: str, project: str) -> tuple[str, str]:
        """Return the key of its item among the project's changes."""
        return derived_keys.activity(tenant, project), keys.comment_activity(self.created, self.num, self.id)

    def activity_item(self, catalog: Catalog) -> dict[str, Any]:
        """Return its item among the project's changes. It has no text: the comment itself has it, while it
        exists.
        """
        partition_key, sort_key = self.activity_key(catalog.tenant, catalog.project)
        return {
            keys.PK: partition_key,
            keys.SK: sort_key,
            "num": self.num,
            "comment": self.id,
            "kind": COMMENTED,
            "by": self.created_by,
            "mentions": list(self.mentions),
            keys.TTL_ATTRIBUTE: expiry_of(catalog.history, self.created),
        }


def _event(num: int, comment_id: int, by: str, at: str, mentions: Sequence[str]) -> dict[str, Any]:
    return {
        "id": f"{num}.{COMMENTED}.{comment_id}",
        "num": num,
        "kind": COMMENTED,
        "by": by,
        "at": datetime_json(at),
        "comment": comment_id,
        "mentions": list(mentions),
    }


def comment_event(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event of an item that `activity_item` has made."""
    at = derived_keys.parse_activity_at(item[keys.SK])
    return _event(item["num"], item["comment"], item["by"], at, item["mentions"])


@dataclass(frozen=True, slots=True)
class CommentRegister:
    """The register of an issue's comments: the last id given out, and how many there are."""

    last: int = 0
    count: int = 0
    revision: int = 0

    def to_item(self, tenant: str, project: str, num: int) -> dict[str, Any]:
        """Return the stored item."""
        return {
            keys.PK: keys.comments(tenant, project),
            keys.SK: keys.comment_register(num),
            "last": self.last,
            "count": self.count,
            "revision": self.revision,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any] | None) -> Self:
        """Return the register that a stored item holds; of an issue without comments there is none."""
        return cls() if item is None else cls(**{name: item[name] for name in cls.__slots__})
