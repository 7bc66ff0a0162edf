"""What becomes of each mutant: played in a process of its own until a scenario, or a test, finds a difference.

Only a difference counts, or going round in circles. Spoilt code that stumbles over itself (NameError, TypeError and the like) shows
nothing about what should have found it out: such a scenario or test is passed over, and a mutant that only ever stumbles is alive.
"""

import contextlib
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from rich.console import Console
from rich.markup import escape

from devtools.failure import Failure
from devtools.proof import mutation
from devtools.proof.faults.mutants import FIRST, MUTANTS, Mutant

MOST_SCENARIOS = 4000
"""Scenarios that a mutant has to survive to be called alive."""

_PATIENCE = 120.0
"""Seconds without a scenario's end after which a mutant counts as found out: it goes round in circles."""

ENDLESS = "it does not come to an end"
"""What is told of such a one instead of a difference."""

_STUMBLES = ("NameError", "UnboundLocalError", "AttributeError", "TypeError", "SyntaxError", "ImportError")
"""What broken code raises, whatever it was to do."""

_RELOADED = ("gridview", "functions", "tests", "devtools")


class Verdict(NamedTuple):
    """What became of a mutant. `difference` is None when nothing found it out; `stumbled`: of what was played, so much broke."""

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
    """What becomes of each mutant, so many at a time, in any order."""
    context = multiprocessing.get_context("fork")
    by_family = _by_family()
    waiting = list(mutants)
    running: dict[str, tuple[Any, Any, float, float]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop(0)
            ours, theirs = context.Pipe(duplex=False)
            seeds = _order(mutant, by_family)
            process = context.Process(target=_judge, args=(mutant, seeds, theirs), daemon=True)
            process.start()
            theirs.close()
            now = time.monotonic()
            running[mutant.name] = process, ours, now, now
        for name, (process, pipe, began, heard) in list(running.items()):
            seconds = time.monotonic() - began
            if pipe.poll(0.02):
                try:
                    found = pipe.recv()
                except EOFError:
                    raise Failure(f"The process of the mutant {name!r} has died.") from None
                if isinstance(found, int):  # so many scenarios have ended
                    running[name] = process, pipe, began, time.monotonic()
                    continue
                if isinstance(found, str):
                    raise Failure(found)
                yield Verdict(*found)._replace(seconds=seconds)
            elif time.monotonic() - heard > _PATIENCE:
                process.kill()
                yield Verdict(name, "", ENDLESS, 0, seconds=seconds)
            else:
                continue
            process.join()
            del running[name]


def _by_family() -> dict[str, list[int]]:
    """The seeds of all families. The points are enumerated by the code as it is: what is spoilt may not come that far."""
    from devtools.proof.faults import scenarios

    by_family: dict[str, list[int]] = {}
    for seed in scenarios.seeds(MOST_SCENARIOS):
        by_family.setdefault(scenarios.family_of(seed).name, []).append(seed)
    for seeds in by_family.values():
        if seeds[0] < scenarios.RANDOM:  # neighbours are much alike
            Random(0).shuffle(seeds)  # noqa: S311 - meant to be the same every time
    return by_family


def _order(mutant: Mutant, by_family: Mapping[str, Sequence[int]]) -> list[int]:
    """What found it out last time; then one of each family in turn, those that the mutant is about first."""
    rest = dict(by_family)
    first = zip_longest(*(rest.pop(name, []) for name in FIRST.get(mutant.by, ())))
    known = [] if mutant.seed is None else [mutant.seed]
    in_turn = chain(known, chain.from_iterable(first), chain.from_iterable(zip_longest(*rest.values())))
    return [seed for seed in in_turn if seed is not None]


def _judge(mutant: Mutant, seeds: Sequence[int], pipe: Any) -> None:
    """Load everything anew with the mutant in it, and look until something finds it out."""
    for name in list(sys.modules):
        if name.split(".")[0] in _RELOADED and name not in (__name__, mutation.__name__, Failure.__module__):
            sys.modules.pop(name)
    mutation.install(mutant.mutation)
    try:
        look = _by_scenarios(seeds, pipe.send) if mutant.by in FIRST else _by_test(mutant.by)
        pipe.send((mutant.name, *look))
    except Failure as failure:
        pipe.send(str(failure))
    pipe.close()


_Look = tuple[str, str | None, int, int]
"""By what, the difference, of how much that was played or tested, and how much of that stumbled."""


def _by_scenarios(seeds: Sequence[int], tell: Callable[[int], None]) -> _Look:
    from devtools.proof.faults import scenarios

    stumbled = 0
    for played, seed in enumerate(seeds, 1):
        tell(played)
        result = scenarios.play(seed)
        if result.difference is not None:
            if not stumbles(result.difference):
                return f"{result.family} {seed}", result.difference, played, stumbled
            stumbled += 1
    return "", None, len(seeds), stumbled


def _by_test(path: str) -> _Look:
    import pytest

    class Failures:
        """What fails in the tests, up to the first that fails for the right reason."""

        tested = stumbled = 0
        found: tuple[str, str] | None = None

        def pytest_runtest_logstart(self) -> None:
            self.tested += 1

        def pytest_exception_interact(self, node: pytest.Item, call: pytest.CallInfo[Any]) -> None:
            told = call.excinfo.exconly() if call.excinfo is not None else ""
            if call.when != "call" or stumbles(told.partition("\n")[0]):
                self.stumbled += 1
            elif self.found is None:
                self.found = node.nodeid, told
                node.session.shouldfail = "found out"

    failures = Failures()
    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", path], plugins=[failures])
    by, difference = failures.found or ("", None)
    return by, difference, failures.tested, failures.stumbled


def run(console: Console, jobs: int) -> int:
    """Look what becomes of every mutant, and print what found it out; 1 when one is alive."""
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
