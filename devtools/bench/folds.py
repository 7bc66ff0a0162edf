"""The cost of a write, by how many changes a fold takes together: write units, and CPU time of a new issue.

Time is stepped: a fold runs when it is due, which is after the seconds of `fold_pace` if little was changed. The
project has the blocks and ledgers of all its issues, but documents and sort entries only of the changed ones. No
write reads the others.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import reduce
from itertools import count, groupby
from random import Random
from types import SimpleNamespace
from typing import Any, Final, NamedTuple
from unittest import mock

from typing_extensions import override

from devtools.bench import issues
from devtools.bench.column_work import ColumnWork, metered_columns
from devtools.bench.functions import Functions, event, record
from devtools.bench.measure import images
from devtools.bench.work import NOTHING, Work, worked
from devtools.failure import Failure
from devtools.local import bulk
from devtools.local.derived_items import derived_items
from devtools.local.passes import work_off
from gridview.commands.actor import Actor
from gridview.commands.jobs import get_job, waiting
from gridview.derive.ledger import Ledger
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys
from gridview.journal.items import Head
from gridview.maintenance.job_queue import body_of
from gridview.schema.catalog import Catalog
from gridview.schema.jobs import Hint
from gridview.support import clock
from gridview.support.concurrency import chunked
from infra.limits import BATCH_SIZE

CREATE: Final = "create"
EDIT: Final = "edit of an old issue"
MOVE: Final = "move of an old issue to another state"
EDIT_A_MINUTE: Final = "edit a minute of old issues"
DELETE: Final = "delete of an old issue"
BULK: Final = "bulk change of old issues"


class Step(NamedTuple):
    """A step: changes of a kind, with so many in a fold, and so many folds."""

    kind: str
    together: int
    folds: int
    history: bool = True
    """Whether the project's history is on."""


LONE: Final = (
    Step(EDIT, 1, 10),
    Step(EDIT_A_MINUTE, 15, 2),
)
"""The steps of a project of few issues: changes that come one by one."""

PLAN: Final = (
    Step(CREATE, 1, 10),
    Step(CREATE, 40, 3),
    Step(CREATE, 1_000, 1),
    *LONE,
    Step(EDIT, 200, 2),
    Step(DELETE, 1, 3),
    Step(DELETE, 40, 3),
    Step(DELETE, 200, 1),
    Step(BULK, 10_000, 1),
    Step(CREATE, 40, 3, history=False),
    Step(CREATE, 1_000, 1, history=False),
    Step(EDIT, 200, 2, history=False),
    Step(DELETE, 40, 3, history=False),
    Step(DELETE, 200, 1, history=False),
)
MOVES: Final = (
    Step(MOVE, 1, 10),
    Step(MOVE, 200, 2),
)
"""The steps of a board's cards."""

NUMBERS: Final = (
    Step(CREATE, 40, 3),
    Step(CREATE, 1_000, 3),
    Step(EDIT, 200, 2),
    Step(DELETE, 40, 3),
)
"""The steps of a project in which all number fields are indexed: by how much their columns raise the cost."""
_PROJECTS: Final[Mapping[Sequence[Step], tuple[str, Sequence[str]]]] = {
    PLAN: ("j", issues.INDEXED),
    LONE: ("lone", issues.INDEXED),
    MOVES: ("moves", issues.INDEXED),
    NUMBERS: ("numbers", (*issues.INDEXED, *issues.NUMBERS)),
}
"""The name of each plan's project, and the indexed attributes."""
_SEED: Final = 12


@dataclass(frozen=True, slots=True)
class Changed:
    """Changes of one kind in a project of so many `issues`, with `together` of them in a fold: what accepting, deriving and folding
    them took.

    `history`: whether the history was on. `columns`: the part of the folds that writes columns.
    """

    issues: int
    kind: str
    together: int
    history: bool
    accepted: Work
    consumed: Work
    folded: Work
    columns: Work

    @property
    def write_units(self) -> float:
        """For an issue, with its document and all that is derived from it."""
        return sum(work.write_units_each for work in (self.accepted, self.consumed, self.folded))

    @property
    def read_units(self) -> float:
        """For an issue, likewise."""
        return sum(work.read_units_each for work in (self.accepted, self.consumed, self.folded))


