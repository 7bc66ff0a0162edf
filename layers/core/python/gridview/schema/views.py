"""Saved views as data: their content, who sees them, and how they are stored. Pure.

A view names fields by their internal ids and options by theirs, as documents do. So it follows renamed
fields, and a field with the id of a deleted one is another field. `query.saved_views` reads it from a request,
and `query.view_answers` returns it to a client.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Self

from gridview.encoding import keys
from gridview.encoding.attribute_values import item_size
from gridview.schema.manual_orders import MANUAL

MAX_SHARED_VIEWS = 100
"""Views of a project that everybody sees."""
MAX_PRIVATE_VIEWS = 50
"""Views of a project that one user has for themselves."""
MAX_VIEW_BYTES = 64 * 1024
"""Bytes of one view, as it is stored and as it is answered when it is written."""

Visibility = Literal["private", "shared", "default"]
"""For its owner; for everybody; for everybody, and opened first."""

ViewKind = Literal["grid", "board"]
"""Rows below each other; or cards in columns."""

Look = Mapping[str, Any]
"""The look of a view, in stored form. Fields are internal ids.

- `sort`: [[field, descending, nulls first]]. The field `manual` is the view's own order (`manual_orders`).
- `filter`: as `Filter.canonical` gives it, but with relative operands as the request has them; or None.
- `columns`: [[field, width, frozen]] or None.
- `groups`: [[field, unit, zone, bounds of ranges, width of ranges]].
- `group_order`: [field or None, function, direction] or None.
- `footers`: [[field, function]].
- `color_by`: field or None.
- `rules`: [[filter, color, field or None]], their filters in the form of `filter`.
- `row_height`.
- `kind`, and `board` as `query.boards` stores it, or None.
- `named`: the ids that the fields had in the API when the view was written.
"""


@dataclass(frozen=True, slots=True)
class View:
    """A saved view. `owner` is the user whose own it is; empty if everybody sees it."""

    num: int
    name: str
    visibility: Visibility
    owner: str
    look: Look
    version: int
    created: str
    created_by: str
    updated: str
    updated_by: str

    @property
    def id(self) -> str:
        """Its id in the API."""
        return f"v{self.num}"

    @property
    def manual(self) -> bool:
        """Whether its rows are in its manual order."""
        return any(key == MANUAL for key, *_ in self.look["sort"])

    @property
    def sort_key(self) -> str:
        """Sort key of its item."""
        return keys.private_view(self.owner, self.num) if self.owner else keys.shared_view(self.num)

    def seen_by(self, visibility: Visibility, user: str) -> Self:
        """Return the view with another visibility. If that is private, `user` is its owner from then on, and a manual
        order becomes that of the numbers.
        """
        private = visibility == "private"
        look = {**self.look, "sort": []} if private and self.manual else self.look
        return replace(self, visibility=visibility, owner=user if private else "", look=look)

    def next_version(self, user: str, now: str) -> Self:
        """Return the view as the next version, written by `user`."""
        return replace(self, version=self.version + 1, updated=now, updated_by=user)

    @property
    def size(self) -> int:
        """Bytes of its name and look in the table."""
        return item_size(self.name) + item_size(dict(self.look))

    def to_item(self, tenant: str, project: str) -> dict[str, Any]:
        """Return the stored item."""
        return {
            keys.PK: keys.views(tenant, project),
            keys.SK: self.sort_key,
            "num": self.num,
            "name": self.name,
            "visibility": self.visibility,
            "owner": self.owner,
            "look": dict(self.look),
            "version": self.version,
            "created": self.created,
            "created_by": self.created_by,
            "updated": self.updated,
            "updated_by": self.updated_by,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Return the view that a stored item holds."""
        return cls(**{name: item[name] for name in cls.__slots__})


class ViewChange(NamedTuple):
    """A request's changes of a view. Parts that it does not change are None, or missing from the look."""

    name: str | None
    visibility: Visibility | None
    look: Look
    place: int | None = None

    def applied_to(self, view: View, user: str) -> View:
        """Return the view with the change, in the same version. Its place is in the register, not in the view."""
        changed = replace(view, look={**view.look, **self.look})
        if self.name is not None:
            changed = replace(changed, name=self.name)
        if self.visibility is not None and self.visibility != view.visibility:
            changed = changed.seen_by(self.visibility, user)
        return changed


@dataclass(frozen=True, slots=True)
class ViewRegister:
    """The register of a project's views.

    It has the last number given out, the numbers of the shared views in their order, and that of the default (0: none).
    """

    last: int = 0
    order: tuple[int, ...] = ()
    default: int = 0
    revision: int = 0

    def to_item(self, tenant: str, project: str) -> dict[str, Any]:
        """Return the stored item."""
        return {
            keys.PK: keys.views(tenant, project),
            keys.SK: keys.VIEW_REGISTER,
            "last": self.last,
            "order": list(self.order),
            "default": self.default,
            "revision": self.revision,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any] | None) -> Self:
        """Return the register that a stored item holds; of a project without views there is none."""
        if item is None:
            return cls()
        return cls(item["last"], tuple(item["order"]), item["default"], item["revision"])


@dataclass(frozen=True, slots=True)
class PrivateOrder:
    """The numbers of a user's private views in a project, in their order."""

    order: tuple[int, ...] = ()
    revision: int = 0
    user: str = field(default="", kw_only=True)

    def to_item(self, tenant: str, project: str) -> dict[str, Any]:
        """Return the stored item."""
        return {
            keys.PK: keys.views(tenant, project),
            keys.SK: keys.private_order(self.user),
            "order": list(self.order),
            "revision": self.revision,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any] | None, user: str) -> Self:
        """Return the order that a stored item holds; of a user without own views there is none."""
        return cls(user=user) if item is None else cls(tuple(item["order"]), item["revision"], user=user)
