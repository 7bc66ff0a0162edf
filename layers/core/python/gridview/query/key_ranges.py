"""The keys, by family, of the issues that match a condition: the access of each operator in `operators`. Pure.

A condition becomes ranges of keys (`Within`), joined by `Both`, `Either` and `Without`. They mean the sets of issues with
keys there. If the index knows less than the documents, a range is *doubtful*: no other issues match, but only documents
show whether these do.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from math import ceil, floor
from typing import Any, NamedTuple

from gridview.chains.blocks import FIRST
from gridview.chains.directory import WHOLE, Range
from gridview.derive.families import INDEX_TOKEN_WIDTH, INDEX_TOKENS_SUFFIX, NUMBERS
from gridview.derive.sort_entries import SPECS
from gridview.encoding import sort_strings
from gridview.encoding.fences import after, before
from gridview.encoding.sort_strings import NUMBER_WIDTH, SPEC_VERSION, TEXT_WIDTH
from gridview.encoding.tokenizer import case_folded, inner_words, words
from gridview.schema.fields import NUM, Field, FieldOrder, FieldType


class Doubt(Enum):
    """The reasons why sets do not decide a condition."""

    UNINDEXED = "it has no index"
    BUILDING = "its index is not complete yet"
    UNSEARCHED = "its words are not indexed"
    PART = "an index does not have the parts of words"
    LONG = "an index has only the beginnings of long texts"
    MOVING = "issues are still being moved to the new places of its options"


@dataclass(frozen=True)
class Within:
    """The issues with a key in these ranges of a family, disjoint and in order. With a `doubt` they only may match."""

    family: str
    ranges: tuple[Range, ...] = (WHOLE,)
    doubt: Doubt | None = None


@dataclass(frozen=True)
class Both:
    """The issues in all parts."""

    parts: tuple["Access", ...]


@dataclass(frozen=True)
class Either:
    """The issues in at least one part."""

    parts: tuple["Access", ...]


@dataclass(frozen=True)
class Without:
    """All issues except those of its part."""

    part: "Access"


Access = Within | Both | Either | Without

EVERYTHING = Within(NUMBERS)
"""All issues."""

OPEN = Within(NUMBERS, doubt=Doubt.UNINDEXED)
"""All issues, of which only documents show which match."""


class Asked(NamedTuple):
    """A condition: a field, an operand in stored form, and the maker of the operator's test of a stored value."""

    field: Field
    operand: Any
    judge: Callable[[], Callable[[Any], bool]]


AccessOf = Callable[[Asked], Access]


def leaves(access: Access) -> Iterator[Within]:
    """The ranges that an access consists of."""
    match access:
        case Within():
            yield access
        case Without(part):
            yield from leaves(part)
        case Both(parts) | Either(parts):
            for part in parts:
                yield from leaves(part)


def without(part: Access) -> Access:
    """All issues except those of a part."""
    return part.part if isinstance(part, Without) else Without(part)


# For each operator


def outside(access: AccessOf) -> AccessOf:
    """The issues that another operator does not match, including those without a value."""

    def others(asked: Asked) -> Access:
        passes = asked.judge
        return without(access(asked._replace(judge=lambda: _opposite(passes()))))

    return others