def changed(
    functions: Functions, actor: Actor, table: Table, size: int, plan: Sequence[Step] = PLAN
) -> list[Changed]:
    """Load a project of so many issues, and change it. Takes some tens of thousands of writes, and a minute for 100,000 issues."""
    steps, old = plan_for(size, plan), old_issues(size, plan)
    name, indexed = _PROJECTS[plan]
    measured = []
    with stepped() as go_on, metered_columns() as columns:
        whole = [*range(1, _bulk_changed(steps) + 1), *old]
        catalog = issues.make_project(table, actor, f"{name}{size}", indexed)
        project = _Project(functions, actor, table, catalog, size, whole, old, go_on, columns)
        for remembers, some in groupby(steps, key=lambda step: step.history):
            project.remember(remembers)
            measured += [project.measure(step) for step in some]
    return measured


def edited(
    functions: Functions, actor: Actor, table: Table, catalog: Catalog, size: int, step: Step
) -> Changed:
    """Load so many issues into a project, and edit some of them."""
    old = Random(_SEED).sample(range(1, size + 1), step.together * step.folds)  # noqa: S311  (the same each time)
    with stepped() as go_on, metered_columns() as columns:
        return _Project(functions, actor, table, catalog, size, old, old, go_on, columns).measure(step)


def built(
    functions: Functions,
    actor: Actor,
    table: Table,
    catalog: Catalog,
    size: int,
    define: Callable[[], object],
) -> Work:
    """Load so many whole issues into a project, define something that is built over them, and build and fold it."""
    whole = range(1, size + 1)
    with stepped() as go_on, metered_columns() as columns:
        project = _Project(functions, actor, table, catalog, size, whole, (), go_on, columns)
        define()
        return project.build()


