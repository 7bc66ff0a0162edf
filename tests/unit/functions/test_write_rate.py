"""A tenant's rate of writes: two containers share the count, which is in the table."""

import json
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from botocore.exceptions import ClientError

from devtools.proof.faults.watched import Attempted, Watched
from gridview.api.routes import Route
from gridview.commands import undo
from gridview.commands.write_rate import WriteRate
from gridview.dynamodb.metering import Meter
from gridview.encoding import keys
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import Overloaded
from infra.routes import ROUTES
from tests.support import recorded_changes, user_jobs, webhooks
from tests.support.cloud import Cloud
from tests.support.functions import freshly_imported
from tests.support.http import Answer, Client, claims

ISSUES = "/v1/projects/plain/issues"
START = 1_700_000_000.0
"""The beginning of a window."""

WEBHOOK = "w3k9q2m7x1c0z"
WRITES = [route for route in ROUTES if route.writes]
BODIES: dict[str, Any] = {
    "create_project": {"name": "Other"},
    "update_project": {"name": "Renamed"},
    "create_attribute": {"name": "Late", "type": "text"},
    "update_attribute": {"name": "Renamed"},
    "create_index": {"sort": [{"field": "state"}, {"field": "name"}]},
    "update_matching": {"filter": None, "set": {"name": "New"}},
    "delete_matching": {"filter": None},
    "undo": {"change": recorded_changes.CHANGE},
    "export": {"format": "csv"},
    "create_comment": {"text": "New"},
    "update_comment": {"text": "Other"},
    "create_view": {"name": "New"},
    "update_view": {"name": "Renamed"},
    "place_rows": {"nums": [1], "after": None},
    "create_webhook": {"url": "https://hooks.example.org"},
    "update_webhook": {"enabled": False},
    "create_issue": {"name": "New"},
    "update_issue": {"name": "Edited"},
    "restore_issue": {},
    "restore_attribute": {},
    "restore_project": {},
    "batch": {"operations": [{"create": {"name": "New"}}]},
}


class Time:
    """The clock of the functions, which does not move by itself."""

    def __init__(self) -> None:
        self.now = START


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    made = Time()
    monkeypatch.setattr(clock, "seconds", lambda: made.now)
    return made


@pytest.fixture(scope="module")
def modules() -> dict[str, ModuleType]:
    """The functions of another container."""
    return freshly_imported()


class Containers:
    """Two containers over one table with a project, an attribute, an index and an issue."""

    def __init__(self, account: Cloud, modules: dict[str, ModuleType]) -> None:
        self.table = account.table
        self._modules: list[Any] = [account.modules["command"], modules["command"]]
        self._handlers = [
            {**account.handlers, "command": account.modules["command"].handler},
            {**account.handlers, "command": modules["command"].handler},
        ]
        modules["command"].__dict__.update(table=self.table.metered(), catalogs=Catalogs())
        self.uncounted: list[int] = []

    def limit(self, per_second: int) -> None:
        for module in self._modules:
            module.rate = WriteRate(per_second, lambda: self.uncounted.append(1))

    def see(self, around: Callable[[Attempted, Callable[[], Any]], Any]) -> None:
        for module in self._modules:
            module.table = Watched(self.table, around)

    def metered_after(self, act: Callable[[], object]) -> Meter:
        """The meter of all calls that the first container makes in `act`."""
        act()
        self._modules[0].table = self.table.metered()
        meter: Meter = self._modules[0].table.meter
        return meter

    def client(self, container: int = 0, tenant: str = "0807") -> Client:
        return Client(self._handlers[container], claims(tenant))

    def create(self, container: int = 0, tenant: str = "0807", **headers: str) -> Answer:
        path = ISSUES if tenant == "0807" else "/v1/projects"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client(container, tenant).call("POST", path, {"name": "New"}, headers=named)

    def batch(self, size: int, **headers: str) -> Answer:
        body = {"operations": [{"create": {"name": "New"}}] * size}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client().call("POST", f"{ISSUES}/batch", body, headers=named)

    @property
    def counted(self) -> int:
        """The writes that the table has counted in all windows."""
        return sum(
            item["writes"] for (pk, _), item in self.table.items.items() if pk.startswith(keys.RATE_PREFIX)
        )

    @property
    def documents(self) -> dict[Any, Any]:
        """The items of the table without the counts."""
        return {
            key: item for key, item in self.table.items.items() if not key[0].startswith(keys.RATE_PREFIX)
        }


