"""Each call is signed for its tenant, by a session that is started once and renewed before its end."""

import threading
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError, ConnectTimeoutError
from moto import mock_aws

from gridview.dynamodb import sessions
from gridview.dynamodb.client import CONCURRENCY, connect
from gridview.dynamodb.expressions import Span
from gridview.dynamodb.sessions import acting_for
from gridview.dynamodb.side_by_side import side_by_side
from gridview.dynamodb.table import Table
from gridview.support import aws, concurrency
from gridview.support.errors import Overloaded

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

ROLE = "arn:aws:iam::123456789012:role/session"
RENEWED = 300
"""Seconds before its end from which on a session is renewed."""


class Sts:
    """STS: gives every session a token that names its tenant and its number, or refuses."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.lasts = 900
        self.refusal: Exception | None = None

    def assume_role(self, **request: Any) -> dict[str, Any]:
        self.asked.append(request)
        if self.refusal is not None:
            raise self.refusal
        tenant = request["Tags"][0]["Value"]
        return {
            "Credentials": {
                "AccessKeyId": tenant,
                "SecretAccessKey": "secret",
                "SessionToken": f"{tenant} {self.begun[tenant]}",
                "Expiration": datetime.now(UTC) + timedelta(seconds=self.lasts),
            }
        }

    @property
    def begun(self) -> Counter[str]:
        """Sessions by tenant."""
        return Counter(request["Tags"][0]["Value"] for request in self.asked)


class Body:
    """The stream from which an answer is read."""

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield b'{"Items": [], "ScannedCount": 0, "Responses": {}}'


class Engine:
    """DynamoDB: records the token by which each request is signed, and finds nothing."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.meeting: threading.Barrier | None = None

    def see(self, client: "DynamoDBClient") -> None:
        """Intercept the requests of this client."""
        answer: Any = self._answer
        client.meta.events.register("before-send.dynamodb", answer)

    def _answer(self, request: Any, **_: Any) -> AWSResponse:
        self.tokens.append(_text(request.headers["X-Amz-Security-Token"]))
        assert f"Credential={self.tokens[-1].split()[0]}/" in _text(request.headers["Authorization"])
        if self.meeting is not None:
            self.meeting.wait()
        return AWSResponse(request.url, 200, {"x-amzn-requestid": "4Q"}, Body())  # type: ignore[arg-type]


def _text(header: str | bytes) -> str:
    return header.decode() if isinstance(header, bytes) else header


@pytest.fixture
def sts(monkeypatch: pytest.MonkeyPatch) -> Sts:
    made, client = Sts(), aws.client
    monkeypatch.setattr(
        aws, "client", lambda service, *given: made if service == "sts" else client(service, *given)
    )
    return made


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def table(sts: Sts, engine: Engine) -> Table:
    client = connect(ROLE)
    engine.see(client)
    return Table("gridview", client, session_role=ROLE)


def test_a_session_is_of_one_tenant_and_as_short_as_can_be(table: Table, sts: Sts, engine: Engine) -> None:
    with acting_for("0807"):
        table.get("a", "b")
    assert sts.asked == [
        {
            "RoleArn": ROLE,
            "RoleSessionName": "0807",
            "DurationSeconds": 900,
            "Tags": [{"Key": "tenant", "Value": "0807"}],
        }
    ]
    assert engine.tokens == ["0807 1"]


def test_a_container_begins_one_session_for_a_tenant(table: Table, sts: Sts, engine: Engine) -> None:
    for tenant in ("0807", "0042", "0807", "0042"):
        with acting_for(tenant):
            table.get("a", "b")
    assert sts.begun == {"0807": 1, "0042": 1}
    assert engine.tokens == ["0807 1", "0042 1", "0807 1", "0042 1"]


def test_a_call_without_a_tenant_is_not_made(table: Table, sts: Sts, engine: Engine) -> None:
    with acting_for("0807"):
        table.get("a", "b")
    with pytest.raises(LookupError):
        table.get("a", "b")
    with acting_for("0807"), acting_for(None), pytest.raises(LookupError):
        table.get("a", "b")
    assert engine.tokens == ["0807 1"]
    assert sts.begun == {"0807": 1}


def test_without_a_role_nothing_is_assumed(sts: Sts, engine: Engine) -> None:
    client = connect()
    engine.see(client)
    with acting_for("0807"):
        Table("gridview", client).get("a", "b")
    assert engine.tokens == ["testing"]
    assert not sts.asked


