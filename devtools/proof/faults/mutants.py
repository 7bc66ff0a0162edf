"""Ways to spoil the core, one at a time: each has to be found out, or its scenarios or tests prove nothing.

`mutants.txt` lists them, by the function that is spoilt:

    package.module:Class.function by KIND        KIND: scenarios of `FIRST`, or the tests of a file
      the fault [SEED]                           SEED: the scenario that found it last
        - the pattern, which matches once        (`devtools.proof.mutation` has its syntax)
        + its replacement                        none: nothing
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from devtools.proof.mutation import Mutation

FIRST = {
    "stream": ("kill points", "stream", "storm", "crowd", "poison"),
    "blocks": (
        "folds write the same blocks",
        "folds overlap",
        "job kill points",
        "blocks",
        "crowd",
        "storm",
        "stream",
    ),
    "jobs": (
        "job kill points",
        "definitions change during a pass",
        "an invocation began under older definitions",
        "an issue is edited during a pass",
        "a pass finds blocks that the index does not list yet",
        "definitions",
        "definitions, rough",
        "a project goes",
        "definitions and poison",
    ),
    "pages": (
        "a page is read during a pass",
        "an issue gets a value while a page is read",
        "readers",
        "definitions",
        "stream",
    ),
    "journals": (
        "kill points",
        "job kill points",
        "stream",
        "blocks",
        "crowd",
        "storm",
        "definitions",
        "folds overlap",
        "a consumer of a journal meets others",
        "all is read between two calls of a fold",
        "a fold runs between two calls of a reader",
    ),
    "repairs": ("a repair meets others", "a fold meets a repair"),
    "questions": ("readers", "definitions", "stream", "blocks"),
    "formulas": ("formulas", "formulas, rough", "formulas and edits", "formulas and poison"),
    "together": (
        "together: undo",
        "together: jobs",
        "together: webhooks",
        "together: all",
        "together: orders",
    ),
}
"""The families of scenarios that are played first."""


class Mutant(NamedTuple):
    """A mutation and what finds it out: scenarios (a key of `FIRST`), that of `seed` before all others, or a test file."""

    name: str
    mutation: Mutation
    by: str
    seed: int | None = None


def parsed(text: str) -> Iterator[Mutant]:
    """The mutants that a text like `mutants.txt` lists."""
    for group in re.split(r"\n(?=\S)", text.strip()):
        where, _, rest = group.partition("\n")
        place, by = where.split(" by ")
        for paragraph in re.split(r"\n(?=  \S)", rest):
            name, *lines = paragraph.strip().splitlines()
            name, _, seed = name.rstrip("]").partition(" [")
            sides = ["\n".join(line[6:] for line in lines if line.startswith(f"    {sign}")) for sign in "-+"]
            yield Mutant(name, Mutation(place, *sides), by, int(seed) if seed else None)


MUTANTS = tuple(parsed(Path(__file__).with_suffix(".txt").read_text("utf-8")))
