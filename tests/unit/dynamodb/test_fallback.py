"""The fallback of the direct client: an endpoint with bad answers before moto's DynamoDB, on both transports.

Nothing is lost or written twice after any answer of the endpoint, and botocore's help is reported.
"""

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from aws_lambda_powertools import Logger
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ClientError, ConnectionClosedError
from botocore.retries.standard import RetryQuotaChecker
from moto import mock_aws
from moto.core.botocore_stubber import MockRawResponse
from moto.core.models import botocore_stubber

from devtools.local.table import create_table_input
from gridview.api.config import ConfigurationError, stack_transport
from gridview.dynamodb import client as clients
from gridview.dynamodb import expressions
from gridview.dynamodb.answers import Damaged, retry_cost, whole
from gridview.dynamodb.client import Transport
from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.dynamodb.expressions import ABSENT, version_is
from gridview.dynamodb.signed_client import SignedClient
from gridview.dynamodb.table import Table
from gridview.support.connections import Broken
from gridview.support.errors import Overloaded
from gridview.support.signature import signed_headers

NAME = "gridview"
ID = {"x-amzn-requestid": "4Q"}
Answer = tuple[int, dict[str, str], bytes]
Real = Callable[[], Answer]
Fault = Callable[[Real, bool], Answer]
"""Answers a request. May carry it out; the flag says whether the direct client sent it."""


def says(*answer: Any) -> Fault:
    """Give always the same answer, and carry nothing out."""
    return lambda *_: answer


def refusal(status: int, code: str, **headers: str) -> Fault:
    body = json.dumps({"__type": f"com.amazon.coral.service#{code}", "message": "no"}).encode()
    return says(status, {**ID, **headers}, body)


def cut(real: Real, direct: bool) -> Answer:
    status, headers, body = real()
    return status, {"x-amzn-requestid": headers["x-amzn-requestid"]}, body[:-1]


def wrong_crc(real: Real, direct: bool) -> Answer:
    status, headers, body = real()
    return status, {**headers, "x-amz-crc32": "1"}, body


def html_after(real: Real, direct: bool) -> Answer:
    real()
    return 200, {}, b"<html>"


def no_id_after(real: Real, direct: bool) -> Answer:
    status, _, body = real()
    return status, {}, body


def list_after(real: Real, direct: bool) -> Answer:
    real()
    return 200, ID, b"[]"


def empty_after(real: Real, direct: bool) -> Answer:
    real()
    return 200, ID, b""


def failed_after(real: Real, direct: bool) -> Answer:
    real()
    return 500, ID, b'{"__type": "com.amazonaws.dynamodb.v20120810#InternalServerError"}'


def reset(real: Real, direct: bool) -> Answer:
    if direct:
        raise Broken("reset")
    raise ConnectionClosedError(endpoint_url="http://table")


def reset_after(real: Real, direct: bool) -> Answer:
    real()
    return reset(real, direct)


DAMAGE: dict[str, Fault] = {
    "html": says(200, {}, b"<html>"),
    "html of a proxy": says(403, {}, b"<html>"),
    "html after it": html_after,
    "truncated": cut,
    "wrong crc": wrong_crc,
    "no id": no_id_after,
    "a list": list_after,
    "empty": empty_after,
}
MISFORMED: dict[str, Fault] = {
    "signature": refusal(403, "InvalidSignatureException"),
    "no token": refusal(400, "MissingAuthenticationTokenException"),
    "serialization": refusal(400, "SerializationException"),
    "operation": refusal(400, "UnknownOperationException"),
}
BUSY: dict[str, Fault] = {
    "500": says(500, ID, b"{}"),
    "500 after it": failed_after,
    "503 of html": says(503, {}, b"<html>"),
    "408": says(408, {}, b""),
    "429": says(429, {}, b""),
    "throttled": refusal(400, "ThrottlingException"),
    "reset": reset,
    "reset after it": reset_after,
}
FAULTS = {**DAMAGE, **MISFORMED, **BUSY}


