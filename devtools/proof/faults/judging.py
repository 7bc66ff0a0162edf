"""The verdict on each mutant: it is played in its own process until a scenario, or a test, finds a difference.

Tests are loaded once. For each mutant that they are to find out, their process forks, and the fork swaps the
function's code.

Only a difference counts, or an endless loop. Spoilt code that breaks (NameError, TypeError and the like) says nothing
about the scenario or test that should find it out. Such a scenario or test is passed over, and a mutant that only
ever breaks is alive.
"""

import contextlib
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, NoReturn

from rich.console import Console
from rich.markup import escape

from devtools.failure import Failure
from devtools.proof import mutation
from devtools.proof.faults.mutants import FIRST, MUTANTS, Mutant

MOST_SCENARIOS = 20_000
"""Scenarios that a mutant has to survive to be called alive."""

_PATIENCE = 120.0
"""Seconds without a scenario's end after which a mutant counts as found out: it goes round in circles."""

_PATIENCE_CPU = 60
"""Seconds of the processor after which one that tests judge counts so."""

_PATIENCE_TEST = 300
"""Seconds after which a test has failed: with the mutant in it, it waits in vain."""

ENDLESS = "it does not end"
"""The difference that is reported of an endless one."""

_STUMBLES = ("NameError", "UnboundLocalError", "AttributeError", "TypeError", "SyntaxError", "ImportError")
"""Errors of broken code, in any context."""

_RELOADED = ("gridview", "functions", "infra", "tests", "devtools")


class Verdict(NamedTuple):
    """The verdict on a mutant.

    `difference` is None when nothing found it out; `stumbled`: how much of `played` broke.
    """

    name: str
    by: str
    difference: str | None
    played: int
    stumbled: int = 0
    seconds: float = 0.0


def stumbles(difference: str) -> bool:
    """Whether a difference is that the code broke, and not what it did."""
    return any(name in difference for name in _STUMBLES)


def judged(mutants: Sequence[Mutant], jobs: int) -> Iterator[Verdict]:
    """Yield the verdict on each mutant, in any order; so many processes at a time."""
    context = multiprocessing.get_context("fork")
    waiting = list(_pieces(mutants, jobs))
    running: dict[int, _Running] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            names, work = waiting.pop(0)
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=work, args=(theirs,))
            process.start()
            theirs.close()
            running[process.pid or 0] = _Running(process, ours, names, time.monotonic(), time.monotonic())
        for pid, one in list(running.items()):
            if one.pipe.poll(0.02):
                yield from one.take()
            elif len(one.names) == 1 and time.monotonic() - one.last_message > _PATIENCE:
                one.process.kill()
                yield Verdict(one.names.pop(), "", ENDLESS, 0, seconds=time.monotonic() - one.began)
            if not one.names:
                one.process.join()
                del running[pid]


@dataclass(slots=True)
class _Running:
    """A process that judges the mutants of these names."""

    process: Any
    pipe: Any
    names: set[str]
    began: float
    last_message: float

    def take(self) -> Iterator[Verdict]:
        """Take a message of the process; Failure when it has died. A number is a sign of life."""
        try:
            found = self.pipe.recv()
        except EOFError:
            raise Failure(f"The process of {', '.join(sorted(self.names))} has died.") from None
        if isinstance(found, str):
            raise Failure(found)
        now = time.monotonic()
        if not isinstance(found, int):
            verdict = Verdict(*found)._replace(seconds=now - self.began)
            self.names.remove(verdict.name)
            self.began = now
            yield verdict
        self.last_message = now


_Piece = tuple[set[str], Callable[[Any], None]]
"""Mutants, and the function of the process that judges them."""


def _pieces(mutants: Sequence[Mutant], jobs: int) -> Iterator[_Piece]:
    """Yield each mutant by itself, but those judged by tests in so many parts, each test file in one of them."""
    by_family = _by_family() if any(mutant.by in FIRST for mutant in mutants) else {}
    by_file: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        if mutant.by in FIRST or not mutant.mutation.of_a_function:
            seeds = _order(mutant, by_family) if mutant.by in FIRST else ()
            yield {mutant.name}, partial(_judge, mutant, seeds)
        else:
            by_file.setdefault(mutant.by.partition("::")[0], []).append(mutant)
    files = sorted(by_file)
    for part in range(min(jobs, len(files))):
        some = [mutant for path in files[part::jobs] for mutant in by_file[path]]
        yield {mutant.name for mutant in some}, partial(_judge_by_tests, files[part::jobs], some)


def _by_family() -> dict[str, list[int]]:
    """The seeds of all families. The points are enumerated by the code as it is: spoilt code may not come that far."""
    from devtools.proof.faults import scenarios

    by_family: dict[str, list[int]] = {}
    for seed in scenarios.seeds(MOST_SCENARIOS):
        by_family.setdefault(scenarios.family_of(seed).name, []).append(seed)
    for seeds in by_family.values():
        if seeds[0] < scenarios.RANDOM:  # neighbours are much alike
            Random(0).shuffle(seeds)  # noqa: S311 - meant to be the same every time
    return by_family


def _order(mutant: Mutant, by_family: Mapping[str, Sequence[int]]) -> list[int]:
    """The seed that found the mutant out last time, then seeds of each family in turn, the mutant's own families
    first.
    """
    rest = dict(by_family)
    first = zip_longest(*(rest.pop(name, []) for name in FIRST.get(mutant.by, ())))
    known = [] if mutant.seed is None else [mutant.seed]
    in_turn = chain(known, chain.from_iterable(first), chain.from_iterable(zip_longest(*rest.values())))
    return [seed for seed in in_turn if seed is not None]


