"""The order of a grid according to API.md, by Python's `sorted` over plain rows. It shares no code with the tested
modules.

A row is an issue of the API's answer; attributes are those of the project in the API's answer.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Literal

from devtools.proof.oracle.world import BUILTINS

Row = Mapping[str, Any]

TEXT_CHARACTERS = 240
"""The characters of a case-folded text that its order uses ("Field types")."""


def folded(text: str) -> str:
    """NFKD, marks of a combining class other than 0 dropped, casefold."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if unicodedata.combining(c) == 0).casefold()


def instant(text: str) -> datetime:
    """An RFC 3339 date and time in UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


def comparer(kind: str, options: Sequence[str]) -> Callable[[Any], Any]:
    """The comparison key of a type's values."""
    by_type: dict[str, Callable[[Any], Any]] = {
        "text": lambda value: folded(value)[:TEXT_CHARACTERS],
        "number": Decimal,
        "date": date.fromisoformat,
        "datetime": instant,
        "bool": lambda value: [False, True].index(value),
        "enum": options.index,
        "multi_enum": lambda value: sorted(map(options.index, value)),
        "user": str.casefold,
    }
    return by_type[kind]


def value_of(row: Row, field: str) -> Any:
    """The value of a built-in field or an attribute; None: no value."""
    return row[field] if field in BUILTINS else row["fields"].get(field)


def ordered(
    rows: Iterable[Row],
    project: Mapping[str, Any],
    field: str,
    direction: Literal["asc", "desc"] = "asc",
    nulls: Literal["first", "last"] = "last",
) -> list[int]:
    """The issue numbers in the order of a grid. `project` is the project's resource."""
    kinds = dict(BUILTINS)
    options = {"state": [state["value"] for state in project["states"]]}
    for attribute in project["attributes"]:
        kinds[attribute["id"]] = attribute["type"]
        options[attribute["id"]] = [option["value"] for option in attribute.get("options", [])]
    compared = comparer(kinds[field], options.get(field, []))
    everything = list(rows)
    valued = [row for row in everything if value_of(row, field) is not None]
    without = sorted(row["num"] for row in everything if value_of(row, field) is None)
    places = sorted((compared(value_of(row, field)), row["num"]) for row in valued)
    if direction == "desc":
        places.reverse()
        without.reverse()
    numbers = [num for _, num in places]
    return without + numbers if nulls == "first" else numbers + without
