"""`./dev faults`: its output, and that one command repeats a difference."""

import io
from collections import Counter

import pytest
from rich.console import Console

from devtools.cli import main
from devtools.proof.faults import command, scenarios
from devtools.proof.faults.project import MEMORY, Engine
from devtools.proof.faults.scenarios import RANDOM, Played


def console() -> Console:
    return Console(file=io.StringIO(), width=200, highlight=False)


def printed(where: Console) -> str:
    assert isinstance(where.file, io.StringIO)
    return where.file.getvalue()


def test_many_are_played_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "--scenarios", "6", "--jobs", "1"]) == 0
    output = capsys.readouterr().out
    assert "scenarios: kill points" in output
    assert "kills" in output
    assert output.rstrip().endswith("no difference")


def test_one_scenario_is_printed_event_by_event(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "--seed", str(RANDOM)]) == 0
    output = capsys.readouterr().out
    for event in (
        "command 1 begins",
        "consumer 1 begins",
        "in the stream: 1:",
        "all becomes quiet",
        "no difference",
    ):
        assert event in output


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_one_command_replays_a_difference(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    def play(seed: int, *_: object, **__: object) -> Played:
        return Played(seed, "stream", Counter(scenarios=1), "a [difference]" if seed == 7 else None, [])

    monkeypatch.setattr(scenarios, "play", play)
    where = console()
    chosen = Engine(engine, MEMORY.table)
    assert command.play_many(where, [6, 7, 8], chosen, 1) == 1
    output = printed(where)
    assert "stream: a [difference]" in output
    assert "  ./dev faults --seed 7" + (" --engine local" if engine == "local" else "") + "\n" in output
    assert "--seed 6" not in output
    assert output.rstrip().endswith("1 scenarios differ")
    again = console()
    assert command.play_one(again, 7, chosen) == 1
    assert "a [difference]" in printed(again)


def test_processes_side_by_side_play_each_seed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_AT_ONCE", 2)
    seeds = range(RANDOM, RANDOM + 5)
    played = command.results(seeds, MEMORY, 2)
    assert sorted(one.seed for one in played) == list(seeds)


@pytest.mark.parametrize("wrong", [["--scenarios", "0"], ["--jobs", "x"], ["--engine", "other"]])
def test_arguments_that_make_no_sense_are_refused(
    wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["faults", *wrong])
    assert "usage" in capsys.readouterr().err