def _judge(mutant: Mutant, seeds: Sequence[int], pipe: Any) -> None:
    """Load everything again with the mutant in it, and look until something finds it out."""
    forget_modules()
    mutation.install(mutant.mutation)
    try:
        look = _by_scenarios(seeds, pipe.send) if mutant.by in FIRST else _by_test(mutant.by)
        pipe.send((mutant.name, *look))
    except Failure as failure:
        pipe.send(str(failure))
    pipe.close()


def forget_modules() -> None:
    """Have all modules of the repository, but for this, loaded again."""
    for name in list(sys.modules):
        if name.split(".")[0] in _RELOADED and name not in (__name__, mutation.__name__, Failure.__module__):
            sys.modules.pop(name)


_Look = tuple[str, str | None, int, int]
"""By what, the difference, of how much that was played or tested, and how much of that stumbled."""


def _by_scenarios(seeds: Sequence[int], report: Callable[[int], None]) -> _Look:
    from devtools.proof.faults import scenarios

    stumbled = 0
    for played, seed in enumerate(seeds, 1):
        report(played)
        result = scenarios.play(seed)
        if result.difference is not None:
            if not stumbles(result.difference):
                return f"{result.family} {seed}", result.difference, played, stumbled
            stumbled += 1
    return "", None, len(seeds), stumbled


class Failures:
    """The failures of tests, up to the first that fails for the right reason."""

    def __init__(self) -> None:
        self.tested = self.stumbled = 0
        self.found: tuple[str, str] | None = None

    def pytest_runtest_logstart(self) -> None:
        """A test begins."""
        self.tested += 1

    def pytest_exception_interact(self, node: Any, call: Any) -> None:
        """A test fails: by what it looks for, or by broken code."""
        message = call.excinfo.exconly() if call.excinfo is not None else ""
        # A failed assertion of a fixture is a difference as well; another error in one is not.
        asserted = call.when == "call" or message.startswith("AssertionError")
        if not asserted or stumbles(message.partition("\n")[0]):
            self.stumbled += 1
        elif self.found is None:
            self.found = node.nodeid, message
            node.session.shouldfail = "found out"

    def look(self) -> _Look:
        """Return the outcome."""
        by, difference = self.found or ("", None)
        return by, difference, self.tested, self.stumbled


class _Forks(Failures):
    """Has each of these mutants judged by its tests in a fork of the process that has loaded them."""

    def __init__(self, mutants: Sequence[Mutant], pipe: Any) -> None:
        super().__init__()
        self._mutants = mutants
        self._pipe = pipe

    def pytest_runtestloop(self, session: Any) -> bool:
        for mutant in self._mutants:
            pid = os.fork()
            if not pid:
                self._judge(session, mutant)
            _, status = os.waitpid(pid, 0)
            if os.WIFSIGNALED(status):
                self._pipe.send((mutant.name, "", ENDLESS, 0))
        return True

    def _judge(self, session: Any, mutant: Mutant) -> NoReturn:
        """In the fork: a limit of seconds of the processor, however busy the machine is, is for what goes round in circles."""
        resource.setrlimit(resource.RLIMIT_CPU, (_PATIENCE_CPU, _PATIENCE_CPU))
        try:
            mutation.swap_in(mutant.mutation)
            items = [one for one in session.items if one.nodeid.startswith(mutant.by)]
            if not items:
                raise Failure(f"there is no {mutant.by}")
            for item, following in zip_longest(items, items[1:]):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.found is not None:
                    break
            self._pipe.send((mutant.name, *self.look()))
        except BaseException as error:  # nothing may get back into the loop of the process that was forked
            self._pipe.send(f"{mutant.name}: {error!r}")
        os._exit(0)


def _judge_by_tests(paths: Sequence[str], mutants: Sequence[Mutant], pipe: Any) -> None:
    """Load these tests once, for all the mutants that they are to find out."""
    forget_modules()
    run_tests(paths, _Forks(mutants, pipe))
    pipe.close()


def _by_test(path: str) -> _Look:
    failures = Failures()
    run_tests([path], failures)
    return failures.look()


def run_tests(paths: Sequence[str], plugin: object, *options: str, thorough: bool = True) -> int:
    """Run tests in this process, with a plugin of pytest; returns pytest's exit status. Nothing is printed."""
    import pytest

    if thorough:
        # Some of the tests that are named are a case of many, of which an ordinary run goes through a few.
        os.environ["GRIDVIEW_THOROUGH"] = "1"

    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        return pytest.main(
            [
                "-q",
                "-p",
                "no:cacheprovider",
                "-p",
                "no:xdist",
                f"--timeout={_PATIENCE_TEST}",
                *options,
                *paths,
            ],
            plugins=[plugin],
        )


def run(console: Console, jobs: int) -> int:
    """Judge every mutant, and print the scenario or test that found it out; 1 when one is alive."""
    alive = 0
    for verdict in judged(MUTANTS, jobs):
        stumbled = f", {verdict.stumbled:,} stumbled" if verdict.stumbled else ""
        if verdict.difference is None:
            alive += 1
            console.print(
                f"[red]alive[/red]  {verdict.name}, after {verdict.played:,} scenarios or tests{stumbled}",
                soft_wrap=True,
            )
            continue
        console.print(
            f"killed {verdict.name}\n"
            f"       by {verdict.by} ({verdict.played:,} played{stumbled}, {verdict.seconds:.0f} s): "
            f"{escape(verdict.difference[:150])}",
            soft_wrap=True,
        )
    console.print(
        f"{len(MUTANTS)} mutants, {alive} alive" if alive else f"{len(MUTANTS)} mutants, all found out"
    )
    return 1 if alive else 0