def _opposite(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: not test(value)


def anything(asked: Asked) -> Access:
    """The issues with a value."""
    if asked.field.key == NUM:
        return EVERYTHING
    order = asked.field.served
    return Within(order.order_id) if order else Within(NUMBERS, doubt=_unserved(asked.field))


def equal(asked: Asked) -> Access:
    """The issues with this value."""
    return among(asked._replace(operand=[asked.operand]))


def among(asked: Asked) -> Access:
    """The issues with one of these values."""
    order = asked.field.served
    if asked.field.type is FieldType.TEXT and order is not None and _compares(order):
        long = [one for one in asked.operand if len(case_folded(one)) >= TEXT_WIDTH]
        short = [one for one in asked.operand if len(case_folded(one)) < TEXT_WIDTH]
        return _either(
            _ranged(order.order_id, map(_of_order(order).exactly, short)),
            _ranged(order.order_id, map(_of_order(order).exactly, long), Doubt.LONG),
        )
    if asked.field.type is FieldType.MULTI_ENUM and order is not None and not _compares(order):
        sets = (_all(_index_token(order, option) for option in sorted(set(one))) for one in asked.operand)
        return Both((Within(order.order_id, doubt=_blur(order)), _either(*sets)))
    return _ordered(asked, lambda order: map(order.exactly, asked.operand))


def up_to(asked: Asked) -> Access:
    """The issues with a value that does not come after this one."""
    return _ordered(asked, lambda order: [Range(FIRST, order.after(asked.operand))])


def below(asked: Asked) -> Access:
    """The issues with a value that comes before this one."""
    return _ordered(asked, lambda order: [Range(FIRST, order.before(asked.operand))])


def above(asked: Asked) -> Access:
    """The issues with a value that comes after this one."""
    return _ordered(asked, lambda order: [Range(order.after(asked.operand), None)])


def from_on(asked: Asked) -> Access:
    """The issues with a value that does not come before this one."""
    return _ordered(asked, lambda order: [Range(order.before(asked.operand), None)])


def between(asked: Asked) -> Access:
    """The issues with a value from the first to the second."""
    least, most = asked.operand
    return _ordered(asked, lambda order: [Range(order.before(least), order.after(most))])


def starting(asked: Asked) -> Access:
    """The issues with a text that starts with this one."""
    order = asked.field.served
    if order is None or not _compares(order):
        return _undecided(asked)
    body = _of_order(order).body(asked.operand)
    if len(case_folded(asked.operand)) > TEXT_WIDTH:
        return _ranged(order.order_id, [Range(before(body), after(body))], Doubt.LONG)
    return _ranged(order.order_id, [Range(before(body), _after_prefix(body))])


def containing(asked: Asked) -> Access:
    """The issues with a text that contains this one."""
    order = asked.field.served
    if order is None:
        return _undecided(asked)
    if not case_folded(asked.operand):
        return anything(asked)
    whole = sorted(inner_words(asked.operand)) if order.searched else []
    return _all([Within(order.order_id, doubt=Doubt.PART), *(_index_token(order, word) for word in whole)])


def with_words(asked: Asked) -> Access:
    """The issues with all words of this text."""
    order = asked.field.served
    if order is None:
        return _undecided(asked)
    if not order.searched:
        return Within(order.order_id, doubt=_unsearched(asked.field))
    return _all(_index_token(order, word) for word in sorted(words(asked.operand)))


def with_any(asked: Asked) -> Access:
    """The issues with one of these options."""
    order = asked.field.served
    if order is None:
        return _undecided(asked)
    return _ranged(
        order.order_id + INDEX_TOKENS_SUFFIX, (Range(before(one), after(one)) for one in asked.operand)
    )


def with_all(asked: Asked) -> Access:
    """The issues with all of these options."""
    order = asked.field.served
    if order is None:
        return _undecided(asked)
    return _all(_index_token(order, one) for one in sorted(set(asked.operand)))


# Places in an order


class _Places(NamedTuple):
    """The fences around the keys of a value in a family."""

    family: str
    before: Callable[[Any], str]
    after: Callable[[Any], str]
    body: Callable[[Any], str]

    def exactly(self, value: Any) -> Range:
        """The keys of a value."""
        return Range(self.before(value), self.after(value))


def _of_order(order: FieldOrder) -> _Places:
    bodies = SPECS[order.index.spec][order.field.type]

    def body(value: Any) -> str:
        return bodies(order.field, value)

    return _Places(order.order_id, lambda value: before(body(value)), lambda value: after(body(value)), body)


def _fence(num: int) -> str:
    """The fence before the key of this number among all numbers."""
    if num <= 1:
        return FIRST
    return sort_strings.sort_string("", num) if num < 10**NUMBER_WIDTH else after("")


_OF_NUMBERS = _Places(
    NUMBERS,
    # An operand may be between two numbers.
    lambda value: _fence(ceil(Decimal(value))),
    lambda value: _fence(floor(Decimal(value)) + 1),
    str,
)


def _ordered(asked: Asked, ranges: Callable[[_Places], Iterable[Range]]) -> Access:
    """The issues with a value in these ranges of the field's order."""
    if asked.field.key == NUM:
        return _ranged(NUMBERS, ranges(_OF_NUMBERS))
    order = asked.field.served
    if order is not None and asked.field.type in (FieldType.ENUM, FieldType.BOOL):
        return _by_options(asked, order)
    if order is None or not _compares(order):
        return _undecided(asked)
    return _ranged(order.order_id, ranges(_of_order(order)))


def _by_options(asked: Asked, order: FieldOrder) -> Access:
    """The issues with one of the few values that pass, at every place where the move of an option may have left them."""
    if order.index.spec != SPEC_VERSION:
        return _undecided(asked)
    test = asked.judge()
    passing: set[str] = set()
    failing: set[str] = set()
    if asked.field.type is FieldType.BOOL:
        for value in (False, True):
            (passing if test(value) else failing).add(sort_strings.boolean(value))
    for option in asked.field.options:
        (passing if test(option.id) else failing).update(map(sort_strings.enum, option.ranks))
    return _either(
        _ranged(order.order_id, (Range(before(one), after(one)) for one in passing - failing)),
        # A place that one option has left and another one has taken.
        _ranged(order.order_id, (Range(before(one), after(one)) for one in passing & failing), Doubt.MOVING),
    )


def _compares(order: FieldOrder) -> bool:
    """Whether the index has every issue where its value belongs, in the form in which conditions compare."""
    return order.index.spec == SPEC_VERSION and not order.field.moving


def _blur(order: FieldOrder) -> Doubt:
    return Doubt.MOVING if order.index.spec == SPEC_VERSION else Doubt.BUILDING


def _undecided(asked: Asked) -> Within:
    """An access that leaves the decision to documents."""
    order = asked.field.served
    if order is None:
        return Within(NUMBERS, doubt=_unserved(asked.field))
    return Within(order.order_id, doubt=_blur(order))


def _unserved(field: Field) -> Doubt:
    return Doubt.BUILDING if field.indexed else Doubt.UNINDEXED


def _unsearched(field: Field) -> Doubt:
    building = field.indexes.building
    return Doubt.BUILDING if building is not None and building.words else Doubt.UNSEARCHED


def _index_token(order: FieldOrder, index_token: str) -> Within:
    """The issues with an option or a word."""
    kept = index_token[:INDEX_TOKEN_WIDTH]
    doubt = Doubt.LONG if len(index_token) >= INDEX_TOKEN_WIDTH else None
    return Within(order.order_id + INDEX_TOKENS_SUFFIX, (Range(before(kept), after(kept)),), doubt)


def _either(*parts: Access) -> Access:
    """The parts joined, without the empty ones."""
    some = tuple(part for part in parts if not (isinstance(part, Within) and not part.ranges)) or parts[:1]
    return some[0] if len(some) == 1 else Either(some)


def _all(parts: Iterable[Access]) -> Access:
    found = tuple(parts)
    return found[0] if len(found) == 1 else Both(found)


def _ranged(family: str, ranges: Iterable[Range], doubt: Doubt | None = None) -> Within:
    """The ranges in order, without empty ones, and with adjoining ones joined."""
    joined: list[Range] = []
    for one in sorted((one for one in ranges if not one.empty), key=lambda one: one.lower):
        last = joined[-1] if joined else None
        if last is not None and (last.upper is None or one.lower <= last.upper):
            upper = None if last.upper is None or one.upper is None else max(last.upper, one.upper)
            joined[-1] = Range(last.lower, upper)
        else:
            joined.append(one)
    return Within(family, tuple(joined), doubt)


_LAST_CHARACTER = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def _after_prefix(prefix: str) -> str | None:
    """The fence after every key with this prefix; None if no key comes after them."""
    while prefix:
        following = ord(prefix[-1]) + 1
        if following in _SURROGATES:
            following = _SURROGATES.stop
        if following <= _LAST_CHARACTER:
            return prefix[:-1] + chr(following)
        prefix = prefix[:-1]
    return None
