"""The clock of GSI1: the newest canary that was seen holds it back, but not forever."""

import pytest

from gridview.derive.ledger import HELD_SECONDS, SHOWN_SECONDS
from gridview.journal.items import Head
from gridview.view.index_clock import Sighting, index_time, shown_since, sighting_in

NOW = 10_000.0


@pytest.mark.parametrize(
    ("put", "held"),
    [
        (NOW, 0.0),
        (NOW - 25.0, 0.0),  # a fold of 30 s ago is older by the difference of two clocks
        (NOW - 40.0, 15.0),
        (NOW - 300.0, 275.0),
        (NOW - 86_400.0, HELD_SECONDS - SHOWN_SECONDS),
    ],
)
def test_it_is_held_back_while_no_canary_of_so_long_ago_was_seen(put: float, held: float) -> None:
    assert index_time(NOW, Sighting(put, NOW)) == NOW - held


def test_before_the_first_canary_it_is_the_clock_of_the_wall() -> None:
    assert sighting_in(None) is None
    assert sighting_in({"taken_in": 1, "lag": 1}) is None
    assert index_time(NOW, None) == NOW
    assert shown_since(NOW, None) == NOW


def test_readers_get_only_items_folded_before_the_canary() -> None:
    sighting = sighting_in({"canary": 9_000_000, "seen": 9_000_500})
    assert sighting == Sighting(9_000.0, 9_000.5)
    head = Head(last=3, folded=3, trail=((1, 8_990.0), (2, 8_996.0), (3, 9_001.0)))
    assert head.shown(index_time(9_500.0, None)) == 3
    assert head.shown(index_time(9_500.0, sighting)) == 1


def test_reads_show_it_from_when_the_canary_was_seen() -> None:
    assert shown_since(100.0, Sighting(90.0, 400.0)) == 400.0
    assert shown_since(100.0, Sighting(90.0, 91.0)) == 100.0
