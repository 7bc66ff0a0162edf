"""`./dev prove`: a line for each proof, the proofs that did not run and why, and the exit status."""

import io
import re
import subprocess
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from devtools import paths
from devtools.bench.postgres import cluster
from devtools.cli import main
from devtools.proof import baseline
from devtools.proof.baseline.questions import READ_WHOLE
from devtools.proof.baseline.service import Found
from devtools.proof.drawn_mutants import sampling
from devtools.proof.drawn_mutants.drawing import draw
from devtools.proof.drawn_mutants.judging import Verdict as DrawnVerdict
from devtools.proof.faults import judging, scenarios
from devtools.proof.faults.judging import Verdict
from devtools.proof.faults.project import MEMORY
from devtools.proof.faults.scenarios import RANDOM, Played
from devtools.proof.oracle import compare
from devtools.proof.oracle.loading import Difference
from devtools.proof.prove import command, proofs
from devtools.proof.prove import record as records
from devtools.proof.prove.proofs import NotHere, Proof, Proven
from devtools.proof.prove.record import Record


def here(_: int) -> Proven:
    return Proven("7 [things]")


def differs(_: int) -> Proven:
    return Proven("8 things", ["a [difference]\n  ./dev faults --seed 9"])


def missing(_: int) -> Proven:
    raise NotHere("needs a violin")


def breaks(_: int) -> Proven:
    raise KeyError("what")


def ran(*proven: Any, record: Record | None = None) -> tuple[int, list[str]]:
    console = Console(file=io.StringIO(), highlight=False, soft_wrap=True)
    run = command.Run(console, record)
    status = run.run_all([Proof(getattr(one, "__name__", "tests"), "", one) for one in proven], 1)
    assert isinstance(console.file, io.StringIO)
    return status, console.file.getvalue().splitlines()


def test_tests_of_a_sample_are_proven_in_full() -> None:
    files = [
        path
        for path in (paths.ROOT / "tests").rglob("test_*.py")
        if re.search(r"(?m)^from tests\.support\.depth import", path.read_text("utf-8"))
    ]
    code = Path(proofs.__file__).read_text("utf-8")
    left = {path.name for path in files if f'"{path.relative_to(paths.ROOT).as_posix()}"' not in code}
    # Its scenarios are among those of `faults`, and its mutants are those of `mutants`.
    assert left == {"test_mutants.py"}


def test_a_proof_is_a_line_with_its_figures_and_what_is_missing_is_said_again_at_the_end() -> None:
    status, (first, second, total, closing) = ran(here, missing)
    assert status == 0
    assert first.startswith("proven   here: 7 [things] (0.0 CPU minutes)")
    assert second == "not run  missing: needs a violin"
    assert total.startswith("1 of 2 proofs found no difference, in 0.0 minutes")
    assert closing == "Not run: missing"


@pytest.mark.parametrize("wrong", [differs, breaks])
def test_a_difference_or_a_failure_is_an_exit_status_and_the_others_run_all_the_same(wrong: Any) -> None:
    status, lines = ran(wrong, here)
    assert status == 1
    assert lines[0].startswith(f"FAILED   {wrong.__name__}: ")
    assert any(line.startswith("proven   here") for line in lines)
    assert lines[-1] == f"Failed: {wrong.__name__}"


def test_a_difference_is_printed_with_the_command_that_replays_it() -> None:
    _, lines = ran(differs)
    assert lines[1:3] == ["a [difference]", "  ./dev faults --seed 9"]


def test_the_million_is_proven_only_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "--list"]) == 0
    usual = capsys.readouterr().out
    assert main(["prove", "--list", "--million"]) == 0
    assert capsys.readouterr().out.startswith(usual)
    assert "million" not in usual
    assert main(["prove", "--only", "violin"]) == 1