class Endpoint:
    """moto's DynamoDB with faults: one for each of the next requests, or for all of them."""

    def __init__(self) -> None:
        self.faults: Iterator[Fault | None] = iter(())
        self.only_direct = False
        self.carried_out = 0
        self.senders: list[str] = []
        self.requests: list[AWSPreparedRequest] = []

    def __call__(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        agent = request.headers["User-Agent"]
        agent = agent.decode() if isinstance(agent, bytes) else agent
        assert "Botocore/" in agent
        assert "gridview" in agent
        direct = agent.endswith(" md/transport#direct")
        self.senders.append("direct" if direct else "botocore")
        self.requests.append(request)

        def real() -> Answer:
            self.carried_out += 1
            answer = botocore_stubber.process_request(request)
            assert answer is not None
            status, headers, body = answer
            return status, dict(headers), body.encode() if isinstance(body, str) else body

        fault = None if self.only_direct and not direct else next(self.faults, None)
        status, headers, body = real() if fault is None else fault(real, direct)
        return AWSResponse(str(request.url), status, headers, MockRawResponse(body))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The recorded pauses between attempts, which take no time."""
    found: list[float] = []
    monkeypatch.setattr("gridview.support.clock.sleep", found.append)
    monkeypatch.setattr("gridview.dynamodb.table.time.sleep", found.append)
    monkeypatch.setattr("botocore.endpoint.time.sleep", found.append)
    return found


class World:
    """A table over an endpoint, and the reasons of all fall-backs."""

    def __init__(self, *, direct: bool = True) -> None:
        self.reasons: list[str] = []
        self.table = Table(NAME, transport=Transport(direct, self.reasons.append))
        self.endpoint = Endpoint()
        with suppress(ClientError):  # another world of the test has made it
            self.client.create_table(**create_table_input(NAME))
        self.connect()

    @property
    def client(self) -> Any:
        return self.table._client

    def connect(self) -> None:
        """Connect as a new container does."""
        self.table.connect()
        self.client.meta.events.register("before-send.dynamodb", self.endpoint)

    def meets(self, *faults: Fault, only_direct: bool = False) -> None:
        self.endpoint.faults = iter(faults)
        self.endpoint.only_direct = only_direct

    def meets_nothing_else_than(self, fault: Fault) -> None:
        self.endpoint.faults = itertools.repeat(fault)


@pytest.fixture
def world() -> Iterator[World]:
    with mock_aws():
        yield World()


@pytest.fixture(params=["direct", "botocore"])
def either(request: pytest.FixtureRequest) -> Iterator[World]:
    with mock_aws():
        yield World(direct=request.param == "direct")


def _bytes(request: AWSPreparedRequest) -> bytes:
    body: Any = request.body
    return bytes(body)


def item(version: int, **more: Any) -> dict[str, Any]:
    return {"PK": "a", "SK": "b", "version": version, **more}


def written(table: Table, wanted: dict[str, Any]) -> None:
    """Write as the core does: failed writes are repeated, and an equal stored item counts as a success."""
    condition = ABSENT if wanted["version"] == 1 else version_is(wanted["version"] - 1)
    for _ in range(9):
        try:
            table.put(wanted, condition)
        except Overloaded:
            continue
        except ConditionFailed as error:
            if not error.is_repeat_of(wanted):
                raise
        return
    raise AssertionError("never written")


# Nothing is lost, nothing is written twice


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_every_write_is_done_once_after_any_answer(either: World, fault: Fault) -> None:
    """Also after several bad answers in a row, and with a bad answer for each attempt."""
    table = either.table
    for version, bad in enumerate((1, 2, 1), start=1):
        either.meets(*[fault] * bad)
        try:
            written(table, item(version))
        except ClientError:
            # A request of an unknown form was not carried out.
            assert fault in MISFORMED.values()
            either.meets()
            written(table, item(version))
        assert table.get("a", "b", consistent=True) == item(version)


def test_every_write_is_done_once_after_any_two_answers(either: World) -> None:
    faults = (html_after, cut, wrong_crc, failed_after, reset, reset_after)
    for version, bad in enumerate(itertools.product(faults, faults), start=1):
        either.connect()
        either.meets(*bad)
        written(either.table, item(version))
        either.meets()
        assert either.table.get("a", "b", consistent=True) == item(version)


def test_binary_values_of_a_bulk_load_are_the_same_if_botocore_writes_the_rest(world: World) -> None:
    """The direct client's answer has what was not written with binary values as base64 text."""

    def unprocessed(real: Real, direct: bool) -> Answer:
        assert direct
        rest = json.dumps(
            {"UnprocessedItems": json.loads(_bytes(world.endpoint.requests[-1]))["RequestItems"]}
        )
        return 200, {**ID, "content-type": "application/x-amz-json-1.0"}, rest.encode()

    world.meets(unprocessed, html_after)
    items = [item(1, SK=f"{at}", packed=bytes([at, 255])) for at in range(3)]
    world.table.batch_put(items)
    assert world.endpoint.senders[-2:] == ["direct", "botocore"]
    assert [world.table.get("a", f"{at}", consistent=True) for at in range(3)] == items


@pytest.mark.parametrize("fault", DAMAGE.values(), ids=DAMAGE.keys())
def test_an_answer_that_never_comes_whole_is_no_answer(either: World, fault: Fault) -> None:
    """botocore would take most of these for an empty answer without the item, or for a successful write."""
    table = either.table
    table.put(item(1))
    either.meets_nothing_else_than(fault)
    calls: list[Callable[[], Any]] = [
        lambda: table.get("a", "b"),
        lambda: table.query("a"),
        lambda: table.put(item(2), version_is(1)),
        lambda: table.transact([expressions.put(item(2), version_is(1))]),
    ]
    for call in calls:
        with pytest.raises(Overloaded):
            call()


@pytest.mark.parametrize("fault", [html_after, cut, wrong_crc, reset_after], ids=lambda one: one.__name__)
def test_a_damaged_answer_to_a_write_is_a_lost_one(either: World, fault: Fault) -> None:
    """The write was made; its repetition meets the very item that it was to write."""
    either.meets(fault)
    with pytest.raises((ConditionFailed, Overloaded)) as failed:
        either.table.put(item(1), ABSENT)
    if isinstance(failed.value, ConditionFailed):
        assert failed.value.is_repeat_of(item(1))
    else:
        assert either.endpoint.senders == ["botocore"]
    assert either.table.get("a", "b", consistent=True) == item(1)


def test_a_damaged_answer_to_a_transaction_is_known_by_its_token(world: World) -> None:
    world.meets(wrong_crc)
    # moto does not know tokens; DynamoDB takes the second for the first.
    with pytest.raises(TransactionFailed):
        world.table.transact([expressions.put(item(1), ABSENT)])
    bodies = [json.loads(_bytes(request)) for request in world.endpoint.requests]
    assert len({body["ClientRequestToken"] for body in bodies}) == 1
    assert world.endpoint.senders == ["direct", "botocore"]


# When botocore takes over


@pytest.mark.parametrize("fault", {**DAMAGE, **MISFORMED}.values(), ids={**DAMAGE, **MISFORMED}.keys())
def test_botocore_repeats_unclear_requests_and_stays_if_it_succeeds(world: World, fault: Fault) -> None:
    world.meets(fault)
    assert world.table.get("a", "b") is None
    assert world.endpoint.senders == ["direct", "botocore"]
    world.table.put(item(1))
    assert world.endpoint.senders[2:] == ["botocore"]
    assert len(world.reasons) == 2
    assert len(set(world.reasons)) == 1
    world.connect()
    world.table.put(item(1))
    assert world.endpoint.senders[3:] == ["direct"]


@pytest.mark.parametrize("fault", BUSY.values(), ids=BUSY.keys())
def test_a_busy_table_is_not_asked_by_botocore(world: World, fault: Fault) -> None:
    world.meets(fault, fault)
    world.table.get("a", "b")
    assert world.endpoint.senders == ["direct"] * 3
    assert not world.reasons


def test_the_direct_client_stays_if_botocore_fails_too(world: World) -> None:
    for fault in (MISFORMED["signature"], DAMAGE["html"]):
        world.meets(fault, fault)
        with pytest.raises((ClientError, Overloaded)):
            world.table.get("a", "b")
        world.table.get("a", "b")
    assert world.endpoint.senders == ["direct", "botocore", "direct"] * 2
    assert len(world.reasons) == 2


def test_a_condition_that_fails_is_an_answer_to_botocore(world: World) -> None:
    world.table.put(item(1))
    world.meets(wrong_crc)
    with pytest.raises(ConditionFailed):
        world.table.put(item(1), ABSENT)
    world.table.get("a", "b")
    assert world.endpoint.senders == ["direct", "direct", "botocore", "botocore"]


def test_a_refusal_that_is_understood_is_no_reason_to_fall_back(world: World) -> None:
    world.meets(refusal(400, "AccessDeniedException"))
    with pytest.raises(ClientError):
        world.table.get("a", "b")
    assert (world.endpoint.senders, world.reasons) == (["direct"], [])


def test_by_the_setting_all_calls_are_botocores() -> None:
    with mock_aws():
        world = World(direct=False)
        world.table.put(item(1))
        assert world.table.get("a", "b") == item(1)
    assert (world.endpoint.senders, world.reasons) == (["botocore"] * 2, [])


def test_botocore_is_the_client_if_its_signatures_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    reasons: list[str] = []
    assert isinstance(clients.connect("", Transport(True, reasons.append)), SignedClient)
    assert not reasons

    def differently(*given: Any) -> dict[str, str]:
        return {**signed_headers(*given), "Authorization": "another"}

    def not_at_all(*_: Any) -> None:
        raise TypeError("botocore has changed")

    monkeypatch.setattr("gridview.support.signed_requests.signed_headers", differently)
    assert not isinstance(clients.connect("", Transport(True, reasons.append)), SignedClient)
    monkeypatch.setattr("gridview.support.signed_requests.signed_headers", signed_headers)
    monkeypatch.setattr(SigV4Auth, "add_auth", not_at_all)
    assert not isinstance(clients.connect("", Transport(True, reasons.append)), SignedClient)
    assert reasons == ["botocore signs differently"] * 2


# Attempts


@pytest.mark.parametrize(
    ("fault", "most"), [("throttled", 300), ("429", 300), ("500", 235), ("reset", 235)], ids=str
)
def test_a_table_that_fails_for_long_is_asked_ever_less(world: World, fault: str, most: int) -> None:
    """200 calls make as many requests as botocore's own quota allows, and not 1,000."""
    world.meets_nothing_else_than(FAULTS[fault])
    for _ in range(200):
        with pytest.raises(Overloaded):
            world.table.get("a", "b")
    assert len(world.endpoint.senders) == most
    other = World(direct=False)
    other.meets_nothing_else_than(FAULTS[fault])
    for _ in range(200):
        with pytest.raises(Overloaded):
            other.table.get("a", "b")
    assert len(other.endpoint.senders) == most


def test_a_success_returns_the_retry_quota_of_its_attempts(world: World) -> None:
    quota = world.client._quota
    world.meets(FAULTS["500"], FAULTS["500"])
    world.table.get("a", "b")
    assert quota.available_capacity == 500 - 14
    world.table.get("a", "b")
    assert quota.available_capacity == 500 - 13
    world.meets(FAULTS["throttled"])
    world.table.get("a", "b")
    assert quota.available_capacity == 500 - 13


def test_the_cost_of_an_attempt_is_botocores() -> None:
    theirs: Any = RetryQuotaChecker
    failures = [retry_cost(status, "") for status in (0, 500)]
    assert failures == [theirs._RETRY_COST] * 2
    throttles = [retry_cost(429, ""), retry_cost(400, "ThrottlingException")]
    assert throttles == [theirs._THROTTLING_RETRY_COST] * 2


# The clock


NOW = 1_700_000_000.0
SERVERS = "Tue, 14 Nov 2023 23:13:20 GMT"
"""An hour later."""
SOON = "Tue, 14 Nov 2023 22:16:20 GMT"
"""Three minutes later."""


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gridview.support.clock.seconds", lambda: NOW)


@pytest.mark.usefixtures("still")
def test_a_clock_that_is_wrong_is_corrected_by_the_services(world: World) -> None:
    world.meets(refusal(400, "InvalidSignatureException", date=SERVERS))
    world.table.get("a", "b")
    world.table.get("a", "b")
    assert world.endpoint.senders == ["direct"] * 3
    dates = [request.headers["X-Amz-Date"] for request in world.endpoint.requests]
    assert dates == ["20231114T221320Z", "20231114T231320Z", "20231114T231320Z"]
    assert not world.reasons
    # A second refusal by the same clock is one of the signature.
    world.meets(refusal(400, "InvalidSignatureException", date=SERVERS))
    world.table.get("a", "b")
    assert world.endpoint.senders[3:] == ["direct", "botocore"]


@pytest.mark.usefixtures("still")
@pytest.mark.parametrize("date", [SOON, "soon", ""])
def test_a_correct_clock_is_not_adjusted(world: World, date: str) -> None:
    world.meets(refusal(403, "InvalidSignatureException", date=date))
    world.table.get("a", "b")
    assert world.endpoint.senders == ["direct", "botocore"]


# The report


def test_whole_and_damaged_answers() -> None:
    assert whole(ID, b"{}") == {}
    assert whole({**ID, "x-amz-crc32": "2745614147"}, b"{}") == {}
    for headers, body in (({}, b"{}"), ({**ID, "x-amz-crc32": "x"}, b"{}"), (ID, b""), (ID, b"7")):
        with pytest.raises(Damaged):
            whole(headers, body)


def test_a_fall_back_is_counted_and_its_reason_logged_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "gridview")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "query")
    monkeypatch.setenv("STACK_NAME", "Gridview-dev")
    transport = stack_transport(Logger(service="test_fallback"))
    assert transport.direct
    for reason in ("one", "one", "two"):
        transport.on_fallback(reason)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["reason"] for line in lines if "reason" in line] == ["one", "two"]
    counted = [line for line in lines if "_aws" in line]
    assert [line["TransportFallback"] for line in counted] == [[1.0]] * 3
    (metric,) = counted[0]["_aws"]["CloudWatchMetrics"]
    assert metric["Namespace"] == "gridview"
    assert metric["Dimensions"] == [["service", "stack"]]
    assert (counted[0]["service"], counted[0]["stack"]) == ("table", "Gridview-dev")


def test_the_transport_is_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    logger: Any = SimpleNamespace()
    monkeypatch.setenv("TRANSPORT", "botocore")
    assert not stack_transport(logger).direct
    monkeypatch.setenv("TRANSPORT", "boto3")
    with pytest.raises(ConfigurationError, match="TRANSPORT"):
        stack_transport(logger)
