"""The parts of a formula as functions of one evaluation, and what all of them share. Pure.

A part returns its value in stored form, or None for no value. Only texts return "" instead. `NoValue`, and the exceptions
of `decimal` for the range, end the evaluation. So a part that is not needed cannot end it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gridview.formulas.numbers import NoValue, Unavailable

MAX_TEXT = 4_096
"""Characters of a text within a formula."""
MAX_CHARACTERS_READ = 16_384
"""Characters that the functions and comparisons of one evaluation read, without functions that only join and cut texts."""
_NEEDLE = 64
"""Characters of a part for which a search takes as long as reading the text once more."""


class Evaluation:
    """The evaluation of one formula for one document."""

    __slots__ = ("document", "fields", "left")

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.fields: Mapping[str, Any] = document.get("fields") or {}
        self.left = MAX_CHARACTERS_READ

    def read(self, characters: int) -> None:
        """Count characters that a function reads. NoValue if they become too many."""
        self.left -= characters
        if self.left < 0:
            raise NoValue(Unavailable.TOO_LONG)

    def search(self, text: str, part: str) -> None:
        """Count the characters of a search for a part in a text. NoValue."""
        self.read(len(text) * (len(part) // _NEEDLE + 1))


FormulaPart = Callable[[Evaluation], Any]


def check_length(length: int, most: int = MAX_TEXT) -> None:
    """NoValue if a text of so many characters is too long."""
    if length > most:
        raise NoValue(Unavailable.TOO_LONG)


def checked_length(text: str) -> str:
    """Return the text. NoValue if it is too long."""
    if len(text) > MAX_TEXT:
        raise NoValue(Unavailable.TOO_LONG)
    return text


def of_one(function: Callable[[Any], Any], one: FormulaPart) -> FormulaPart:
    """Return a function of a value: no value of no value."""

    def part(evaluation: Evaluation) -> Any:
        value = one(evaluation)
        return None if value is None else function(value)

    return part


def of_two(function: Callable[[Any, Any], Any], one: FormulaPart, other: FormulaPart) -> FormulaPart:
    """Return a function of two values: no value if either is none."""

    def part(evaluation: Evaluation) -> Any:
        left, right = one(evaluation), other(evaluation)
        return None if left is None or right is None else function(left, right)

    return part


def with_second(function: Callable[[Any, Any], Any], one: FormulaPart, second: Any) -> FormulaPart:
    """Return a function of a value and one that is always the same."""

    def part(evaluation: Evaluation) -> Any:
        value = one(evaluation)
        return None if value is None else function(value, second)

    return part


def of_three(function: Callable[[Any, Any, Any], Any], parts: Sequence[FormulaPart]) -> FormulaPart:
    """Return a function of three values: no value if any is none."""
    one, other, third = parts

    def part(evaluation: Evaluation) -> Any:
        first, second, last = one(evaluation), other(evaluation), third(evaluation)
        return None if first is None or second is None or last is None else function(first, second, last)

    return part


def of_values(function: Callable[[Sequence[Any]], Any], parts: Sequence[FormulaPart]) -> FormulaPart:
    """Return a function of those of several that are values: no value if none is."""

    def part(evaluation: Evaluation) -> Any:
        values = []
        for one in parts:
            value = one(evaluation)
            if value is not None:
                values.append(value)
        return function(values) if values else None

    return part


def constant(value: Any) -> FormulaPart:
    """Return a part that is always the same."""
    return lambda _: value
