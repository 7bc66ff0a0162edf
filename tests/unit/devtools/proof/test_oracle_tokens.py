"""The differential test after writes that the index has not taken in; `devtools.proof.oracle.tokens` states what has to hold."""

from collections import Counter
from typing import Any

import pytest

from devtools.cli import main
from devtools.proof.oracle import tokens
from devtools.proof.oracle.compare import Difference
from gridview.index.blocks import Block
from gridview.index.directory import Range
from gridview.index.ledger import Ledger
from gridview.index.shown_versions import Shown
from gridview.query import counting, grid
from gridview.query.overlay import FamilyOverlay, Overlay

SCENARIOS = range(60, 72)
"""Reads show writes that the index lacks in five of them, which is rare. `./dev prove` plays 1,000."""


def test_answers_hold_every_write_that_a_token_names() -> None:
    happened: Counter[str] = Counter()
    for seed in SCENARIOS:
        asked, some = tokens.play(seed)
        happened += some
        happened["rows"] += asked.rows
    assert happened["issues named by tokens"] > len(SCENARIOS)
    assert happened["calls of consumers"] > len(SCENARIOS)
    assert happened["rows"] > len(SCENARIOS)
    assert happened["writes that reads have shown"] > 0
    for of in ("writes", "issues", "answers"):
        assert happened[f"questions with tokens of {of}"] > 0


def test_the_command_plays_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", "--tokens", "--queries", "2", "--jobs", "1"]) == 0
    assert "no difference" in capsys.readouterr().out


put_in, keys_laid, settled = FamilyOverlay.block, FamilyOverlay.keys, Overlay.directory


def not_put_in(self: FamilyOverlay, block: Block) -> Block:
    nowhere = FamilyOverlay(block.family, ())
    nowhere.issues = self.issues
    return put_in(nowhere, block)


take = Shown.take


def nothing_laid(self: Shown, shown: Any, laid: Any = (), logged: Any = None) -> None:
    take(self, shown, (), logged)


def nothing_shown(self: Shown, shown: Any, laid: Any = (), logged: Any = None) -> None:
    take(self, (), laid, logged)


def by_difference(self: FamilyOverlay, block: Block) -> Block:
    """Only what the block does not show yet is changed."""
    shown = {key for key in self.inside(Range(block.lower, block.upper)) if int(key[-8:]) in block.members}
    return block if shown else put_in(self, block)


SPOILT: dict[str, tuple[int, list[tuple[Any, str, Any]]]] = {
    "documents alone are laid over": (1, [(FamilyOverlay, "block", not_put_in)]),
    "blocks are corrected by difference": (14, [(FamilyOverlay, "block", by_difference)]),
    "sizes are not settled": (3, [(Overlay, "unsettled", lambda *_: iter(()))]),
    "sizes are corrected by difference": (
        3,
        [(Overlay, "directory", lambda self, directory, _: settled(self, directory, {}))],
    ),
    "what was left is forgotten": (671, [(Ledger, "left_by", lambda *_: {})]),
    "a cursor forgets what its page held": (11, [(grid, "to_texts", lambda _: [])]),
    "a cursor of groups forgets it": (228, [(counting, "to_texts", lambda _: [])]),
    "sort entries are not laid over": (59, [(FamilyOverlay, "keys", lambda _, found, __: list(found))]),
    "what was laid over is not named again": (1, [(Shown, "take", nothing_laid)]),
    "what is shown is not named": (66, [(Shown, "take", nothing_shown)]),
    "documents are not laid over": (0, [(Overlay, "fetched", lambda _, __, answer: answer)]),
}
"""What is done wrong, and the scenario that showed it the last time. It is tried first, which saves the search, and no more."""

_SEARCHED = 200


@pytest.mark.parametrize("what", SPOILT)
def test_what_is_done_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    seed, replaced = SPOILT[what]
    for owner, name, spoilt in replaced:
        monkeypatch.setattr(owner, name, spoilt)

    def play_all() -> None:
        for one in (seed, *range(_SEARCHED)):
            tokens.play(one)

    with pytest.raises(Difference):
        play_all()
