"""A container's memory of where blocks begin."""

import pytest

from gridview.chains import fence_cache
from gridview.chains.blocks import HEAD
from gridview.chains.fence_cache import Fences


def test_a_key_is_guessed_to_be_in_the_block_that_begins_at_it_or_last_before_it() -> None:
    fences = Fences()
    assert not fences.knows("blocks-a")
    assert fences.guess("blocks-a", "m") == HEAD
    fences.learn("blocks-a", [("m", "two"), ("t", "three")])
    assert fences.knows("blocks-a")
    assert [fences.guess("blocks-a", key) for key in ("a", "m", "n", "t", "z")] == [
        HEAD,
        "two",
        "two",
        "three",
        "three",
    ]
    assert fences.guess("blocks-b", "z") == HEAD


def test_a_block_that_is_no_more_is_not_guessed_again() -> None:
    fences = Fences()
    fences.learn("blocks-a", [("m", "two"), ("t", "three")])
    fences.forget("blocks-a", "three")
    assert fences.guess("blocks-a", "z") == "two"


def test_fences_of_so_many_families_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fence_cache, "FAMILIES", 2)
    fences = Fences()
    for directory in ("blocks-a", "blocks-b", "blocks-a", "blocks-c"):
        fences.learn(directory, [("m", "two")])
    assert [fences.knows(directory) for directory in ("blocks-a", "blocks-b", "blocks-c")] == [
        True,
        False,
        True,
    ]
