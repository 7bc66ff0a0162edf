"""The proofs: the code and length of each one, and its needs."""

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from devtools.bench.postgres import cluster, compare, datasets
from devtools.paths import PYTHONPATH, ROOT
from devtools.proof import baseline
from devtools.proof.drawn_mutants import sampling
from devtools.proof.faults import judging, local, mutants, scenarios
from devtools.proof.faults.command import replay as replay_scenario
from devtools.proof.faults.command import results
from devtools.proof.faults.project import MEMORY, Engine
from devtools.proof.forks import forked
from devtools.proof.formulas import comparing as formulas
from devtools.proof.oracle import command as oracle
from devtools.proof.oracle.real import TITANIUM

SCENARIOS = 20_000
ENGINE_SCENARIOS = 100
QUERIES = 48_000
TRACKER_QUERIES = 1_000
ENGINE_QUERIES = 2_000
WRITER_SCENARIOS = 1_000
TOKEN_SCENARIOS = 2_200
IMPORT_SCENARIOS = 1_000
CHANGES_SCENARIOS = 500
RELATIVE_QUERIES = 4_000
FORMULAS = 102_000
MILLION = 1_000_000

_SKIPPED = re.compile(r"(?m)^SKIPPED \[\d+\] [^ ]+: (.+)$")
"""A line of pytest's summary, with the reason why tests did not run."""


class NotHere(Exception):
    """A proof needs something that this machine does not have."""


class Proven(NamedTuple):
    """The result of a proof. Each of `differences` has the command that repeats it."""

    figures: str
    differences: Sequence[str] = ()


class Running(NamedTuple):
    """Tests that run in a process of their own, with the file of their output."""

    process: subprocess.Popen[bytes]
    log: Path

    def is_over(self) -> bool:
        """Whether they have ended."""
        return self.process.poll() is not None

    def result(self) -> Proven:
        """Wait for their end, and forget their output; NotHere if tests passed over what they could not test."""
        status = self.process.wait()
        text = self.log.read_text("utf-8", errors="replace").strip()
        self.log.unlink()
        lacking = dict.fromkeys(_SKIPPED.findall(text))
        if status == 0 and lacking:
            raise NotHere("; ".join(lacking))
        return Proven(text.rpartition("\n")[2], [] if status == 0 else [text])


class Proof(NamedTuple):
    """One proof; `run` takes how many processes it may use.

    If it mostly waits, `run` only begins it, and others run beside it.
    """

    name: str
    proves: str
    run: Callable[[int], Proven | Running]
    on_request: bool = False


def play(seeds: Sequence[int], engine: Engine, jobs: int) -> Proven:
    """Play fault scenarios."""
    totals: Counter[str] = Counter()
    differences = []
    for played in results(seeds, engine, jobs):
        totals.update(played.totals)
        if played.difference is not None:
            differences.append(
                f"{played.family}: {played.difference}\n  {replay_scenario(played, engine.name)}"
            )
    figures = (
        f"{totals['scenarios']:,} scenarios",
        f"{totals['kills']:,} kills",
        f"{totals['late writes']:,} late writes",
    )
    return Proven(", ".join(figures), differences)


def play_over_the_engine(count: int, jobs: int) -> Proven:
    """Play so many scenarios over DynamoDB Local."""
    with local.running() as engine:
        return play(list(scenarios.seeds(count)), engine, jobs)


def judge(jobs: int) -> Proven:
    """Look whether a scenario or a test finds out every mutant."""
    alive, played, judged = [], 0, 0
    for verdict in judging.judged(mutants.MUTANTS, jobs):
        judged += 1
        played += verdict.played
        if verdict.difference is None:
            alive.append(f"alive: {verdict.name}, after {verdict.played:,} scenarios")
    return Proven(f"{judged} mutants, {played:,} scenarios to find them", alive)


def judge_drawn(jobs: int) -> Proven:
    """Look whether a test or a scenario finds out each mutant of a sample of the drawn ones, but for those with a reason."""
    drawn = sampling.all_drawn()
    reasons = sampling.living()
    judged = sampling.judge(sampling.sampled(drawn, sampling.MUTANTS, sampling.SEED), jobs)
    gone = sorted(reasons.keys() - {one.name for one in drawn})
    return Proven(
        judged.figures(),
        [*judged.differences(reasons), *(f"listed as living, but not drawn: {name}" for name in gone)],
    )


