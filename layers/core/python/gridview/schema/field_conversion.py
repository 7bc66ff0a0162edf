"""Converts a stored value of one field to a value of another: directly, or by its text. Pure."""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from gridview.encoding.values import number_json
from gridview.schema.documents import parse_value
from gridview.schema.fields import Field, FieldType
from gridview.schema.formats import value_json

_TRUE: Final = frozenset(("true", "yes", "1"))
_FALSE: Final = frozenset(("false", "no", "0"))


class NotConvertible(Exception):
    """The value is none of the other field. The message says why."""


def converted(source: Field, target: Field, value: Any) -> Any:
    """Return a stored value of the source as one of the target; None for no value.

    - A text is the value as the API returns it, options of a set separated by commas.
    - A text becomes a number, a date, an instant or a user if it is one, and options if it names them. Spaces around it
      and upper and lower case of options make no difference, unless the text is exactly an option.
    - Options become the options of the same names, whatever commas they contain.
    - A set of several options is no value of a type other than text and sets.
    - `true`, `yes` and 1 are true; `false`, `no` and 0 are false.
    - A blank text is no value of the other types.
    - A date is the instant at which it begins in UTC, and an instant is its date in UTC.

    NotConvertible.
    """
    if value is None:
        given: Any = None
    elif source.type.has_options and target.type is not FieldType.TEXT:
        given = _from_options(target, _names(source, value), source.type)
    elif source.type is target.type:
        given = value_json(source, value)
    else:
        given = _from_text(target, _text(source, value), source.type)
    try:
        return parse_value(target, given)
    except ValueError as error:
        raise NotConvertible(str(error)) from None


def _names(source: Field, value: Any) -> list[str]:
    """Return the options of a value as they are: a name may contain a comma, or spaces around it."""
    shown = value_json(source, value)
    return shown if isinstance(shown, list) else [shown]


def _from_options(target: Field, names: list[str], kind: FieldType) -> Any:
    """Return the value of a request, from options by their names. NotConvertible."""
    if target.type is FieldType.MULTI_ENUM:
        return _all_named(target, names)
    if len(names) > 1:
        raise NotConvertible("must be one option: the value has several")
    (name,) = names
    return _option(target, name) if target.type is FieldType.ENUM else _from_text(target, name, kind)


def _from_text(target: Field, text: str, kind: FieldType) -> Any:
    """Return the value of a request, from the text of a value of this type. NotConvertible."""
    is_blank = target.type is not FieldType.TEXT and not text.strip()
    return None if is_blank else _FORMS[target.type](target, text, kind)


def _text(source: Field, value: Any) -> str:
    shown = value_json(source, value)
    if isinstance(shown, bool):
        return "true" if shown else "false"
    if isinstance(shown, int | Decimal):
        return number_json(Decimal(shown))
    return ", ".join(shown) if isinstance(shown, list) else str(shown)


def _bool(_: Field, text: str, __: FieldType) -> bool:
    folded = text.strip().casefold()
    if folded in _TRUE or folded in _FALSE:
        return folded in _TRUE
    raise NotConvertible("must be true, yes or 1, or false, no or 0")


def _date(_: Field, text: str, kind: FieldType) -> str:
    return text.partition("T")[0] if kind is FieldType.DATETIME else text.strip()


def _datetime(_: Field, text: str, kind: FieldType) -> str:
    return f"{text}T00:00:00Z" if kind is FieldType.DATE else text.strip()


def _option(target: Field, text: str) -> str:
    """Return the option that a text names. NotConvertible if there is none, or several that differ in case."""
    name = text.strip()
    for exact in (text, name):
        if exact in target.option_by_value:
            return exact
    alike = [value for value in target.option_by_value if value.strip().casefold() == name.casefold()]
    if len(alike) == 1:
        return alike[0]
    raise NotConvertible("must be one of the field's options")


def _all_named(target: Field, names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(_option(target, name) for name in names))


def _options(target: Field, text: str) -> list[str]:
    """Return the options that a text names: the one that it is, or else those between its commas. NotConvertible."""
    if text in target.option_by_value:
        return [text]
    return _all_named(target, (name for name in text.split(",") if name.strip()))


_FORMS: Final[Mapping[FieldType, Callable[[Field, str, FieldType], Any]]] = {
    FieldType.TEXT: lambda _, text, __: text,
    FieldType.NUMBER: lambda _, text, __: text.strip(),
    FieldType.DATE: _date,
    FieldType.DATETIME: _datetime,
    FieldType.BOOL: _bool,
    FieldType.ENUM: lambda target, text, _: _option(target, text),
    FieldType.MULTI_ENUM: lambda target, text, _: _options(target, text),
    FieldType.USER: lambda _, text, __: text.strip(),
}
"""The value of a request, by the type of the target: from a text of a field of another type."""