def test_scenarios_are_counted_and_what_differs_names_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(seed: int, *_: object, **__: object) -> Played:
        return Played(seed, "stream", Counter(scenarios=1, kills=2), "wrong" if seed == 7 else None, [])

    assert proofs.play([RANDOM], MEMORY, 1).differences == []
    monkeypatch.setattr(scenarios, "play", play)
    found = proofs.play([6, 7, 8], MEMORY, 1)
    assert found.figures.startswith("3 scenarios, 6 kills")
    assert found.differences == ["stream: wrong\n  ./dev faults --seed 7"]


def test_every_point_that_is_enumerated_is_among_the_scenarios() -> None:
    every = set(scenarios.points())
    assert len(every) == len(scenarios.points())
    assert every < {*scenarios.seeds(proofs.SCENARIOS)}
    assert every < {*scenarios.seeds(judging.MOST_SCENARIOS)}


def test_a_mutant_that_lives_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = [Verdict("dies", "stream 1", "wrong", 3), Verdict("lives", "", None, 60)]
    monkeypatch.setattr(judging, "judged", lambda *_: verdicts)
    found = proofs.judge(1)
    assert found.figures == "2 mutants, 63 scenarios to find them"
    assert found.differences == ["alive: lives, after 60 scenarios"]


def test_a_drawn_mutant_that_lives_is_a_difference_unless_it_is_listed_and_so_is_a_stale_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = draw("x", "first = 1 < 'lives'\n")
    equal, *_, less, lives = (one.name for one in drawn)
    verdicts = [
        DrawnVerdict(equal, "", "", 60, 1.0),
        DrawnVerdict(less, "a test", "wrong", 3, 1.0),
        DrawnVerdict(lives, "", "", 60, 1.0),
        DrawnVerdict("x: found", "a test", "wrong", 1, 1.0),
    ]
    judged = sampling.Judged(verdicts, 5, [one for one in verdicts if not one.by], ["a test: flaky"])
    monkeypatch.setattr(sampling, "all_drawn", lambda: drawn)
    monkeypatch.setattr(sampling, "judge", lambda *_: judged)
    monkeypatch.setattr(
        sampling, "living", lambda: dict.fromkeys([equal, less, "x: gone"], "It means the same.")
    )
    found = proofs.judge_drawn(1)
    assert found.figures == "4 mutants, 50.0 % found out, 2 live, 5 not judged"
    assert found.differences == [
        f"alive: {lives}, after 60 looks\n"
        """  ./dev python -m devtools.proof.drawn_mutants --name 'x: '"'"'lives'"'"' => '"'"'lives~'"'"''""",
        f"found out, but listed in living.txt: {less}",
        "fails of the core as it is: a test: flaky",
        "listed as living, but not drawn: x: gone",
    ]


def test_queries_are_counted_and_what_differs_is_asked_again_by_one_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = proofs.ask(3, "generated", "memory", 1)
    assert found.figures.startswith("3 queries, ")
    assert found.differences == []
    assert proofs.ask_while_others_write(2, 1).figures.startswith("2 queries, ")

    def differ(*_: object) -> None:
        raise Difference("the grid says 1")

    monkeypatch.setattr(compare, "ask", differ)
    (difference,) = proofs.ask(1, "generated", "memory", 1).differences
    assert difference.splitlines()[-1].strip() == "./dev oracle --queries 1 --seed 0 --data generated"


