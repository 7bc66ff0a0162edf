"""The same work on many items."""

from collections.abc import Iterator
from threading import Event, get_ident

import pytest

from gridview.support.concurrency import chunked, in_threads


def test_parallel_results_are_in_the_order_of_the_inputs() -> None:
    ended = Event()

    def work(number: int) -> int:
        if number == 1:
            assert ended.wait(30), "the second is worked on beside the first"
        ended.set()
        return number * 10

    assert in_threads(work, [1, 2]) == [10, 20]


def test_a_single_thing_takes_no_thread() -> None:
    assert in_threads(lambda _: get_ident(), [1]) == [get_ident()]


def test_an_error_of_a_thread_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda number: 1 // number, [1, 0, 1])


def test_chunks_are_asked_for_as_they_are_needed() -> None:
    asked: list[int] = []

    def things() -> Iterator[int]:
        for number in range(5):
            asked.append(number)
            yield number

    chunks = chunked(things(), 2)
    assert next(chunks) == [0, 1] == asked
    assert list(chunks) == [[2, 3], [4]]
