"""The cost of questions: with a quiet journal, with changes that are not folded yet, and in a container that was
idle.

The baseline's project and questions (`devtools.proof.baseline`), over the table in memory, which counts units as
DynamoDB does.
"""

import argparse
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any, Final

from rich.console import Console

from devtools.bench import output
from devtools.failure import Failure
from devtools.local.passes import no_poison
from devtools.proof.baseline import service, world
from devtools.proof.baseline.questions import Question, questions
from devtools.proof.baseline.service import Cost, Service
from devtools.proof.faults.adversary import record
from devtools.proof.faults.virtual import Clock, virtual
from devtools.proof.faults.watched import Attempted
from gridview.commands import issues
from gridview.commands.actor import Actor, Role
from gridview.commands.context import WriteContext
from gridview.encoding import keys
from gridview.journal.log import Log
from gridview.maintenance.stream_consumer import consume
from gridview.schema.store import Catalogs
from gridview.view.block_cache import BlockCache
from gridview.view.journal_tail import learn
from infra.limits import BATCH_SIZE

SIZE: Final = 100_000
CHANGES: Final = 200
_KINDS: Final = ("edit", "edit", "edit", "create", "delete")
_EVERY: Final = 7
"""One of so many of the baseline's questions is asked."""
_IDLE: Final = 60.0
_DOCUMENT: Final = 0.5
_SEED: Final = 200


@dataclass(frozen=True)
class Costs:
    """The cost of one question; `idle`: in a container that asked it a minute ago, before the changes."""

    question: Question
    rows: int
    quiet: Cost
    quiet_warm: Cost
    pending: Cost
    pending_warm: Cost
    idle: Cost

    @property
    def is_filtered_sort(self) -> bool:
        """Whether it is a page of a filtered order of a field."""
        return bool(
            self.question.kind == "grid" and {"filter", "sort"} <= self.question.body.keys() and self.rows
        )

    @property
    def idle_without_documents(self) -> float:
        """Read units of the idle container, without those of the rows."""
        return self.idle.units - _DOCUMENT * self.rows


def run(args: argparse.Namespace) -> int:
    """Measure and print."""
    console, progress, size = output.console(), Console(stderr=True), args.size or SIZE
    progress.print(f"Making {size:,} issues in memory ...", highlight=False)
    clock = Clock()
    with virtual(clock, _SEED):
        show(console, size, measured(world.make(size), clock))
    return 0


def measured(made: world.World, clock: Clock, every: int = _EVERY) -> list[Costs]:
    """The costs of questions when all is folded, then with changes that wait."""
    asked = [one for one in questions(made.size)[::every] if not one.moves]
    with service.running(made) as running:
        clock.seconds += 1_000
        quiet = [_twice(running, one, _container(made, clock)) for one in asked]
        idle = [_container(made, clock) for _ in asked]
        for one, cache in zip(asked, idle, strict=True):
            running.cost(one, cache)
        change(made, CHANGES)
        clock.seconds += _IDLE
        waited = [running.cost(one, cache)[1] for one, cache in zip(asked, idle, strict=True)]
        pending = [_twice(running, one, _container(made, clock))[1:] for one in asked]
    return [
        Costs(one, *now, *later, after)
        for one, now, later, after in zip(asked, quiet, pending, waited, strict=True)
    ]


def _container(made: world.World, clock: Clock) -> BlockCache:
    """One that has read the project's definitions, and beside them where its journal ends."""
    cache = BlockCache(clock=lambda: clock.seconds)
    learn(Log(made.table, world.TENANT, world.PROJECT), cache)
    return cache


def _twice(running: Service, question: Question, cache: BlockCache) -> tuple[int, Cost, Cost]:
    """The rows of a question, and its cost at first, and at once again."""
    answer, cold = running.cost(question, cache)
    return len(answer.get("rows", ())), cold, running.cost(question, cache)[1]


def change(made: world.World, changes: int) -> None:
    """Edit, make and delete so many issues, and have the consumer take that in. Nothing is folded."""
    random, numbers = Random(_SEED), count(1)  # noqa: S311  (the same each time)
    actor = Actor(world.TENANT, "bench", Role.ADMIN)
    table, catalog = made.table, Catalogs().get(made.table, world.TENANT, world.PROJECT)
    records: list[Any] = []

    def noted(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        place = attempted.keys[0]
        mine = attempted.writes and keys.is_issue(place[0]) and keys.is_project(place[1])
        before = table.get(*place, consistent=True) if mine else None
        answer = perform()
        if mine:
            records.append(record(next(numbers), before, table.get(*place, consistent=True)))
        return answer

    seen = table.seen_through(noted)
    others = iter(random.sample(range(1, made.size), changes))
    for place in range(changes):
        kind = _KINDS[place % len(_KINDS)]
        fields = {
            "day": f"2021-03-{random.randint(1, 28):02d}",
            "amount": random.randrange(1_000_000),
            "kind": random.choice(world.KINDS),
        }
        if kind == "create":
            issues.create_issue(WriteContext(seen, catalog, actor), {"name": "beam bolt", "fields": fields})
        elif kind == "delete":
            issues.delete_issue(WriteContext(seen, catalog, actor), next(others), None)
        else:
            state = random.choice(("open", "closed"))
            issues.update_issue(
                WriteContext(seen, catalog, actor), next(others), {"state": state, "fields": fields}, None
            )
    for at in range(0, len(records), BATCH_SIZE):
        if consume(table, Catalogs(), records[at : at + BATCH_SIZE], no_poison) is not None:
            raise Failure("The consumer did not finish a batch.")


def show(console: Console, size: int, found: Sequence[Costs]) -> None:
    """Print the cost that waiting changes add, and the cost in the idle container."""
    pairs = (
        (f"by {CHANGES} changes, cold", "quiet", "pending"),
        (f"by {CHANGES} changes, warm", "quiet_warm", "pending_warm"),
    )
    console.print(
        output.table(
            f"\n{len(found):,} questions to {size:,} issues, {CHANGES} changes",
            ("what is added", "read units, median", "at most", "rounds, median", "at most"),
            (_added(found, *pair) for pair in pairs),
        )
    )
    for worst in sorted(found, key=lambda one: one.pending.units - one.quiet.units)[-3:]:
        console.print(
            f"{worst.question.name}: {worst.quiet.units:g} -> {worst.pending.units:g} units, "
            f"{worst.quiet.rounds} -> {worst.pending.rounds} rounds",
            highlight=False,
            soft_wrap=True,
        )
    idle = [one.idle_without_documents for one in found if one.is_filtered_sort]
    spread = _spread(idle)
    console.print(
        f"{len(idle)} filtered sorts in a container that was idle for a minute, after {CHANGES} changes. "
        f"Read units without documents: median {spread[0]:,.1f}, maximum {spread[1]:,.1f}.",
        highlight=False,
        soft_wrap=True,
    )


def _added(found: Sequence[Costs], title: str, before: str, after: str) -> list[str]:
    costs = [(getattr(one, before), getattr(one, after)) for one in found]
    units = _spread(b.units - a.units for a, b in costs)
    rounds = _spread(b.rounds - a.rounds for a, b in costs)
    return [title, *(f"{one:+,.1f}" for one in units), *(f"{one:+,.0f}" for one in rounds)]


def _spread(values: Iterable[float]) -> tuple[float, float]:
    found = list(values)
    return statistics.median(found), max(found)