def test_differences_from_the_baseline_name_the_size_of_the_project(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = baseline.recorded(READ_WHOLE)
    wrong = {name: Found({"status": 500, "type": "internal"}, *costs) for name, (_, *costs) in record.items()}
    monkeypatch.setattr(baseline, "measure", lambda _: wrong)
    found = proofs.hold_to_the_baseline([READ_WHOLE], 1)
    assert found.figures == f"{len(record)} queries of projects of up to 4,000 issues"
    assert len(found.differences) == len(record)
    assert all(one.startswith("4,000 issues: ") for one in found.differences)


def test_missing_data_and_programs_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(proofs, "TITANIUM", tmp_path / "tracker.csv")
    monkeypatch.setattr(cluster, "find_programs", lambda: None)
    with pytest.raises(NotHere, match=r"\.\./shared/data/tracker\.csv"):
        proofs.ask(1, "titanium", "memory", 1)
    with pytest.raises(NotHere, match="PostgreSQL"):
        proofs.run_tests_of_the_comparison(1)


def test_tests_that_fail_are_a_difference(tmp_path: Any) -> None:
    failing = tmp_path / "test_it.py"
    failing.write_text("def test_it():\n    assert 1 == 2\n")
    found = proofs.run_tests([str(failing)], 1)
    assert "1 failed" in found.figures
    (difference,) = found.differences
    assert "assert 1 == 2" in difference
    failing.write_text("def test_it():\n    pass\n")
    assert proofs.run_tests_in_turn([str(failing)], 1).differences == []


def test_a_proof_that_mostly_waits_runs_beside_the_others(tmp_path: Any) -> None:
    waiting = tmp_path / "test_waiting.py"
    # It ends only if the other proof runs meanwhile.
    waiting.write_text(
        "import os, time\n\ndef test_it():\n"
        f"    while not os.path.exists({str(tmp_path / 'ended')!r}):\n        time.sleep(0.01)\n"
    )

    def other(_: int) -> Proven:
        (tmp_path / "ended").touch()
        return Proven("7 things")

    status, (first, second, total) = ran(partial(proofs.begin_tests_in_turn, [str(waiting)]), other)
    assert status == 0
    assert first.startswith("proven   other: 7 things")
    assert second.startswith("proven   tests: 1 passed")
    assert total.startswith("2 of 2 proofs")


def test_a_run_that_was_ended_is_resumed_with_what_it_had_not_proven(tmp_path: Path) -> None:
    def record(commit: str = "0b") -> Record:
        return Record(tmp_path / "build" / "proven.json", commit)

    status, (before, *_) = ran(here, differs, record=record())
    assert status == 1
    assert [*record().lines] == ["here"]
    status, (first, second, *_, total, _) = ran(here, differs, record=record())
    assert status == 1
    assert first == f"{before}, in an earlier run"
    assert second.startswith("FAILED   differs: ")
    assert total.startswith("1 of 2 proofs")
    assert record("0c").lines == {}, "they prove nothing of another commit"
    again = record()
    again.forget("here")
    assert record().lines == {}


def test_only_a_commit_without_changed_files_is_resumed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(records, "ROOT", tmp_path)
    monkeypatch.setattr(records, "FILE", tmp_path / ".build" / "proven.json")
    monkeypatch.setattr(command, "PROOFS", [Proof("here", "", here)])

    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=ada", "-c", "user.email=ada@localhost")
        command = ["git", *identity, *arguments]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)  # noqa: S603

    assert main(["prove", "--resume"]) == 1
    assert "Files differ from the commit" in capsys.readouterr().err
    git("init")
    (tmp_path / ".gitignore").write_text(".build\n")
    git("add", ".")
    git("commit", "-m", "one")
    assert main(["prove", "--resume"]) == 1
    assert "No run has proven anything of this commit yet" in capsys.readouterr().err
    assert main(["prove"]) == 0
    capsys.readouterr()
    assert main(["prove", "--resume"]) == 0
    assert "in an earlier run" in capsys.readouterr().out
    assert main(["prove"]) == 0
    assert "in an earlier run" not in capsys.readouterr().out
    (tmp_path / "new").write_text("")
    assert main(["prove", "--resume"]) == 1
    (tmp_path / "new").unlink()
    git("commit", "--allow-empty", "-m", "two")
    assert main(["prove", "--resume"]) == 1


def test_a_proof_did_not_run_if_its_tests_lack_something(tmp_path: Any) -> None:
    lacking = tmp_path / "test_it.py"
    lacking.write_text(
        "import pytest\n"
        "@pytest.mark.skipif(True, reason='the violin: is not installed')\n"
        "@pytest.mark.parametrize('string', 'GDAE')\n"
        "def test_it(string):\n    raise AssertionError\n"
        "def test_another():\n    pass\n"
    )
    with pytest.raises(NotHere, match=r"^the violin: is not installed$"):
        proofs.run_tests([str(lacking)], 1)
