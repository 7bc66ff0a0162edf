"""The schedule of retries, and the rest of a webhook whose receiver is down."""

from itertools import accumulate

import pytest

from gridview.live.retries import DELAYS, DOWN, WINDOW, is_hopeless, next_delay, rest

HOUR = 3_600


def test_a_delivery_is_tried_ten_times_within_a_day() -> None:
    delays = [next_delay(attempt, 0, 0, 0) for attempt in range(1, 12)]
    assert delays == [*DELAYS, None, None]
    assert [round(at) for at in accumulate(DELAYS)][-1] == 84_965 < WINDOW == 24 * HOUR
    assert sorted(DELAYS) == list(DELAYS)


def test_a_delay_is_a_little_shorter_by_chance_and_never_longer() -> None:
    assert [next_delay(1, 0, 0, draw) for draw in (0, 0.5, 1)] == [5, 4.75, 4.5]


def test_after_a_day_there_is_no_further_attempt_however_few_there_were() -> None:
    assert next_delay(2, WINDOW - 1, 0, 0) == 60
    assert next_delay(2, WINDOW, 0, 0) is None


@pytest.mark.parametrize(("asked", "delay"), [(1, 5), (5, 5), (120, 120), (HOUR, HOUR), (10 * HOUR, HOUR)])
def test_a_receiver_may_ask_for_more_time_up_to_an_hour(asked: float, delay: float) -> None:
    assert next_delay(1, 0, asked, 0) == delay
    assert rest(DOWN, asked, 0) == max(15, delay if asked > 15 else 15)


def test_a_webhook_rests_when_its_receiver_is_down_for_longer_and_longer() -> None:
    assert [rest(failures, 0, 0) for failures in range(DOWN)] == [0] * DOWN
    assert [rest(DOWN + more, 0, 0) for more in range(4)] == [15, 30, 60, 120]
    assert rest(DOWN + 8, 0, 0) == rest(10**6, 0, 0) == HOUR
    assert rest(DOWN, 0, 1) == 13.5


def test_a_receiver_that_is_up_may_ask_for_a_rest() -> None:
    assert rest(1, 30, 0) == 30
    assert rest(1, 10 * HOUR, 0) == HOUR


def test_a_webhook_is_hopeless_if_nothing_has_succeeded_since_the_first_attempt() -> None:
    assert is_hopeless(first=100, failing=100)
    assert is_hopeless(first=100, failing=50)
    assert not is_hopeless(first=100, failing=101)
