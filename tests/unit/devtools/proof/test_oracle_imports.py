"""The differential test after imports that are not in the index yet; `devtools.proof.oracle.imports` has the rules."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from devtools.cli import main
from devtools.proof.faults.virtual import Clock, virtual
from devtools.proof.oracle import compare, imports, world
from devtools.proof.oracle.limits import held_to
from devtools.proof.oracle.loading import Difference
from gridview.query.planner import WHOLE
from gridview.view import new_issues
from gridview.view.index_view import IndexView
from gridview.view.overlay import Overlay
from tests.support import needs

SCENARIOS = 8
"""`./dev prove` plays 1,000."""

QUESTIONS = 20
"""Questions about the large import."""


def test_answers_hold_every_new_issue_without_a_token() -> None:
    happened: Counter[str] = Counter()
    for seed in range(SCENARIOS):
        asked, some = imports.play(seed)
        happened += some
        happened["rows"] += asked.rows
    for what in ("not in GSI1", "edited", "in the journal"):
        assert happened[f"of them {what}"] > 0
    assert happened["issues not in the index"] > 0
    assert happened["consumers killed"] > 0
    assert happened["rows"] > SCENARIOS


@needs.time
def test_an_import_of_1_900_issues_is_right_at_once() -> None:
    random = Random("an import")  # noqa: S311  (the same one each time)
    project = world.make(random, ("real",), (2_100,))
    assert max(project.issues) < WHOLE, "all that it lacks is overlaid, unused numbers or not"
    happened: Counter[str] = Counter()
    with virtual(Clock(), 0), held_to("real"):
        loaded = imports.imported(random, project, 1_900 / 2_105, happened)
        assert 1_890 < happened["issues not in the index"] <= 2_000
        for _ in range(QUESTIONS):
            compare.put(loaded, world.question(random, project))


def test_the_command_plays_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", "--imports", "--queries", "1", "--jobs", "1"]) == 0
    assert "no difference" in capsys.readouterr().out


SPOILT: dict[str, tuple[int, list[tuple[Any, str, Any]]]] = {
    "new issues are not overlaid": (0, [(Overlay, "with_new", lambda self, _: self)]),
    "what was looked at before stays": (0, [(IndexView, "_refresh_snapshot", lambda *_: None)]),
    "no read goes beyond GSI1": (0, [(new_issues, "_written", lambda *_: {})]),
}
"""Mutations, each with a scenario that detects it."""


@pytest.mark.parametrize("what", SPOILT)
def test_every_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    seed, replaced = SPOILT[what]
    for owner, name, spoilt in replaced:
        monkeypatch.setattr(owner, name, spoilt)
    with pytest.raises(Difference):
        imports.play(seed)
