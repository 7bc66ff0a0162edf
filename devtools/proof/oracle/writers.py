"""The questions put while writers write and consumers bring what is derived up to date: call by call, in an order that is drawn.

A request takes from its first call (moment S) to its last (E); between any two of its calls issues are edited, made and
deleted, and consumers make calls of their own, in the midst of block writes, splits and merges. GSI1 and reads that are not
consistent may be H moments behind. An issue *stands still* for a request when no change of it was on its way at S - H or after:
none is in the stream, with a consumer at work, or not yet shown by the index. Then:

* A row shows an issue in a version that it had between S - H and E, all values those of that version. It passes the filter by
  what it shows, and the rows of a page stand in order by what they show. No issue is on a page twice.
* Of the issues that stand still and match, those on a page follow each other in the oracle's order without a gap, from
  the first of them where the page begins the result, up to the last where it ends it. Over a walk by cursors, forwards or
  backwards, each that stands still all along is shown exactly once, in the oracle's order.
* Counts (total, matched, of a group, rows before an issue, rows before a page) lie between the oracle's over what stands still
  and that plus once for every version of each issue that does not.

Where everything stands still this is equality with the oracle; and at the end of a scenario all becomes quiet, and the question
is put once more as in `compare`.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from typing_extensions import override

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.stream import key_of
from devtools.proof.faults.virtual import Clock, virtual
from devtools.proof.faults.watched import Attempted, Watched
from devtools.proof.faults.world import Run, World
from devtools.proof.oracle import asking, compare, refusals, world
from devtools.proof.oracle.compare import (
    Difference,
    Loaded,
    check_values,
    groups_expected,
    groups_told,
    nums_of,
    same,
    summary_expected,
    summary_told,
)
from devtools.proof.oracle.history import History, Version
from devtools.proof.oracle.limits import LIMITS, budgets, held_to
from devtools.proof.oracle.sql import Oracle, folded
from devtools.proof.oracle.world import Json, Project, Question
from gridview.commands import issues
from gridview.commands.actor import Actor, Role
from gridview.dynamodb.expressions import Key, Span
from gridview.dynamodb.table import Page, Table, Together
from gridview.encoding import keys
from gridview.encoding.json_codec import dumps, loads
from gridview.schema.documents import to_json
from gridview.schema.store import Catalogs
from gridview.support.errors import NotFound, Overloaded, Unprocessable

_TENANT, _PROJECT = "acme", "bridge"
_LIMITS = tuple(one for one in LIMITS if not one.startswith("real"))
_SIZES = (15, 30, 60)
_PAGES = 120
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
                page = self.query(span.partition, index=True, bound=bound, paths=paths)
                items += page.items
                if page.last is None:
                    break
                bound = span.behind(page.last).bound
            listed.append(items)
        return Together(found, listed)


@dataclass
class Window:
    """What a request was answered, between which moments. `behind`: from when on what it was told was true at some time."""

    answer: Any
    behind: float
    still: Project
    slack: int


@dataclass
class Played:
    """What became of a scenario."""

    kind: str
    requests: int = 0
    rows: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    refused: str | None = None
    overloaded: bool = False


def play(seed: int) -> Played:
    """Play the scenario of this number; Difference."""
    random = Random(f"writers {seed}")  # noqa: S311  (the same one each time)
    project = world.make(random, _LIMITS, _SIZES)
    clock = Clock()
    with virtual(clock, seed), held_to(project.limits):
        return _Scenario(random, clock, project).play()


class _Scenario:
    def __init__(self, random: Random, clock: Clock, project: Project) -> None:
        self._random = random
        self._history = History(project)
        self._memory = MemoryTable()
        self._loaded = compare.load(self._memory, project, _TENANT, _PROJECT)
        self._now = 0
        self._behind = random.choice((0, 5, 20))
        self._written: dict[Key, deque[int]] = defaultdict(lambda: deque(maxlen=8))
        self._unseen: dict[Key, deque[int]] = defaultdict(deque)
        self._world = World(
            random, clock, Watched(self._memory, self._noting_writes), _TENANT, _PROJECT, shards=2
        )
        self._world.splitting = 0.2
        self._memory.lag()
        self._memory.stale(self._states_ago)
        self._containers = [Catalogs(), Catalogs()]
        self._batches: dict[Run, set[int]] = {}
        self._edits = random.choice((5, 15, 40))
        self._question = _question(random, project)
        self._played = Played(self._question.kind)

    def play(self) -> Played:
        """Put the question while all this goes on, and once more when it has become quiet."""
        for _ in range(self._random.choice((0, 20, 80))):
            self._happen()
        try:
            _KINDS[self._question.kind](self)
        except Unprocessable as error:
            self._refused(error)
        except Overloaded:
            self._played.overloaded = True
        self._quiet()
        return self._played

    # What happens

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
        return self._random.randint(0, sum(at >= self._now - self._behind for at in replaced))

    def _tick(self) -> None:
        """A moment has passed: what has waited too long is shown by the index."""
        self._now += 1
        self._world.clock.seconds += 0.01
        for key in [key for key, waiting in self._unseen.items() if waiting[0] < self._now - self._behind]:
            self._catch_up(key, until=self._now - self._behind)
        self._history.unsettled(self._on_their_way(), self._now)

    def _on_their_way(self) -> set[int]:
        found = {num for nums in self._batches.values() for num in nums}
        for shard in self._world.stream.shards:
            found |= {_num(one) for one in shard.records[shard.settled :]}
        return found

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
        if ready and len(self._batches) < _CONSUMERS:
            actions.append((lambda: self._deliver(self._random.choice(ready)), 4))
        if self._batches:
            actions += [(self._go_on, 12), (self._kill, 0.2)]
        if self._unseen:
            actions.append((self._show, 6))
        if actions:
            chosen, weights = zip(*actions, strict=True)
            self._random.choices(chosen, weights)[0]()
        self._tick()

    def _deliver(self, shard: Any) -> None:
        run, batch = self._world.deliver(
            shard, self._random.choice((1, 3, 10)), self._random.choice(self._containers)
        )
        if not run.invocation.ended:
            self._batches[run] = {_num(one) for one in batch}
        self._played.happened["batches"] += 1

    def _go_on(self) -> None:
        run = self._random.choice(list(self._batches))
        self._world.step(run, then=self._random.choice((0, 0, 1, 4)))
        self._played.happened["calls of consumers"] += 1
        self._forget_ended()

    def _kill(self) -> None:
        self._world.kill(self._random.choice(list(self._batches)), lands=False)
        self._played.happened["consumers killed"] += 1
        self._forget_ended()

    def _forget_ended(self) -> None:
        for run in [run for run in self._batches if run.invocation.ended]:
            # Its last call may not have been shown by the index yet: those issues were unsettled up to this moment.
            self._history.unsettled(self._batches.pop(run), self._now)

    def _show(self) -> None:
        self._catch_up(self._random.choice(list(self._unseen)), until=self._now + 1)

    def _edit(self) -> None:
        self._edits -= 1
        self._played.happened["edits"] += 1
        living = self._history.living
        kind = self._random.choices(("change", "make", "delete"), (8, 1, 1))[0] if living else "make"
        table, catalog, actor = self._world.table, self._loaded.catalog, Actor(_TENANT, "bob", Role.EDITOR)
        if kind == "make":
            body = self._changes(self._random.random())
            body = {
                "name": "new",
                **body,
                "fields": {name: one for name, one in body["fields"].items() if one is not None},
            }
            document = issues.create_issue(table, catalog, actor, body)
            body = {"state": self._history.origin.states[0], **body}
        else:
            num = self._random.choice(living)
            if kind == "delete":
                issues.delete_issue(table, catalog, num, None)
                self._history.changed(num, self._now, None)
                return
            changes = self._changes(_CHANGED)
            document = issues.update_issue(table, catalog, actor, num, changes, None)
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
        version = Version(shown["version"], body, (shown["created"], shown["updated"]))
        self._history.changed(shown["num"], self._now, version)

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

    # Requests

    def _request(self, work: Callable[[Table], Any]) -> Window:
        """Let somebody ask while all goes on; what the request raises is raised here."""
        self._played.requests += 1
        behind = self._now - self._behind
        run = self._world.start("reader", lambda table: work(Apart(table)), lambda _: None)
        while not run.invocation.ended:
            for _ in range(self._random.choice((0, 0, 1, 3, 10))):
                self._happen()
            self._tick()
            self._world.step(run)
        if run.invocation.raised is not None:
            raise run.invocation.raised
        moved = self._history.moved(behind)
        return Window(run.invocation.result, behind, self._history.still(behind), self._history.slack(moved))

    def _refused(self, error: Unprocessable) -> None:
        """It may be refused where the oracle knows a reason, or would if all issues that moved had been in the way."""
        project = self._history.present()
        moved = len(self._history.moved(0))
        room = {name: most - moved for name, most in budgets(project.limits).items()}
        self._played.refused = refusals.why(project, Oracle(project), self._question, room)
        if self._played.refused is None:
            raise Difference(f"refused without a reason: {error.detail}") from error

    def _page(self, body: Json) -> Window:
        window = self._request(
            lambda table: asking.page(table, self._loaded.catalog, body, self._loaded.cache)
        )
        nums = nums_of(window.answer)
        self._played.rows += len(nums)
        same("whether all rows are of different issues", len(set(nums)), len(nums))
        same("whether it is at most a page", len(nums) <= body["limit"], True)
        shown = self._history.as_shown(
            [(row["num"], row["version"]) for row in window.answer["rows"]], window.behind
        )
        if shown is None:
            told = [(row["num"], row["version"]) for row in window.answer["rows"]]
            raise Difference(f"a row shows what its issue was not: {told}")
        check_values(self._of(shown), window.answer, body.get("columns"))
        same("the rows, by what they show", nums, Oracle(shown).rows(body))
        if body["count"]:
            between("total", window.answer["total"], len(window.still.issues), window.slack)
            between("matched", window.answer["matched"], len(Oracle(window.still).rows(body)), window.slack)
        return window

    def _of(self, project: Project) -> Loaded:
        return replace(self._loaded, project=project)

    def walk(self) -> None:
        """All pages forwards, and then all of them backwards."""
        body = self._question.body
        began = self._now - self._behind
        window = self._page(body)
        pages = [window]
        while window.answer["next"] is not None:
            same("whether a walk ends", len(pages) < _PAGES, True)
            window = self._page({**body, "cursor": window.answer["next"]})
            pages.append(window)
        for one in pages:
            self._check_run(one, begins=one is pages[0], ends=one is pages[-1])
        self._check_walk("the rows forwards", began, [num for one in pages for num in nums_of(one.answer)])
        back = [window]
        while window.answer["prev"] is not None:
            same("whether a walk backwards ends", len(back) < _PAGES, True)
            window = self._page({**body, "cursor": window.answer["prev"]})
            self._check_run(window, begins=window.answer["prev"] is None, ends=False)
            back.append(window)
        self._check_walk(
            "the rows backwards", began, [num for one in reversed(back) for num in nums_of(one.answer)]
        )

    def _check_run(self, window: Window, *, begins: bool, ends: bool) -> int | None:
        """The still rows follow each other without a gap; where the first of them stands among all that are still and match."""
        expected = Oracle(window.still).rows(self._question.body)
        still = set(expected)
        shown = [num for num in nums_of(window.answer) if num in still]
        if not shown:
            same("the rows of the only page", begins and ends and bool(expected), False)
            return None
        at = 0 if begins else expected.index(shown[0])
        stop = len(expected) if ends else at + len(shown)
        same("the rows that nothing happened to", shown, expected[at:stop])
        return at

    def _check_walk(self, what: str, began: float, shown: Sequence[int]) -> None:
        expected = Oracle(self._history.still(began)).rows(self._question.body)
        still = set(expected)
        same(what, [num for num in shown if num in still], expected)

    def offset(self) -> None:
        """A page at an offset, and the pages before and after it."""
        body, offset = self._question.body, self._question.body["offset"]
        window = self._page(body)
        same("the offset", window.answer["offset"], offset)
        at = self._check_run(window, begins=not offset, ends=False)
        expected = Oracle(window.still).rows(body)
        if not window.slack:
            same("the rows", nums_of(window.answer), expected[offset : offset + body["limit"]])
        elif at is None:
            same(
                "whether the page lies behind the end",
                len(expected) - window.slack <= offset or bool(window.answer["rows"]),
                True,
            )
        else:
            row = offset + nums_of(window.answer).index(expected[at])
            if abs(row - at) > window.slack:
                raise Difference(
                    f"row {row} is {expected[at]}, the oracle has it at {at}, {window.slack} moved"
                )
        onward = {name: one for name, one in body.items() if name != "offset"}
        for cursor in (window.answer["next"], window.answer["prev"]):
            if cursor is not None:
                self._check_run(self._page({**onward, "cursor": cursor}), begins=False, ends=False)

    def groups(self) -> None:
        """Grouped counts."""
        body = self._question.body
        window = self._request(
            lambda table: asking.grouped(table, self._loaded.catalog, body, self._loaded.cache)
        )
        loaded = replace(self._loaded, project=window.still, oracle=Oracle(window.still))
        ours, theirs = groups_told(loaded, body, window.answer), groups_expected(loaded, body)
        self._played.rows += len(ours)
        if not window.slack:
            same("the groups", ours, theirs)
            return
        told = {spelled_alike(one["values"]): one["count"] for one in ours}
        least = {spelled_alike(one["values"]): one["count"] for one in theirs}
        same("whether all groups are different", len(told), len(ours))
        same("the groups that nothing happened to", [one for one in told if one in least], list(least))
        for values, count in told.items():
            between(f"the count of {values}", count, least.get(values, 0), window.slack)

    def summary(self) -> None:
        """A summary of fields: while issues change, what it says holds together; `_quiet` compares it."""
        body = self._question.body
        window = self._request(
            lambda table: asking.summarized(table, self._loaded.catalog, body, self._loaded.cache)
        )
        loaded = replace(self._loaded, project=window.still, oracle=Oracle(window.still))
        ours, theirs = summary_told(loaded, body, window.answer), summary_expected(loaded, body)
        self._played.rows += len(ours["summaries"])
        if not window.slack:
            same("the summary", ours, theirs)
            return
        between("matched", ours["matched"], theirs["matched"], window.slack)
        for told, least in zip(ours["summaries"], theirs["summaries"], strict=True):
            if "count" in told:
                between("count", told["count"], least["count"], window.slack)

    def position(self) -> None:
        """The position of an issue."""
        num = self._question.num
        try:
            window = self._request(
                lambda table: asking.position(
                    table, self._loaded.catalog, num, self._question.body, self._loaded.cache
                )
            )
        except NotFound:
            same(
                "whether the issue stood still",
                num in self._history.still(self._now - self._behind).issues,
                False,
            )
            return
        if num not in window.still.issues:
            return
        rows = Oracle(window.still).rows(self._question.body)
        if num not in rows:
            same("the position", window.answer["position"], None)
        else:
            between("the position", window.answer["position"], rows.index(num), window.slack)

    def _quiet(self) -> None:
        """Everything ends and is shown; then the answer is the oracle's."""
        for run in list(self._world.runs):
            self._world.finish(run)
        self._world.drain(self._containers[0])
        self._memory.catch_up_with_all()
        self._memory.stale(None)
        project = self._history.present()
        compare.put(replace(self._loaded, project=project, oracle=Oracle(project)), self._question)


_KINDS: dict[str, Callable[[_Scenario], None]] = {
    "walk": _Scenario.walk,
    "offset": _Scenario.offset,
    "groups": _Scenario.groups,
    "summary": _Scenario.summary,
    "position": _Scenario.position,
}


def _question(random: Random, project: Project) -> Question:
    """A question with so small pages that there are several of them, and so many groups that all are told."""
    question = world.question(random, project)
    if question.kind == "groups":
        question.body["limit"] = 500
    elif "limit" in question.body:
        question.body["limit"] = random.choice((2, 5, 9))
    return question


def spelled_alike(values: Sequence[Any]) -> tuple[Any, ...]:
    """The values of a group, however its first issue spells them."""
    return tuple(folded(one) if isinstance(one, str) else one for one in values)


def between(what: str, ours: int, least: int, slack: int) -> None:
    """Difference when a count is less than this, or more by what may be on its way."""
    if not least <= ours <= least + slack:
        raise Difference(
            f"{what}: the grid says {ours}, the oracle {least}, and {slack} on their way at most"
        )


def _num(record: Any) -> int:
    return int(keys.parse_issue(key_of(record))[2])
