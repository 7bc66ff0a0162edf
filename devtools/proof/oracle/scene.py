"""A scene for questions: issues are edited, made and deleted, and consumers and folds derive from them, call by call.

GSI1 and reads that are not consistent may be some moments late.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from typing_extensions import override

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.stream import key_of
from devtools.proof.faults.virtual import Clock
from devtools.proof.faults.watched import Attempted, Watched
from devtools.proof.faults.world import Run, World
from devtools.proof.oracle import world
from devtools.proof.oracle.history import History, Version
from devtools.proof.oracle.loading import load
from devtools.proof.oracle.orders import Sorters
from devtools.proof.oracle.world import Json, Project, stamps_of
from gridview.commands import issues
from gridview.commands.actor import Actor, Role
from gridview.commands.context import WriteContext
from gridview.dynamodb.expressions import Key, Span
from gridview.dynamodb.table import Page, Table, Together
from gridview.encoding import keys
from gridview.encoding.json_codec import dumps, loads
from gridview.schema.documents import to_json
from gridview.schema.store import Catalogs

TENANT, PROJECT = "acme", "bridge"
_WRITERS = ("bob", "Ann", "user-0001")
_CONSUMERS = 3
_CHANGED = 0.15
"""Fields of an issue that an edit changes."""


class Apart(Watched):
    """A table whose calls that run side by side are made one after the other, so that something can happen between any two."""

    def __init__(self, table: Table) -> None:
        super().__init__(table, lambda _, perform: perform())

    @override
    def metered(self) -> "Apart":
        return Apart(self.beneath.metered())

    @override
    def query_ranges(
        self, partition: str, bounds: Sequence[Any], *, paths: Sequence[Sequence[str]] | None = None
    ) -> list[Page]:
        return [self.query(partition, index=True, bound=bound, paths=paths) for bound in bounds]

    @override
    def read_together(
        self, wanted: Sequence[Key], spans: Sequence[Span], *, paths: Sequence[Sequence[str]] | None = None
    ) -> Together:
        found = self.batch_get(wanted).items if wanted else {}
        listed = []
        for span in spans:
            items, bound = [], span.bound
            while True:
                page = self.query(span.partition, index=span.in_index, bound=bound, paths=paths)
                items += page.items
                if page.last is None:
                    break
                bound = span.after(page.last).bound
            listed.append(items)
        return Together(found, listed)


class Scene:
    """A project with writers, consumers and folds. `happened` counts what they do."""

    def __init__(self, random: Random, clock: Clock, project: Project) -> None:
        self._random = random
        self._history = History(project)
        self._memory = MemoryTable()
        self._loaded = load(self._memory, project, TENANT, PROJECT)
        by_hand = world.apart(random)
        self._now = 0
        self._lag = random.choice((0, 5, 20))
        self._written: dict[Key, deque[int]] = defaultdict(lambda: deque(maxlen=8))
        self._unseen: dict[Key, deque[int]] = defaultdict(deque)
        self._world = World(
            random, clock, Watched(self._memory, self._noting_writes), TENANT, PROJECT, shards=2
        )
        self._world.splitting = 0.2
        self._memory.lag()
        self._memory.stale(self._states_ago)
        self._containers = [Catalogs(), Catalogs()]
        self._batches: dict[Run, set[int]] = {}
        self._folds: list[Run] = []
        self._edits = random.choice((5, 15, 40))
        self._is_paused = False
        self.happened: Counter[str] = Counter()
        self._sorters = Sorters(
            by_hand,
            self._world,
            self._loaded,
            self._history,
            self._containers,
            self.happened,
            lambda: self._now,
        )

    def _meanwhile(self, work: Callable[[Table], Any]) -> Any:
        """Return the result of a reader, between whose calls everything goes on.

        An error of the reader is raised here.
        """
        run = self._world.start("reader", lambda table: work(Apart(table)), lambda _: None)
        while not run.invocation.ended:
            for _ in range(self._random.choice((0, 0, 1, 3, 10))):
                self._happen()
            self._tick()
            self._world.step(run)
        if run.invocation.raised is not None:
            raise run.invocation.raised
        return run.invocation.result

    # Events

    def _noting_writes(self, attempted: Attempted, perform: Callable[[], Any]) -> Any:
        answer = perform()
        if attempted.writes:
            for key in attempted.keys:
                self._written[key].append(self._now)
                self._unseen[key].append(self._now)
        return answer

    def _states_ago(self, key: Key, count: int) -> int:
        """How many states ago an item is read: none that is older than the lag."""
        if self._random.random() < 0.6:
            return 0
        replaced = list(self._written[key])[-count:] if count else []
        return self._random.randint(0, sum(at >= self._now - self._lag for at in replaced))

    def _tick(self) -> None:
        """A moment has passed: what has waited too long is shown by the index."""
        self._now += 1
        self._world.clock.seconds += 0.01
        for key in [key for key, waiting in self._unseen.items() if waiting[0] < self._now - self._lag]:
            self._catch_up(key, until=self._now - self._lag)
        self._history.unsettled(self._on_their_way(), self._now)

    def _on_their_way(self) -> set[int]:
        return {num for nums in self._batches.values() for num in nums} | {*self._waiting()}

    def _waiting(self) -> Counter[int]:
        """How many changes of each issue are in the stream."""
        shards = self._world.stream.shards
        return Counter(_num(one) for shard in shards for one in shard.records[shard.settled :])

    def _catch_up(self, key: Key, until: float) -> None:
        waiting = self._unseen[key]
        while waiting and waiting[0] < until:
            self._memory.catch_up(key)
            waiting.popleft()
        if not waiting:
            del self._unseen[key]

    def _happen(self) -> None:
        """Something happens that is not the reader's doing."""
        ready = [one for one in self._world.stream.shards if one.open_to_deliver]
        actions: list[tuple[Callable[[], None], float]] = []
        if self._edits:
            actions.append((self._edit, 2))
        if ready and len(self._batches) < _CONSUMERS and not self._is_paused:
            actions.append((lambda: self._deliver(self._random.choice(ready)), 4))
        if self._batches and not self._is_paused:
            actions += [(self._go_on, 12), (self._kill, 0.2)]
        if self._unseen:
            actions.append((self._show, 6))
        self._folds = [run for run in self._folds if not run.invocation.ended]
        if self._folds:
            actions += [(self._go_on_folding, 8), (self._kill_fold, 0.1)]
        else:
            actions += [(self._begin_fold, 0.5), (self._fold, 0.1)]
        chosen, weights = zip(*actions, strict=True)
        self._random.choices(chosen, weights)[0]()
        self._tick()

    def _deliver(self, shard: Any) -> None:
        run, batch = self._world.deliver(
            shard, self._random.choice((1, 3, 10)), self._random.choice(self._containers)
        )
        if not run.invocation.ended:
            self._batches[run] = {_num(one) for one in batch}
        self.happened["batches"] += 1

    def _go_on(self) -> None:
        run = self._random.choice(list(self._batches))
        self._world.step(run, then=self._random.choice((0, 0, 1, 4)))
        self.happened["calls of consumers"] += 1
        self._forget_ended()

    def _kill(self) -> None:
        self._world.kill(self._random.choice(list(self._batches)), lands=False)
        self.happened["consumers killed"] += 1
        self._forget_ended()

    def _forget_ended(self) -> None:
        for run in [run for run in self._batches if run.invocation.ended]:
            # Its last call may not have been shown by the index yet: those issues were unsettled up to this moment.
            self._history.unsettled(self._batches.pop(run), self._now)

    def _begin_fold(self) -> None:
        self._folds.append(self._world.fold(self._random.choice(self._containers)))
        self.happened["folds"] += 1

    def _fold(self) -> None:
        self._world.fold_all()
        self.happened["times that all was folded"] += 1

    def _go_on_folding(self) -> None:
        self._world.step(self._folds[0], then=self._random.choice((0, 0, 1, 4)))

    def _kill_fold(self) -> None:
        self._world.kill(self._folds[0], lands=False)
        self.happened["folds killed"] += 1

    def _show(self) -> None:
        self._catch_up(self._random.choice(list(self._unseen)), until=self._now + 1)

    def _edit(self) -> None:
        self._edits -= 1
        self._sorters.settled(self._history.moved(self._now - self._lag - 1))
        if self._sorters.take_turn():
            return
        self.happened["edits"] += 1
        living = self._history.living
        kind = self._random.choices(("change", "make", "delete"), (8, 1, 1))[0] if living else "make"
        table, catalog, actor = self._world.table, self._loaded.catalog, self._writer()
        if kind == "make":
            body = self._changes(self._random.random())
            body = {
                "name": "new",
                **body,
                "fields": {name: one for name, one in body["fields"].items() if one is not None},
            }
            document = issues.create_issue(WriteContext(table, catalog, actor), body)
            body = {"state": self._history.origin.states[0], **body}
            self._sorters.appears(document["num"])
        else:
            num = self._random.choice(living)
            if kind == "delete":
                issues.delete_issue(WriteContext(table, catalog, actor), num, None)
                self._history.changed(num, self._now, None)
                return
            changes = self._changes(_CHANGED)
            document = issues.update_issue(WriteContext(table, catalog, actor), num, changes, None).document
            if document["version"] == self._history.latest(num).number:
                return  # the change changed nothing
            before = self._history.latest(num).body
            merged = {**before["fields"], **changes["fields"]}
            body = {
                **before,
                **changes,
                "fields": {name: one for name, one in merged.items() if one is not None},
            }
        shown = loads(dumps(to_json(catalog, document, None)))
        version = Version(shown["version"], body, stamps_of(shown))
        self._history.changed(shown["num"], self._now, version)

    def _writer(self) -> Actor:
        return Actor(TENANT, self._random.choice(_WRITERS), Role.EDITOR)

    def _changes(self, share: float) -> Json:
        """A request that changes this share of the fields, and one at least."""
        random, project = self._random, self._history.origin
        chosen = [one for one in project.attributes if random.random() < share] or [
            random.choice(project.attributes)
        ]
        changes: Json = {
            "fields": {
                one["id"]: None
                if random.random() < 0.25
                else world.value(random, one["type"], one.get("options", ()))
                for one in chosen
            }
        }
        if random.random() < 0.3:
            changes["name"] = world.value(random, "text", ())
        if random.random() < 0.4:
            changes["state"] = random.choice(project.states)
        return changes


def _num(record: Any) -> int:
    return int(keys.parse_issue(key_of(record))[2])
