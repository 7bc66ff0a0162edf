"""Infers the type of each column from its values: one pass, in memory that does not grow with the file.

A column gets a type only when every value fits it, so nothing is refused or changed later. A column that fits no other type is
text.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from devtools.failure import Failure
from devtools.importer.source import MAX_COLUMNS, Cell, Row
from gridview.encoding.values import parse_date, parse_datetime, parse_number
from gridview.schema.fields import MAX_OPTIONS, FieldType

LIST_SEPARATOR: Final = ";"
MAX_OPTION_LENGTH: Final = 100
"""Characters of an option. A longer value is prose, however often it repeats."""
ROWS_PER_OPTION: Final = 4
"""Values per option on average. With fewer, the column names things (people, tickets) rather than kinds of things.
"""

_WORDS_OF_TRUTH: Final = {"true": True, "false": False, "yes": True, "no": False}
_LOCAL_DATETIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d(?:\.\d{1,6})?)? ?([Zz]|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
_IN_A_LIST = re.compile(rf"\\[\\{LIST_SEPARATOR}]|{LIST_SEPARATOR}|[^\\{LIST_SEPARATOR}]+|\\")
_LEADING_ZERO = re.compile(r"0\d+", re.ASCII)
_IDENTIFIER_NAME = re.compile(r"(^|_)(zip|zip_?code|post_?code|postal_?code|phone|fax|isbn|ssn|iban)($|_)")


def to_number(cell: Cell) -> str | None:
    """The decimal string that the API accepts, or None when the cell is no number."""
    if isinstance(cell, bool) or not isinstance(cell, str | int | Decimal):
        return None
    literal = str(cell).strip()
    try:
        parse_number(literal)
    except ValueError:
        return None
    return literal


def to_date(cell: Cell) -> str | None:
    """The date that the API accepts, or None when the cell is no date."""
    return _accepted(cell.strip(), parse_date) if isinstance(cell, str) else None


def to_datetime(cell: Cell) -> str | None:
    """The RFC 3339 form of an instant, or None when the cell is no instant.

    A time without an offset counts as UTC.
    """
    match = _LOCAL_DATETIME.fullmatch(cell.strip()) if isinstance(cell, str) else None
    if match is None:
        return None
    day, minutes, seconds, offset = match.groups()
    offset = offset or "Z"
    if offset not in "Zz":
        offset = f"{offset[:3]}:{offset[3:].lstrip(':') or '00'}"
    return _accepted(f"{day}T{minutes}{seconds or ':00'}{offset.upper()}", parse_datetime)


def to_bool(cell: Cell) -> bool | None:
    """The boolean, or None when the cell is no boolean.

    True, false, yes and no in any case are booleans; 0 and 1 are numbers.
    """
    if isinstance(cell, bool):
        return cell
    return _WORDS_OF_TRUTH.get(cell.strip().casefold()) if isinstance(cell, str) else None


def to_list(cell: Cell) -> list[str]:
    """The options of a list cell: split at `;` as exports write it, stripped, without empty parts and repetitions."""
    return [part for part in dict.fromkeys(part.strip() for part in _parts(cell)) if part]


def _parts(cell: Cell) -> list[str]:
    r"""Split at semicolons. `\;` and `\\` are a semicolon and a backslash of an option; other backslashes stay."""
    if isinstance(cell, list):
        return cell
    parts = [""]
    for piece in _IN_A_LIST.findall(to_text(cell)):
        if piece == LIST_SEPARATOR:
            parts.append("")
        else:
            parts[-1] += piece[1:] if len(piece) > 1 and piece.startswith("\\") else piece
    return parts


def to_text(cell: Cell) -> str:
    """The cell as text, unchanged."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return LIST_SEPARATOR.join(cell) if isinstance(cell, list) else str(cell)


