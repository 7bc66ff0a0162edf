"""The differential test of questions with tokens to containers that keep their reads.

`devtools.proof.oracle.tokens` has the rules.
"""

from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import pytest

from devtools.cli import main
from devtools.proof.oracle import carrying, tokens
from devtools.proof.oracle.loading import Difference
from gridview.chains.blocks import Block
from gridview.chains.directory import Range
from gridview.journal.feed_cursors import FeedCursor
from gridview.query import counting, grid
from gridview.view import block_cache, journal_tail
from gridview.view.moves import FamilyMove
from gridview.view.overlay import FamilyOverlay, Overlay
from gridview.view.shown_versions import Shown

SCENARIOS = 12
"""`./dev prove` plays 2,000."""


def test_a_container_that_keeps_all_answers_what_is_true_now() -> None:
    happened: Counter[str] = Counter()
    for seed in range(SCENARIOS):
        asked, some = tokens.play(seed)
        happened += some
        happened["rows"] += asked.rows
    for what in (
        *("questions", "issues named by tokens", "calls of consumers", "folds", "rows"),
        "times that everything was shown",
    ):
        assert happened[what] > SCENARIOS
    for of in ("writes", "issues", "rows", "answers"):
        assert happened[f"questions with tokens of {of}"] > 0
    assert happened["questions with tokens of cursors of the changes"] > SCENARIOS / 3
    assert happened["writes that reads have shown"] > 0


def test_the_command_plays_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", "--tokens", "--queries", "1", "--jobs", "1"]) == 0
    assert "no difference" in capsys.readouterr().out


put_in, settled, shown_of = FamilyOverlay.block, Overlay.directory, Shown.of
dated, held = block_cache.BlockCache._dated, FeedCursor.held


def not_put_in(self: FamilyOverlay, block: Block) -> Block:
    nowhere = FamilyOverlay(block.family, ())
    nowhere.issues = self.issues
    return put_in(nowhere, block)


def nothing_overlaid(shown: Any, late: Any, overlaid: Any = (), logged: Any = None) -> Shown:
    return shown_of(shown, late, (), logged)


def nothing_shown(shown: Any, late: Any, overlaid: Any = (), logged: Any = None) -> Shown:
    return shown_of((), late, overlaid, logged)


def by_difference(self: FamilyOverlay, block: Block) -> Block:
    """Change only the moves that the block does not show yet."""
    shown = {key for key in self.inside(Range(block.lower, block.upper)) if int(key[-8:]) in block.members}
    return block if shown else put_in(self, block)


def however_old(self: block_cache.BlockCache, key: tuple[str, ...], _: float) -> Any:
    return dated(self, key, 0.0)


def all_shown(self: journal_tail.JournalTail, head: Any, now: float, _: Any = None) -> Any:
    """Drop folded moves at once."""
    return replace(self, floor=head.folded, shown=head.folded, looked_at=now, items=[], moves={})


def nothing_ahead(*given: Any) -> Any:
    return held(*given)[:1]


def nowhere_in_the_journal(*given: Any) -> Any:
    return held(*given)[1:]


SPOILT: dict[str, tuple[int, list[tuple[Any, str, Any]]]] = {
    "only documents are overlaid": (0, [(FamilyOverlay, "block", not_put_in)]),
    "blocks are corrected by difference": (4, [(FamilyOverlay, "block", by_difference)]),
    "sizes are not settled": (1, [(Overlay, "unsettled", lambda *_: iter(()))]),
    "sizes are corrected by difference": (
        0,
        [(Overlay, "directory", lambda self, directory, _: settled(self, directory, {}))],
    ),
    "sizes count what is folded twice": (
        16,
        [(FamilyMove, "had_at", lambda self, _: self.leaves[0] if self.leaves else None)],
    ),
    "sizes are as listed": (0, [(FamilyOverlay, "differences", lambda *_: {})]),
    "a cursor forgets what its page held": (2, [(grid, "to_texts", lambda _: [])]),
    "a cursor of groups forgets it": (2, [(counting, "to_texts", lambda _: [])]),
    "sort entries are not overlaid": (2, [(FamilyOverlay, "keys", lambda _, found, __: list(found))]),
    "overlaid versions are not named again": (2, [(Shown, "of", nothing_overlaid)]),
    "what is shown is not named": (3, [(Shown, "of", nothing_shown)]),
    "documents are not overlaid": (1, [(Overlay, "fetched", lambda _, __, answer: answer)]),
    "directories are kept too long": (28, [(block_cache.BlockCache, "_dated", however_old)]),
    "versions ahead of a cursor are not held": (1, [(FeedCursor, "held", nothing_ahead)]),
    "a cursor is no place in the journal": (
        57,
        [
            (FeedCursor, "held", nowhere_in_the_journal),
            (carrying, "WEIGHTS", defaultdict(int, {"cursors of the changes": 1})),
        ],
    ),
    "what GSI1 does not show yet is forgotten": (0, [(journal_tail.JournalTail, "at_head", all_shown)]),
}
"""Mutations, each with the scenario that detected it last time. It is tried first, only to save the search."""

_SEARCHED = 300
"""One scenario in twenty detects the rarest."""


@pytest.mark.parametrize("what", SPOILT)
def test_every_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    first, replaced = SPOILT[what]
    for owner, name, spoilt in replaced:
        monkeypatch.setattr(owner, name, spoilt)

    def play_all() -> None:
        for one in (first, *range(_SEARCHED)):
            tokens.play(one)

    with pytest.raises(Difference):
        play_all()
