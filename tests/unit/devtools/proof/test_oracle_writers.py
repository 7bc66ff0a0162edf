"""The differential test with concurrent writers and consumers; `devtools.proof.oracle.writers` has the rules."""

from collections import Counter
from typing import Any

import pytest

from devtools.cli import main
from devtools.proof.oracle import writers
from devtools.proof.oracle.history import History, Version
from devtools.proof.oracle.loading import Difference
from devtools.proof.oracle.world import Project, Stamps
from gridview.query import page

SCENARIOS = 14
"""`./dev prove` plays 1,000."""


def test_answers_are_right_while_others_write() -> None:
    happened: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for seed in range(SCENARIOS):
        played = writers.play(seed)
        kinds[played.kind] += 1
        happened += played.happened
        happened["overloaded"] += played.overloaded
        happened["refused"] += played.refused is not None
    assert kinds.keys() == {"walk", "offset", "groups", "row_number", "summary"}
    assert happened["edits"] > SCENARIOS
    assert happened["calls of consumers"] > 10 * SCENARIOS
    assert happened["overloaded"] + happened["refused"] < SCENARIOS / 4


def test_the_same_number_is_the_same_scenario() -> None:
    assert writers.play(7) == writers.play(7)


def any_version(*_: Any) -> bool:
    return True


Spoilt = tuple[int, list[tuple[Any, str, Any]]]

SPOILT: dict[str, Spoilt] = {
    "rows are not rechecked": (
        22,
        [(page, "belongs", any_version)],
    ),
}
"""Each with the scenario that detected it last time. It is tried first, only to save the search.

Listings of several moments and split blocks are too rare here: tests/unit/view/test_block_reader.py tests them.
"""


@pytest.mark.parametrize("spoilt", SPOILT)
def test_spoilt_code_is_found_out(spoilt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, changes = SPOILT[spoilt]
    for owner, name, replacement in changes:
        monkeypatch.setattr(owner, name, replacement)

    def play_all() -> None:
        for seed in (first, *range(10 * SCENARIOS)):
            writers.play(seed)

    with pytest.raises(Difference):
        play_all()


def test_scenarios_can_be_played_by_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", "--writers", "--queries", "2", "--jobs", "1"]) == 0
    assert "no difference" in capsys.readouterr().out


# The history


@pytest.fixture
def history() -> History:
    bodies = {num: {"name": str(num), "fields": {}} for num in (1, 2, 3)}
    stamps = Stamps("2023-05-01T00:00:00Z", "2023-05-01T00:00:00Z", "ann", "ann")
    return History(Project(["open"], [], bodies, dict.fromkeys(bodies, stamps)))


def version(number: int, name: str) -> Version:
    stamps = Stamps("2023-05-01T00:00:00Z", "2023-05-02T00:00:00Z", "ann", "bob")
    return Version(number, {"name": name, "fields": {}}, stamps)


def test_a_history_separates_changed_issues_from_unchanged_ones(history: History) -> None:
    history.changed(1, 10, version(2, "one"))
    history.changed(2, 20, None)
    assert history.still(21).issues.keys() == {1, 3}
    assert history.still(20).issues.keys() == {1, 3}
    assert history.still(10).issues.keys() == {3}
    assert history.moved(10) == {1, 2}
    assert history.slack({1}) == 3
    assert history.present().issues[1]["name"] == "one"
    assert history.living == [1, 3]


def test_a_row_shows_what_its_issue_was_at_the_time(history: History) -> None:
    history.changed(1, 10, version(2, "one"))
    assert history.as_shown([(1, 1)], since=10) is not None
    assert history.as_shown([(1, 1)], since=11) is None
    assert history.as_shown([(1, 2)], since=11) is not None
    assert history.as_shown([(1, 3)], since=0) is None
    assert history.as_shown([(9, 1)], since=0) is None
