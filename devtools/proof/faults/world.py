"""The world of a scenario: a table, a stream, a clock, and invocations that an adversary has hold of."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any

from typing_extensions import override

from devtools.local.delivery import Record, sequence_number
from devtools.proof.faults.adversary import Invocation, Verdict, refuse_as_too_large
from devtools.proof.faults.bucket import MemoryBatches
from devtools.proof.faults.isolation import Home, homes_in, trespass
from devtools.proof.faults.lambdas import Answer, Failed, Functions
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.strands import Killed
from devtools.proof.faults.stream import Shard, Stream, key_of, summary
from devtools.proof.faults.virtual import Clock
from devtools.proof.faults.watched import Around, Attempted, Watched, everything
from gridview.chains.blocks import Block
from gridview.chains.column_pages import BITS, ColumnPage
from gridview.chains.fence_cache import Fences
from gridview.commands.actor import Actor, Role
from gridview.derive.images import Poison
from gridview.derive.ledger import ImageVersion
from gridview.dynamodb.expressions import Item, Key
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import item_size
from gridview.journal import items as journal
from gridview.journal.fold import fold
from gridview.journal.items import PATIENCE, Head
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.schema.fields import UnknownOption
from gridview.schema.items import ProjectItems, to_catalog
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs, current_catalog, read
from gridview.schema.trash import living
from gridview.support.clock import now
from gridview.support.errors import Overloaded, RequestError

TIMEOUT = 60.0
"""Seconds after which Lambda ends the longest of the functions."""

IN_FLIGHT = 10.0
"""Seconds after the end of an invocation for which its last calls may still arrive."""

SETTLING = TIMEOUT + IN_FLIGHT
"""Seconds after a change of definitions when no write made under the old ones can arrive any more."""


Chain = dict[str, Block]
"""Blocks of a family by their ids."""


class Difference(AssertionError):
    """Something is not as it has to be."""


@dataclass(eq=False)
class Run:
    """An invocation that is alive, or has ended and has not been looked at."""

    name: str
    kind: str
    invocation: Invocation
    began: float
    ended: Callable[["Run"], None]
    faults: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Late:
    """A write that has left and not arrived. It does so before `until`, if at all."""

    what: str
    land: Callable[[], None]
    until: float


class World:
    """One scenario's world, as one of its projects sees it: the data of that project, and everything that projects
    share.

    Everything that happens in it is decided by `random`, so a seed is a scenario.
    """

    def __init__(
        self,
        random: Random,
        clock: Clock,
        table: Table,
        tenant: str,
        project: str,
        *,
        seed: int = 0,
        shards: int = 1,
        log: list[str] | None = None,
    ) -> None:
        self.random = random
        self.turns = Random(f"turns {seed}")  # noqa: S311 - the same seed is the same scenario
        """Says which of several pending calls of an invocation is next: its own, so that it leaves everything else as it is."""
        self.clock = clock
        self.engine = table
        self.memory = table if isinstance(table, MemoryTable) else None
        self.table = Watched(table, self._recording)
        """The table without an adversary. Its only wrapper records the documents."""
        self.stream = Stream(random, shards)
        self.streamed_at: dict[str, float] = {}
        """When each record of the stream was made, by its sequence number."""
        self.letters: list[Poison] = []
        self.batches = MemoryBatches()
        """The batches that the consumer has handed over to upkeep."""
        self.hints_at_outboxes: list[Hint] | None = None
        """The queue of hints at webhooks; None: no project has any."""
        self._fences: dict[Catalogs, Fences] = {}
        self.runs: list[Run] = []
        self.late: list[Late] = []
        self.totals: Counter[str] = Counter()
        self.watch: Callable[[World, Item | None, Mapping[str, Any]], None] = lambda *_: None
        """Looks at a ledger (and the one before it) or a sort entry that has just been written."""
        self.watch_blocks: Callable[[World, str, Chain], None] = lambda *_: None
        self.watch_ranks: Callable[[World, Mapping[str, Item]], None] = lambda *_: None
        """Looks at documents that were written with placements. The second argument: all documents as they were."""
        self.watch_page: Callable[[World, Item], None] = lambda *_: None
        self.watch_totals: Callable[[World, journal.Totals], None] = lambda *_: None
        """Looks at the blocks of a family that have just been written or removed, as they were before."""
        self.differences: list[Difference] = []
        self.too_large: set[tuple[str, int]] = set()
        """Issues and versions of which the adversary says that their ledger does not fit an item."""
        self.refused: set[tuple[str, int]] = set()
        """Those of them whose ledger an invocation has tried to write."""
        self.were_too_large: set[tuple[str, int]] = set()
        self.reordering = 0.0
        self.splitting = 0.0
        self.expiring = False
        self._log = log
        self._names: Counter[str] = Counter()
        self._homes: dict[Home, World] = {}
        """The same world, as it is seen from each of its projects."""
        self._live_in(tenant, project)

    def _live_in(self, tenant: str, project: str) -> None:
        """See it from a project in which nothing has happened."""
        self.tenant, self.project = tenant, project
        self.home = tenant, project
        self.admin = Actor(tenant, "ada", Role.ADMIN)
        self.path = f"/v1/projects/{project}"
        self.known: Catalog | None = None
        """Definitions that people know, which may be older than the present ones."""
        self.history: dict[str, dict[int, list[Item]]] = defaultdict(lambda: defaultdict(list))
        """Every document that was ever under a key, by version."""
        self.images: dict[str, list[Item | None]] = defaultdict(list)
        """Every item that was ever under a key, in order, also of deleted issues; None: it was taken out of the
        table.
        """
        self.documents: dict[str, Item] = {}
        """Those of the issues that are there."""
        self.trashed: dict[str, Item] = {}
        """Those of deleted issues."""
        self.taken_out: set[str] = set()
        """The issues whose documents were removed, even if they were put back by hand."""
        self.orders: dict[str, ImageVersion] = {}
        """The newest image of each issue that ever was: its version, and whether that was removed."""
        self.blocks: dict[str, Chain] = defaultdict(dict)
        """The blocks in the table, by family and id."""
        self.columns: set[str] = set()
        """The families of which pages were written."""
        self.journal: dict[int, journal.JournalItem] = {}
        """The decision about each number of the project's journal."""
        self._homes[self.home] = self

    def beside(self, tenant: str, project: str) -> "World":
        """This world, as those see it who work in another project, of the same tenant or of another."""
        other = copy(self)
        other._live_in(tenant, project)
        return other

    def _home_of(self, keys_: Sequence[Key]) -> "World":
        """This world, as it is seen from the project whose items these are."""
        homes = homes_in(keys_)
        if len(homes) != 1 or not homes <= self._homes.keys():
            raise Difference(f"{keys_[0]} is an item of {sorted(homes)}")
        return self._homes[homes.pop()]

    # Events

    def note(self, text: str, *parts: object) -> None:
        """Write an event into the log, if there is one."""
        if self._log is not None:
            self._log.append(f"{self.clock.passed:8.2f}  {text.format(*parts)}")

    def chance(self, probability: float) -> bool:
        """Whether something of this probability happens now."""
        return self.random.random() < probability

    def _recording(self, attempted: Attempted, perform: Callable[[], Any]) -> Any:
        """Done right above the table: a change of a document is in the stream at once."""
        if not attempted.writes:
            return perform()
        if any(map(is_journal_item, attempted.keys)):
            return self._home_of(attempted.keys)._writing_journal(attempted.key, perform)
        if any(map(is_block, attempted.keys)):
            here = self._home_of(attempted.keys)
            return here._writing_blocks([key for key in attempted.keys if is_block(key)], perform)
        if any(map(is_page, attempted.keys)):
            return self._home_of(attempted.keys)._writing_page(attempted.key, perform)
        if any(map(is_totals, attempted.keys)):
            return self._home_of(attempted.keys)._writing_totals(attempted.key, perform)
        concerned = [key for key in attempted.keys if is_document(key)]
        if not concerned:
            return self._watching(attempted, perform)
        before = [self.engine.get(*key, consistent=True) for key in concerned]
        places = any(keys.is_placements(key[0]) for key in attempted.keys)
        here = self._home_of(concerned) if places else self
        documents = dict(here.documents) if places else {}
        answer = perform()
        for key, old in zip(concerned, before, strict=True):
            new = self.engine.get(*key, consistent=True)
            if old != new:
                self._home_of([key])._changed(key[0], old, new)
        if places:
            self._looking(lambda: self.watch_ranks(here, documents))
        return answer

    def _watching(self, attempted: Attempted, perform: Callable[[], Any]) -> Any:
        """Done, and looked at when it is the write of a ledger or of a sort entry."""
        item = attempted.item
        if item is None or not item[keys.PK].startswith(keys.ISSUE_PREFIX):
            return perform()
        before = (
            self.engine.get(*attempted.key, consistent=True) if item[keys.SK] == derived_keys.LEDGER else None
        )
        answer = perform()
        try:
            self.watch(self._home_of([attempted.key]), before, item)
        except Difference as difference:
            # In the midst of an invocation, which would take it for an error of its own.
            self.differences.append(difference)
        return answer

    def _writing_blocks(self, concerned: Sequence[Key], perform: Callable[[], Any]) -> Any:
        """Done, and looked at: blocks of one family."""
        answer = perform()
        family = concerned[0][1].split(".", 2)[2]
        chain, before, after = self.blocks[family], {}, {}
        for key in concerned:
            block_id = key[0].rpartition(".")[2]
            stored = self.engine.get(*key, consistent=True)
            if block_id in chain:
                before[block_id] = chain.pop(block_id)
            if stored is not None:
                chain[block_id] = after[block_id] = Block.from_item(stored)
        if len(after) > len(before) > 0:
            self.totals["block splits"] += 1
        elif after and len(after) < len(before):
            self.totals["block merges"] += 1
        self.totals["plain blocks"] += any(not block.detailed for block in after.values())
        try:
            self.watch_blocks(self, family, before)
        except Difference as difference:
            self.differences.append(difference)
        return answer

    def _writing_page(self, key: Key, perform: Callable[[], Any]) -> Any:
        """Done, and looked at: a page of a column."""
        answer = perform()
        stored = self.engine.get(*key, consistent=True)
        if stored is not None:
            self.columns.add(derived_keys.parse_column(key[0]).family)
            self.totals["pages of columns"] += 1
            self._looking(lambda: self.watch_page(self, stored))
        return answer

    def _writing_totals(self, key: Key, perform: Callable[[], Any]) -> Any:
        """Done, and looked at: the totals of columns."""
        answer = perform()
        stored = self.engine.get(*key, consistent=True)
        if stored is not None:
            self._looking(lambda: self.watch_totals(self, journal.Totals.from_item(stored)))
        return answer

    def _looking(self, look: Callable[[], None]) -> None:
        try:
            look()
        except Difference as difference:
            self.differences.append(difference)

    def _writing_journal(self, key: Key, perform: Callable[[], Any]) -> Any:
        """Done, and looked at: the item of a number, which never changes."""
        answer = perform()
        stored = self.engine.get(*key, consistent=True)
        if stored is not None:
            record = journal.JournalItem.from_item(stored)
            if self.journal.setdefault(record.number, record) != record:
                self.differences.append(Difference(f"the journal's item {record.number} has changed"))
            self.totals["empty journal items" if not record.changes else "journal items"] += 1
        return answer

    def _changed(self, key: str, old: Item | None, new: Item | None) -> None:
        image = new or old or {}
        version = image.get("version")
        for known in (self.documents, self.trashed):
            known.pop(key, None)
        alive = living(new)
        if alive is not None:
            self.documents[key] = alive
        elif new is not None:
            self.trashed[key] = new
        else:
            self.taken_out.add(key)
        if isinstance(version, int):
            if alive is not None:
                self.history[key][version].append(alive)
            self.orders[key] = ImageVersion(version, alive is None)
        self.images[key].append(new)
        made = self.stream.append(old, new, reorder=self.chance(self.reordering), expired=self.expiring)
        self.streamed_at[sequence_number(made)] = self.clock.seconds
        self.totals["records"] += 1
        self.note("        in the stream: {}", summary([made]))

    def catalog(self) -> Catalog:
        """The definitions as they are now; NotFound when the project is deleted."""
        stored = read(self.engine, self.tenant, self.project)
        return _catalog_of(_Definitions(self.tenant, self.project, stored))

    # Invocations

    def start(
        self,
        kind: str,
        work: Callable[[Table], Any],
        ended: Callable[[Run], None] = lambda _: None,
        what: str = "",
        homes: Collection[Home] | None = (),
    ) -> Run:
        """Begin an invocation: it stops before its first call. `homes` are other projects for which it works; None: for any."""
        allowed = None if homes is None else {*homes} or {self.home}
        self._names[kind] += 1
        name = f"{kind} {self._names[kind]}"
        self.totals[f"{kind}s"] += 1
        self.note("{} begins{}", name, f": {what}" if what else "")

        def look(attempted: Attempted, verdict: Verdict) -> None:
            self.totals["calls"] += 1
            if wrong := trespass(attempted, allowed, shares=kind in ("consumer", "redrive", "upkeep")):
                self.differences.append(Difference(f"{name}: {call_summary(attempted)} {wrong}"))
            if self._log is not None:
                becomes = "" if verdict is Verdict.DONE else f"  -- {verdict.value}"
                self.note("    {}: {}{}", name, call_summary(attempted), becomes)

        def inside(around: Around) -> Any:
            return work(Watched(self.table, self._limited(around), self._portion))

        invocation = Invocation(inside, look, self.turns.randrange)
        run = Run(name, kind, invocation, self.clock.seconds, ended)
        self.runs.append(run)
        self._look_at(run)
        return run

    def _portion(self, count: int) -> int:
        if self.splitting and count > 1 and self.chance(self.splitting):
            self.totals["partial batches"] += 1
            return self.random.randint(1, count - 1)
        return everything(count)

    def _limited(self, around: Around) -> Around:
        """A ledger that the scenario calls too large is refused as DynamoDB does it, whatever the adversary says."""

        def limited(attempted: Attempted, perform: Callable[[], Any]) -> Any:
            if not attempted.writes and all(key[0].startswith(keys.LAG_PREFIX) for key in attempted.keys):
                return perform()  # its outcome decides nothing
            item = attempted.item
            if item is None or item[keys.SK] != derived_keys.LEDGER or "removed" in item:
                return around(attempted, perform)
            image = item[keys.PK], item["version"]
            if image in self.too_large:
                self.refused.add(image)
                return around(attempted, refuse_as_too_large)
            return around(attempted, perform)

        return limited

    def step(self, run: Run, verdict: Verdict = Verdict.DONE, then: int = 0) -> None:
        """Let the pending call of an invocation meet its verdict, and `then` more be done."""
        if verdict is not Verdict.DONE:
            self.totals[verdict.name.lower()] += 1
            run.faults[verdict.name] += 1
        run.invocation.step(verdict, then)
        self._look_at(run)

    def finish(self, run: Run) -> None:
        """Let all that is left of an invocation be done."""
        run.invocation.finish()
        self._look_at(run)

    def kill(self, run: Run, *, lands: bool) -> None:
        """End an invocation before its pending calls. If its next one `lands`, it arrives nevertheless, some time.

        Then any of the others may have left as well.
        """
        pending = run.invocation.kill()
        self.totals["kills"] += 1
        self.totals["kills amid several writes"] += sum(one.attempted.writes for one in pending) > 1
        what = " and ".join(call_summary(one.attempted) for one in pending) or "nothing"
        self.note("{} is killed before {}", run.name, what)
        for place, one in enumerate(pending):
            if lands and one.attempted.writes and (not place or self.turns.random() < 0.5):
                self.note("        which has left already: {}", call_summary(one.attempted))
                self._send(run, one.attempted, one.land)
        self._look_at(run)

    def _send(self, run: Run, call: Attempted, land: Callable[[], None]) -> None:
        """A write of an invocation is in flight."""
        self.late.append(Late(f"{call_summary(call)} of {run.name}", land, run.began + TIMEOUT + IN_FLIGHT))

    def echo(self, run: Run) -> None:
        """Let the pending write be done and arrive once more later: the SDK sent it twice, and the first was slow."""
        call = run.invocation.call
        if call is not None and call.writes and not _begins_an_issue(call):
            self.totals["echoes"] += 1
            self.note("{} sends twice, and one is slow: {}", run.name, call_summary(call))
            self._send(run, call, run.invocation.late())
        self.step(run)

    def land(self, late: Late) -> None:
        """A call in flight arrives."""
        self.late.remove(late)
        self.totals["late writes"] += 1
        self.note("there arrives late: {}", late.what)
        late.land()
        if self.differences:
            raise self.differences[0]

    def settle_ended(self, run: Run) -> None:
        """Handle the end of a run that was let go on from outside."""
        self._look_at(run)

    def _look_at(self, run: Run) -> None:
        if self.differences:
            raise self.differences[0]
        if not run.invocation.ended or run not in self.runs:
            return
        self.runs.remove(run)
        raised = run.invocation.raised
        if raised is not None and not isinstance(raised, Killed) and self._log is not None:
            self.note("{} raised {}: {}", run.name, type(raised).__name__, raised)
        elif not isinstance(raised, Killed):
            self.note("{} ended", run.name)
        run.ended(run)

    def pass_time(self, seconds: float) -> None:
        """The clock goes on; invocations time out, and what they sent arrives while there is time."""
        until = self.clock.seconds + seconds
        for run in [run for run in self.runs if run.began + TIMEOUT <= until]:
            self.totals["timeouts"] += 1
            self.kill(run, lands=self.chance(0.7))
        for late in [late for late in self.late if late.until <= until]:
            self.land(late)
        self.clock.seconds = until

    # The stream

    def deliver(
        self, shard: Shard, size: int, catalogs: Catalogs, *, bisects: bool = True
    ) -> tuple[Run, list[Record]]:
        """The mapping's invocation for a shard: it settles what it reports as done."""
        batch = shard.batch(size)
        shard.busy = True

        def ended(run: Run) -> None:
            shard.busy = False
            if run.invocation.raised is not None:
                self._failed(run)
                if bisects:
                    shard.most = max(1, len(batch) // 2)
                return
            failed = _first_failed(run, batch)
            self.note("{} reports {}", run.name, "all done" if failed is None else f"from {int(failed)} on")
            shard.settle(batch, failed)

        return self.consumer(batch, catalogs, ended), batch

    def deliver_beside(self, batch: Sequence[Record], catalogs: Catalogs) -> Run:
        """An invocation with records that others have, had, or will have; nobody waits for it."""
        self.totals["duplicates"] += 1

        def ended(run: Run) -> None:
            self.check(run)
            if run.invocation.raised is None:
                _first_failed(run, batch)

        return self.consumer(batch, catalogs, ended)

    def abandon(self, run: Run, shard: Shard) -> None:
        """Lambda takes an invocation for dead that is not: the records are delivered again beside it."""
        self.totals["abandoned"] += 1
        self.note("{} is thought dead", run.name)
        shard.busy = False
        run.ended = self.check

    def consumer(self, batch: Sequence[Record], catalogs: Catalogs, ended: Callable[[Run], None]) -> Run:
        """An invocation of the consumer, for the projects whose issues the records are about."""
        homes = homes_in((key_of(one), "") for one in batch)
        self.totals["batches of two tenants"] += len({tenant for tenant, _ in homes}) > 1
        return self.start(
            "consumer",
            lambda table: self.functions(table, catalogs).maintain(batch, self.letter),
            ended,
            summary(batch) if self._log is not None else "",
            homes,
        )

    def fences_of(self, catalogs: Catalogs) -> Fences:
        """The beginnings of blocks that the container with these catalogs knows."""
        return self._fences.setdefault(catalogs, Fences())

    def functions(self, table: Table, catalogs: Catalogs) -> Functions:
        """The functions in a container with these definitions, in an invocation that begins now."""
        began = self.clock.seconds
        hint = None if self.hints_at_outboxes is None else self.hints_at_outboxes.append
        return Functions(
            table,
            catalogs,
            SETTLING,
            lambda: began + TIMEOUT - self.clock.seconds,
            self.fences_of(catalogs),
            hint,
            batches=self.batches,
        )

    def letter(self, poison: Poison) -> None:
        """A function sends a dead letter."""
        self.totals["dead letters"] += 1
        self.note("        dead letter: {} v{}: {}", poison.key[-3:], poison.version, poison.error)
        self.letters.append(poison)

    def check(self, run: Run) -> None:
        """An invocation has ended that is to succeed unless it is killed."""
        if run.invocation.raised is not None:
            self._failed(run)

    def _failed(self, run: Run) -> None:
        """An invocation that raised: because it was killed, or denied something, or else the core has a bug."""
        raised = run.invocation.raised
        if isinstance(raised, Killed) or run.faults[Verdict.DENIED.name]:
            return
        if isinstance(raised, Failed):
            raised = raised.__cause__
        raise Difference(f"{run.name} raised {type(raised).__name__}: {raised}") from raised

    # People

    def command(self, what: str, work: Callable[[Table], Any]) -> Run:
        """A request. Whatever it answers is right as long as it is an answer."""

        return self.start("command", work, self.check_request, what)

    def check_request(self, run: Run) -> None:
        """A request that was not answered as hoped: that may be an answer, and where documents are spoilt one may stumble."""
        raised, answer = run.invocation.raised, run.invocation.result
        if isinstance(raised, Failed):
            raised = raised.__cause__
        if raised is None:
            if isinstance(answer, Answer):
                self.totals[f"answers {answer.status}"] += 1
            return
        if isinstance(raised, (RequestError, UnknownOption)):
            return
        if self.totals["poison"] and isinstance(raised, (ValueError, LookupError, TypeError)):
            return
        self._failed(run)

    # The journal

    @property
    def head(self) -> Head:
        """The head of the project's journal."""
        return Log(self.engine, *self.home).head()

    @property
    def fold_is_due(self) -> bool:
        """Whether something waits to be folded."""
        return self._head is not None and keys.SORT in self._head

    @property
    def _head(self) -> Item | None:
        return self.engine.get(derived_keys.journal(*self.home), derived_keys.FOLD, consistent=True)

    def fold(self, catalogs: Catalogs) -> Run:
        """An invocation that folds, beside others or not."""

        def work(table: Table) -> int:
            def current() -> Catalog | None:
                return current_catalog(table, catalogs, *self.home)

            return fold(Log(table, *self.home), self.fences_of(catalogs), current, self.letter)

        return self.start("fold", work, self.check_fold)

    def check_fold(self, run: Run) -> None:
        """A fold has ended, which may have found the table busy."""
        if not isinstance(run.invocation.raised, Overloaded):
            self.check(run)

    def fold_all(self) -> None:
        """Fold everything, undisturbed."""
        for _ in range(20):
            if self._head is None or self._head["folded"] == self._head["last"]:
                return
            self.finish(self.fold(Catalogs()))
            Log(self.engine, *self.home).release(now())
            self.clock.seconds += PATIENCE
        raise Difference("the fold does not come to an end")

    # The end

    def over(self) -> None:
        """Every invocation ends, killed or finished, and all that is in flight arrives."""
        while self.runs:
            run = self.random.choice(self.runs)
            if self.chance(0.5):
                self.kill(run, lands=self.chance(0.5))
            else:
                self.finish(run)
        self.random.shuffle(self.late)

    def redrive(self, catalogs: Catalogs) -> Run:
        """Upkeep derives again what was handed over to it, without waiting for the back-off."""
        self.batches.make_due(int(self.clock.seconds))
        self.totals["batches that waited"] += len(self.batches.contents)
        return self.start(
            "redrive",
            lambda table: self.functions(table, catalogs).redrive(self.letter),
            self.check,
            homes=None,
        )

    def drain(self, catalogs: Catalogs) -> None:
        """Deliver everything, undisturbed; calls in flight arrive in between and at the end.

        Then nothing waits for upkeep.
        """
        self._deliver_all(catalogs)
        for _ in range(20):
            if not self.batches.contents:
                return
            self.finish(self.redrive(catalogs))
        raise Difference("an undisturbed redrive does not get on")

    def _deliver_all(self, catalogs: Catalogs) -> None:
        idle = 0
        while self.late or not self.stream.settled:
            if self.late and (self.stream.settled or self.chance(0.3)):
                self.land(self.random.choice(self.late))
                continue  # it may have been the write of a document
            shard = next(shard for shard in self.stream.shards if shard.open_to_deliver)
            before = shard.settled
            run, _ = self.deliver(shard, self.random.randint(1, 10), catalogs)
            self.finish(run)
            idle = 0 if shard.settled > before else idle + 1
            if idle > 3:
                raise Difference("an undisturbed delivery does not get on")


def _first_failed(run: Run, batch: Sequence[Record]) -> str | None:
    """The record from which on a batch is to be delivered again, by the answer that Lambda gets; None when all of it is done."""
    match run.invocation.result:
        case {"batchItemFailures": [], **rest} if not rest:
            return None
        case {"batchItemFailures": [{"itemIdentifier": str(failed), **more}], **rest} if (
            not rest and not more
        ):
            if failed in map(sequence_number, batch):
                return failed
    raise Difference(f"{run.name} answers {run.invocation.result}, which names none of its records")


class _Definitions:
    """The items of a catalog.

    Those with the same items are equal: most scenarios have the same, and models take long.
    """

    def __init__(self, tenant: str, project: str, stored: ProjectItems) -> None:
        self.parts = tenant, project, stored
        self._text = repr((tenant, project, stored.project, stored.catalog, stored.attributes))

    @override
    def __hash__(self) -> int:
        return hash(self._text)

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Definitions) and self._text == other._text


