"""The differential test of containers that keep what they read of journalled projects; `devtools.proof.oracle.journals` states
what has to hold."""

from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import pytest

from devtools.cli import main
from devtools.proof.oracle import carrying, journals
from devtools.proof.oracle.compare import Difference
from gridview.index import block_cache, journal_tail
from gridview.index.feed_cursors import FeedCursor
from gridview.index.moves import FamilyMove
from gridview.query.overlay import FamilyOverlay

SCENARIOS = 10
"""`./dev prove` plays 1,000."""


def test_a_container_that_keeps_all_answers_what_is_true_now() -> None:
    happened: Counter[str] = Counter()
    for seed in range(SCENARIOS):
        asked, some = journals.play(seed)
        happened += some
        happened["rows"] += asked.rows
    for what in ("questions", "issues named by tokens", "folds", "times that everything was shown", "rows"):
        assert happened[what] > SCENARIOS
    assert happened["questions with tokens of cursors of the changes"] > SCENARIOS / 3


def test_the_command_plays_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", "--journals", "--queries", "2", "--jobs", "1"]) == 0
    assert "no difference" in capsys.readouterr().out


dated = block_cache.BlockCache._dated


def however_old(
    self: block_cache.BlockCache, key: tuple[str, ...], seconds: float, since: float | None
) -> Any:
    return dated(self, key, seconds, None if since is None else 0.0)


def all_shown(self: journal_tail.JournalTail, head: Any, now: float) -> Any:
    """What is folded goes at once."""
    return replace(self, floor=head.folded, looked_at=now, items=[], moves={})


held = FeedCursor.held


def nothing_ahead(*given: Any) -> Any:
    return held(*given)[:1]


def nowhere(*given: Any) -> Any:
    return held(*given)[1:]


SPOILT: dict[str, tuple[int, list[tuple[Any, str, Any]]]] = {
    "sizes count what is folded twice": (
        1,
        [(FamilyMove, "had_at", lambda self, _: self.leaves[0] if self.leaves else None)],
    ),
    "sizes are as listed": (1, [(FamilyOverlay, "differences", lambda *_: {})]),
    "directories are kept too long": (8, [(block_cache.BlockCache, "_dated", however_old)]),
    "versions ahead of a cursor are not held": (19, [(FeedCursor, "held", nothing_ahead)]),
    "a cursor is no place in the journal": (
        80,
        [
            (FeedCursor, "held", nowhere),
            (carrying, "WEIGHTS", defaultdict(int, {"cursors of the changes": 1})),
        ],
    ),
    "what GSI1 does not show yet is forgotten": (6, [(journal_tail.JournalTail, "at_head", all_shown)]),
}
"""What is done wrong, and the scenario that showed it the last time. It is tried first, which saves the search, and no more."""

_SEARCHED = 600
"""The rarest is shown by one scenario of 150, although all its questions carry a cursor."""


@pytest.mark.parametrize("what", SPOILT)
def test_what_is_done_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    first, replaced = SPOILT[what]
    for owner, name, spoilt in replaced:
        monkeypatch.setattr(owner, name, spoilt)

    def play_all() -> None:
        for one in (first, *range(_SEARCHED)):
            journals.play(one)

    with pytest.raises(Difference):
        play_all()
