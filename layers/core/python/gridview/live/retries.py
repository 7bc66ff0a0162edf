"""When a delivery is tried again, when it is given up, and how long a webhook rests whose receiver does not
answer. Pure.

There are two cases:

- A *delivery* failed. It is tried again by a schedule of its own, over 24 hours, while other events continue.
- A *receiver* is down: several attempts in succession have failed, for any events. The webhook rests, each
  time for longer; then one attempt shows whether the receiver is back.
"""

from typing import Final

DELAYS: Final = (5, 60, 300, 1_800, 3_600, 7_200, 14_400, 21_600, 36_000)
"""Seconds between the attempts of a delivery: ten attempts in 23.6 hours."""

WINDOW: Final = 86_400.0
"""Seconds from the first attempt on, after which a failed attempt was the last."""

DOWN: Final = 5
"""Failed attempts in succession after which a receiver counts as down."""

_FIRST_REST: Final = 15
_LONGEST_REST: Final = 3_600

_JITTER: Final = 0.1
"""The part of a delay by which it may be shorter, so that deliveries that failed together are not tried
together.
"""


def next_delay(attempts: int, age: float, asked: float, draw: float) -> float | None:
    """Seconds until the next attempt of a delivery that has failed `attempts` times, the first one `age` seconds ago.

    None: it is given up. `asked`: seconds that the receiver has asked for (Retry-After), heeded up to an
    hour. `draw`: a random number from 0 to 1.
    """
    if attempts > len(DELAYS) or age >= WINDOW:
        return None
    delay = DELAYS[attempts - 1] * (1 - _JITTER * draw)
    return max(delay, min(asked, _LONGEST_REST))


def rest(failures: int, asked: float, draw: float) -> float:
    """Seconds for which a webhook rests after so many failed attempts in succession: as asked for, and longer
    if it is down.
    """
    down = _FIRST_REST * 2.0 ** min(failures - DOWN, 16) if failures >= DOWN else 0.0
    return max(min(down, _LONGEST_REST) * (1 - _JITTER * draw), min(asked, _LONGEST_REST))


def is_hopeless(first: float, failing: float) -> bool:
    """Return whether a webhook is to be disabled, one of whose deliveries is given up: none has succeeded
    since its `first` attempt.

    `failing`: since when every attempt of the webhook has failed. Both in seconds since 1970.
    """
    return failing <= first
