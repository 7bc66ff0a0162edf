"""Groups from blocks: the ones that a page takes."""

from collections.abc import Sequence

import pytest
from pyroaring import BitMap

from gridview.query.group_blocks import Combined, Label, first_of

Names = Sequence[tuple[str, str]]


def group(first: str, second: str) -> Combined:
    """A group of two fields. Texts with the same beginning end in `*`: documents must distinguish them."""
    labels = [Label((False, name, ""), name, several=name.endswith("*")) for name in (first, second)]
    return Combined(tuple(labels), 1, BitMap([1]))


def names(found: Sequence[Combined]) -> Names:
    return [(one.labels[0].shown, one.labels[1].shown) for one in found]


ALIKE: Names = [("a", "x"), ("b*", "x"), ("b*", "y"), ("c", "x"), ("d", "x")]


@pytest.mark.parametrize(
    ("limit", "count", "is_all"), [(1, 3, False), (2, 3, False), (3, 4, False), (4, 5, True), (9, 5, True)]
)
def test_a_page_takes_one_more_than_it_shows_and_all_that_belong_together(
    limit: int, count: int, is_all: bool
) -> None:
    found, all_ = first_of([group(*one) for one in ALIKE], limit)
    assert (names(found), all_) == (ALIKE[:count], is_all)


@pytest.mark.parametrize(
    ("after", "limit", "taken"),
    [(("a", "x"), 1, slice(1, 3)), (("c", "x"), 1, slice(4, 5)), (("c", "x"), 9, slice(4, 5))],
)
def test_a_page_continues_after_the_last_group_shown(
    after: tuple[str, str], limit: int, taken: slice
) -> None:
    found, _ = first_of([group(*one) for one in ALIKE], limit, group(*after).place)
    assert names(found) == ALIKE[taken]


def test_texts_that_begin_alike_come_again_where_a_page_ended_among_them() -> None:
    found, _ = first_of([group(*one) for one in ALIKE], 1, group("b*", "x").place)
    assert names(found)[:2] == ALIKE[1:3]