def plan_for(size: int, plan: Sequence[Step] = PLAN) -> list[Step]:
    """Return the steps of a project of so many issues."""
    # A small project has to last for all of it.
    return [
        step._replace(together=min(step.together, size // (8 if step.kind == BULK else 16))) for step in plan
    ]


def old_issues(size: int, plan: Sequence[Step] = PLAN) -> list[int]:
    """Return the numbers of the issues that are edited and deleted, in this order."""
    steps = plan_for(size, plan)
    changed = sum(step.together * step.folds for step in steps if step.kind not in (CREATE, BULK))
    # A bulk change takes the first issues of the project; of the others some are changed one by one.
    others = range(_bulk_changed(steps) + 1, size + 1)
    return Random(_SEED).sample(others, min(changed, len(others)))  # noqa: S311  (the same each time)


def _bulk_changed(steps: Sequence[Step]) -> int:
    return sum(step.together for step in steps if step.kind == BULK)


@contextmanager
def stepped() -> Iterator[Callable[[float], None]]:
    """Let the core see a clock that goes as it does, and that moves on by so many seconds when the function is called."""
    ahead = 0.0

    class Later(datetime):
        @classmethod
        @override
        def now(cls, tz: tzinfo | None = None) -> Any:
            return datetime.now(tz) + timedelta(seconds=ahead)

    def go_on(seconds: float) -> None:
        nonlocal ahead
        ahead += max(seconds, 0.0)

    later = SimpleNamespace(time=lambda: time.time() + ahead, sleep=time.sleep)
    with mock.patch.multiple(clock, datetime=Later, time=later):
        yield go_on


def load(table: Table, catalog: Catalog, size: int, whole: Sequence[int]) -> None:
    """The ledgers of so many issues, their columns and blocks, and all that belongs to those of these numbers."""
    wanted, places = frozenset(whole), bulk.Places()
    items: list[Item]
    for some in chunked(issues.generate(catalog, size), 1_000):
        items = []
        for document in some:
            ledger, *entries = derived_items(catalog, document)
            places.add(Ledger.from_item(ledger).applied)
            items += [ledger, *entries, document] if document["num"] in wanted else [ledger]
        table.batch_put(items)
    pages, totals = places.columns(catalog)
    table.batch_put([page.to_item(catalog.tenant, catalog.project) for page in pages])
    table.put(totals.to_item(catalog.tenant, catalog.project))
    for chain in places.chains():
        table.batch_put([block.to_item(catalog.tenant, catalog.project) for block in chain])


class _Project:
    def __init__(
        self,
        functions: Functions,
        actor: Actor,
        table: Table,
        catalog: Catalog,
        size: int,
        whole: Sequence[int],
        old: Sequence[int],
        go_on: Callable[[float], None],
        columns: ColumnWork,
    ) -> None:
        self._functions = functions
        self._size = size
        self._go_on = go_on
        self._actor = actor
        self._table = table
        self._columns = columns
        self._catalog = catalog
        bulk.take_numbers(table, self._catalog, size)
        load(table, self._catalog, size, whole)
        self._path = f"/v1/projects/{self._catalog.project}/issues"
        self._old = iter(old)
        self._bodies = issues.bodies(10**6, seed=3)
        self._values: Iterator[int] = count(30_000_000)

    def remember(self, history: bool) -> None:
        """Switch the history on or off."""
        self._functions.command(
            event(
                self._actor,
                "PATCH",
                f"/v1/projects/{self._catalog.project}",
                {"history": {"enabled": history}},
            )
        )

    def build(self) -> Work:
        """Do the passes that are due, and fold what they wrote."""

        def build() -> None:
            work_off(self._functions.consumers_table)
            self._fold()

        return self._worked(self._size, build)

    def measure(self, step: Step) -> Changed:
        """Change so many issues and fold them, so many times."""
        kind, together = step.kind, step.together
        if kind == EDIT_A_MINUTE:
            works = self._minutes(together * step.folds)
        else:
            changes = {CREATE: self._create, EDIT: self._edit, MOVE: self._move}
            change = {**changes, DELETE: self._delete, BULK: self._bulk}[kind]
            works = [self._changed_and_folded(change, together) for _ in range(step.folds)]
        accepted, consumed, folded = map(_sum, zip(*works, strict=True))
        columns = self._columns.taken(folded.issues)
        return Changed(self._size, kind, together, step.history, accepted, consumed, folded, columns)

    def _changed_and_folded(
        self, change: Callable[[int], tuple[Work, list[Any]]], together: int
    ) -> tuple[Work, Work, Work]:
        accepted, records = change(together)
        consumed = self._worked(together, lambda: self._consume(records))
        return accepted, consumed, self._worked(together, self._fold)

    def _minutes(self, count: int) -> list[tuple[Work, Work, Work]]:
        """An edit each minute, and upkeep; then upkeep until all is folded."""
        works = []
        for _ in range(count):
            accepted, records = self._edit(1)
            consumed = self._worked(1, lambda records=records: self._consume(records))  # type: ignore[misc]
            works.append((accepted, consumed, self._minute(1)))
        while self._head().folded != self._head().last:
            works.append((NOTHING, NOTHING, self._minute(0)))
        return works

    def _minute(self, changes: int) -> Work:
        """A minute passes, and upkeep does the work that is due then, as its schedule has it."""
        self._go_on(60)
        hints = self._functions.hints_at_jobs()
        return self._worked(
            changes, lambda: self._functions.upkeep([{"body": body_of(hint)} for hint in hints])
        )

    def _create(self, together: int) -> tuple[Work, list[Any]]:
        operations = [{"create": next(self._bodies)} for _ in range(together)]
        results: list[Any] = []
        work = self._worked(together, lambda: results.extend(self._send(operations)))
        new = images(self._table, self._catalog, [result["issue"]["num"] for result in results])
        return work, [record(None, image, at) for at, image in enumerate(new, 1)]

    def _edit(self, together: int) -> tuple[Work, list[Any]]:
        return self._updated(together, lambda _: {"fields": {issues.NUMBER: next(self._values)}})

    def _move(self, together: int) -> tuple[Work, list[Any]]:
        """As a card goes to another column of a board."""
        open_, closed = self._catalog.states
        other = {open_.id: closed.value, closed.id: open_.value}
        return self._updated(together, lambda image: {"state": other[image["state"]["S"]]})

    def _updated(
        self, together: int, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    ) -> tuple[Work, list[Any]]:
        numbers = [next(self._old) for _ in range(together)]
        before = images(self._table, self._catalog, numbers)
        operations = [
            {"update": {"num": num, **change(image)}} for num, image in zip(numbers, before, strict=True)
        ]
        work = self._worked(together, lambda: self._send(operations))
        after = images(self._table, self._catalog, numbers)
        pairs = enumerate(zip(before, after, strict=True), 1)
        return work, [record(*pair, at) for at, pair in pairs]

    def _delete(self, together: int) -> tuple[Work, list[Any]]:
        numbers = [next(self._old) for _ in range(together)]
        before = images(self._table, self._catalog, numbers)

        def delete() -> None:
            for num in numbers:
                self._functions.command(event(self._actor, "DELETE", f"{self._path}/{num}"))

        work = self._worked(together, delete)
        after = images(self._table, self._catalog, numbers)
        return work, [record(*pair, at) for at, pair in enumerate(zip(before, after, strict=True), 1)]

    def _bulk(self, together: int) -> tuple[Work, list[Any]]:
        """By one call, and the turns of work that come of it."""
        numbers = range(1, together + 1)
        before = images(self._table, self._catalog, numbers)
        body = {
            "filter": {"field": "num", "op": "lte", "value": together},
            "set": {"fields": {issues.NUMBER: next(self._values)}},
        }

        def change() -> None:
            job = self._functions.command(event(self._actor, "POST", f"{self._path}/update-matching", body))
            while (due := waiting(self._table, self._actor.tenant)) is not None:
                self._functions.upkeep([{"body": body_of(due)}])
            done = get_job(self._table, self._actor, self._catalog.project, job["id"])
            if (done["state"], done["done"]) != ("done", together):
                raise Failure(f"The job did not finish: {done}")

        work = self._worked(together, change)
        after = images(self._table, self._catalog, numbers)
        return work, [record(*pair, at) for at, pair in enumerate(zip(before, after, strict=True), 1)]

    def _send(self, operations: Sequence[Any]) -> list[Any]:
        """By the call that a person makes for one issue, or in batches."""
        results: list[Any] = []
        if len(operations) == 1 and "create" in operations[0]:
            made = self._functions.command(event(self._actor, "POST", self._path, operations[0]["create"]))
            return [{"issue": made}]
        for some in chunked(operations, BATCH_SIZE):
            answer = self._functions.command(
                event(self._actor, "POST", f"{self._path}/batch", {"operations": some})
            )
            results += answer["results"]
        if any("problem" in result for result in results):
            raise Failure("The command function refused an operation.")
        return results

    def _consume(self, records: Sequence[Any]) -> None:
        for some in chunked(records, BATCH_SIZE):
            self._functions.maintain(some)

    def _fold(self) -> None:
        """Fold all changes, once they are due: a turn, and more turns if there is more work than for one."""
        while self._head().folded != self._head().last:
            before = self._head()
            if before.due is None:
                raise Failure("There is nothing to fold.")
            self._go_on(clock.until(before.due))
            self._functions.upkeep([{"body": body_of(Hint(self._journal, before.due))}])
            if self._head().folded == before.folded:
                raise Failure("A fold did not finish.")

    @property
    def _journal(self) -> str:
        return derived_keys.journal(self._actor.tenant, self._catalog.project)

    def _head(self) -> Head:
        item = self._table.get(self._journal, derived_keys.FOLD, consistent=True)
        if item is None:
            raise Failure("The project has no journal.")
        return Head.from_item(item)

    def _worked(self, changes: int, do: Callable[[], object]) -> Work:
        return worked(self._functions, changes, do)


def _sum(works: Sequence[Work]) -> Work:
    return reduce(Work.plus, works, NOTHING)
