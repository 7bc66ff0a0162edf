"""Forgetting a person on DynamoDB Local: its scans, conditions and transactions."""

import time
from collections.abc import Iterator

import pytest

from devtools.local import engine as engines
from devtools.local import table as tables
from devtools.operate.forgetting.person import NoFiles, forget_person
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.maintenance.job_worker import Worker
from gridview.schema.ids import FORMER_USER
from gridview.schema.store import Catalogs
from tests.engine.local import Stack, stack
from tests.support.checked import differences_in
from tests.support.passing import Passing
from tests.unit.devtools.operate.test_forget import held

ANN = "7f3a-ann.person"
TABLE = "forgotten"
BRIDGE = "/v1/projects/bridge"


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """A table of its own: the others contain items that are in no list of places."""
    monkeypatch.setattr("gridview.chains.blocks.POPULAR", 3)
    monkeypatch.setattr("gridview.chains.blocks.UNPOPULAR", 1)
    with engines.running(in_memory=True) as engine:
        tables.ensure(engine.client(), TABLE)
        with stack(engine, TABLE, "0807") as made:
            yield made


def test_a_forgotten_user_appears_nowhere(running: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    passing = Passing(monkeypatch)
    table = Table(TABLE, engines.signed(running.engine.client()))
    ann = running.api.acting(user=ANN)

    def wait(seconds: float) -> None:
        running.deliver()
        end = time.monotonic() + 60.0
        Worker(table, Catalogs(), lambda: end - time.monotonic(), lambda _: None, settling=0).work()
        running.deliver()
        passing.over += seconds

    assert ann.get("/v1/me").status == 200
    ann.made("/v1/projects", {"name": "Bridge", "id": "bridge"})
    ann.made(f"{BRIDGE}/attributes", {"id": "who", "name": "Who", "type": "user"})
    ann.made(f"{BRIDGE}/indexes", {"sort": [{"field": "state"}, {"field": "who"}]})
    some = [
        {"create": {"name": f"Pier {at}", "fields": {"who": ANN if at % 2 else f"u{at}"}}} for at in range(12)
    ]
    assert ann.batch("bridge", *some, key="b").status == 200
    ann.made(f"{BRIDGE}/issues/1/comments", {"text": "Rust", "mentions": [ANN]})
    ann.delete(f"{BRIDGE}/issues/2")
    running.api.patch(f"{BRIDGE}/issues/4", {"fields": {"who": None}})
    wait(0)
    left = forget_person(table, "0807", ANN, wait=wait, files=NoFiles(), settling=0, tokens=0, most=12)
    assert not left.any, left
    wait(0)
    found = list(table.scan().items)
    assert len(found) > 50
    assert [item for item in found if ANN in held(item).casefold()] == []
    assert differences_in(table) == []
    only = {"field": "who", "op": "eq", "value": FORMER_USER}
    rows = running.api.post(f"{BRIDGE}/grid", {"filter": only}).body["rows"]
    assert [row["num"] for row in rows] == [6, 8, 10, 12]
    assert keys.PK in found[0]
