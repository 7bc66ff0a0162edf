"""The options that a request's list produces."""

from typing import Any

import pytest

from gridview.encoding.attribute_values import item_size
from gridview.schema.fields import Option
from gridview.schema.options import MAX_STORED_BYTES, OptionChange, OptionsInput, change
from gridview.support.errors import InvalidRequest, LimitExceeded
from gridview.support.validation import RequestModel, parse


class Body(RequestModel):
    options: OptionsInput


def asked(requested: list[Any]) -> OptionsInput:
    return parse(Body, {"options": requested}).options


def changed(before: tuple[Option, ...], next_option: int, *requested: Any) -> OptionChange:
    return change("options", before, next_option, asked(list(requested)))


def described(result: OptionChange) -> list[tuple[str, str]]:
    return [(option.id, option.value) for option in result.options if not option.retired]


def errors(*requested: Any) -> dict[str, str]:
    with pytest.raises(InvalidRequest) as caught:
        asked(list(requested))
    return dict(caught.value.errors)


LOW_MEDIUM_HIGH = changed((), 1, "low", "medium", "high")


def test_new_options_get_ids_and_ranks_in_the_order_given() -> None:
    assert described(LOW_MEDIUM_HIGH) == [("o1", "low"), ("o2", "medium"), ("o3", "high")]
    ranks = [option.rank for option in LOW_MEDIUM_HIGH.options]
    assert ranks == sorted(set(ranks))
    assert (LOW_MEDIUM_HIGH.next_option, LOW_MEDIUM_HIGH.dropped, LOW_MEDIUM_HIGH.moved) == (
        4,
        frozenset(),
        frozenset(),
    )


def test_a_text_is_short_for_an_object() -> None:
    assert asked(["low", {"value": "high"}]) == asked([{"value": "low"}, "high"])


def test_an_option_named_by_its_id_is_renamed() -> None:
    result = changed(LOW_MEDIUM_HIGH.options, 4, {"id": "o1", "value": "minor"}, "medium", "high")
    assert described(result) == [("o1", "minor"), ("o2", "medium"), ("o3", "high")]
    assert (result.dropped, result.moved) == (frozenset(), frozenset())
    assert [one.rank for one in result.options] == [one.rank for one in LOW_MEDIUM_HIGH.options]


def test_two_options_can_swap_their_values() -> None:
    result = changed(
        LOW_MEDIUM_HIGH.options, 4, {"id": "o1", "value": "high"}, "medium", {"id": "o3", "value": "low"}
    )
    assert described(result) == [("o1", "high"), ("o2", "medium"), ("o3", "low")]


def test_the_old_value_of_a_renamed_option_is_free_for_a_new_one() -> None:
    result = changed(LOW_MEDIUM_HIGH.options, 4, {"id": "o1", "value": "lowest"}, "low", "medium", "high")
    assert described(result) == [("o1", "lowest"), ("o4", "low"), ("o2", "medium"), ("o3", "high")]
    assert result.moved == frozenset()


def test_an_omitted_option_is_retired_and_kept_for_issues_that_have_it() -> None:
    result = changed(LOW_MEDIUM_HIGH.options, 4, "low", "high")
    assert result.dropped == {"o2"}
    assert [(one.id, one.retired) for one in result.options] == [("o1", False), ("o3", False), ("o2", True)]


def test_a_dropped_value_that_comes_again_is_another_option() -> None:
    without = changed(LOW_MEDIUM_HIGH.options, 4, "low", "high")
    again = changed(without.options, without.next_option, "low", "medium", "high")
    assert described(again) == [("o1", "low"), ("o4", "medium"), ("o3", "high")]
    assert [one.id for one in again.options if one.retired] == ["o2"]


def test_a_dropped_option_cannot_be_named_by_its_id() -> None:
    without = changed(LOW_MEDIUM_HIGH.options, 4, "low", "high")
    with pytest.raises(InvalidRequest) as caught:
        changed(without.options, 4, "low", {"id": "o2", "value": "medium"})
    assert [one.field for one in caught.value.errors] == ["options.1.id"]


@pytest.mark.parametrize(
    "lists",
    [
        [["A", "B", "C"], ["A", "C"], ["A", "N", "C"]],
        [["A", "B", "C"], ["A", "N", "C"]],
        [["A", "B"], ["A", "B", "C"], ["A", "B"], ["A", "B", "D"]],
        [["A", "B"], ["A", "B", "C"], ["A", "B"], ["A", "B", "C"]],
        [["A", "B"], ["C", "D"], ["E", "F"], ["B", "A"]],
        [["A", "B", "C"], ["B", "A", "C"], ["B", "A", "N", "C"]],
    ],
)
def test_no_option_gets_the_rank_of_a_dropped_one_or_one_that_another_is_leaving(
    lists: list[list[str]],
) -> None:
    options: tuple[Option, ...] = ()
    for epoch, requested in enumerate(lists):
        options = change("options", options, len(options) + 1, asked(requested), moved_at=epoch).options
    ranks = [rank for option in options for rank in option.ranks]
    assert len(set(ranks)) == len(ranks)


def test_another_order_moves_as_few_as_it_can() -> None:
    result = changed(LOW_MEDIUM_HIGH.options, 4, "medium", "high", "low")
    assert result.moved == {"o1"}
    ranks = [one.rank for one in result.options]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize(
    ("requested", "fields"),
    [
        ([""], {"options.0.value"}),
        (["a", {"value": ""}], {"options.1.value"}),
        (["x" * 257], {"options.0.value"}),
        ([1], {"options.0"}),
        ([None, ["a"]], {"options.0", "options.1"}),
        ([{"value": 1}], {"options.0.value"}),
        ([{"valu": "a"}], {"options.0.value", "options.0.valu"}),
        ([{"value": "a", "id": 1}], {"options.0.id"}),
        (["a", "b", "a"], {"options"}),
        ([{"id": "o1", "value": "a"}, {"id": "o1", "value": "b"}], {"options"}),
    ],
)
def test_everything_wrong_with_a_list_is_named(requested: list[Any], fields: set[str]) -> None:
    assert errors(*requested).keys() == fields


def test_the_longest_value_and_values_that_differ_in_case_are_fine() -> None:
    assert len(asked(["x" * 256, "a", "A", " "])) == 4


def test_200_options_are_the_most() -> None:
    assert len(changed((), 1, *map(str, range(200))).options) == 200
    with pytest.raises(LimitExceeded, match="200"):
        changed((), 1, *map(str, range(201)))


def test_dropped_options_do_not_count() -> None:
    full = changed((), 1, *map(str, range(200)))
    other = changed(full.options, full.next_option, *(f"n{number}" for number in range(200)))
    assert len(described(other)) == 200


def test_dropped_options_count_towards_the_room_of_a_definition() -> None:
    def replaced(options: tuple[Option, ...]) -> tuple[Option, ...]:
        return changed(options, len(options) + 1, *(f"{len(options)}.{at}" for at in range(200))).options

    options = replaced(())
    while item_size([option.to_item() for option in options]) < MAX_STORED_BYTES - 10_000:
        options = replaced(options)
    with pytest.raises(
        LimitExceeded, match=r"more than 384 KB with the [\d,]+ dropped ones, .* Rename options"
    ):
        replaced(options)
    renamed = [{"id": option.id, "value": f"r{option.id}"} for option in options if not option.retired]
    assert not changed(options, len(options) + 1, *renamed).dropped
