"""How many new issues a second one project takes in, by how many consumers: the real code, in virtual time, on a
table in memory.

Each consumer has a part of the stream to itself, as Lambda gives it, and derives one batch at a time. Unfinished
records are delivered to it again. The project is folded meanwhile by one container, as upkeep does it.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Final

from rich.console import Console

from devtools.bench import issues, output
from devtools.bench.timeline import Container, Timeline
from devtools.failure import Failure
from devtools.local.delivery import sequence_number
from devtools.local.passes import no_poison
from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.virtual import virtual
from gridview.chains.fence_cache import Fences
from gridview.commands.actor import Actor, Role
from gridview.encoding import keys
from gridview.journal.fold import fold
from gridview.journal.log import Log
from gridview.maintenance.stream_consumer import consume
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs, current_catalog
from infra.limits import BATCH_SIZE

CONSUMERS: Final = (1, 4, 16, 32)

CALL_CPU: Final = 0.0004
"""Seconds of a consumer's processor that a call takes, with its share of what derives issues. `./dev bench` measures less: 2.05 ms
and 7.4 calls a new issue.
"""
FOLD_CPU: Final = 0.001
"""Seconds of the fold's processor for each change. `./dev bench` measures 0.4 ms where 1,000 are folded together, and 2.5 ms where
40 are.
"""

_ACTOR: Final = Actor("bench", "gridview.bench", Role.ADMIN)
_PROJECT: Final = "import"
_STOCK: Final = 2_000
"""Issues that the project has before."""
_BATCHES: Final = 3
"""For each consumer."""
_DELIVERIES: Final = 10
_LOOK: Final = 0.2
"""Seconds after which the fold looks again when there was nothing."""


@dataclass(frozen=True, slots=True)
class Taken:
    """So many consumers at one project: new issues a second until their sort entries are there, and until blocks hold them too.

    `failed`: the share of batches that were not finished when they were first delivered. `calls` are those for an issue.
    """

    consumers: int
    per_second: float
    per_second_in_blocks: float
    failed: float
    calls: float


def throughput(
    consumers: Sequence[int] = CONSUMERS,
    stock: int = _STOCK,
    batches: int = _BATCHES,
    batch: int = BATCH_SIZE,
) -> list[Taken]:
    """How many new issues so many consumers take in, for each number of them."""
    table = MemoryTable()
    issues.load(table, _ACTOR, _PROJECT, stock)
    catalog = Catalogs().get(table, _ACTOR.tenant, _PROJECT)
    records = _records(catalog, stock, max(consumers) * batches * batch)
    found = []
    for some in consumers:
        lanes = [list(islice(records[lane::some], batches * batch)) for lane in range(some)]
        found.append(_taken(table.copy(), lanes, batch))
    return found


def show(console: Console, measured: Sequence[Taken]) -> None:
    """Print the figures."""
    console.print(
        output.table(
            f"\nNew issues of one project, in virtual time: 5 ms and {CALL_CPU * 1000:.1f} ms of CPU a call",
            ("consumers", "issues a second", "until in blocks", "calls", "batches that failed at first"),
            (
                (
                    f"{one.consumers}",
                    f"{one.per_second:,.0f}",
                    f"{one.per_second_in_blocks:,.0f}",
                    f"{one.calls:.1f}",
                    f"{one.failed:.0%}",
                )
                for one in measured
            ),
        )
    )


def run(args: argparse.Namespace) -> int:
    """The command; 0 when all went well."""
    measured = throughput()
    show(output.console(), measured)
    if args.json is not None:
        output.write_json(args.json, [asdict(one) for one in measured])
    return 0


def _taken(table: MemoryTable, lanes: Sequence[Sequence[Any]], size: int) -> Taken:
    time = Timeline()
    outcomes: Counter[str] = Counter()
    with virtual(time, 0):
        containers = []
        for lane in lanes:
            container = Container(time, table, CALL_CPU)
            container.begin(_consuming(container, lane, size, outcomes))
            containers.append(container)
        folder = Container(time, table, 0.0)
        folder.begin(_folding(time, folder, sum(map(len, lanes)), outcomes))
        time.run()
    count = sum(map(len, lanes))
    if outcomes["taken"] != count:
        raise Failure(f"{outcomes['taken']} of {count} issues were taken in.")
    total = sum((one.count for one in (*containers, folder)), Counter[str]())
    ended = max(container.ended for container in containers)
    return Taken(
        len(lanes),
        per_second=count / ended,
        per_second_in_blocks=count / max(ended, folder.ended),
        failed=outcomes["failed"] / outcomes["batches"],
        calls=total["calls"] / count,
    )


def _consuming(
    container: Container, lane: Sequence[Any], size: int, outcomes: Counter[str]
) -> Callable[[], None]:
    def work() -> None:
        catalogs = Catalogs()
        for start in range(0, len(lane), size):
            left = list(lane[start : start + size])
            outcomes["batches"] += 1
            for delivery in range(_DELIVERIES):
                failed = consume(container.table, catalogs, left, no_poison)
                numbers = list(map(sequence_number, left))
                done = len(left) if failed is None else numbers.index(failed)
                outcomes["taken"] += done
                left = left[done:]
                if not left:
                    break
                outcomes["failed"] += delivery == 0

    return work


def _folding(time: Timeline, container: Container, wanted: int, outcomes: Counter[str]) -> Callable[[], None]:
    def work() -> None:
        log, fences, catalogs = Log(container.table, _ACTOR.tenant, _PROJECT), Fences(), Catalogs()

        def catalog() -> Catalog | None:
            return current_catalog(container.table, catalogs, _ACTOR.tenant, _PROJECT)

        while True:
            before = log.head()
            fold(log, fences, catalog, no_poison)
            after = log.head()
            if after.folded == after.last and outcomes["taken"] == wanted:
                return
            folded = before.waiting - after.waiting
            time.sleep(FOLD_CPU * folded if after.folded > before.folded and folded > 0 else _LOOK)

    return work


def _records(catalog: Catalog, stock: int, count: int) -> list[Mapping[str, Any]]:
    """Stream records of so many new issues after the stock."""
    partition = keys.project(catalog.tenant, catalog.project)
    found: list[Mapping[str, Any]] = []
    for num, body in enumerate(issues.bodies(count, seed=4), stock + 1):
        changes = documents.parse_create(catalog, body)
        document = documents.new_document(
            catalog, num, changes, user="gridview.bench", now=issues.moment(num)
        )
        assert document[keys.SK] == partition  # noqa: S101  a document's key is its project's
        found.append(record(num, None, document))
    return found
