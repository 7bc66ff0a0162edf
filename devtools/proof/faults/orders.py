"""People who place rows in the manual order of a view, and clients that follow the view.

The true order is that of the ranks in the documents. It is compared at each write of ranks, and when all is quiet:

- A placement moves its rows beside the anchor, in their order, whatever others place at the same time.
- A rebalance changes ranks and no order.
- In the end the grid and every follower have the true order.
"""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from devtools.proof.faults.people import ask
from devtools.proof.faults.world import Difference, Run, World
from gridview.commands.actor import Actor, Role
from gridview.dynamodb.expressions import Item
from gridview.encoding import keys
from gridview.encoding.fractional_keys import default_key
from gridview.schema.manual_orders import PLACED_BY
from gridview.schema.store import Catalogs

VIEW = "v1"
BY_HAND = [{"manual": VIEW}]

_PEOPLE = ("ann", "bob", "cid")
_PAGES = 40


class Sorters:
    """The people who sort the issues of one project by hand."""

    def __init__(self, world: World, containers: Sequence[Catalogs], random: Random) -> None:
        self._world = world
        self._containers = containers
        self._random = random
        self._key = ""

    def begin(self) -> None:
        """Before anything happens: a view that is sorted by hand. Its order is built by the next upkeep."""
        self._ask("POST", "/views", {"name": "By hand", "visibility": "shared"})
        self._ask("PATCH", f"/views/{VIEW}", {"query": {"sort": BY_HAND}})
        (order,) = self._world.catalog().manual_orders
        self._key = order.key

    def place(self) -> Run | None:
        """Place one to three rows beside another, or at an end; None where there is nothing to place."""
        world, random = self._world, self._random
        nums = sorted(one["num"] for one in world.documents.values())
        if len(nums) < 2 or sum(run.kind == "command" for run in world.runs) > 3:
            return None
        moved = random.sample(nums, min(len(nums) - 1, random.choice([1, 1, 2, 3])))
        # Often beside the same row: there the ranks grow.
        others = [num for num in nums if num not in moved]
        anchor = random.choice([others[0], others[0], others[0], random.choice(others), None])
        side = "after" if random.random() < 0.8 else "before"
        user = random.choice(_PEOPLE)
        world.totals["placements asked for"] += 1
        asked = {"nums": moved, side: anchor}
        containers = random.choice(self._containers)
        what = f"place {moved} {side} {anchor}"
        return ask(world, containers, what, user, "POST", f"/views/{VIEW}/order", asked)

    def watch(self, world: World, before: Mapping[str, Item]) -> None:
        """Look at a write of ranks: `before` has the documents as they were."""
        if world.home != self._world.home:
            return
        changed = [
            key for key, one in world.documents.items() if self._rank(one) != self._rank(before.get(key, one))
        ]
        if not changed:
            return
        by_itself = all(not world.documents[key][PLACED_BY] for key in changed)
        world.totals["rebalanced rows" if by_itself else "placed rows"] += len(changed)
        if not by_itself:
            return
        # The index may not have heard yet that an issue was restored: it comes back beside other rows.
        known = [key for key in before if key in world.documents and not self._was_deleted(key)]
        was = sorted(known, key=lambda key: self._place(before[key]))
        becomes = sorted(known, key=lambda key: self._place(world.documents[key]))
        if was != becomes:
            raise Difference(f"a rebalance makes the order {becomes} of {was}")

    def _was_deleted(self, key: str) -> bool:
        return any(one is None or "deleted_by" in one for one in self._world.images[key])

    def assert_right(self) -> None:
        """The grid has the true order, page by page."""
        world, body = self._world, {"sort": BY_HAND, "limit": 3}
        viewer = Actor(world.tenant, "eve", Role.VIEWER)
        found: list[int] = []
        cursor: Any = None
        for _ in range(_PAGES):
            asked = body if cursor is None else {**body, "cursor": cursor}
            answer = world.functions(world.engine, Catalogs()).request(
                viewer, "POST", f"{world.path}/grid", asked
            )
            if answer.status != 200:
                raise Difference(f"the grid answers {answer}")
            found += [row["num"] for row in answer.body["rows"]]
            cursor = answer.body["next"]
            if cursor is None:
                break
        if found != self.order():
            raise Difference(f"by the grid the order is {found}, and it is {self.order()}")
        world.totals["rows in order"] += len(found)

    def order(self) -> list[int]:
        """The issues in the true order."""
        documents = sorted(self._world.documents.values(), key=self._place)
        return [one["num"] for one in documents]

    def _place(self, document: Item) -> tuple[str, int]:
        return self._rank(document) or default_key(document["num"]), document["num"]

    def _rank(self, document: Item) -> str | None:
        rank: str | None = document["fields"].get(self._key)
        return rank

    def _ask(self, method: str, path: str, body: Any) -> None:
        world = self._world
        functions = world.functions(world.table, self._containers[0])
        answer = functions.request(world.admin, method, f"{world.path}{path}", body)
        if answer.status >= 300:
            raise Difference(f"{method} {path} answers {answer}")


class PlacedRows(NamedTuple):
    """All rows of the view, in the order of their places."""

    sorters: Sorters

    @property
    def name(self) -> str:
        """The end of the name of their total."""
        return "in order"

    @property
    def query(self) -> dict[str, str]:
        """The query parameters that ask for them."""
        return {"view": VIEW}

    def in_order(self, _: Iterable[Mapping[str, Any]]) -> list[int]:
        """The numbers of all issues, in the true order."""
        return self.sorters.order()


def placements_of(world: World) -> Item | None:
    """The placements of a project, as they are stored."""
    return world.engine.get(keys.placements(*world.home), keys.JOB, consistent=True)
