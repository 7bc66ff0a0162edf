"""People who place rows in the manual orders of a project, delete issues and restore them.

Each request goes to the real function. The key that it answers for a row becomes a part of the issue's version, by which
SQLite sorts. The answer is judged at once, by the list of the rows in the order of their keys:

- The rows of the request, in its order, are right beside the anchor. All others are as they were.
- A rebalance changes no order. The keys are read again from the grid.

An issue has a place in this list only once the index has it: until then others may be placed without regard to it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from devtools.proof.faults.lambdas import Answer, load_all
from devtools.proof.faults.virtual import Clock, Constants, virtual
from devtools.proof.faults.world import World
from devtools.proof.oracle import asking
from devtools.proof.oracle.history import History, Version
from devtools.proof.oracle.limits import held_to
from devtools.proof.oracle.loading import Difference, Loaded, container, same
from devtools.proof.oracle.sql import Oracle, row_key
from devtools.proof.oracle.world import stamps_of
from gridview.commands.actor import Actor, Role
from gridview.encoding import keys
from gridview.encoding.consistency import DELETED, RecentWrites
from gridview.maintenance.rebalancing import Rebalancing
from gridview.schema.jobs import Hint
from gridview.schema.placements import Placements
from gridview.schema.store import Catalogs

RANKS: Sequence[Constants] = (
    {},
    {
        "encoding.fractional_keys._CHOICES": 124,
        "commands.placing.LONG_KEY": 6,
        "commands.placing.TOGETHER": 3,
        "maintenance.rebalancing.TOGETHER": 3,
        "maintenance.rebalancing.SHORT": 6,
    },
)
"""Limits of ranks. By the second ones a few placements at one place are followed by a rebalance."""

_TURNS = (3, 10, 40)
"""Requests after which a project is asked."""
_SHARE = 0.4
"""Edits of a project with manual orders that are placements, or restore an issue."""
_FOREVER = 2**32 - 1


@dataclass(slots=True)
class Sorters:
    """The people. `history`: gets the versions that they make; `now`: its present moment."""

    random: Random
    world: World
    loaded: Loaded
    history: History
    containers: Sequence[Catalogs]
    happened: Counter[str]
    now: Callable[[], int]
    _appeared: set[int] = field(default_factory=set)
    """Issues that were made or restored and that the index may lack."""

    def appears(self, num: int) -> None:
        """An issue was made."""
        self._appeared.add(num)

    def settled(self, moved: Collection[int]) -> None:
        """The index has all issues but these as they are."""
        self._appeared &= {*moved}

    def take_turn(self) -> bool:
        """Now and then, in a project with manual orders: act. Returns whether anything was done."""
        if not self.history.origin.orders or self.random.random() >= _SHARE:
            return False
        return self.act()

    def act(self) -> bool:
        """Place rows, delete an issue, restore one, or rebalance. Returns whether anything was done."""
        deleted = self._deleted
        actions: list[tuple[Callable[[], None], float]] = []
        if len(self.history.living) > 1:
            actions += [(self._place, 8), (self._delete, 0.5)]
        if deleted:
            actions.append((lambda: self._restore(self.random.choice(deleted)), 1))
        if self._placements.due:
            actions.append((self._rebalance, 2))
        if not actions:
            return False
        chosen, weights = zip(*actions, strict=True)
        self.random.choices(chosen, weights)[0]()
        return True

    @property
    def _deleted(self) -> list[int]:
        return sorted(self.history.versions.keys() - {*self.history.living})

    @property
    def _placements(self) -> Placements:
        place = keys.placements(*self.world.home), keys.JOB
        return Placements.from_item(self.world.engine.get(*place, consistent=True))

    def _ask(self, method: str, path: str, body: Any = None) -> Answer:
        actor = Actor(self.world.tenant, self.random.choice(("ann", "bob")), Role.EDITOR)
        functions = self.world.functions(self.world.table, self.random.choice(self.containers))
        return functions.request(actor, method, f"{self.world.path}{path}", body)

    # Placements

    def _place(self) -> None:
        random, living, deleted = self.random, self.history.living, self._deleted
        order = random.choice(self.history.origin.orders)
        nums = random.sample(living, min(len(living) - 1, random.choice((1, 1, 1, 2, 3, 8))))
        rest = self._in_order(order, without=nums)
        # Often beside the same row: there the keys grow.
        anchor = random.choice((rest[len(rest) // 3], rest[len(rest) // 3], random.choice(rest), None))
        if deleted and random.random() < 0.2:
            nums.insert(random.randint(0, len(nums)), random.choice(deleted))
        elif deleted and random.random() < 0.05:
            anchor = random.choice(deleted)
        side = random.choice(("before", "after"))
        asked = {"nums": nums, side: anchor}
        answer = self._ask("POST", f"/views/{order}/order", asked)
        if anchor in deleted:
            same("the answer for a deleted anchor", (answer.status, _kind(answer)), (409, "anchor-gone"))
            self.happened["placements beside a deleted issue"] += 1
            return
        if answer.status != 200:
            raise Difference(f"the placement {asked} is answered with {answer}")
        self.happened["placements"] += 1
        self.happened["rows placed"] += len(answer.body["items"])
        rows = answer.body["items"]
        moved = [num for num in nums if num in living]
        same("the rows that are placed", [row["num"] for row in rows], moved)
        unknown = self._appeared - {*nums, anchor}
        expected = moved_to(self._in_order(order, without=unknown), moved, anchor, after=side == "after")
        for row in rows:
            self._note(row["num"], row["version"], {order: row["key"]})
        found = self._in_order(order, without=unknown)
        same(f"the order {order} after the placement {asked}", found, expected)

    def _in_order(self, order: str, without: Collection[int] = ()) -> list[int]:
        project = self.history.present()
        nums = [num for num in project.issues if num not in without]
        return sorted(nums, key=lambda num: row_key(project, num, order))

    def _note(self, num: int, version: int, placed: dict[str, str]) -> None:
        """Note the answered keys of an issue: a new version, or the keys that it has."""
        latest = self.history.latest(num)
        before = latest.body.get("placed", {})
        if version == latest.number:
            project = self.history.present()
            same(f"the keys of {num}", placed, {order: row_key(project, num, order) for order in placed})
            return
        same(f"the version of {num}", version, latest.number + 1)
        body = {**latest.body, "placed": {**before, **placed}}
        self.history.changed(num, self.now(), Version(version, body, latest.stamps))

    # The trash

    def _delete(self) -> None:
        num = self.random.choice(self.history.living)
        same("the answer", self._ask("DELETE", f"/issues/{num}").status, 204)
        self.history.changed(num, self.now(), None)
        self._appeared.discard(num)
        self.happened["issues deleted"] += 1

    def _restore(self, num: int) -> None:
        answer = self._ask("POST", f"/trash/{num}/restore")
        same("the answer", answer.status, 200)
        shown = answer.body
        version = Version(shown["version"], self.history.latest(num).body, stamps_of(shown))
        self.history.changed(num, self.now(), version)
        self.appears(num)
        self.happened["issues restored"] += 1

    # Rebalances

    def _rebalance(self) -> None:
        """Rebalance one range of long ranks, and read the keys again."""
        unknown = frozenset(self._appeared)
        orders = self.history.origin.orders
        before = {order: self._in_order(order, without=unknown) for order in orders}
        state = self._placements
        first = state.long[0]

        def left() -> float:
            return 60.0 if first in self._placements.long else 0.0

        rebalancing = Rebalancing(self.world.table, self.random.choice(self.containers), *self.world.home)
        rebalancing.take_turn(Hint(keys.placements(*self.world.home), state.due), left)
        self.happened["rebalances"] += 1
        self._read_again()
        for order in orders:
            same(
                f"the order {order} after a rebalance", self._in_order(order, without=unknown), before[order]
            )

    def _read_again(self) -> None:
        """Take the keys from the grid, which is asked with the token of every write."""
        written = {one["num"]: one["version"] for one in self.world.documents.values()}
        recent = RecentWrites(
            self.world.project, _FOREVER, {**written, **dict.fromkeys(self._deleted, DELETED)}
        )
        found: dict[int, dict[str, str]] = {}
        versions: dict[int, int] = {}
        for order in self.history.origin.orders:
            body: Any = {"sort": [{"manual": order}], "limit": 500, "keys": True}
            while body is not None:
                held = () if "cursor" in body else (recent,)
                page = asking.page(self.loaded.context(self.world.table, held), body).body
                for row in page["rows"]:
                    found.setdefault(row["num"], {})[order] = row["key"]
                    versions[row["num"]] = row["version"]
                body = None if page["next"] is None else {**body, "cursor": page["next"]}
        same("the issues after a rebalance", sorted(found), sorted(self.history.living))
        for num, placed in found.items():
            self.happened["keys rebalanced"] += versions[num] > self.history.latest(num).number
            self._note(num, versions[num], placed)


def moved_to(rows: Iterable[int], moved: Sequence[int], anchor: int | None, *, after: bool) -> list[int]:
    """The rows with some of them moved beside an anchor; None: at an end, `after` none the beginning."""
    others = [num for num in rows if num not in moved]
    end = 0 if after else len(others)
    at = end if anchor is None else others.index(anchor) + after
    return [*others[:at], *moved, *others[at:]]


def placed(loaded: Loaded, seed: int, happened: Counter[str]) -> Loaded:
    """The same project after users have sorted its manual orders by hand, all of it in the index; Difference.

    `happened` counts what they do.
    """
    project = loaded.project
    if not project.orders or not project.issues:
        return loaded
    random = Random(f"orders {seed}")  # noqa: S311  (the same one each time)
    load_all()
    clock = Clock()
    home = loaded.catalog.tenant, loaded.catalog.project
    with virtual(clock, seed, RANKS[seed % len(RANKS)]), held_to(project.limits):
        scene = World(random, clock, loaded.table, *home)
        history, containers = History(replace(project, issues=deepcopy(project.issues))), [Catalogs()]
        sorters = Sorters(random, scene, loaded, history, containers, happened, lambda: 0)
        for _ in range(random.choice(_TURNS)):
            sorters.act()
            if random.random() < 0.2:
                _derive(scene, containers[0], folds=random.random() < 0.5)
                sorters.settled(())
        _derive(scene, containers[0], folds=random.random() < 0.5)
    present = history.present()
    cache = container(loaded.table, loaded.catalog)
    return replace(loaded, project=present, oracle=Oracle(present), cache=cache)


def _derive(scene: World, catalogs: Catalogs, *, folds: bool) -> None:
    scene.drain(catalogs)
    if folds:
        scene.fold_all()


def _kind(answer: Answer) -> str:
    kind: str = answer.body["type"].rpartition("/")[2].rpartition(":")[2]
    return kind
