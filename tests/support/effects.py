"""The effects of the routes on the worked example: one request, which is the route's event file, and its changes.

The worked example is loaded by the API once a process for each kind of table. The stream's consumer and the fold
process it. Each test begins with a copy of that.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import Any, Final

from devtools.paths import ROOT
from devtools.proof.faults.memory_table import MemoryTable
from gridview.dynamodb.expressions import Item, Key
from gridview.encoding import keys
from gridview.support import clock
from gridview.view.beats import Heart
from gridview.view.freshness import Notes
from tests.support import worked_example
from tests.support.checked import differences_in
from tests.support.cloud import Cloud, running_on_moto, running_with_whole_stream
from tests.support.http import Answer, Client, invoke

TENANT: Final = "0807"
PROJECT: Final = "35e9"
CALLER: Final = "c1f3a0c2-7b1e-4d52-9a55-3f0a6a2d1e90"
"""The user who makes the requests of the event files."""

RUNNING: Final[Mapping[str, Callable[[], AbstractContextManager[Cloud[Any]]]]] = {
    "memory": running_with_whole_stream,
    "moto": running_on_moto,
}
"""The account, by the kind of its table."""

_loaded: dict[str, Any] = {}
"""A copy of the worked example, by the kind of the table."""


def event(operation: str) -> dict[str, Any]:
    """The event file of a route, with a token that has not expired."""
    found: dict[str, Any] = json.loads((ROOT / "events" / f"{operation}.json").read_text("utf-8"))
    if authorizer := found["requestContext"].get("authorizer"):
        authorizer["jwt"]["claims"]["exp"] = str(int(clock.seconds()) + 3_600)
    return found


class Example:
    """The worked example in an account, and the request that a test is about."""

    def __init__(self, account: Cloud[Any], operation: str) -> None:
        self.account = account
        self.operation = operation
        self.asked = 0
        """The number of requests so far."""
        self.changed: Mapping[Key, Item | None] = {}
        """The items that the request has changed, in their new state; None for a removed one."""

    # The request

    def read(self) -> Answer:
        """The answer to the route's request, which succeeds and changes no item."""
        answer = self.write(200)
        assert self.changed == {}
        return answer

    def write(self, status: int) -> Answer:
        """The answer to the route's request, which has this status; `changed` has its changes of the table."""
        before = self.items
        answer = self._request(self.operation)
        assert answer.status == status, answer.text
        after = self.items
        self.asked += 1
        self.changed = {key: after.get(key) for key in {*before, *after} if before.get(key) != after.get(key)}
        return answer

    def before(self, operation: str) -> Answer:
        """The answer to the request of another route, which succeeds."""
        assert operation != self.operation
        answer = self._request(operation)
        assert answer.status < 300, answer.text
        return answer

    def _request(self, operation: str) -> Answer:
        return invoke(self.account.handlers, event(operation))

    # Consequences

    def follow(self) -> None:
        """The stream reaches the functions that read it."""
        self.account.deliver_stream()

    def settle(self) -> None:
        """The stream reaches the functions that read it, and all jobs are done."""
        self.follow()
        self.account.upkeep()
        self.follow()

    def check(self) -> None:
        """Check that `./dev fsck` would find nothing. The check uses a copy in memory, which is fast."""
        self.follow()
        copy = MemoryTable()
        copy.batch_put(self.items.values())
        assert differences_in(copy) == []

    # Other users

    @cached_property
    def api(self) -> Client:
        """An admin of tenant 0807: ann, the author of the worked example."""
        return self.account.api()

    @cached_property
    def caller(self) -> Client:
        """The user who makes the request, as an editor."""
        return self.account.api(user=CALLER, role="editor")

    @cached_property
    def news(self) -> Client:
        """An admin of the other tenant."""
        return self.account.api(tenant=worked_example.NEWS_TENANT)

    def get(self, path: str = "", **query: str) -> Any:
        """The body of the answer to a GET of a path below the project's."""
        answer = self.api.get(worked_example.PATH + path, query=query)
        assert answer.status == 200, answer.text
        return answer.body

    def gone(self, path: str = "") -> bool:
        """Whether a path below the project's answers 404."""
        return self.api.get(worked_example.PATH + path).kind == (404, "not-found")

    def rows(self, *sort: str, **query: Any) -> list[int]:
        """The numbers of the issues in the grid, in the order of these fields: `3812`, `-3812`."""
        order = [
            {"field": one.removeprefix("-"), "direction": "desc" if one.startswith("-") else "asc"}
            for one in sort
        ]
        answer = self.api.post(f"{worked_example.PATH}/grid", {"sort": order, **query})
        assert answer.status == 200, answer.text
        return [row["num"] for row in answer.body["rows"]]

    # The table

    @property
    def items(self) -> Mapping[Key, Item]:
        """All items of the table."""
        found: Mapping[Key, Item] = self.account.table.items
        return found

    def item(self, key: Key) -> Item:
        """An existing item."""
        return self.items[key]

    def partition(self, partition: str) -> dict[str, Item]:
        """The items of a partition by their sort keys."""
        return {sk: item for (pk, sk), item in self.items.items() if pk == partition}


def issue(num: int) -> Key:
    """The key of the document of an issue of the worked example's project."""
    return keys.issue(TENANT, PROJECT, num), keys.project(TENANT, PROJECT)


def in_project(sort_key: str) -> Key:
    """A key in the partition of the worked example's project."""
    return keys.project(TENANT, PROJECT), sort_key


@contextmanager
def example_of(account: Cloud[Any], kind: str, operation: str) -> Iterator[Example]:
    """The worked example for the test of a route, which makes the route's request once. Checks that a write leaves a
    sound table.
    """
    account.reset()
    # The former containers would not yet put the next heartbeat or note.
    account.modules["upkeep"].heart = Heart()  # type: ignore[attr-defined]
    account.modules["maintain"].notes = Notes()  # type: ignore[attr-defined]
    if kind in _loaded:
        account.table.restore(_loaded[kind])
    else:
        worked_example.load(account.api())
        worked_example.load_news(account.api(tenant=worked_example.NEWS_TENANT))
        account.deliver_stream()
        account.fold()
        _loaded[kind] = account.table.copy()
        account.reset()
        account.table.restore(_loaded[kind])
    example = Example(account, operation)
    yield example
    assert example.asked == 1, f"the test makes the request of {operation} once"
    if example.changed:
        example.check()
