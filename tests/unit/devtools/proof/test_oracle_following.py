"""The differential test of the changes that answers count; `devtools.proof.oracle.following` has the rules."""

from collections import Counter
from typing import Any

import pytest

from devtools.cli import main
from devtools.proof.oracle import following
from devtools.proof.oracle.loading import Difference
from gridview.live.changes import _EventBuilder
from gridview.live.followed_rows import FollowedRows
from gridview.query.counted import Seen

SCENARIOS = 4
"""`./dev prove` plays more."""


def test_answers_count_exactly_the_changes_before_their_cursor() -> None:
    happened: Counter[str] = Counter()
    for seed in range(SCENARIOS):
        _, some = following.play(seed)
        happened += some
    for what in ("questions", "answers with a cursor", "versions ahead", "folds"):
        assert happened[what] > SCENARIOS
    for what in ("pages followed to the end", "changes of their rows"):
        assert happened[what] > SCENARIOS


def test_the_command_plays_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", "--changes", "--queries", "1", "--jobs", "1"]) == 0
    assert "no difference" in capsys.readouterr().out


counted, move = Seen.counted, FollowedRows.move


def nothing_ahead(self: Seen, *given: Any) -> Any:
    found = counted(self, *given)
    return None if found is None else found._replace(ahead={})


def always_enters(self: FollowedRows, before: Any, after: Any) -> Any:
    """A row enters again when it only changes."""
    found = move(self, before, after)
    return found if found is None or found.move != "update" else found._replace(move="enter")


SPOILT: dict[str, tuple[int, Any, str, Any]] = {
    "what is overlaid is delivered again": (3, Seen, "counted", nothing_ahead),
    "documents may be of any moment": (5, Seen, "_agree", lambda *_: True),
    "versions ahead are delivered": (3, _EventBuilder, "_is_known", lambda *_: False),
    "a row that changes is said to enter": (0, FollowedRows, "move", always_enters),
}
"""Mutations, each with the scenario that detected it last time. It is tried first, only to save the search."""


@pytest.mark.parametrize("what", SPOILT)
def test_every_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    first, owner, name, spoilt = SPOILT[what]
    monkeypatch.setattr(owner, name, spoilt)

    def play_all() -> None:
        for seed in (first, *range(60)):
            following.play(seed)

    with pytest.raises(Difference):
        play_all()
