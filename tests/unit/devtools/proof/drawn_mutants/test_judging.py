"""Judging drawn mutants: tests detect them in forks, and endless ones are ended."""

import pytest

from devtools.proof.drawn_mutants import covering, judging, sampling
from devtools.proof.drawn_mutants.covering import SCENARIOS, Chooser, Hits, Look
from devtools.proof.drawn_mutants.drawing import Drawn, draw
from devtools.proof.drawn_mutants.judging import Case, judged

SETS = "tests/unit/encoding/test_number_sets.py"
ROUND_TRIP = Look(SETS, f"{SETS}::test_sets_come_back", 0.1, {})
SCENARIO = Look(SCENARIOS, "1000006", 0.2, {})


def first(module: str, start: str, end: str) -> Drawn:
    return next(
        one for one in sampling.all_drawn(module) if one.name.startswith(start) and one.name.endswith(end)
    )


def test_a_mutant_is_found_out_where_it_is_swapped_in_and_where_all_is_loaded_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judging, "_PATIENCE_CPU", 2)
    wrong = first("encoding.number_sets", "encoding.number_sets:packed ", "=> return None")
    endless = wrong._replace(instead="while True: pass")
    other = first("encoding.derived_keys", "encoding.derived_keys:order ", "=> return None")
    cases = (
        Case("swapped", wrong, [ROUND_TRIP], afresh=False),
        Case("endless", endless, [ROUND_TRIP], afresh=False),
        Case("in a scenario", other, [ROUND_TRIP, SCENARIO], afresh=False),
        Case("as it is", None, [ROUND_TRIP, SCENARIO], afresh=False),
        Case("loaded again", wrong, [ROUND_TRIP], afresh=True),
        Case("as it is, loaded again", None, [ROUND_TRIP], afresh=True),
        Case("executed by nothing", wrong, [], afresh=False),
    )
    verdicts = {verdict.name: verdict for verdict in judged(cases, 2, 600.0)}
    assert {name: verdict.by for name, verdict in verdicts.items()} == {
        "swapped": ROUND_TRIP.name,
        "endless": "a limit",
        "in a scenario": "scenario 1000006",
        "as it is": "",
        "loaded again": ROUND_TRIP.name,
        "as it is, loaded again": "",
        "executed by nothing": "",
    }
    assert verdicts["as it is"].looks == 2


def test_once_the_seconds_are_used_up_no_other_mutant_is_judged() -> None:
    cases = [Case(str(number), None, [ROUND_TRIP], afresh=False) for number in range(3)]
    assert [one.name for one in judged(cases, 1, 0.001)] == ["0"]


def test_looks_are_those_that_execute_the_change_or_mention_it_and_those_of_its_package_come_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (change,) = draw("encoding.keys", "def order():\n    work()")
    (constant,) = draw("encoding.keys", "SEPARATOR = True")
    monkeypatch.setattr(covering, "_mentions", lambda: {"SEPARATOR": {("gridview.encoding.keys", 0)}})

    def look(file: str, name: str, hits: Hits) -> Look:
        return Look(f"tests/unit/{file}.py", name, 0.1, hits)

    hit, missed = {"gridview.encoding.keys": b"\1"}, {"gridview.encoding.keys": b"\0"}
    chooser = Chooser(
        [
            look("query/test_a", "first of others", hit),
            look("query/test_a", "second of others", hit),
            look("query/test_b", "of another file", hit),
            look("encoding/test_values", "near", hit),
            look("encoding/test_keys", "nearest", hit),
            look("encoding/test_keys", "elsewhere", missed),
            look("encoding/test_keys", "", missed),
            look("functions/test_key", "of a like name", hit),
        ]
    )
    for mutant in (change, constant):
        assert [one.name for one in chooser.looks(mutant)] == [
            "nearest",
            "of a like name",
            "near",
            "first of others",
            "of another file",
            "second of others",
        ]
        assert not chooser.runs_while_loading(mutant)


def test_looks_at_what_no_function_mentions_are_those_of_files_that_import_the_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = {
        "a.py": "from gridview.encoding.keys import LIMIT",
        "b.py": "from gridview.encoding import codec, keys",
        "c.py": "from gridview.encoding import keyset",
        "d.py": "from gridview.decoding import keys",
    }
    monkeypatch.setattr(covering, "_mentions", dict)
    monkeypatch.setattr(covering, "_text", texts.__getitem__)
    (constant,) = draw("encoding.keys", "LIMIT = True")
    chooser = Chooser([Look(file, f"{file}::test", 0.1, {}) for file in texts])
    assert [one.file for one in chooser.looks(constant)] == ["a.py", "b.py"]