@pytest.fixture
def both(
    account: Cloud,
    modules: dict[str, ModuleType],
    time: Time,
    project: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Containers]:
    api = account.api()
    api.made(f"{project}/attributes", {"id": "due", "name": "Due", "type": "date"})
    api.made(f"{project}/attributes", {"id": "gone", "name": "Gone", "type": "date"})
    assert api.delete(f"{project}/attributes/gone").status == 204
    api.made("/v1/projects", {"id": "gone", "name": "Gone"})
    assert api.delete("/v1/projects/gone").status == 204
    api.made(f"{project}/indexes", {"sort": [{"field": "name"}, {"field": "state"}]})
    api.made(f"{project}/issues", {"name": "First"})
    api.made(f"{project}/issues", {"name": "In the trash"})
    assert api.delete(f"{project}/issues/2").status == 204
    api.made(f"{project}/views", {"name": "First", "visibility": "shared"})
    api.patch(f"{project}/views/v1", {"query": {"sort": [{"manual": "v1"}]}})
    account.upkeep()
    account.follow()  # the history of a message
    account.table.put(webhooks.stored(WEBHOOK, project="plain"))
    account.table.put(webhooks.delivered(WEBHOOK, project="plain"))
    account.table.put(user_jobs.stored(project="plain"))
    api.made(f"{project}/issues/1/comments", {"text": "First"})
    recorded_changes.put(account.table, project="plain")
    # The clock of the functions shows another time.
    monkeypatch.setattr(undo, "require_settled", lambda *_: None)
    module: Any = account.modules["command"]
    before = dict(vars(module))
    yield Containers(account, modules)
    vars(module).update(before)


def path_of(route: Route) -> str:
    parts = {
        "project": "plain",
        "attribute": "due",
        "index": "c1",
        "num": "1",
        "view": "v1",
        "webhook": WEBHOOK,
        "delivery": webhooks.DELIVERY,
        "comment": "1",
        "job": user_jobs.JOB,
    }
    deleted = {"num": "2"} if "/trash/" in route.path else {}
    deleted |= {"attribute": "gone"} if "/deleted-attributes/" in route.path else {}
    deleted |= {"project": "gone"} if "/deleted-projects/" in route.path else {}
    return route.path.format(**parts | deleted)


def test_containers_share_the_limit_and_a_window_lasts_for_ten_seconds(both: Containers, time: Time) -> None:
    both.limit(1)
    time.now += 3.5
    assert [both.create(at % 2).status for at in range(10)] == [201] * 10
    before = both.documents
    refused = both.create(1)
    assert refused.kind == (429, "too-many-writes")
    assert refused.headers["retry-after"] == "7"
    assert both.documents == before
    time.now += 6.4
    assert both.create(0).headers["retry-after"] == "1"
    time.now += 0.1
    assert both.create(0).status == 201


def test_another_tenant_has_its_own_count(both: Containers) -> None:
    both.limit(1)
    assert [both.create().status for _ in range(11)] == [201] * 10 + [429]
    assert both.create(tenant="3cc8").status == 201


def test_a_count_goes_by_itself(both: Containers, time: Time) -> None:
    both.limit(1)
    both.create()
    (item,) = (item for (pk, _), item in both.table.items.items() if pk == keys.rate("0807"))
    assert item.keys() == {keys.PK, keys.SK, "writes", keys.TTL_ATTRIBUTE}
    assert abs(item[keys.TTL_ATTRIBUTE] - clock.expiry(1 / 24)) < 60


def test_without_the_setting_nothing_is_counted(both: Containers) -> None:
    calls: list[Attempted] = []

    def around(call: Attempted, do: Callable[[], Any]) -> Any:
        calls.append(call)
        return do()

    both.see(around)
    for route in WRITES:
        both.client().call(route.method, path_of(route), BODIES.get(route.operation))
    assert len(calls) > len(WRITES)
    assert not any(call.key[0].startswith(keys.RATE_PREFIX) for call in calls)