def is_empty(cell: Cell) -> bool:
    """Whether the cell says "no value", as a cell of spaces does."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _accepted(text: str, parse: Callable[[object], str]) -> str | None:
    try:
        parse(text)
    except ValueError:
        return None
    return text


@dataclass(slots=True)
class Tally:
    """Distinct values and their total count, until there are more than an enum can have."""

    values: dict[str, None] = field(default_factory=dict)
    seen: int = 0
    overflow: bool = False

    def add(self, value: str) -> None:
        """Count one value."""
        self.seen += 1
        if self.overflow or value in self.values:
            return
        self.values[value] = None
        if len(self.values) > MAX_OPTIONS or len(value) > MAX_OPTION_LENGTH:
            self.give_up()

    def give_up(self) -> None:
        """Forget the values: they are no options."""
        self.overflow = True
        self.values.clear()

    @property
    def has_options(self) -> bool:
        """Whether few values repeat often. Values that only differ in Unicode's spellings are no options: the API refuses them."""
        few = not self.overflow and 0 < len(self.values) * ROWS_PER_OPTION <= self.seen
        return few and len({unicodedata.normalize("NFC", value) for value in self.values}) == len(self.values)


_SCALARS: dict[FieldType, Callable[[Cell], object]] = {
    FieldType.BOOL: to_bool,
    FieldType.NUMBER: to_number,
    FieldType.DATE: to_date,
    FieldType.DATETIME: to_datetime,
}


@dataclass(slots=True)
class Profile:
    """The values seen in one column, summed up."""

    column: str
    filled: int = 0
    scalars: list[FieldType] = field(default_factory=lambda: list(_SCALARS))
    whole: Tally = field(default_factory=Tally)
    parts: Tally = field(default_factory=Tally)
    lists: bool = False
    identifier: bool = False
    """Its digits are a name and no quantity: 07302 is not 7302."""

    def __post_init__(self) -> None:
        self.identifier = bool(_IDENTIFIER_NAME.search(re.sub(r"[^a-z0-9]+", "_", self.column.lower())))

    def observe(self, cell: Cell) -> None:
        """Take one cell into account."""
        if is_empty(cell):
            return
        self.filled += 1
        if (
            isinstance(cell, str)
            and FieldType.NUMBER in self.scalars
            and _LEADING_ZERO.fullmatch(cell.strip())
        ):
            self.identifier = True
        self.scalars = [one for one in self.scalars if _SCALARS[one](cell) is not None]
        self._observe_options(cell)

    def _observe_options(self, cell: Cell) -> None:
        text = to_text(cell)
        self.whole.add(text)
        if self.parts.overflow:
            return
        pieces = to_list(cell)
        if len(pieces) != len(_parts(cell)):
            # An empty or repeated part would be lost: then this is a text with semicolons in it.
            self.parts.give_up()
            return
        self.lists = self.lists or isinstance(cell, list) or pieces != [text.strip()]
        for piece in pieces:
            self.parts.add(piece)

    @property
    def type(self) -> FieldType:
        """The type that all values fit."""
        if self.identifier:
            return FieldType.TEXT
        if self.filled and self.scalars:
            return self.scalars[0]
        if self.lists and self.parts.has_options:
            return FieldType.MULTI_ENUM
        return FieldType.ENUM if self.whole.has_options else FieldType.TEXT

    def options(self, field_type: FieldType) -> tuple[str, ...]:
        """The options that a column of this type needs, in order of first appearance.

        Failure when there are too many.
        """
        tally = self.parts if field_type is FieldType.MULTI_ENUM else self.whole
        if tally.overflow:
            raise Failure(
                f"The column {self.column!r} cannot be {field_type.value}: it has more than {MAX_OPTIONS} different values, "
                f"longer ones than {MAX_OPTION_LENGTH} characters, or such as are no list."
            )
        return tuple(tally.values)


def profile(rows: Iterable[Row]) -> tuple[int, dict[str, Profile]]:
    """The number of rows, and a summary of each column in order of first appearance."""
    profiles: dict[str, Profile] = {}
    count = 0
    for row in rows:
        count += 1
        for column, cell in row.cells.items():
            found = profiles.get(column)
            if found is None:
                found = profiles[column] = Profile(column)
                if len(profiles) > MAX_COLUMNS:
                    raise Failure(f"The rows have more than {MAX_COLUMNS:,} columns in all.")
            found.observe(cell)
    return count, profiles
