"""The outbox of a webhook: when it is free, and its rests after failed attempts."""

import pytest

from gridview.journal.feed_positions import FeedPosition
from gridview.live.outbox import Outbox, Reply, new_outbox
from gridview.support import clock

NOW = "2026-11-21T08:00:00.000000Z"
POSITION = FeedPosition(6, 3, 0.0, "before")


@pytest.mark.parametrize(
    ("reply", "seconds"),
    [
        (Reply(problem="The connection failed: closed."), 0),
        (Reply(503, "", "The receiver answered 503.", 120.0), 120),
    ],
)
def test_a_webhook_rests_after_one_failed_attempt_only_if_its_receiver_asks_for_that(
    monkeypatch: pytest.MonkeyPatch, reply: Reply, seconds: float
) -> None:
    monkeypatch.setattr(clock, "after", lambda more: f"after {more:.0f}")
    outbox = Outbox(POSITION, NOW).tried(reply, NOW, 0.5)
    assert outbox.rests == (f"after {seconds}" if seconds else "")


def test_a_new_outbox_is_free_also_by_a_clock_that_is_slow() -> None:
    assert new_outbox(POSITION).is_free(clock.after(-5))