@pytest.mark.parametrize("route", WRITES, ids=lambda route: route.operation)
def test_every_write_is_counted_before_it_writes(both: Containers, route: Route) -> None:
    both.limit(1)

    def ask() -> Answer:
        return both.client().call(route.method, path_of(route), BODIES.get(route.operation))

    both.batch(10)
    before = both.documents
    assert ask().kind == (429, "too-many-writes")
    assert both.documents == before
    both.limit(1000)
    assert ask().status < 300
    assert both.counted == 11


def test_no_read_is_counted(both: Containers) -> None:
    both.limit(1)
    both.batch(10)
    for route in ROUTES:
        if route.function == "query" and route.method == "GET":
            assert both.client().call("GET", path_of(route)).status in (200, 400)
    assert both.client().call("POST", "/v1/projects/plain/grid", {}).status == 200
    assert both.counted == 10


def test_a_batch_counts_its_operations(both: Containers) -> None:
    both.limit(1)
    assert both.batch(9).status == 200
    assert both.batch(2).status == 429
    assert both.create().status == 201
    assert both.create().status == 429
    assert both.counted == 10


def test_a_batch_that_is_larger_than_the_limit_is_the_first_of_a_window(both: Containers, time: Time) -> None:
    both.limit(1)
    both.create()
    assert both.batch(11).status == 429
    time.now += 10
    assert both.batch(11).status == 200
    assert both.create().status == 429


@pytest.mark.parametrize("write", [Containers.create, lambda both, **key: both.batch(4, **key)])
def test_an_answer_that_is_given_again_is_not_counted(both: Containers, write: Any) -> None:
    both.limit(1)
    first = write(both, idempotency_key="k")
    counted = both.counted
    both.batch(10 - counted)
    assert write(both, idempotency_key="k").text == first.text
    assert both.counted == 10
    before = both.documents
    assert write(both, idempotency_key="other").status == 429
    assert both.documents == before


@pytest.mark.parametrize(
    ("method", "path", "body", "calls"),
    [
        (
            "PATCH",
            f"{ISSUES}/1",
            {"name": "Edited"},
            [(1, "get_item"), (1, "get_item"), (1, "update_item"), (2, "put_item")],
        ),
        (
            "POST",
            f"{ISSUES}/batch",
            {"operations": [{"update": {"num": 1, "name": "Edited"}}]},
            [(1, "get_item"), (1, "update_item"), (2, "get_item"), (3, "put_item")],
        ),
        (
            "POST",
            ISSUES,
            {"name": "New"},
            [(1, "update_item"), (2, "get_item"), (2, "update_item"), (3, "put_item")],
        ),
    ],
)
def test_edits_and_batches_are_counted_beside_what_they_read_first(
    both: Containers, method: str, path: str, body: Any, calls: list[tuple[int, str]]
) -> None:
    both.limit(1)
    meter = both.metered_after(both.create)
    assert both.client().call(method, path, body).status < 300
    assert sorted((call.round, call.operation) for call in meter.calls) == calls


def test_a_container_that_was_refused_asks_no_more_in_that_window(both: Containers, time: Time) -> None:
    both.limit(1)
    both.batch(10)
    asked: list[str] = []

    def around(call: Attempted, do: Callable[[], Any]) -> Any:
        asked.append(call.key[0])
        return do()

    both.see(around)
    assert [both.create().status for _ in range(3)] == [429] * 3
    assert asked.count(keys.rate("0807")) == 1
    time.now += 10
    assert both.create().status == 201


@pytest.mark.parametrize(
    "failure", [Overloaded("busy"), ClientError({"Error": {"Code": "AccessDeniedException"}}, "UpdateItem")]
)
def test_a_write_that_cannot_be_counted_is_admitted_and_reported(
    both: Containers, failure: Exception
) -> None:
    both.limit(1)

    def around(call: Attempted, do: Callable[[], Any]) -> Any:
        if call.key[0] == keys.rate("0807"):
            raise failure
        return do()

    both.see(around)
    assert [both.create().status for _ in range(12)] == [201] * 12
    assert len(both.uncounted) == 12


def test_the_metric_of_a_write_that_was_not_counted(
    account: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    module: Any = account.modules["command"]
    module._uncounted()
    account.api().call("PATCH", "/v1/projects/plain", {})
    (line,) = (one for one in capsys.readouterr().out.splitlines() if '"_aws"' in one)
    assert json.loads(line)["UncountedWrites"] == [1.0]
