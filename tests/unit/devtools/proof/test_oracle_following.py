"""The differential test of what answers say that they count; `devtools.proof.oracle.following` states what has to hold."""

from collections import Counter
from typing import Any

import pytest

from devtools.cli import main
from devtools.proof.oracle import following
from devtools.proof.oracle.compare import Difference
from gridview.query.counted import Seen

SCENARIOS = 6
"""`./dev prove` plays more."""


def test_answers_count_what_their_cursor_stands_for() -> None:
    happened: Counter[str] = Counter()
    for seed in range(SCENARIOS):
        _, some = following.play(seed)
        happened += some
    for what in ("questions", "answers with a cursor", "versions ahead", "folds"):
        assert happened[what] > SCENARIOS


def test_the_command_plays_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", "--changes", "--queries", "2", "--jobs", "1"]) == 0
    assert "no difference" in capsys.readouterr().out


counted = Seen.counted


def nothing_ahead(self: Seen, *given: Any) -> Any:
    found = counted(self, *given)
    return None if found is None else found._replace(ahead={})


SPOILT: dict[str, tuple[str, Any]] = {
    "what is laid over is told again": ("counted", nothing_ahead),
    "documents may be of any moment": ("_agree", lambda *_: True),
}


@pytest.mark.parametrize("what", SPOILT)
def test_what_is_done_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    monkeypatch.setattr(Seen, *SPOILT[what])

    def play_all() -> None:
        for seed in range(60):
            following.play(seed)

    with pytest.raises(Difference):
        play_all()
