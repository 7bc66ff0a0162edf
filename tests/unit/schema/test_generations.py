"""The generations of an index: the written ones, the served one, and their sequence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridview.encoding.sort_strings import SPEC_VERSION
from gridview.schema.generations import Index, Indexes, IndexNotReady, IndexState, order_id

READY, BUILDING, LEAVING = IndexState.READY, IndexState.BUILDING, IndexState.LEAVING


def states(indexes: Indexes) -> list[tuple[int, IndexState]]:
    return [(index.generation, index.state) for index in indexes.generations]


def test_a_new_field_has_a_complete_index_or_none() -> None:
    assert states(Indexes.complete()) == [(1, READY)]
    assert states(Indexes()) == []
    assert Indexes.complete().pending == Indexes().pending == 0


def test_an_index_that_is_switched_on_is_written_and_then_served() -> None:
    building = Indexes().on(4)
    assert (states(building), building.ready, building.pending) == ([(1, BUILDING)], None, 4)
    ready = building.after_pass(done=4, epoch=5)
    assert (states(ready), ready.pending) == ([(1, READY)], 0)


def test_a_pass_under_older_definitions_settles_nothing() -> None:
    building = Indexes().on(4)
    assert building.after_pass(done=3, epoch=5) == building
    leaving = Indexes.complete().off(4)
    assert leaving.after_pass(done=3, epoch=5) == leaving


def test_an_index_that_is_switched_off_leaves_and_is_never_given_again() -> None:
    leaving = Indexes.complete().off(4)
    assert (states(leaving), leaving.written, leaving.pending) == ([(1, LEAVING)], (), 4)
    again = leaving.on(5)
    assert states(again) == [(1, LEAVING), (2, BUILDING)]
    assert states(again.after_pass(done=4, epoch=6)) == [(2, BUILDING)]
    assert states(again.after_pass(done=5, epoch=6)) == [(2, READY)]


def test_switching_to_the_present_state_changes_nothing() -> None:
    assert Indexes.complete().on(4) == Indexes.complete()
    assert Indexes().off(4) == Indexes()
    assert Indexes().on(4).on(5) == Indexes().on(4)


def test_a_rebuilt_index_is_served_from_the_old_one_until_it_is_complete() -> None:
    both = Indexes.complete().rebuilt(4)
    assert states(both) == [(1, READY), (2, BUILDING)]
    assert [index.generation for index in both.written] == [1, 2]
    swapped = both.after_pass(done=4, epoch=5)
    assert (states(swapped), swapped.pending) == ([(1, LEAVING), (2, READY)], 5)
    assert states(swapped.after_pass(done=4, epoch=6)) == states(swapped), (
        "readers may still be on the old one"
    )
    assert states(swapped.after_pass(done=5, epoch=6)) == [(2, READY)]


def test_a_rebuild_of_what_is_being_built_begins_again() -> None:
    assert states(Indexes.complete().rebuilt(4).rebuilt(5)) == [(1, READY), (2, LEAVING), (3, BUILDING)]
    assert states(Indexes().on(4).rebuilt(5)) == [(1, LEAVING), (2, BUILDING)]
    assert Indexes().rebuilt(4) == Indexes()


def words(indexes: Indexes) -> list[bool]:
    return [index.words for index in indexes.generations]


def test_words_are_in_a_new_generation_and_the_present_one_is_served_without_them_meanwhile() -> None:
    searched = Indexes.complete().searched(4, words=True)
    assert (states(searched), words(searched)) == ([(1, READY), (2, BUILDING)], [False, True])
    assert searched.words
    swapped = searched.after_pass(done=4, epoch=5).after_pass(done=5, epoch=6)
    assert (states(swapped), words(swapped)) == ([(2, READY)], [True])
    without = swapped.searched(7, words=False)
    assert (states(without), words(without)) == ([(2, READY), (3, BUILDING)], [True, False])
    assert not without.words


def test_asking_for_words_while_an_index_is_built_begins_it_again() -> None:
    building = Indexes().on(4)
    searched = building.searched(5, words=True)
    assert (states(searched), words(searched)) == ([(1, LEAVING), (2, BUILDING)], [False, True])
    assert words(Indexes().on(4, words=True)) == [True]
    changed_mind = Indexes.complete().searched(4, words=True).searched(5, words=False)
    assert states(changed_mind) == [(1, READY), (2, LEAVING), (3, BUILDING)]
    assert words(changed_mind) == [False, True, False]


def test_words_stay_as_they_are_when_an_index_is_rebuilt_and_go_with_it() -> None:
    searched = Indexes.complete(words=True)
    assert words(searched.rebuilt(4)) == [True, True]
    assert searched.searched(4, words=True) == searched
    gone = searched.off(4)
    assert (gone.words, gone.searched(5, words=True)) == (False, gone.searched(5, words=False))
    assert words(gone.on(5)) == [True, False]
    assert Indexes().searched(4, words=True) == Indexes()


def entries(indexes: Indexes) -> list[bool]:
    return [index.entries for index in indexes.generations]


def test_whether_a_generation_has_entries_is_said_when_it_begins_and_stays() -> None:
    assert entries(Indexes.complete()) == entries(Indexes().on(4)) == [True]
    without = Indexes.complete(entries=False)
    assert entries(without) == entries(Indexes().on(4, entries=False)) == [False]
    assert entries(without.off(4)) == [False]
    assert entries(Indexes.complete().rebuilt(4, entries=False)) == [True, False]
    both = without.rebuilt(4)
    assert entries(both) == [False, True]
    assert entries(both.after_pass(4, 5)) == [False, True]
    assert entries(both.after_pass(4, 5).after_pass(5, 6)) == [True]
    assert Indexes.from_item(both.to_items()) == both


def test_a_definition_that_was_stored_before_says_nothing_of_entries_and_has_them() -> None:
    (with_entries,), (without,) = (
        one.to_items()["generations"] for one in (Indexes.complete(), Indexes.complete(entries=False))
    )
    assert "entries" not in with_entries
    assert without["entries"] is False


def test_the_order_id_says_whether_there_are_entries() -> None:
    assert order_id("a1", 2, entries=True) == "a1.2"
    assert order_id("a1", 2, entries=False) == "a1.2b"


def test_a_new_generation_is_in_the_present_form_of_the_sort_strings() -> None:
    old = Indexes((Index(1, READY, 0, spec=0),), 2)
    assert [index.spec for index in old.rebuilt(4).generations] == [0, SPEC_VERSION]


@given(
    st.lists(st.sampled_from(["on", "off", "rebuilt", "searched", "not searched", "settled", "settled late"]))
)
def test_at_most_one_index_is_served_and_no_generation_is_given_twice(
    steps: list[str],
) -> None:
    indexes, epoch, given_out = Indexes.complete(), 1, {1}
    for step in steps:
        epoch += 1
        before = indexes
        match step:
            case "on" | "off" | "rebuilt":
                indexes = getattr(indexes, step)(epoch)
            case "searched" | "not searched":
                indexes = indexes.searched(epoch, words=step == "searched")
                assert indexes.words is (step == "searched") or not indexes.written
            case "settled":
                indexes = indexes.after_pass(epoch - 1, epoch)
            case _:
                indexes = indexes.after_pass(epoch - 3, epoch)
        new = {one.generation for one in indexes.generations} - {one.generation for one in before.generations}
        assert not new & given_out
        given_out |= new
        assert sum(one.state is READY for one in indexes.generations) <= 1
        assert sum(one.state is BUILDING for one in indexes.generations) <= 1
        assert Indexes.from_item(indexes.to_items()) == indexes
        if step == "off":
            assert not indexes.written
        if step in {"settled", "settled late"} and before.ready:
            assert indexes.ready, "what is served is replaced, never taken away"


@pytest.mark.parametrize(("composite", "named"), [(None, "of kind"), ("kind-day", "kind-day")])
def test_an_index_that_is_not_ready_is_named(composite: str | None, named: str) -> None:
    error = IndexNotReady("kind", composite)
    assert f"The index {named} is being built" in error.detail
    assert (error.attribute, error.composite) == ("kind", composite)
