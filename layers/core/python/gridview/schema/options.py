"""The option list of an enum, and the changes that a request makes to it. Pure."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BeforeValidator
from pydantic import Field as ModelField

from gridview.encoding import option_ranks
from gridview.encoding.attribute_values import item_size
from gridview.schema.fields import MAX_OPTIONS, Color, Option
from gridview.support.errors import Conflict, FieldError, InvalidRequest, LimitExceeded
from gridview.support.validation import RequestModel, omissible

MAX_VALUE_LENGTH = 256
"""Characters of an option's value."""

MAX_STORED_BYTES = 384 * 1024
"""Bytes of the options of a field, with the dropped ones. DynamoDB stores 400 KB in the item of their definition."""

_Value = Annotated[str, ModelField(min_length=1, max_length=MAX_VALUE_LENGTH)]


class OptionInput(RequestModel):
    """One option of a request. Without an id it denotes the existing option with this value, or a new one."""

    value: _Value
    id: str | None = None
    color: Color | None = omissible(
        description="null for no color. If omitted, an existing option keeps its color."
    )

    def colored(self, option: Option) -> Option:
        """Return the option with the color of this request, if it has a say in it."""
        return replace(option, color=self.color) if "color" in self.model_fields_set else option


def _spelled_out(one: Any) -> Any:
    return {"value": one} if isinstance(one, str) else one


def _not_too_many(given: Any) -> Any:
    if isinstance(given, list) and len(given) > MAX_OPTIONS:
        raise LimitExceeded(f"A field can have at most {MAX_OPTIONS} options.")
    return given


def _all_different(options: list[OptionInput]) -> list[OptionInput]:
    values, named = [one.value for one in options], [one.id for one in options if one.id is not None]
    if len(set(values)) < len(values) or len(set(named)) < len(named):
        raise ValueError("must not contain a value or an id twice")
    return options


OptionsInput = Annotated[
    list[Annotated[OptionInput, BeforeValidator(_spelled_out, json_schema_input_type=_Value | OptionInput)]],
    ModelField(max_length=MAX_OPTIONS),
    BeforeValidator(_not_too_many),
    AfterValidator(_all_different),
]
"""The options of a request; each is a string (its value) or an object."""


class OptionChange(NamedTuple):
    """The options after a request, the next free id number, and which of the earlier options it drops or moves."""

    options: tuple[Option, ...]
    next_option: int
    dropped: frozenset[str]
    moved: frozenset[str]


def change(
    field_name: str,
    before: Sequence[Option],
    next_option: int,
    requested: Iterable[OptionInput],
    *,
    moved_at: int | None = None,
) -> OptionChange:
    """Match the requested options with the existing ones, by id, else by value. An unmatched one is new; an
    omitted one is dropped.

    Moved options remember their ranks until the epoch `moved_at`; None means that no issue is indexed by
    them. `field_name` names the property in errors. InvalidRequest on an unknown id; Conflict on values that
    are the same text in two spellings of Unicode; LimitExceeded if the options cannot be stored.
    """
    wanted = list(requested)
    live = [option for option in before if not option.retired]
    matches = _matches(field_name, wanted, live)
    _refuse_twins(field_name, wanted)
    # Conditions and groups read the option of an issue from its rank. So no option gets the rank of another one.
    taken = {rank for option in before for rank in option.ranks}
    placed = option_ranks.reorder([match.rank if match else None for match in matches], taken)
    options: list[Option] = []
    for one, match, rank in zip(wanted, matches, placed, strict=True):
        if match is None:
            option = Option(f"o{next_option}", one.value, rank)
            next_option += 1
        elif match.rank == rank or moved_at is None:
            option = replace(match, value=one.value, rank=rank)
        else:
            option = replace(match.moved_to(rank, moved_at), value=one.value)
        options.append(one.colored(option))
    kept = {option.id for option in options}
    dropped = [replace(option, retired=True) for option in live if option.id not in kept]
    stored = (*options, *dropped, *(option for option in before if option.retired))
    _require_room(stored)
    return OptionChange(
        options=stored,
        next_option=next_option,
        dropped=frozenset(option.id for option in dropped),
        moved=frozenset(
            match.id for match, rank in zip(matches, placed, strict=True) if match and match.rank != rank
        ),
    )


def _require_room(options: Sequence[Option]) -> None:
    """Raise LimitExceeded if the options of a field are too large for the item of their definition."""
    if item_size([option.to_item() for option in options]) > MAX_STORED_BYTES:
        dropped = sum(option.retired for option in options)
        raise LimitExceeded(
            f"The options would take more than {MAX_STORED_BYTES // 1024} KB with the {dropped:,} dropped ones, which "
            "are kept. Rename options instead of replacing them."
        )


def _refuse_twins(field_name: str, wanted: Sequence[OptionInput]) -> None:
    """Conflict on values that NFC makes equal: nobody can see which is which."""
    first: dict[str, int] = {}
    twins = [
        FieldError(
            f"{field_name}.{place}.value", f"is the same text as {field_name}.{earlier} in Unicode NFC"
        )
        for place, one in enumerate(wanted)
        if (earlier := first.setdefault(unicodedata.normalize("NFC", one.value), place)) != place
    ]
    if twins:
        raise Conflict(
            "Two values are the same text in different characters. Fix what `errors` lists.", twins
        )


def _matches(field_name: str, wanted: Sequence[OptionInput], live: Sequence[Option]) -> list[Option | None]:
    """Return the existing option that each requested one denotes, or None for a new one."""
    by_id = {option.id: option for option in live}
    named = {one.id for one in wanted}
    # An option whose id appears elsewhere in the list is renamed there; its old value is free for a new option.
    by_value = {option.value: option for option in live if option.id not in named}
    unknown = [
        FieldError(f"{field_name}.{place}.id", "is not the id of an option")
        for place, one in enumerate(wanted)
        if one.id is not None and one.id not in by_id
    ]
    if unknown:
        raise InvalidRequest("The options are not valid. Fix what `errors` lists.", unknown)
    return [by_value.get(one.value) if one.id is None else by_id[one.id] for one in wanted]


def options_json(options: Iterable[Option]) -> list[dict[str, str | None]]:
    """Return the options that a new value may use, as the API returns them."""
    return [
        {"id": option.id, "value": option.value, "color": option.color}
        for option in options
        if not option.retired
    ]
