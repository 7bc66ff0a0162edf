"""The functions of texts in formulas. A text that is no value is "", and a result of "" is no value. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gridview.formulas.characters import WHITE_SPACE, Characters
from gridview.formulas.numbers import Number, number_of
from gridview.formulas.parts import MAX_TEXT, Evaluation, FormulaPart, check_length, checked_length, constant


def concatenated(parts: Sequence[FormulaPart]) -> FormulaPart:
    """Return all texts as one."""
    if len(parts) == 2:
        one, other = parts
        return lambda evaluation: checked_length(one(evaluation) + other(evaluation))
    return lambda evaluation: checked_length("".join([one(evaluation) for one in parts]))


def contains(parts: Sequence[FormulaPart], characters: Characters) -> FormulaPart:
    """Return whether a text contains another, case-folded."""
    whole, part = parts
    fold = characters.fold

    def value(evaluation: Evaluation) -> bool:
        text, wanted = whole(evaluation), part(evaluation)
        evaluation.search(text, wanted)
        evaluation.read(len(wanted))
        return fold(wanted) in fold(text)

    return value


def lower(parts: Sequence[FormulaPart], characters: Characters) -> FormulaPart:
    """Return the text in lower case."""
    return _mapped(characters.lower, parts[0])


def upper(parts: Sequence[FormulaPart], characters: Characters) -> FormulaPart:
    """Return the text in upper case."""
    return _mapped(characters.upper, parts[0])


def _mapped(mapping: Callable[[str], str], part: FormulaPart) -> FormulaPart:
    def value(evaluation: Evaluation) -> str:
        text = part(evaluation)
        evaluation.read(len(text))
        return checked_length(mapping(text))

    return value


def trim(parts: Sequence[FormulaPart], _: Characters) -> FormulaPart:
    """Return the text without white space at its ends."""

    def value(evaluation: Evaluation) -> str:
        text: str = parts[0](evaluation)
        evaluation.read(len(text))
        return text.strip(WHITE_SPACE)

    return value


def stripped(function: Callable[[str], Any], part: FormulaPart) -> FormulaPart:
    """Return a function of a text without white space at its ends: no value of an empty one."""

    def value(evaluation: Evaluation) -> Any:
        text = part(evaluation)
        evaluation.read(len(text))
        inner = text.strip(WHITE_SPACE)
        return function(inner) if inner else None

    return value


def number_in(parts: Sequence[FormulaPart], _: Characters) -> FormulaPart:
    """Return the number that a text is."""
    return stripped(number_of, parts[0])


def length(parts: Sequence[FormulaPart], _: Characters) -> FormulaPart:
    """Return the count of characters."""
    (part,) = parts
    return lambda evaluation: len(part(evaluation))


def left(parts: Sequence[FormulaPart], _: Characters) -> FormulaPart:
    """Return the first characters."""
    return _cut(parts, lambda text, count: text[:count])


def right(parts: Sequence[FormulaPart], _: Characters) -> FormulaPart:
    """Return the last characters."""
    return _cut(parts, lambda text, count: text[max(0, len(text) - count) :])


def _cut(parts: Sequence[FormulaPart], cut: Callable[[str, int], str]) -> FormulaPart:
    whole, some = parts

    def value(evaluation: Evaluation) -> str:
        text, count = whole(evaluation), some(evaluation)
        return "" if count is None else cut(text, _place(count))

    return value


def middle(parts: Sequence[FormulaPart], _: Characters) -> FormulaPart:
    """Return so many characters from a place on, which counts from 1."""
    whole, begin, some = parts

    def value(evaluation: Evaluation) -> str:
        text, start, count = whole(evaluation), begin(evaluation), some(evaluation)
        if start is None or count is None:
            return ""
        first = max(0, _place(start) - 1)
        found: str = text[first : first + _place(count)]
        return found

    return value


def substituted(parts: Sequence[FormulaPart], _: Characters) -> FormulaPart:
    """Return the text with each occurrence of a part replaced, character for character; "" occurs nowhere."""
    whole, part, new = parts

    def value(evaluation: Evaluation) -> str:
        text, old, instead = whole(evaluation), part(evaluation), new(evaluation)
        if not old:
            return str(text)
        evaluation.search(text, old)
        if len(instead) > len(old):
            # The result could be a thousand times as long as a text may be.
            check_length(len(text) + text.count(old) * (len(instead) - len(old)))
        replaced: str = text.replace(old, instead)
        return replaced

    return value


def found(parts: Sequence[FormulaPart], _: Characters) -> FormulaPart:
    """Return the place of a part in a text, character for character, from a place on. Both count from 1; 0 is nowhere."""
    part, whole = parts[:2]
    begin = parts[2] if len(parts) > 2 else constant(1)

    def value(evaluation: Evaluation) -> int | None:
        wanted, text, start = part(evaluation), whole(evaluation), begin(evaluation)
        if start is None:
            return None
        evaluation.search(text, wanted)
        place: int = text.find(wanted, max(0, _place(start) - 1)) + 1
        return place

    return value


def _place(count: Number) -> int:
    """Return a count of characters as an int: without its fraction, from 0 to more than any text has."""
    return int(max(0, min(count, MAX_TEXT + 1)))


TextFunction = Callable[[Sequence[FormulaPart], Characters], FormulaPart]

TEXT_FUNCTIONS: Mapping[str, TextFunction] = {
    "CONTAINS": contains,
    "LOWER": lower,
    "UPPER": upper,
    "TRIM": trim,
    "VALUE": number_in,
    "LEN": length,
    "LEFT": left,
    "RIGHT": right,
    "MID": middle,
    "SUBSTITUTE": substituted,
    "FIND": found,
}
"""The functions by name. Texts among their parts return "" for no value."""
