"""The answers and costs of every kind of query, compared with those recorded when the baseline began: costs may only
get lower.

`./dev python -m devtools.proof.baseline` compares; with `--record` it writes the present ones.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from devtools.proof.baseline import service, world
from devtools.proof.baseline.questions import READ_WHOLE, questions
from devtools.proof.baseline.service import Cost, Found
from devtools.proof.faults.virtual import Clock, virtual

SIZES: Final = (1_000, READ_WHOLE, 100_000)
"""Issues of the projects: every test run asks the smallest some of the questions, `./dev prove` asks all of all."""

_SEED: Final = 200
_QUIET: Final = 1_000.0

HERE: Final = Path(__file__).parent

Recorded = Mapping[str, tuple[str, Cost, Cost]]
"""Question -> its answer in a few characters, and its costs with nothing at hand, and asked again."""


class Compared(NamedTuple):
    """The outcome of a comparison. `worse`: different answers and higher costs; `better`: lower costs."""

    worse: list[str]
    better: list[str]


def measure(size: int, every: int = 1) -> dict[str, Found]:
    """Ask a project of so many issues the questions, or one of every few. Its journal has been quiet for a while."""
    clock = Clock()
    with virtual(clock, _SEED), service.running(world.make(size)) as running:
        clock.seconds += _QUIET
        return {one.name: running.ask(one) for one in questions(size)[::every]}


def compare(before: Recorded, now: Mapping[str, Found]) -> Compared:
    """Return the differences from the record; questions on one side only are worse."""
    worse = [f"{name}: not recorded" for name in now.keys() - before.keys()]
    worse += [f"{name}: not asked any more" for name in before.keys() - now.keys()]
    better: list[str] = []
    for name in sorted(now.keys() & before.keys()):
        digest, *costs = before[name]
        if now[name].digest != digest:
            worse.append(f"{name}: {digest} was answered, and now {now[name].digest}")
            continue
        for when, was, cost in zip(("cold", "warm"), costs, now[name][1:], strict=True):
            if (was.units, was.rounds) != (cost.units, cost.rounds):
                dearer = cost.units > was.units or cost.rounds > was.rounds
                (worse if dearer else better).append(
                    f"{name}, {when}: {_cost_text(was)} -> {_cost_text(cost)}"
                )
    return Compared(worse, better)


def recorded(size: int, folder: Path = HERE) -> Recorded:
    """The record of a project of so many issues."""
    read: dict[str, Any] = json.loads((folder / f"{size}.json").read_text("utf-8"))
    return {name: (digest, Cost(*costs[0]), Cost(*costs[-1])) for name, (digest, *costs) in read.items()}


def record(size: int, found: Mapping[str, Found], folder: Path = HERE) -> None:
    """Write the findings as the record: a line for each question, with one cost if both are the same."""
    lines = []
    for name, one in found.items():
        costs = dict.fromkeys((one.cold, one.warm))
        lines.append(f"{_short(name)}:{_short([one.digest, *costs])}")
    (folder / f"{size}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cost_text(cost: Cost) -> str:
    return f"{cost.units:g} units in {cost.rounds} rounds ({cost.calls})"
