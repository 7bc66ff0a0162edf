"""A page of a collection: how many things it has, and where the next one begins."""

from collections.abc import Iterator
from typing import Any

import pytest

from gridview.commands import pages


def page(count: int, limit: int) -> tuple[list[int], Any, int]:
    """The numbers on a page of the numbers from 1 on, the place of the last one, and how many numbers were read."""
    read: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(1, count + 1):
            read.append(number)
            yield number

    items, last = pages.first_of(
        numbers(), limit, lambda number: {"id": number}, lambda number: f"at {number}"
    )
    return [item["id"] for item in items], last, len(read)


def test_a_page_has_as_many_as_wanted_and_reads_one_more() -> None:
    assert page(5, 2) == ([1, 2], "at 2", 3)
    assert page(2, 2) == ([1, 2], None, 2)
    assert page(0, 2) == ([], None, 0)


@pytest.mark.parametrize(("room", "shown"), [(1, 1), (8, 1), (16, 2), (23, 2), (24, 3)])
def test_a_page_has_what_an_answer_can_hold_and_one_at_least(
    monkeypatch: pytest.MonkeyPatch, room: int, shown: int
) -> None:
    """`{"id":1}` takes eight bytes, and more where Lambda escapes it."""
    monkeypatch.setattr(pages, "size_in_response", len)
    monkeypatch.setattr(pages, "MAX_PAGE_BYTES", room)
    assert page(9, 5) == ([*range(1, shown + 1)], f"at {shown}", shown + 1)
