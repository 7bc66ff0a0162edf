"""Judges a sample of the drawn mutants, and compares the living ones with the list of mutants that may live."""

import hashlib
import os
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from devtools.proof.drawn_mutants.covering import Chooser, looks, sources
from devtools.proof.drawn_mutants.drawing import Drawn, draw
from devtools.proof.drawn_mutants.judging import Case, Verdict, judged

MUTANTS = 1_000
SEED = 27
SECONDS = 40 * 60.0
"""The sample of the command and of `./dev prove`, and the seconds of the processor that it takes at most."""

_CONTROL_SECONDS = 3 * 60.0
"""The part of these seconds that is left for the core as it is."""

OF_EACH = 2
"""Mutants of each module that are in every sample."""

_LIVING = Path(__file__).with_name("living.txt")


class Judged(NamedTuple):
    """A sample after its looks. `living` are those found by none; `broken` are looks that fail of the core as it is."""

    verdicts: Sequence[Verdict]
    left: int
    living: Sequence[Verdict]
    broken: Sequence[str]

    @property
    def score(self) -> float:
        """The share in percent of the judged mutants that were found out."""
        return 100 * (1 - len(self.living) / len(self.verdicts)) if self.verdicts else 0.0

    def differences(self, reasons: Mapping[str, str]) -> list[str]:
        """Living mutants without a reason, reasons of mutants that do not live, and looks that fail of the core as it is."""
        found = {one.name for one in self.verdicts if one.by}
        return [
            *(
                f"alive: {one.name}, after {one.looks} looks\n  {replay(one.name)}"
                for one in self.living
                if one.name not in reasons
            ),
            *(f"found out, but listed in {_LIVING.name}: {name}" for name in sorted(found & reasons.keys())),
            *(f"fails of the core as it is: {one}" for one in self.broken),
        ]

    def figures(self) -> str:
        """One line: how many were judged, and the outcome."""
        left = f", {self.left:,} not judged" if self.left else ""
        return (
            f"{len(self.verdicts):,} mutants, {self.score:.1f} % found out, {len(self.living):,} live{left}"
        )


def all_drawn(modules: str = "") -> list[Drawn]:
    """The mutants of the modules whose names begin so."""
    return [
        mutant
        for module, path in sources().items()
        if module.startswith(modules)
        for mutant in draw(module, path.read_text("utf-8"))
    ]


def sampled(drawn: Sequence[Drawn], count: int, seed: int) -> list[Drawn]:
    """So many of them: a few of each module, and others of all. Another mutant of the core changes no other part of the sample."""

    def place(mutant: Drawn) -> str:
        return hashlib.sha256(f"{seed} {mutant.name}".encode()).hexdigest()

    of_module: Counter[str] = Counter()
    first: list[Drawn] = []
    rest: list[Drawn] = []
    for mutant in sorted(drawn, key=place):
        of_module[mutant.module] += 1
        (first if of_module[mutant.module] <= OF_EACH else rest).append(mutant)
    return [*first, *rest][:count]


def living() -> Mapping[str, str]:
    """The mutants that may live, each with its reason: a line with a name, and indented lines after it."""
    entries = re.findall(r"^(\S.*)\n((?:[ ]+\S.*\n)+)", _LIVING.read_text("utf-8"), re.MULTILINE)
    return {name: " ".join(reason.split()) for name, reason in entries}


def replay(name: str) -> str:
    """The command that judges a mutant again."""
    return f"./dev python -m devtools.proof.drawn_mutants --name {shlex.quote(name)}"


def judge(mutants: Sequence[Drawn], jobs: int, seconds: float = SECONDS) -> Judged:
    """Judge mutants. Then the looks that found one out are run with the core as it is, where none may fail.

    The hits of all looks are measured first, unless they are kept; the seconds count that too.
    """
    before = sum(os.times()[:4])
    chooser = Chooser(looks(jobs))
    cases = [
        Case(one.name, one, chooser.looks(one), ":" not in one.place or chooser.runs_while_loading(one))
        for one in mutants
    ]
    left = seconds - _CONTROL_SECONDS - (sum(os.times()[:4]) - before)
    verdicts = list(judged(cases, jobs, left))
    found = {verdict.by for verdict in verdicts}
    used = {look.name: look for case in cases for look in case.looks if look.name in found}
    controls = [Case(look.name, None, [look], afresh=False) for look in used.values()]
    return Judged(
        verdicts,
        len(mutants) - len(verdicts),
        [verdict for verdict in verdicts if not verdict.by],
        [f"{one.name}: {one.failure}" for one in judged(controls, jobs, _CONTROL_SECONDS) if one.by],
    )
