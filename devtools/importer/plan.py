"""The plan of an import: the project, its attributes and the create operation of each row. Pure."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

import orjson

from devtools.failure import Failure
from devtools.importer.inference import (
    Profile,
    is_empty,
    to_bool,
    to_date,
    to_datetime,
    to_list,
    to_number,
    to_text,
)
from devtools.importer.source import Cell, Row
from devtools.importer.spelling import Spellings
from gridview.schema.catalog import MAX_ATTRIBUTES
from gridview.schema.fields import FieldType
from gridview.schema.ids import attribute_id_from

SKIP: Final = "skip"
MAX_ISSUE: Final = 400_000
"""Bytes of one create operation: DynamoDB's limit for the item that it becomes."""

_NAME_COLUMNS = ("title", "name", "summary")
_STATE_COLUMNS = ("status", "state")
_PROJECT_ID_LENGTH = 32

Types = Mapping[str, FieldType | None]
"""The content of a types file: column -> type, or None to leave the column out."""


class RowRefusedError(Exception):
    """A row that cannot even be sent. The message says why."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute that the project needs, and the column that fills it."""

    column: str
    id: str
    type: FieldType
    options: tuple[str, ...] = ()

    def definition(self) -> dict[str, Any]:
        """The body of the request that creates it."""
        body: dict[str, Any] = {"id": self.id, "name": self.column, "type": self.type.value}
        return {**body, "options": list(self.options)} if self.type.has_options else body


@dataclass(frozen=True, slots=True)
class Plan:
    """How the columns of a file become issues. Without a `name_column` the row's number names the issue."""

    rows: int
    name_column: str | None
    state_column: str | None
    states: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    left_out: tuple[tuple[str, str], ...]
    spellings: Mapping[str, Spellings] = field(default_factory=dict)
    """The project's spellings by field id, for `state` and attributes with options. Its API takes exact values."""

    @property
    def columns(self) -> dict[str, str]:
        """The column that fills each field, by the field's id."""
        builtin = {"name": self.name_column, "state": self.state_column}
        named = {key: column for key, column in builtin.items() if column is not None}
        return named | {attribute.id: attribute.column for attribute in self.attributes}

    def matched(self, names: Mapping[str, str]) -> Self:
        """Return the plan with the ids of a project's attributes. `names` has their names by id.

        An attribute may have the former name of another one as its id, so all names precede the ids.
        """
        meanings: tuple[Callable[[Attribute, str], bool], ...] = (
            lambda one, key: one.column == names[key],
            # An export has this header for a name of several attributes.
            lambda one, key: one.column == f"{names[key]} ({key})",
            lambda one, key: one.id == key,
        )
        ids: dict[str, str] = {}
        free = list(names)
        for means in meanings:
            for one in self.attributes:
                found = None if one.column in ids else next((key for key in free if means(one, key)), None)
                if found is not None:
                    ids[one.column] = found
                    free.remove(found)
        taken = {*names, *(one.id for one in self.attributes if one.column not in ids)}
        for one in self.attributes:
            if one.column not in ids:
                ids[one.column] = attribute_id_from(one.column, taken) if one.id in names else one.id
                taken.add(ids[one.column])
        return replace(self, attributes=tuple(replace(one, id=ids[one.column]) for one in self.attributes))

    def without(self, computed: Collection[str]) -> Self:
        """Return the plan without the attributes with these ids, whose values the project computes."""
        skipped = [one for one in self.attributes if one.id in computed]
        reasons = ((one.column, f"skipped, a formula computes {one.id!r}") for one in skipped)
        kept = tuple(one for one in self.attributes if one not in skipped)
        return replace(self, attributes=kept, left_out=(*self.left_out, *reasons))

    def operation(self, row: Row) -> bytes:
        """The create operation of one row, as JSON.

        RowRefusedError when the row cannot become one. The API refuses rows that are merely invalid.
        """
        issue: dict[str, Any] = {"name": self._name(row)}
        state = row.cells.get(self.state_column) if self.state_column is not None else None
        if not is_empty(state):
            issue["state"] = self._meant("state", to_text(state))
        issue["fields"] = {
            attribute.id: self._meant(attribute.id, _VALUES[attribute.type](cell))
            for attribute in self.attributes
            if not is_empty(cell := row.cells.get(attribute.column))
        }
        try:
            operation = orjson.dumps({"create": issue})
        except orjson.JSONEncodeError as error:
            raise RowRefusedError(
                "The row has half of a surrogate pair, which is not a character."
            ) from error
        if len(operation) > MAX_ISSUE:
            raise RowRefusedError(f"The row is longer than {MAX_ISSUE:,} bytes.")
        return operation

    def _meant(self, key: str, value: Any) -> Any:
        """The value, or of a field with options the options that it means, each once."""
        spellings = self.spellings.get(key)
        if spellings is None:
            return value
        if isinstance(value, list):
            return [*dict.fromkeys(map(spellings.meant, value))]
        return spellings.meant(value)

    def _name(self, row: Row) -> str:
        if self.name_column is None:
            return f"Row {row.number}"
        cell = row.cells.get(self.name_column)
        if is_empty(cell):
            raise RowRefusedError(
                f"The row has no value in {self.name_column!r}, the column of the issue's name."
            )
        return to_text(cell)


