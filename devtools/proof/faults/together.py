"""Drawn scenarios in which users undo changes, start jobs, and follow the project by webhooks, while all else continues."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from typing_extensions import override

from devtools.local.delivery import sequence_number
from devtools.proof.faults import administrators, people
from devtools.proof.faults.changes import Undoers
from devtools.proof.faults.drawn import Drawn, Weather
from devtools.proof.faults.followers import Follower
from devtools.proof.faults.orders import PlacedRows, Sorters
from devtools.proof.faults.user_jobs import Foremen
from devtools.proof.faults.webhooks import Receivers, Subscribers, deliver, deliver_all
from devtools.proof.faults.world import Difference, World, is_document
from gridview.encoding import derived_keys, keys

_CALLS = 400
"""Calls of a worker, which is then left to itself."""

_ROUNDS = 30
"""Rounds of background work, after which there is no hope for an end."""


@dataclass(frozen=True)
class Company:
    """How often people undo, have jobs done or have webhooks, in addition to the events of any drawn scenario."""

    weather: Weather = field(default_factory=lambda: Weather(readers=0, actions=130, issues=4, crowd=4))
    undos: float = 0.0
    jobs: float = 0.0
    webhooks: float = 0.0
    orders: float = 0.0
    """How often people place rows in a manual order."""
    dying: float = 0.0
    """How often a worker dies right after one of its writes of a document, and others edit issues before the next one
    comes.
    """
    failing: float = 0.2
    """How often a receiver answers that it has failed."""


class Together(Drawn):
    """People work together: every write is part of a change."""

    def __init__(self, world: World, company: Company, seed: int) -> None:
        super().__init__(world, company.weather, seed)
        self.company = company
        chance = Random(f"together {seed}")  # noqa: S311 - the same seed is the same scenario
        self.undoers = {here.home: Undoers(here, self.command_containers, chance) for here in self.worlds}
        self.foremen = {here.home: Foremen(here, self.command_containers, chance) for here in self.worlds}
        self.together = chance
        self.receivers = Receivers(chance, company.failing)
        if company.webhooks:
            world.hints_at_outboxes = []
            for here in self.worlds:
                here.hints_at_outboxes = world.hints_at_outboxes
        self.subscribers = [
            Subscribers(here, self.receivers, chance) for here in self.worlds if company.webhooks
        ]
        self.sorters = [
            Sorters(here, self.command_containers, chance) for here in self.worlds if company.orders
        ]

    @override
    def play(self) -> None:
        for one in self.subscribers:
            one.begin()
        for here, sorters in zip(self.worlds, self.sorters, strict=False):
            sorters.begin()
            here.watch_ranks = sorters.watch
            self.work_off()
            self.followers[here.home].append(Follower(here, self.reader_catalogs, PlacedRows(sorters)))
        super().play()

    @override
    def actions(self) -> Iterator[tuple[Callable[[], None], float]]:
        yield from super().actions()
        if self.company.undos:
            yield self.undo, self.company.undos
        if self.company.jobs:
            yield self.job, self.company.jobs
        if self.company.orders:
            yield self.place, self.company.orders
        if self.company.dying:
            yield self.die_at_work, self.company.dying
        if self.company.webhooks:
            yield self.send, self.company.webhooks
            yield self.look_at_outboxes, self.company.webhooks / 8
            yield self.define_webhook, 0.3

    @override
    def write(self) -> None:
        world = self._somewhere()
        if sum(run.kind == "command" for run in world.runs) < self.weather.crowd:
            self.undoers[world.home].write()

    def undo(self) -> None:
        """A user undoes a change."""
        world = self._somewhere()
        if sum(run.kind == "undo" for run in world.runs) < 2 and self.undoers[world.home].undo() is not None:
            self.undoers[world.home].rival()

    def job(self) -> None:
        """A user changes all issues that a filter matches, or cancels that."""
        self.foremen[self._somewhere().home].act()

    def place(self) -> None:
        """A user places rows by hand."""
        self.together.choice(self.sorters).place()

    def die_at_work(self) -> None:
        """A worker of jobs writes some documents, and dies before it can say so."""
        self.catch_up_with_all()
        self.beat()
        run = administrators.upkeep(self.world, self.together.choice(self.upkeep_containers))
        writes = self.together.randint(1, 3)
        for _ in range(_CALLS):
            if run not in self.world.runs:
                return
            call = run.invocation.call
            self.world.step(run)
            if call is not None and call.writes and is_document(call.key):
                writes -= 1
            if not writes and run in self.world.runs:
                self.world.kill(run, lands=self.together.random() < 0.5)
                for _ in range(self.together.randint(0, 2)):
                    self.undoers[self._somewhere().home].rival()
                return

    def send(self) -> None:
        """A hint at a webhook arrives, or is lost, or arrives again later."""
        hints = self.world.hints_at_outboxes
        if not hints or sum(run.kind == "courier" for run in self.world.runs) > 2:
            return
        some = [self.together.choice(hints) for _ in range(self.together.choice([1, 1, 2]))]
        for hint in some:
            if hint in hints and self.together.random() < 0.8:
                hints.remove(hint)
        deliver(self.world, self.together.choice(self.upkeep_containers), self.receivers, some)

    def look_at_outboxes(self) -> None:
        """The schedule sends hints at all webhooks that are due."""
        deliver(self.world, self.together.choice(self.upkeep_containers), self.receivers, [])

    def define_webhook(self) -> None:
        """An administrator defines a webhook."""
        one = self.together.choice(self.subscribers)
        if len(one.webhooks) < 7:
            one.define()

    @override
    def deliver_again(self) -> None:
        """As Lambda does it: none without those before it. Dead letters are another family's matter."""
        shards = [shard for shard in self.world.stream.shards if shard.delivered]
        if shards and sum(run.kind == "consumer" for run in self.world.runs) < 5:
            shard = self.together.choice(shards)
            at = self.together.randint(0, min(shard.settled, shard.delivered - 1))
            end = min(at + self.together.randint(1, 5), shard.delivered)
            self.world.deliver_beside(shard.records[at:end], self.together.choice(self.consumer_containers))

    @override
    def repair(self) -> None:
        """Repair issues with a ledger.

        Without one, a repair cannot know which changes were delivered, and followers get a reset.
        """
        world = self._somewhere()
        known = [
            key for key in sorted(world.orders) if world.engine.get(key, derived_keys.LEDGER, consistent=True)
        ]
        if known:
            people.repair(world, self.together.choice(known), self.together.choice(self.upkeep_containers))

    @override
    def table_itself(self) -> None:
        """Deleted issues are restored; the table is never written by hand."""
        world = self._somewhere()
        if world.trashed:
            key = self.together.choice(sorted(world.trashed))
            people.bring_back(world, self.together.choice(self.command_containers), world.trashed[key]["num"])

    @override
    def upkeep(self) -> None:
        if self.together.random() < 0.7:
            self.beat()
        super().upkeep()
        if self.company.jobs and self.together.random() < 0.5:
            self.undoers[self._somewhere().home].rival()

    def beat(self) -> None:
        """Write the heartbeat's lag: the age of the record that has waited longest in the stream."""
        world = self.world
        waiting = [
            world.streamed_at[sequence_number(one)]
            for shard in world.stream.shards
            for one in shard.records[shard.settled :]
        ]
        now = world.clock.seconds
        lag = now - min(waiting, default=now)
        noted = {"taken_in": round(now * 1_000), "lag": round(lag * 1_000)}
        world.engine.put({keys.PK: keys.LAG_OF_BEAT, keys.SK: keys.LAG, **noted})

    # The end

    @override
    def quiet(self) -> None:
        world = self.world
        world.note("-- all becomes quiet")
        self.settle()
        self.work_off()
        for here in self.worlds:
            self.foremen[here.home].ask_for_all()
            self.undoers[here.home].finish(lambda job, here=here: self._finished(here, job))  # type: ignore[misc]
        self.work_off()
        self.judge()
        for here in self.worlds:
            self._in_quiet(here)
        self.work_off()
        self.judge()
        self.walk()

    def _in_quiet(self, here: World) -> None:
        """While nothing else happens, the requests of people are done to the letter."""
        if self.company.undos:
            self.undoers[here.home].undo_in_quiet(2, self.work_off, lambda job: self._finished(here, job))
        if self.company.jobs:
            foremen = self.foremen[here.home]
            job, matched = foremen.begin(), set[int]()
            matched = foremen.matching(job)
            foremen.ask_for_all()
            self.work_off()
            foremen.assert_all_in_quiet(job, matched)

    def _finished(self, here: World, job: str) -> Any:
        """A job, when it is over."""
        self.work_off()
        return self.foremen[here.home].outcome(job)

    @override
    def work_off(self) -> None:
        """All that waits is done, undisturbed: records, folds, jobs, which write documents in their turn."""
        world = self.world
        for _ in range(_ROUNDS):
            world.drain(self.random.choice(self.consumer_containers))
            self.catch_up_with_all()
            if not any(map(administrators.work_is_left, self.worlds)):
                return
            world.pass_time(130.0)
            self.beat()
            world.finish(administrators.upkeep(world, self.random.choice(self.upkeep_containers)))
        raise Difference("the background work does not come to an end")

    @override
    def judge(self) -> None:
        super().judge()
        for here in self.worlds:
            self.undoers[here.home].assert_right()
            self.foremen[here.home].assert_right()
        if self.subscribers:
            deliver_all(self.world, self.subscribers, self.receivers)
        for one in self.subscribers:
            one.assert_right()
            one.assert_delivered()
        for sorters in self.sorters:
            sorters.assert_right()


_FAIR = Company()
COMPANIES = {
    "undo": replace(_FAIR, undos=9),
    "jobs": replace(_FAIR, jobs=6, dying=5),
    "webhooks": replace(_FAIR, webhooks=12),
    "all": replace(_FAIR, undos=5, jobs=3, webhooks=10),
    "orders": replace(
        _FAIR, weather=Weather(readers=0, actions=450, issues=5, crowd=5, edits=0.3), orders=60
    ),
}