def test_parallel_calls_all_use_the_tenant_of_the_caller(table: Table, sts: Sts, engine: Engine) -> None:
    spans = [Span(f"x{place}") for place in range(4)]
    with acting_for("0807"):
        table.read_together([("a", "b")], spans)
        side_by_side(table, lambda: table.get("a", "b"), lambda beside: beside.get("a", "c"))
        concurrency.in_threads(lambda sk: table.get("a", sk), ["d", "e", "f"])
    assert engine.tokens == ["0807 1"] * 10
    assert sts.begun == {"0807": 1}


def test_two_tenants_at_the_same_time_are_never_taken_for_each_other(
    table: Table, sts: Sts, engine: Engine
) -> None:
    """Each waits for the other in the middle of each call, so every call of one is between two of the other."""
    tenants = ("0807", "0042")
    spans = [Span(f"x{place}") for place in range(CONCURRENCY // 2)]
    engine.meeting = threading.Barrier(CONCURRENCY, timeout=20)
    seen: dict[str, list[str]] = {}

    def ask(tenant: str) -> None:
        with acting_for(tenant):
            own = table.metered()
            own.read_together([], spans)
            seen[tenant] = [sessions.tenant()]

    threads = [threading.Thread(target=ask, args=(tenant,)) for tenant in tenants]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {tenant: [tenant] for tenant in tenants}
    assert Counter(engine.tokens) == {f"{tenant} 1": len(spans) for tenant in tenants}
    assert sts.begun == {"0807": 1, "0042": 1}


def test_a_session_is_renewed_before_its_end(table: Table, sts: Sts, engine: Engine) -> None:
    sts.lasts = RENEWED - 1  # each of these is renewed as soon as it is used
    with acting_for("0807"):
        table.get("a", "b")
        sts.lasts = RENEWED + 60
        table.get("a", "b")
        table.get("a", "b")
    assert engine.tokens == ["0807 2", "0807 3", "0807 3"]


def test_a_session_that_cannot_be_renewed_serves_on_until_shortly_before_its_end(
    table: Table, sts: Sts, engine: Engine
) -> None:
    sts.lasts = RENEWED - 1
    with acting_for("0807"):
        table.get("a", "b")
    sts.refusal = refused("Throttling")
    with acting_for("0807"):
        table.get("a", "b")
    assert engine.tokens == ["0807 2", "0807 2"]
    assert len(sts.asked) == 3


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": ""}}, "AssumeRole")


@pytest.mark.parametrize(
    "refusal", [refused("Throttling"), refused("AccessDenied"), ConnectTimeoutError(endpoint_url="sts")]
)
@pytest.mark.parametrize("lasts", [None, 59])
def test_a_call_without_a_session_is_overloaded(
    table: Table, sts: Sts, engine: Engine, refusal: Exception, lasts: int | None
) -> None:
    """At the tenant's first call, and when the session is over."""
    if lasts is not None:
        sts.lasts = lasts
        with acting_for("0807"):
            table.get("a", "b")
    made = len(engine.tokens)
    sts.refusal = refusal
    with acting_for("0807"), pytest.raises(Overloaded, match="try again"):
        table.put({"PK": "a", "SK": "b"})
    assert len(engine.tokens) == made
    sts.refusal, sts.lasts = None, 900
    with acting_for("0807"):
        table.get("a", "b")
    assert len(engine.tokens) == made + 1


def test_a_container_keeps_the_sessions_of_the_latest_tenants(
    table: Table, sts: Sts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_TENANTS", 2)
    for tenant in ("one", "two", "one", "three", "one", "two"):
        with acting_for(tenant):
            table.get("a", "b")
    assert sts.begun == {"one": 1, "two": 2, "three": 1}


def test_new_connections_know_no_session(table: Table, sts: Sts, engine: Engine) -> None:
    with acting_for("0807"):
        table.get("a", "b")
        table.connect()
        engine.see(table.metered()._client)
        table.get("a", "b")
    assert engine.tokens == ["0807 1", "0807 2"]


def test_sts_takes_what_it_is_asked() -> None:
    with mock_aws():
        given = sessions.SessionCredentials(ROLE)
        with acting_for("0807"):
            frozen = given.get_frozen_credentials()
    assert frozen.token not in (None, "testing")
