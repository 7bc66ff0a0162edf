"""The wire to clients: the answers of the management API, and their meaning for a connection."""

import io

import pytest
from botocore.awsrequest import AWSResponse, HeadersDict

from gridview.live.management_client import ManagementClient
from gridview.live.wire import ApiGatewayWire, Gone, Slow
from gridview.support import clock


class Answers:
    """Answers each request of a client with a status, instead of the network."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.asked: list[tuple[str, str, bytes | None]] = []

    def __call__(self, request: object, **_: object) -> AWSResponse:
        self.asked.append((request.method, request.url, request.body))  # type: ignore[attr-defined]
        status = self.statuses.pop(0)
        headers = {"x-amzn-ErrorType": "GoneException"} if status == 410 else {}
        return AWSResponse("", status, HeadersDict(headers), _Raw(b"{}"))  # type: ignore[arg-type]


class _Raw(io.BytesIO):
    def stream(self, **_: object) -> list[bytes]:
        return [self.read()]


def wire_to(monkeypatch: pytest.MonkeyPatch, answers: Answers) -> ApiGatewayWire:
    monkeypatch.setenv("AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI", "https://sockets.invalid/live")
    monkeypatch.setattr("time.sleep", lambda _: None)
    wire = ApiGatewayWire()
    wire._client.meta.events.register("before-send", answers)
    return wire


def test_a_message_goes_to_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Answers(200)
    wire_to(monkeypatch, answers).post("abc=", b'{"bye":"idle"}')
    ((method, url, body),) = answers.asked
    assert (method, url) == ("POST", "https://sockets.invalid/live/@connections/abc%3D")
    assert body == b'{"bye":"idle"}'


@pytest.mark.parametrize("status", [410, 400])
def test_a_closed_connection_is_gone(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    answers = Answers(status)
    with pytest.raises(Gone):
        wire_to(monkeypatch, answers).post("abc=", b"{}")
    assert len(answers.asked) == 1


def test_pauses_between_attempts_grow_and_are_drawn_from_their_upper_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept: list[float] = []
    drawn: list[tuple[float, float]] = []

    def uniform(low: float, high: float) -> float:
        drawn.append((low, high))
        return high

    wire = wire_to(monkeypatch, Answers(503, 503, 200))
    monkeypatch.setattr("random.uniform", uniform)
    monkeypatch.setattr(clock, "sleep", slept.append)
    wire.post("abc=", b"{}")
    assert drawn == [(0.5, 1.0)] * 2
    assert slept[1] == 2 * slept[0] > 0


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_client_that_accepts_nothing_in_three_attempts_is_slow(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    answers = Answers(*[status] * 3)
    with pytest.raises(Slow):
        wire_to(monkeypatch, answers).post("abc=", b"{}")
    assert len(answers.asked) == 3


def test_a_message_that_is_taken_at_the_second_attempt_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    wire_to(monkeypatch, Answers(429, 200)).post("abc=", b"{}")


@pytest.mark.parametrize("status", [204, 410, 403])
def test_a_connection_is_closed_or_was_closed(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    answers = Answers(status)
    wire_to(monkeypatch, answers).end("abc=")
    assert answers.asked[0][0] == "DELETE"


def test_after_a_proxy_the_client_is_botocores(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI", "https://sockets.invalid/live")
    assert isinstance(ApiGatewayWire()._client, ManagementClient)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    assert not isinstance(ApiGatewayWire()._client, ManagementClient)
