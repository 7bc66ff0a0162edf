"""Measurements of sharing, in virtual time: the gain from slices of a pass, and a busy tenant's effect on another
one's index.
"""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from itertools import count
from math import inf
from statistics import median
from typing import Any, Final, NamedTuple
from zlib import crc32

from devtools.bench import issues
from devtools.bench.timeline import Container, Timeline
from devtools.failure import Failure
from devtools.local.delivery import sequence_number
from devtools.local.passes import no_poison
from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.strands import Strand, current
from devtools.proof.faults.virtual import virtual
from devtools.proof.faults.watched import Around, Attempted
from gridview.chains.fence_cache import Fences
from gridview.commands.actor import Actor, Role
from gridview.commands.attributes import rebuild
from gridview.commands.batch import parse_batch, run_batch
from gridview.commands.context import WriteContext
from gridview.commands.issues import update_issue
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.maintenance.folding import Folder
from gridview.maintenance.job_worker import BATCH
from gridview.maintenance.rebuild_pass import pass_over
from gridview.maintenance.stream_consumer import consume
from gridview.schema.jobs import Job
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.concurrency import chunked
from infra.limits import BATCH_SIZE

SLICED: Final = 2_000
"""Issues of the pass that is cut."""

CPU_SECONDS: Final = 0.001
"""CPU time of a call: boto3's."""

WORKERS: Final = (1, 2, 4)

_NOISY: Final = Actor("noisy", "gridview.bench", Role.ADMIN)
_QUIET: Final = Actor("quiet", "gridview.bench", Role.ADMIN)
_PROJECT: Final = "shared"
_STOCK: Final = 1_000
"""Issues that the noisy tenant has and indexes again; and as many that are imported meanwhile."""
IMPORTED: Final = 10_000
"""Issues of a long import."""
_TOGETHER: Final = 100
"""Issues of a request of the import."""
_LANES: Final = 16
"""Batches of the stream at once: four shards of a new table, four each."""
_EDITS: Final = 40
_DAY: Final = date(2030, 1, 1)
_EVERY: Final = 0.1
"""Seconds from one edit of the quiet tenant to the next."""
_LOOK: Final = 0.2
"""Seconds after which the end of a pass looks again when something is not to be folded yet."""


@dataclass(frozen=True, slots=True)
class Sliced:
    """A pass by workers with its folds: issues a second; calls and write units for an issue."""

    workers: int
    cpu: bool
    per_second: float
    calls: float
    write_units: float


class Neighbour(NamedTuple):
    """The load of another tenant meanwhile."""

    imports: int = 0
    reindexes: bool = False


@dataclass(frozen=True, slots=True)
class Lag:
    """From the write of the quiet tenant's edits until answers without a token hold them, in milliseconds; and the most records
    before one of them.

    Answers hold what the journal has, folded or not.
    """

    neighbour: Neighbour
    median: float
    worst: float
    records: int


class Shared(NamedTuple):
    """All of it."""

    slices: Sequence[Sliced]
    lags: Sequence[Lag]


def slices(size: int = SLICED, workers: Sequence[int] = WORKERS) -> list[Sliced]:
    """A pass that builds the index of a date again, by one worker and by several."""
    table = MemoryTable()
    issues.load(table, _NOISY, _PROJECT, size)
    rebuild(table, Catalogs(), _NOISY.tenant, _PROJECT, [issues.DATE], rate=0, settling=0)
    return [_sliced(table.copy(), size, some, cpu) for cpu in (0.0, CPU_SECONDS) for some in workers]


def _sliced(table: MemoryTable, size: int, workers: int, cpu: float) -> Sliced:
    time = Timeline()
    with virtual(time, 0):
        containers = _pass_over(time, table, size, workers, cpu)
        time.run()
    total = sum((container.count for container in containers), Counter[str]())
    return Sliced(
        workers,
        cpu > 0,
        per_second=size / max(container.ended for container in containers),
        calls=total["calls"] / size,
        write_units=total["units"] / size,
    )