def ask(count: int, data: str, engine: str, jobs: int) -> Proven:
    """Put so many questions to the grid and to SQLite."""
    if data == "titanium":
        require_tracker()
    with oracle.new_tables(engine) as new_table:
        found = oracle.tallies(range(count), new_table, data, oracle.limits_of(engine), jobs)
        return _tallied(found, partial(oracle.replay, engine=engine, data=data))


def ask_while_others_write(count: int, jobs: int) -> Proven:
    """Put so many questions while writers and consumers are at work."""
    return _tallied(
        oracle.beside_writers(range(count), jobs),
        partial(oracle.replay, engine="memory", data="generated", mode="writers"),
    )


def ask_in_scenarios(mode: str, count: int, jobs: int) -> Proven:
    """Put so many questions in scenarios of a mode of `./dev oracle`."""
    return _tallied(
        oracle.in_scenarios(mode, range(count), jobs),
        partial(oracle.replay, engine="memory", data="generated", mode=mode),
    )


def compute(count: int, jobs: int) -> Proven:
    """Compute so many drawn formulas, each for a few documents, by the language and by its oracle."""
    total, differences = formulas.compare_all(range(count // formulas.COMPUTED), jobs)
    return Proven(f"{count:,} formulas, {total.values:,} values", differences)


def _tallied(found: Any, replay: Callable[[int], str]) -> Proven:
    tally = oracle.Tally()
    for some in found:
        tally.update(some)
    figures = f"{tally.questions:,} queries, {tally.rows.total():,} rows and groups, {sum(tally.refused.values()):,} refused"
    return Proven(
        figures, [f"{difference}\n  {replay(seed)}" for seed, difference in sorted(tally.differences)]
    )


def hold_to_the_baseline(sizes: Sequence[int], jobs: int) -> Proven:
    """Ask the baseline's questions of projects of these sizes."""
    with forked(jobs) as pool:
        found = pool.map(_worse_than_recorded, sorted(sizes, reverse=True), chunksize=1)
    asked = sum(len(baseline.recorded(size)) for size in sizes)
    return Proven(
        f"{asked:,} queries of projects of up to {max(sizes):,} issues",
        [line for lines in reversed(found) for line in lines],
    )


def _worse_than_recorded(size: int) -> list[str]:
    compared = baseline.compare(baseline.recorded(size), baseline.measure(size))
    return [f"{size:,} issues: {line}" for line in compared.worse]


def run_tests(paths: Sequence[str], jobs: int) -> Proven:
    """Run the tests of some files, each in any of the processes; tests that enumerate go through everything."""
    return _begin_pytest("-n", str(jobs), "--dist", "worksteal", *paths).result()


def run_tests_in_turn(paths: Sequence[str], _: int) -> Proven:
    """Run tests that start engines and processes of their own, one after another; they too go through everything."""
    return _begin_pytest(*paths).result()


def begin_tests_in_turn(paths: Sequence[str], _: int) -> Running:
    """Begin such tests."""
    return _begin_pytest(*paths)


def _begin_pytest(*arguments: str) -> Running:
    handle, name = tempfile.mkstemp(".log", "gridview-proof-")
    with os.fdopen(handle) as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "-q", "-rs", "--show-capture=no", *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": PYTHONPATH, "GRIDVIEW_THOROUGH": "1"},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    return Running(process, Path(name))


def run_tests_of_the_comparison(jobs: int) -> Proven:
    """Run the tests of the comparison with PostgreSQL."""
    require_postgres()
    return run_tests_in_turn(["tests/bench/test_bench_postgres.py"], jobs)


def run_tests_of_imports(jobs: int) -> Proven:
    """Run the tests of imports over all of the tracker's issues."""
    require_tracker()
    return run_tests_in_turn(["tests/engine/test_import.py"], jobs)


def compare_a_million(_: int) -> Proven:
    """Put the comparison's questions to a million issues, here and in PostgreSQL; `compare` fails when answers differ."""
    require_postgres()
    (section,) = compare.measure([datasets.generated(MILLION)], 1, Console(stderr=True))
    return Proven(f"{section.issues:,} issues, {len(section.lines)} questions")


def require_tracker() -> None:
    """NotHere without the tracker's issues."""
    if not TITANIUM.exists():
        raise NotHere(f"needs ../shared/data/{TITANIUM.name}, which is missing")


def require_postgres() -> None:
    """NotHere without PostgreSQL."""
    if cluster.find_programs() is None:
        raise NotHere("needs PostgreSQL, which is not installed")


PROOFS: tuple[Proof, ...] = (
    Proof(
        "the page",
        "the web page works in a browser by mouse, keys and touch, and each state fits each window and look",
        partial(begin_tests_in_turn, ["tests/web/test_browser.py"]),
    ),
    Proof(
        "imports",
        "a tracker's 2,501 issues are imported whole and sort by every field, and a killed import loses nothing",
        run_tests_of_imports,
    ),
    Proof(
        "consumers, checks and walks over DynamoDB Local",
        "consumers of the same records agree, checks find and repair damage, every walk shows each issue once",
        partial(
            run_tests_in_turn,
            [
                "tests/engine/test_consumer_engine.py",
                "tests/engine/test_fsck.py",
                "tests/engine/test_grid_walks.py",
                "tests/engine/test_journal.py",
                "tests/engine/test_oracle_engine.py",
            ],
        ),
    ),
    Proof(
        "benchmark",
        "the benchmark's figures equal the counts of the design",
        partial(run_tests_in_turn, ["tests/bench/test_bench.py"]),
    ),
    Proof(
        "comparison with PostgreSQL",
        "PostgreSQL and gridview give equal answers over a few hundred issues",
        run_tests_of_the_comparison,
    ),
    Proof(
        "faults",
        f"after {SCENARIOS:,} scenarios of kills, races and late writes, all derived data matches the documents",
        lambda jobs: play(list(scenarios.seeds(SCENARIOS)), MEMORY, jobs),
    ),
    Proof(
        "kills at every call",
        "the next run completes a consumer, a job, a check or a repair that was killed at any call",
        partial(
            run_tests,
            [
                "tests/unit/derive/test_ledger.py",
                "tests/unit/maintenance/test_bulk.py",
                "tests/unit/maintenance/test_export.py",
                "tests/unit/maintenance/test_job_worker.py",
                "tests/unit/maintenance/test_undo_job.py",
                "tests/unit/fsck/test_checker.py",
                "tests/unit/fsck/test_repair.py",
                "tests/unit/devtools/operate/test_dlq.py",
            ],
        ),
    ),
    Proof(
        "damage to blocks",
        "a check finds and repairs every kind of damage to blocks, while consumers work",
        partial(run_tests, ["tests/unit/fsck/test_chain_check.py"]),
    ),
    Proof(
        "working together",
        "undo and redo give equal documents, followed rows equal the grid's, a socket that reconnects misses nothing",
        partial(
            run_tests,
            [
                "tests/unit/commands/test_undo.py",
                "tests/unit/functions/test_counted.py",
                "tests/unit/functions/test_live_rows.py",
                "tests/unit/functions/test_manual_orders.py",
                "tests/unit/functions/test_row_keys.py",
                "tests/unit/functions/test_sockets.py",
            ],
        ),
    ),
    Proof(
        "random queries",
        "pages, frozen rows, groups and summaries that blocks give equal those of all documents",
        partial(
            run_tests,
            [
                "tests/unit/query/test_bitmap_filter.py",
                "tests/unit/query/test_bitmap_scan.py",
                "tests/unit/query/test_frozen_numbers.py",
                "tests/unit/query/test_frozen_rows.py",
                "tests/unit/query/test_grouping.py",
                "tests/unit/query/test_summary.py",
            ],
        ),
    ),
    Proof(
        "values",
        "a value of any type is returned as it was written, values compare like their sort strings, columns add up",
        partial(
            run_tests,
            [
                "tests/unit/chains/test_number_columns.py",
                "tests/unit/encoding/test_attribute_values.py",
                "tests/unit/encoding/test_fractional_keys.py",
                "tests/unit/encoding/test_json_codec.py",
                "tests/unit/encoding/test_option_ranks.py",
                "tests/unit/encoding/test_sort_strings.py",
                "tests/unit/encoding/test_values.py",
            ],
        ),
    ),
    Proof(
        "two containers",
        "after one container has answered a write, every new request of the other container sees it",
        partial(run_tests, ["tests/unit/functions/test_two_containers.py"]),
    ),
    Proof(
        "hostile requests",
        "no value in any place of a request causes a server error, and each refusal names the place",
        partial(
            run_tests,
            [
                "tests/unit/functions/test_hostile_requests.py",
                "tests/unit/functions/test_schemathesis.py",
            ],
        ),
    ),
    Proof("mutants", "a fault scenario or a test finds every hand-made mutant of the core", judge),
    Proof(
        "drawn mutants",
        f"a test or a scenario finds each of {sampling.MUTANTS:,} drawn mutants of the core, but for listed exceptions",
        judge_drawn,
    ),
    Proof(
        "faults over DynamoDB Local",
        f"{ENGINE_SCENARIOS} of these scenarios also succeed over a real engine",
        partial(play_over_the_engine, ENGINE_SCENARIOS),
    ),
    Proof(
        "oracle",
        f"{QUERIES:,} random queries have the same answers as SQLite",
        partial(ask, QUERIES, "generated", "memory"),
    ),
    Proof(
        "oracle, a real tracker",
        f"{TRACKER_QUERIES:,} queries over a tracker's 2,501 issues have the same answers as SQLite",
        partial(ask, TRACKER_QUERIES, "titanium", "memory"),
    ),
    Proof(
        "oracle over DynamoDB Local",
        f"{ENGINE_QUERIES:,} queries over a real engine have the same answers as SQLite",
        partial(ask, ENGINE_QUERIES, "generated", "local"),
    ),
    Proof(
        "oracle with writers",
        f"{WRITER_SCENARIOS:,} queries have answers between SQLite's before and after, while others write",
        partial(ask_while_others_write, WRITER_SCENARIOS),
    ),
    Proof(
        "oracle with tokens",
        f"{TOKEN_SCENARIOS:,} queries with tokens have SQLite's answers, in containers that cache while journals are folded",
        partial(ask_in_scenarios, "tokens", TOKEN_SCENARIOS),
    ),
    Proof(
        "oracle with cursors of the changes",
        f"{CHANGES_SCENARIOS:,} answers, while users edit, count exactly the writes before their cursor of the changes",
        partial(ask_in_scenarios, "changes", CHANGES_SCENARIOS),
    ),
    Proof(
        "oracle with relative operands",
        f"{RELATIVE_QUERIES:,} queries with today, now and me have SQLite's answers, on walks over midnight in any time zone",
        partial(ask_in_scenarios, "relative", RELATIVE_QUERIES),
    ),
    Proof(
        "formulas",
        f"{FORMULAS:,} random formulas have the values of an evaluator that shares no code, and printing and parsing come back",
        partial(compute, FORMULAS),
    ),
    Proof(
        "renamed and stored formulas",
        "renaming changes no formula, characters fold as filters fold them, and grids of formulas are as computed directly",
        partial(
            run_tests,
            [
                "tests/unit/formulas/test_characters.py",
                "tests/unit/formulas/test_properties.py",
                "tests/unit/functions/test_formula_agreement.py",
            ],
        ),
    ),
    Proof(
        "oracle after imports",
        f"{IMPORT_SCENARIOS:,} queries after an import that is not indexed yet have SQLite's answers, without a token",
        partial(ask_in_scenarios, "imports", IMPORT_SCENARIOS),
    ),
    Proof(
        "a large import",
        "1,900 issues that are not indexed yet are in every answer at once",
        partial(run_tests, ["tests/unit/devtools/proof/test_oracle_imports.py"]),
    ),
    Proof(
        "baseline",
        "every kind of query has its recorded answer, and costs no more read units or rounds than recorded",
        partial(hold_to_the_baseline, baseline.SIZES),
    ),
    Proof(
        "a short soak",
        "under mixed load and kills nothing that was answered is lost, and all that is derived agrees",
        partial(run_tests_in_turn, ["tests/engine/test_soak.py"]),
    ),
    Proof(
        "comparison of a million",
        f"PostgreSQL and gridview give equal answers over {MILLION:,} issues",
        compare_a_million,
        on_request=True,
    ),
)
"""In the order in which they run.

Proofs of one process come first: the page's tests, which have begun, use the other processors. The soak waits for
answers of a stack, so it comes when those tests are over.
"""
