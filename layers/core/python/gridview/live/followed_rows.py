"""The rows that a client follows, by a filter and an order, and the effect of a change on them. Pure."""

import hashlib
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from gridview.encoding.json_codec import dumps
from gridview.query.grid_request import parts_of
from gridview.query.page import judged
from gridview.query.predicates import Filter
from gridview.query.relative_operands import RelativeOperands, Validity
from gridview.query.row_keys import row_key
from gridview.query.sort_order import Keys, place_of
from gridview.schema.fields import Field
from gridview.support.errors import UnfollowableFilter

IssueImage = Mapping[str, Any]
"""An issue as of one version, in the form of a document: the values of the fields that decide."""


class RowMove(NamedTuple):
    """The effect of a change on the rows: a row enters, leaves, or changes and may move.

    `key` is the row's key after the change, None if it has left; `before` the one before it, None if it has
    entered.
    """

    move: Literal["enter", "leave", "update"]
    key: str | None
    before: str | None


class FollowedRows(NamedTuple):
    """Rows in an order. `only`: the filter that they pass. `valid`: the time in which it has its values; None: always."""

    keys: Keys
    only: Filter | None
    valid: Validity | None = None

    def began_after(self, seconds: float) -> bool:
        """Whether the filter had other values at an instant (seconds since 1970) before its present ones."""
        return self.valid is not None and seconds < self.valid.begin

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the fields that decide which rows there are, and their places. A computed one may be in it under several
        versions of its formula, which are equal.
        """
        return judged(self.keys, self.only)

    @property
    def fingerprint(self) -> str:
        """Another one for other rows, or another order: 12 characters."""
        definition = [
            [list(part) for part in parts_of(self.keys)],
            [key.arrangement for key in self.keys],
            None if self.only is None else self.only.canonical(),
        ]
        computed = [[one.key, one.computation.since] for one in self.fields if one.computation is not None]
        if computed:  # another formula makes other rows of the same filter
            definition.append(computed)
        return hashlib.blake2b(dumps(definition), digest_size=6).hexdigest()

    def move(self, before: IssueImage | None, after: IssueImage | None) -> RowMove | None:
        """Return the effect on the rows of a change from one image to another (None: there is no such issue);
        None: no effect.

        UnknownOption: the definitions do not know an option in them.
        """
        was, becomes = self._key(before), self._key(after)
        if was is None:
            return None if becomes is None else RowMove("enter", becomes, None)
        return RowMove("leave", None, was) if becomes is None else RowMove("update", becomes, was)

    def _key(self, image: IssueImage | None) -> str | None:
        if image is None or (self.only is not None and not self.only.matches(image)):
            return None
        return row_key(self.keys, place_of(self.keys, image))


def followable(operands: RelativeOperands) -> Validity | None:
    """Return the time in which a filter with these operands has its values; None: always. UnfollowableFilter."""
    if operands.momentary:
        raise UnfollowableFilter(
            "The filter has `now`, so its rows change all the time and cannot be followed. Use `today`, or a fixed value."
        )
    return operands.validity()
