"""Stored values as the API returns them. Pure."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from gridview.encoding import values
from gridview.schema.fields import Field, FieldType


def _number_json(_: Field, value: int | Decimal) -> int | Decimal:
    # The JSON encoder takes 64-bit integers; it writes a Decimal with all its digits.
    return value if isinstance(value, int) and -(2**63) <= value < 2**63 else Decimal(value)


def _options_json(field: Field, value: Iterable[str]) -> list[str]:
    return [option.value for option in sorted(map(field.option, value), key=lambda option: option.rank)]


FORMATTERS: dict[FieldType, Callable[[Field, Any], Any]] = {
    FieldType.TEXT: lambda _, value: value,
    FieldType.NUMBER: _number_json,
    FieldType.DATE: lambda _, value: value,
    FieldType.DATETIME: lambda _, value: values.datetime_json(value),
    FieldType.BOOL: lambda _, value: value,
    FieldType.ENUM: lambda field, value: field.option(value).value,
    FieldType.MULTI_ENUM: _options_json,
    FieldType.USER: lambda _, value: value,
}
"""Functions from stored values to the API's values."""


def value_json(field: Field, stored: Any) -> Any:
    """Return a stored value as the API returns it. UnknownOption if the catalog does not know an option in
    it.
    """
    return FORMATTERS[field.type](field, stored)
