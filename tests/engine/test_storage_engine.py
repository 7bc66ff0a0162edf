"""The conformance suite of the storage module over DynamoDB Local, call by call, by both transports. The table in
memory passes the same suite.
"""

import http.client
import inspect
import secrets
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from devtools.local import engine as engines
from devtools.local.engine import Engine
from devtools.local.table import create_table_input
from gridview.dynamodb.metering import Meter
from gridview.dynamodb.signed_client import refuse_damaged
from gridview.dynamodb.table import Table
from tests.unit.dynamodb import test_scan, test_table

CONFORMANCE: dict[str, Callable[..., Any]] = {
    name: test
    for module in (test_table, test_scan)
    for name, test in vars(module).items()
    if name.startswith("test_") and {"table", "exact"} & {*inspect.signature(test).parameters}
}
"""All tests that use a table."""

globals().update(CONFORMANCE)


@pytest.mark.parametrize(
    ("name", "answers"), [("localhost", True), ("host.docker.internal", True), ("evil.example", False)]
)
def test_a_name_of_the_web_leads_to_no_engine(engine: Engine, name: str, answers: bool) -> None:
    """A page whose name means 127.0.0.1 (DNS rebinding) would read all tables."""
    at = urlsplit(engine.endpoint)
    client = http.client.HTTPConnection(at.hostname or "", at.port)
    client.request("GET", "/", headers={"Host": f"{name}:{at.port}"})
    assert (client.getresponse().status != 404) == answers
    client.close()


@pytest.fixture(params=["direct", "botocore"])
def table(request: pytest.FixtureRequest, engine: Engine) -> Iterator[Table]:
    """An empty table, without a stream: a second one slows the engine down."""
    name = f"conformance-{secrets.token_hex(8)}"
    client = engine.client()
    refuse_damaged(client)
    if request.param == "direct":
        client = engines.signed(client)
    asked = create_table_input(name)
    del asked["StreamSpecification"]
    client.create_table(**asked)
    yield Table(name, client, Meter())
    client.delete_table(TableName=name)


@pytest.fixture
def exact(table: Table) -> Table:
    """The same table."""
    return table


def test_the_suite_is_all_there() -> None:
    assert len(CONFORMANCE) > 20