def _pass_over(time: Timeline, table: MemoryTable, size: int, workers: int, cpu: float) -> list[Container]:
    """Begin a pass of so many workers. As in a job, they fold when much waits, and the last of them folds the rest."""
    containers = [Container(time, table, cpu) for _ in range(workers)]
    at_work = len(containers)

    def work(container: Container, numbers: Sequence[int]) -> None:
        nonlocal at_work
        catalogs, fences = Catalogs(), Fences()
        project = (_NOISY.tenant, _PROJECT)
        folder = Folder(container.table, catalogs, fences, *project, no_poison)
        for some in chunked(numbers, BATCH):
            pass_over(
                *(container.table, catalogs, fences, *project, some, no_poison),
                relieve=lambda: folder.relieve(_no_end),
            )
            checkpoint = Job(0, clock.now(), some[-1] + 1, numbers[-1], part=1)
            container.table.put(checkpoint.to_item(keys.project(*project)))
        at_work -= 1
        if not at_work:
            while not folder.fold_all(_no_end):
                time.sleep(_LOOK)

    for worker, container in enumerate(containers):
        numbers = range(1 + size * worker // workers, 1 + size * (worker + 1) // workers)
        container.begin(partial(work, container, numbers))
    return containers


def _no_end() -> float:
    """Seconds that are left of a turn."""
    return inf


def lags(imported: int = IMPORTED) -> list[Lag]:
    """Return the lag of the index of a tenant who edits an issue ten times a second.

    Measured without load, beside an import and a reindex, and beside a long import.
    """
    return [
        _lag(one)
        for one in (Neighbour(), Neighbour(imports=_STOCK, reindexes=True), Neighbour(imports=imported))
    ]


def _lag(neighbour: Neighbour) -> Lag:
    table = MemoryTable()
    issues.load(table, _NOISY, _PROJECT, _STOCK)
    issues.load(table, _QUIET, _PROJECT, _EDITS)
    if neighbour.reindexes:
        rebuild(table, Catalogs(), _NOISY.tenant, _PROJECT, [issues.DATE], rate=0, settling=0)
    return _lag_in(table, neighbour)


class _Lane:
    """A part of the stream, of which one batch is derived at a time.

    It reports the lag of each record of the quiet tenant.
    """

    def __init__(self, time: Timeline, table: Table) -> None:
        self._time = time
        self._records: deque[tuple[float, Any]] = deque()
        self._idle: Strand | None = None
        self._container = Container(time, table, CPU_SECONDS)
        self._container.begin(self._work)
        self.lags: list[float] = []
        self.ahead = 0

    def send(self, change: Any) -> None:
        if _is_quiet(change):
            self.ahead = max(self.ahead, len(self._records))
        self._records.append((self._time.seconds, change))
        if self._idle is not None:
            self._time.wake(self._idle, 0)
            self._idle = None

    def _work(self) -> None:
        catalogs = Catalogs()
        while True:
            while not self._records:
                self._wait()
            batch = [self._records.popleft() for _ in range(min(BATCH_SIZE, len(self._records)))]
            changes = [change for _, change in batch]
            failed = consume(self._container.table, catalogs, changes, no_poison)
            numbers = list(map(sequence_number, changes))
            done = len(batch) if failed is None else numbers.index(failed)
            self._records.extendleft(reversed(batch[done:]))  # Lambda delivers them again
            self.lags += [self._time.seconds - sent for sent, change in batch[:done] if _is_quiet(change)]

    def _wait(self) -> None:
        self._idle = current()
        if self._idle is not None:
            self._idle.stop()


def _lag_in(table: MemoryTable, neighbour: Neighbour) -> Lag:
    time = Timeline()
    with virtual(time, 0):
        lanes = [_Lane(time, table) for _ in range(_LANES)]
        streamed = table.seen_through(_streaming(lanes))
        noisy, quiet = (Container(time, streamed, CPU_SECONDS) for _ in range(2))
        edits: list[int] = []
        quiet.begin(lambda: _edit(quiet, edits, until=lambda: not neighbour.imports or noisy.ended > 0))
        if neighbour.imports:
            noisy.begin(lambda: _import(noisy, neighbour.imports))
        if neighbour.reindexes:
            _pass_over(time, table, _STOCK, 2, CPU_SECONDS)
        time.run()
    found = [1000 * seconds for lane in lanes for seconds in lane.lags]
    if len(found) != len(edits):
        raise Failure(f"{len(found)} of {len(edits)} edits are in the index.")
    return Lag(neighbour, median(found), max(found), max(lane.ahead for lane in lanes))


def _streaming(lanes: Sequence[_Lane]) -> Around:
    """Return a wrapper of writes that gives each change of an issue to the lane of its partition key."""
    numbers = count(1)

    def written(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        result = perform()
        pk, sk = attempted.key
        if attempted.operation == "put" and keys.is_issue(pk) and keys.is_project(sk):
            item: Any = attempted.item
            change = record(next(numbers), item if item["version"] > 1 else None, item)
            lanes[crc32(pk.encode()) % len(lanes)].send(change)
        return result

    return written


def _edit(container: Container, edited: list[int], until: Callable[[], bool]) -> None:
    """Edit each of the quiet tenant's issues, and all of them again `until` it is over."""
    catalog = Catalogs().get(container.table, _QUIET.tenant, _PROJECT)
    for days in count():
        fields = {issues.DATE: str(_DAY + timedelta(days))}
        for num in range(1, _EDITS + 1):
            container.time.sleep(_EVERY)
            update_issue(WriteContext(container.table, catalog, _QUIET), num, {"fields": fields}, None)
            edited.append(num)
        if until():
            return


def _import(container: Container, size: int) -> None:
    """New issues of the noisy tenant, one request after the other."""
    catalog = Catalogs().get(container.table, _NOISY.tenant, _PROJECT)
    for some in chunked(issues.bodies(size), _TOGETHER):
        batch = parse_batch({"operations": [{"create": body} for body in some]})
        run_batch(container.table, catalog, _NOISY, batch, None, None)


def _is_quiet(change: Any) -> bool:
    key = change["dynamodb"]["Keys"][keys.PK]["S"]
    return keys.parse_issue(key).tenant == _QUIET.tenant