def make_plan(
    rows: int,
    profiles: Mapping[str, Profile],
    *,
    types: Types,
    name_column: str | None = None,
    state_column: str | None = None,
) -> Plan:
    """Decide what each column becomes.

    Failure when the given choices do not fit the file, or the file does not fit a project.
    """
    if not rows:
        raise Failure("The file has a header but no rows.")
    for column in (*types, name_column, state_column):
        if column is not None and column not in profiles:
            raise Failure(f"There is no column {column!r}. The columns are: {', '.join(profiles)}.")
    name = name_column or _default_name(rows, profiles, types)
    state = state_column or _default_state(rows, profiles, types, name)
    taken = {column for column in (name, state) if column is not None}
    attributes: list[Attribute] = []
    left_out: list[tuple[str, str]] = []
    ids: set[str] = set()
    for column, profile in profiles.items():
        if column in taken:
            continue
        if column in types and types[column] is None:
            left_out.append((column, "skipped, as the types file says"))
        elif not profile.filled and column not in types:
            left_out.append((column, "has no value in any row"))
        else:
            attribute = _attribute(profile, types.get(column), ids)
            ids.add(attribute.id)
            attributes.append(attribute)
    if len(attributes) > MAX_ATTRIBUTES:
        raise Failure(
            f"The file needs {len(attributes)} attributes, but a project may have {MAX_ATTRIBUTES}. Skip some columns with --types."
        )
    states = profiles[state].options(FieldType.ENUM) if state is not None else ()
    return Plan(rows, name, state, states, tuple(attributes), tuple(left_out))


def parse_types(text: str | bytes, path: str) -> Types:
    """Read a types file: one JSON object, column -> type or "skip"."""
    try:
        content = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Failure(f"{path} is not JSON: {error.msg} (line {error.lineno}).") from error
    if not isinstance(content, dict):
        raise Failure(f'{path} must hold one JSON object, such as {{"zip": "text", "row": "skip"}}.')
    known = [*(one.value for one in FieldType), SKIP]
    wrong = next((column for column, name in content.items() if name not in known), None)
    if wrong is not None:
        raise Failure(f"{path}: the type of {wrong!r} must be one of {', '.join(known)}.")
    return {column: None if name == SKIP else FieldType(name) for column, name in content.items()}


def project_id_from(file_name: str) -> str:
    """A project id made from the name of a file: `titanium_issues.csv.gz` -> `titaniumissues`."""
    stem = re.sub(r"[^a-z0-9]+", "", file_name.split(".")[0].lower())[:_PROJECT_ID_LENGTH]
    return stem if len(stem) > 1 else "imported"


def _default_name(rows: int, profiles: Mapping[str, Profile], types: Types) -> str | None:
    # Each issue must have a name, so a column with gaps would lose rows.
    full = [
        column
        for column, profile in profiles.items()
        if profile.filled == rows and types.get(column, profile) is not None
    ]
    by_name = {column.casefold(): column for column in reversed(full)}
    for candidate in _NAME_COLUMNS:
        if candidate in by_name:
            return by_name[candidate]
    return next(
        (column for column in full if (types.get(column) or profiles[column].type) is FieldType.TEXT), None
    )


def _default_state(rows: int, profiles: Mapping[str, Profile], types: Types, name: str | None) -> str | None:
    by_name = {column.casefold(): column for column in reversed(list(profiles)) if column != name}
    for candidate in _STATE_COLUMNS:
        column = by_name.get(candidate)
        if column is None or column in types:
            continue
        profile = profiles[column]
        if profile.filled == rows and profile.type is FieldType.ENUM:
            return column
    return None


def _attribute(profile: Profile, forced: FieldType | None, taken: set[str]) -> Attribute:
    field_type = forced or profile.type
    options = profile.options(field_type) if field_type.has_options else ()
    attribute_id = attribute_id_from(profile.column, taken)
    return Attribute(profile.column, attribute_id, field_type, tuple(sorted(options, key=_natural)))


def _natural(option: str) -> list[tuple[int, str]]:
    """Orders options as people do.

    `1.9` comes before `1.10`, and case does not count. The file says no more about their order.
    """
    parts = re.split(r"(\d+)", option.casefold(), flags=re.ASCII)  # text and digits take turns
    return [(int(part), "") if place % 2 else (0, part) for place, part in enumerate(parts)]


def _or_unchanged(convert: Callable[[Cell], Any]) -> Callable[[Cell], Any]:
    """Send a value that does not fit its forced type as it is.

    The API names the error.
    """

    def value(cell: Cell) -> Any:
        converted = convert(cell)
        return to_text(cell) if converted is None else converted

    return value


_VALUES: dict[FieldType, Callable[[Cell], Any]] = {
    FieldType.TEXT: to_text,
    FieldType.NUMBER: _or_unchanged(to_number),
    FieldType.DATE: _or_unchanged(to_date),
    FieldType.DATETIME: _or_unchanged(to_datetime),
    FieldType.BOOL: _or_unchanged(to_bool),
    FieldType.ENUM: to_text,
    FieldType.MULTI_ENUM: to_list,
    FieldType.USER: to_text,
}
