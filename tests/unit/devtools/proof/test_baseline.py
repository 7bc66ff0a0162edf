"""The answers and costs of every kind of query stay as recorded, or cost less; the comparison
reports any other change.
"""

import warnings
from pathlib import Path

import pytest

from devtools.proof import baseline
from devtools.proof.baseline import service, world
from devtools.proof.baseline.questions import Question, questions
from devtools.proof.baseline.service import Cost, Found
from devtools.proof.faults import memory_table

SMALL = min(baseline.SIZES)
EVERY = 3
"""One of so many questions is asked; `./dev prove` asks all."""
ANSWER = {"rows": [{"num": 1}], "next": True}
FOUND = Found(ANSWER, Cost(2.5, 2, "index 1/9"), Cost(1.0, 1, "index 1/9"))
RECORD = {"q": (FOUND.digest, FOUND.cold, FOUND.warm)}


def test_no_query_answers_otherwise_or_costs_more() -> None:
    found = baseline.measure(SMALL, EVERY)
    record = baseline.recorded(SMALL)
    compared = baseline.compare({name: record[name] for name in found}, found)
    assert compared.worse == []
    if compared.better:
        warnings.warn(
            f"{len(compared.better)} costs are lower than recorded: ./dev python -m devtools.proof.baseline --record",
            stacklevel=1,
        )


@pytest.mark.parametrize("size", baseline.SIZES)
def test_the_record_holds_every_question(size: int) -> None:
    asked = {one.name for one in questions(size)}
    assert baseline.recorded(size).keys() == asked
    assert len(asked) > 50


@pytest.mark.parametrize(
    "found",
    [
        FOUND._replace(answer={**ANSWER, "next": False}),
        FOUND._replace(answer={"rows": [{"num": 2}], "next": True}),
        FOUND._replace(answer={"status": 422, "type": "query-too-expensive"}),
        FOUND._replace(cold=Cost(3.0, 2, "")),
        FOUND._replace(cold=Cost(2.0, 3, "")),
        FOUND._replace(warm=Cost(1.5, 1, "")),
    ],
)
def test_another_answer_and_a_higher_cost_are_worse(found: Found) -> None:
    (line,) = baseline.compare(RECORD, {"q": found}).worse
    assert line.startswith("q")


def test_a_lower_cost_is_better_and_an_equal_one_is_nothing() -> None:
    cheaper = FOUND._replace(cold=Cost(2.0, 2, "index 1/8"))
    assert baseline.compare(RECORD, {"q": cheaper}) == ([], [
        "q, cold: 2.5 units in 2 rounds (index 1/9) -> 2 units in 2 rounds (index 1/8)"
    ])  # fmt: skip
    assert baseline.compare(RECORD, {"q": FOUND._replace(cold=Cost(2.5, 2, "batch 1/1"))}) == ([], [])


def test_a_question_on_only_one_side_is_worse() -> None:
    assert baseline.compare(RECORD, {}).worse == ["q: not asked any more"]
    assert baseline.compare({}, {"q": FOUND}).worse == ["q: not recorded"]


def test_a_record_is_read_again(tmp_path: Path) -> None:
    same = FOUND._replace(warm=FOUND.cold)
    baseline.record(7, {"q": FOUND, "ü": same}, tmp_path)
    assert baseline.compare(baseline.recorded(7, tmp_path), {"q": FOUND, "ü": same}) == ([], [])


def test_the_baseline_notices_additional_read_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """The record has the figures of the meter of the function's own table."""
    asked = Question("by name", "grid", {"sort": [{"field": "name"}], "limit": 50})
    with service.running(world.make(SMALL)) as running:
        before = running.ask(asked)
        monkeypatch.setattr(memory_table, "UNIT_BYTES", 128)
        after = running.ask(asked)
    record = {"q": (before.digest, before.cold, before.warm)}
    assert before.cold.units > 25  # half a unit for each document
    assert before.cold.rounds == 2
    assert len(baseline.compare(record, {"q": after}).worse) == 2
