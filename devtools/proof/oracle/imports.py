"""The questions put after an import that the index has not received: answers are right at once, without a token.

The index has some of a project's issues. Only the documents exist of the others, since the stream is paused. Some of
them were edited since. For some a consumer has done a part before it was killed, or everything up to the journal.
GSI1 lacks the last of them. Each answer has to be SQLite's for all issues.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.strands import Killed
from devtools.proof.faults.virtual import Clock, virtual
from devtools.proof.faults.watched import Attempted
from devtools.proof.oracle import compare, world
from devtools.proof.oracle.compare import Asked
from devtools.proof.oracle.limits import LIMITS, held_to
from devtools.proof.oracle.loading import Loaded, load
from devtools.proof.oracle.scene import PROJECT, TENANT
from devtools.proof.oracle.world import Project
from gridview.derive.images import Poison
from gridview.dynamodb.expressions import Item
from gridview.encoding import derived_keys, keys
from gridview.journal.log import Log
from gridview.maintenance.stream_consumer import consume
from gridview.schema.epoch import EpochCheck
from gridview.schema.numbering import Numbering
from gridview.schema.store import Catalogs
from gridview.support import clock as present

_SIZES = (15, 30, 60, 110)
_WRITES = 12
"""Writes of a consumer for each issue, at most."""
_FEW = 1_000
"""Numbers of which all may be in question."""


def play(seed: int) -> tuple[Asked, Counter[str]]:
    """Play the scenario of this number; Difference."""
    random = Random(f"imports {seed}")  # noqa: S311  (the same one each time)
    # If fewer documents than the import has may be fetched, the answer only names the missing part.
    project = world.make(
        random, tuple(name for name in LIMITS if not {"poor", "few"} & {*name.split()}), _SIZES
    )
    with virtual(Clock(), seed), held_to(project.limits):
        happened: Counter[str] = Counter()
        loaded = imported(random, project, random.choice((0.1, 0.5, 1.0)), happened)
        return compare.put(loaded, world.question(random, project)), happened


def imported(random: Random, project: Project, share: float, happened: Counter[str]) -> Loaded:
    """A project of whose issues about such a share, the last and a few others, are not in the index."""
    numbers = sorted(project.issues)
    first = numbers[int(len(numbers) * (1 - share))]
    others = random.sample(numbers, len(numbers) // 20)
    unindexed = {*(num for num in numbers if num >= first), *others}
    table = MemoryTable()
    loaded = load(table, project, TENANT, PROJECT, unindexed=unindexed)
    happened["issues not in the index"] += len(unindexed)
    table.lag()
    late = [_document(table, num) for num in random.sample(sorted(unindexed), len(unindexed) // 10)]
    for document in late:
        table.delete(document[keys.PK], document[keys.SK])
    table.catch_up_with_all()
    for document in late:
        table.put(document)
    happened["of them not in GSI1"] += len(late)
    edited = random.sample(sorted(unindexed), len(unindexed) // 4)
    for num in edited:
        _edit_back(table, num, random)
    happened["of them edited"] += len(edited)
    shown = unindexed - {document["num"] for document in late}
    for _ in range(random.choice((0, 1, 3))):
        # If the journal has an issue, GSI1 has its document.
        commits = random.random() < 0.5
        some = sorted(shown if commits else unindexed)
        taken = [_document(table, num) for num in random.sample(some, min(len(some), 8))]
        _consume(table, taken, random, commits=commits)
        happened["consumers killed"] += 1
    happened["of them in the journal"] += sum(
        len(item.changes) for item in Log(table, TENANT, PROJECT).all_after(0)
    )
    now = present.seconds()
    last = max(numbers) + random.choice((0, 0, 3))
    marks = {(int(now // 60) - 10) % 32: min(unindexed) - 1} if last > _FEW or random.random() < 0.5 else {}
    return replace(loaded, epoch=EpochCheck(numbering=Numbering(last, now - 1, marks)))


def _document(table: MemoryTable, num: int) -> Item:
    return table.items[keys.issue(TENANT, PROJECT, num), keys.project(TENANT, PROJECT)]


def _edit_back(table: MemoryTable, num: int, random: Random) -> None:
    """Have the document be the second version; a consumer may have taken in a part of the first, which was another."""
    document = _document(table, num)
    first = {**document, "fields": {}, "name": "as it was", "updated_by": "first", "version": 1}
    if random.random() < 0.5:
        _consume(table, [first], random, commits=False)
    table.put({**document, "version": 2})


def _consume(table: MemoryTable, documents: Sequence[Item], random: Random, *, commits: bool) -> None:
    """A consumer that is killed before one of its writes; before the journal's item at the latest, unless it `commits`."""
    left = [random.randint(0, _WRITES * len(documents))]

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes:
            left[0] -= 1
            if left[0] < 0 or (_commits(attempted) and not commits):
                raise Killed
        return perform()

    records = [record(at, None, one) for at, one in enumerate(documents, 1)]
    try:
        consume(table.seen_through(around), Catalogs(), records, _no_poison)
    except Killed:
        return


def _commits(attempted: Attempted) -> bool:
    """Whether this puts the item of a number of the journal."""
    return any(
        derived_keys.is_journal(partition) and sort_key != derived_keys.FOLD
        for partition, sort_key in attempted.keys
    )


def _no_poison(poison: Poison) -> None:
    raise AssertionError(poison)
