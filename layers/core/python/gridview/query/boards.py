"""Boards of saved views: checked, and stored with internal ids. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from gridview.query.group_request import Aggregate
from gridview.query.predicates import NUMBER
from gridview.query.view_request import Board, BoardColumn
from gridview.schema.catalog import Catalog
from gridview.schema.documents import parse_value
from gridview.schema.fields import WRITERS, Field, FieldType
from gridview.support.errors import FieldError

_TYPES = (FieldType.ENUM, FieldType.BOOL, FieldType.USER)
"""The types by whose values issues can be in columns: one value for each issue, and moving a card changes it."""

StoredBoard = Sequence[Any]
"""[field, [[value, hidden, limit]], card fields, [field, function] or None], with internal ids; values as documents have them."""


def errors(catalog: Catalog, board: Board) -> Iterator[FieldError]:
    """The errors of a board that depend on the types and the options of its fields."""
    field = catalog.get(board.by)
    if field is None or field.type not in _TYPES or field.key in WRITERS:
        yield FieldError(
            "board.by", "must be a field with one option, a user or a yes/no value, which users can change"
        )
    else:
        yield from _wrong_columns(field, board.columns)
    seen = set[str]()
    for at, one in enumerate(board.card):
        if one in seen:
            yield FieldError(f"board.card.{at}", "must not be named twice")
        seen.add(one)
    if board.aggregate is not None and _field(catalog, board.aggregate.field).type is not FieldType.NUMBER:
        yield FieldError("board.aggregate.field", "is not a number field")


def _wrong_columns(field: Field, columns: Sequence[BoardColumn]) -> Iterator[FieldError]:
    seen = set[Any]()
    for at, column in enumerate(columns):
        place = f"board.columns.{at}.value"
        try:
            value = parse_value(field, column.value)
        except ValueError as error:
            yield FieldError(place, str(error))
            continue
        if value in seen:
            yield FieldError(place, "must not be named twice")
        seen.add(value)


def stored(catalog: Catalog, board: Board) -> StoredBoard:
    """Return a board without errors as it is stored."""
    field = _field(catalog, board.by)
    return [
        field.key,
        [[parse_value(field, one.value), one.hidden, one.limit] for one in board.columns],
        [_field(catalog, one).key for one in board.card],
        None if board.aggregate is None else _stored_aggregate(catalog, board.aggregate),
    ]


def _stored_aggregate(catalog: Catalog, aggregate: Aggregate) -> list[str]:
    return [_field(catalog, aggregate.field).key, aggregate.function]


def _field(catalog: Catalog, name: str) -> Field:
    return catalog.get(name) or NUMBER  # validation has looked: else it is the number


def keys_of(board: StoredBoard) -> Iterator[str]:
    """The internal ids of the fields that a stored board names."""
    by, _, card, aggregate = board
    yield by
    yield from card
    if aggregate is not None:
        yield aggregate[0]
