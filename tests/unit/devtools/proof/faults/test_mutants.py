"""The scenarios and tests can fail: one of them detects each mutation of the core."""

from pathlib import Path

import pytest

import gridview
from devtools.proof.drawn_mutants import sampling
from devtools.proof.drawn_mutants.covering import sources
from devtools.proof.faults import judging, scenarios
from devtools.proof.faults.judging import ENDLESS, judged, stumbles
from devtools.proof.faults.mutants import FIRST, MUTANTS, Mutant
from devtools.proof.mutation import Mutation, module_of
from tests.support.depth import one_of

CORE = Path(str(gridview.__file__)).parent.parent
ROOT = Path(__file__).parents[5]


HOLDS_NO_RULE = {
    "gridview.commands.context": "plain values",
    "gridview.command_api.container": "plain values",
    "gridview.live_api.container": "plain values",
    "gridview.live_api.resources": "plain values",
    "gridview.query_api.container": "plain values",
}
"""Modules whose mutants no scenario can detect."""


def test_every_module_has_a_mutant_by_hand_or_one_that_is_drawn_or_a_reason_to_have_none() -> None:
    touched = {mutant.mutation.module for mutant in MUTANTS}
    left = {short for short in sources() if module_of(short) not in touched}
    assert {module_of(short) for short in left if not is_watched(short)} == HOLDS_NO_RULE.keys()


def is_watched(short: str) -> bool:
    """Whether the sample of `./dev prove` has a mutant of the module that may not live."""
    drawn = [one for one in sampling.all_drawn(short) if one.module == module_of(short)]
    sample = sampling.sampled(drawn, sampling.OF_EACH, sampling.SEED)
    return any(one.name not in sampling.living() for one in sample)


def test_there_are_enough_mutants_and_each_has_its_own_name() -> None:
    names = [mutant.name for mutant in MUTANTS]
    assert len(names) == len(set(names)) >= 390


def test_scenarios_that_kill_mutants_pass_on_the_unchanged_core() -> None:
    seeds = {mutant.seed for mutant in MUTANTS if mutant.seed is not None}
    assert seeds <= {*scenarios.seeds(judging.MOST_SCENARIOS)}
    some = sorted(seeds)[:: one_of(6)]
    assert [seed for seed in some if scenarios.play(seed).difference is not None] == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_has_one_place_in_its_function_and_something_to_find_it_out(mutant: Mutant) -> None:
    home = ROOT if mutant.mutation.module.startswith("functions.") else CORE
    text = home.joinpath(*mutant.mutation.module.split(".")).with_suffix(".py").read_text("utf-8")
    compile(mutant.mutation.spoilt(text), mutant.mutation.module, "exec")
    assert mutant.by in FIRST or (ROOT / mutant.by.partition("::")[0]).exists()


def test_mutants_are_found_out() -> None:
    """Some of the mutants with a known detector; `./dev prove` judges all, and searches for the others."""
    known = [mutant for mutant in MUTANTS if mutant.by not in FIRST or mutant.seed is not None]
    some = known[::120]
    verdicts = list(judged(some, 1))
    assert {verdict.name for verdict in verdicts} == {mutant.name for mutant in some}
    assert [verdict.name for verdict in verdicts if verdict.difference is None] == []
    # By a wrong result, not by waiting in vain.
    assert [verdict.name for verdict in verdicts if verdict.difference == ENDLESS] == []


def test_a_mutant_that_changes_nothing_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "MOST_SCENARIOS", 20)
    harmless = Mutation("support.backoff", "ATTEMPTS = HERE", "7")
    by_scenarios, by_tests = (
        next(judged([Mutant("harmless", harmless, by)], 1))
        for by in ("stream", "tests/unit/encoding/test_json_codec.py")
    )
    assert by_scenarios.difference is by_tests.difference is None
    assert by_scenarios.played == 20
    assert by_tests.played > 1


@pytest.mark.parametrize("by", ["stream", "tests/unit/maintenance/test_stream_consumer.py"])
def test_a_mutant_that_only_stumbles_lives(monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    monkeypatch.setattr(judging, "MOST_SCENARIOS", 5)
    broken = Mutation("derive.ledger:plan", "X.revision + 1", "X.nothing + 1")
    (verdict,) = judged([Mutant("broken", broken, by)], 1)
    assert verdict.difference is None
    assert verdict.stumbled > 0


def test_broken_code_does_not_count_as_a_difference() -> None:
    assert stumbles("Difference: consumer 1 raised TypeError: no")
    assert stumbles("UnboundLocalError: x")
    assert not stumbles("Difference: issue 1 is in no order")
    assert not stumbles("KeyError: 'version'")