@lru_cache(maxsize=256)
def _catalog_of(definitions: _Definitions) -> Catalog:
    return to_catalog(*definitions.parts)


def is_document(key: Key) -> bool:
    """Whether an item is an issue document."""
    return key[0].startswith(keys.ISSUE_PREFIX) and key[1].startswith(keys.PROJECT_PREFIX)


def is_block(key: Key) -> bool:
    """Whether an item is a block."""
    return key[1].startswith(derived_keys.DIRECTORY_PREFIX)


def is_page(key: Key) -> bool:
    """Whether an item is a page of a column."""
    return derived_keys.is_column(key[0])


def is_totals(key: Key) -> bool:
    """Whether an item has the totals of a project's columns."""
    return derived_keys.is_journal(key[0]) and key[1] == derived_keys.TOTALS


def is_journal_item(key: Key) -> bool:
    """Whether an item is one of a journal, and neither its head, nor totals, nor a mark."""
    return (
        derived_keys.is_journal(key[0])
        and key[1] not in (derived_keys.FOLD, derived_keys.TOTALS)
        and not derived_keys.is_journal_mark(key[1])
    )


def _begins_an_issue(call: Attempted) -> bool:
    """Whether a write would make a document if none is there: a second arrival would undo a removal.

    Neither DynamoDB nor any of its writers has a defence against that: no condition distinguishes "not yet" from "no
    more".
    """
    return (
        call.operation == "put"
        and is_document(call.key)
        and call.condition is not None
        and "not_exists" in call.condition.expression
    )


def call_summary(call: Attempted) -> str:
    """A call, for a person."""
    places = ", ".join(f"{pk[-8:]} {sk}".strip() for pk, sk in call.keys[:4])
    item = call.item or {}
    facts = [f"{name} {item[name]}" for name in ("version", "revision", "epoch") if name in item]
    if "removed" in item:
        facts.append("removed")
    if keys.SORT in item and "revision" in item:
        facts.append(f"sort {item[keys.SORT]!r}")
    if "write_id" in item and BITS in item:
        page = ColumnPage.from_item(item)
        facts.append(f"page at {page.position}, {page.write_id}")
    elif "write_id" in item:
        facts.append(
            f"from {item[keys.SORT]!r} to {item.get('upper')!r}, size {item['size']}, {item['write_id']}"
        )
    if "intent" in item:
        facts.append("intent " + " ".join(item["intent"]))
    if item and item_size(dict(item)) > 10_000:
        facts.append("large")
    detail = f" ({', '.join(facts)})" if facts else ""
    eventually = "" if call.writes or call.consistent else " (eventually consistent)"
    return f"{call.operation} {places}{detail}{eventually}"
