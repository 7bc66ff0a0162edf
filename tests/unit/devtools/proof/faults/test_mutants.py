"""The scenarios can fail: whatever is spoilt in the core, one of them finds it out."""

import os
from pathlib import Path

import pytest

import gridview
from devtools.failure import Failure
from devtools.proof.faults import mutants, scenarios
from devtools.proof.faults.mutants import ENDLESS, FOUND_OUT_BY, MUTANTS, Mutant, judged, spoilt

CORE = Path(str(gridview.__file__)).parent


def test_there_are_enough_mutants_and_each_has_a_name_of_its_own() -> None:
    names = [mutant.name for mutant in MUTANTS]
    assert len(names) == len(set(names)) >= 25
    assert {*FOUND_OUT_BY} <= {*names}


def test_what_found_a_mutant_out_is_a_scenario_that_is_right_of_the_core_as_it_is() -> None:
    seeds = {*FOUND_OUT_BY.values()}
    assert seeds <= {*scenarios.seeds(mutants.MOST_SCENARIOS)}
    assert [seed for seed in sorted(seeds) if scenarios.play(seed).difference is not None] == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_has_one_place_in_its_module(mutant: Mutant) -> None:
    text = CORE.joinpath(*mutant.module.split(".")).with_suffix(".py").read_text("utf-8")
    changed = spoilt(mutant, text)
    assert changed != text
    compile(changed, mutant.module, "exec")


def test_a_mutant_without_a_place_or_with_several_is_refused() -> None:
    mutant = Mutant("m", "index.ledger", "a", "b")
    for text in ("x", "aa"):
        with pytest.raises(Failure):
            spoilt(mutant, text)


def test_every_mutant_is_found_out() -> None:
    verdicts = list(judged(MUTANTS, os.cpu_count() or 1))
    assert {verdict.name for verdict in verdicts} == {mutant.name for mutant in MUTANTS}
    assert [verdict.name for verdict in verdicts if verdict.difference is None] == []
    # By something that is wrong, not by waiting in vain.
    assert [verdict.name for verdict in verdicts if verdict.difference == ENDLESS] == []


def test_a_mutant_that_changes_nothing_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "MOST_SCENARIOS", 60)
    harmless = Mutant("harmless", "support.backoff", "ATTEMPTS = 6", "ATTEMPTS = 7")
    (verdict,) = judged([harmless], 1)
    assert verdict.difference is None
    assert verdict.played == 60
