"""The formats in which a page shows the values of a field. They change no stored value, order or answer. Pure."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field as ModelField

from gridview.schema.currencies import CURRENCIES
from gridview.schema.fields import FieldType
from gridview.support.errors import FieldError
from gridview.support.validation import RequestModel, omissible

MAX_DECIMALS: Final = 10
MAX_UNIT_LENGTH: Final = 16
MAX_RATING: Final = 10

FormatName = Literal[
    "long",
    "markdown",
    "url",
    "email",
    "phone",
    "plain",
    "currency",
    "percent",
    "rating",
    "duration",
    "progress",
    "iso",
    "short",
    "check",
    "star",
]
"""`long` is a text of several lines, or a date with the name of its month."""

_DATES: Final = dict.fromkeys(("iso", "short", "long"), frozenset[str]())

_SETTINGS: Final[Mapping[FieldType, Mapping[str, frozenset[str]]]] = {
    FieldType.TEXT: dict.fromkeys(("long", "markdown", "url", "email", "phone"), frozenset()),
    FieldType.NUMBER: {
        "plain": frozenset(("decimals", "thousands", "unit")),
        "currency": frozenset(("decimals", "thousands", "currency")),
        "percent": frozenset(("decimals", "thousands")),
        "rating": frozenset(("max",)),
        "duration": frozenset(),
        "progress": frozenset(("decimals",)),
    },
    FieldType.DATE: _DATES,
    FieldType.DATETIME: _DATES,
    FieldType.BOOL: dict.fromkeys(("check", "star"), frozenset()),
}
"""The formats of each type, and the settings that each format takes."""

_REQUIRED: Final = {"currency": "currency"}
"""The setting that a format requires."""


class FormatInput(RequestModel):
    """How a page shows the values of a field. They are stored and returned as they were.

    A percentage shows 0.25 as 25 %. Progress is between 0 and 1, and a duration is seconds.
    """

    as_: FormatName = ModelField(alias="as")
    decimals: int = omissible(ge=0, le=MAX_DECIMALS, description="Digits after the point.")
    thousands: bool = omissible(description="Whether thousands are separated.")
    currency: str = omissible(
        pattern="^[A-Z]{3}$", description="The code of a currency (ISO 4217), such as EUR."
    )
    unit: str = omissible(min_length=1, max_length=MAX_UNIT_LENGTH, description="Shown after the number.")
    max: int = omissible(ge=1, le=MAX_RATING, description="The most stars of a rating; without it 5.")

    def settings(self) -> dict[str, Any]:
        """Return the settings that the request gives."""
        return {name: getattr(self, name) for name in sorted(self.model_fields_set - {"as_"})}

    def to_json(self) -> dict[str, Any]:
        """Return the format as the definition stores it, and as the API returns it."""
        return {"as": self.as_, **self.settings()}


def format_errors(kind: FieldType, request: FormatInput) -> list[FieldError]:
    """Return what is wrong with a format for a type of fields."""
    formats = _SETTINGS.get(kind, {})
    if request.as_ not in formats:
        allowed = f"must be one of {', '.join(formats)}" if formats else "does not exist"
        return [FieldError("format.as", f"{allowed} for the type {kind.value}")]
    given = request.settings()
    errors = [
        FieldError(f"format.{name}", f"does not belong to the format {request.as_}")
        for name in sorted(given.keys() - formats[request.as_])
    ]
    needed = _REQUIRED.get(request.as_)
    if needed and needed not in given:
        errors.append(FieldError(f"format.{needed}", "is required"))
    if "currency" in given and given["currency"] not in CURRENCIES:
        errors.append(FieldError("format.currency", "is not a code of ISO 4217"))
    return errors
