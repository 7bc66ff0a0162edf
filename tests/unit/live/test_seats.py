"""Seats of sockets: a stored one, read back."""

from gridview.live.seats import Seat, UserSeats, is_bucket
from gridview.live.sockets import MAX_SECONDS

SEAT = Seat(
    tenant="0807",
    user="ann",
    connection="c1",
    project="35e9",
    begun=1_780_000_000.125,
    rows={"all": "", "rows": "0a1b2c3d4e5f"},
)


def test_a_seat_comes_back_as_it_was_taken() -> None:
    item = SEAT.to_item()
    assert not is_bucket(item)
    assert Seat.from_item(item) == SEAT
    assert UserSeats.from_items([item]) == UserSeats([SEAT], 0)


def test_a_seat_is_over_two_hours_after_it_began() -> None:
    assert not SEAT.is_over(SEAT.begun + MAX_SECONDS - 0.001)
    assert SEAT.is_over(SEAT.begun + MAX_SECONDS)
