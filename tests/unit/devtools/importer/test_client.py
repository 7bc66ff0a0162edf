"""Requests that survive faults of a network and a server."""

import time
from collections.abc import Callable, Iterator
from email.utils import formatdate

import httpx
import pytest

from devtools.failure import Failure
from devtools.importer.client import PATIENCE, Api, RefusedError, retry_after

Answer = httpx.Response | httpx.TransportError


class Server:
    """Gives the answers in order, and records the requests."""

    def __init__(self, *answers: Answer) -> None:
        self.requests: list[httpx.Request] = []
        self._answers: Iterator[Answer] = iter(answers)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = next(self._answers)
        if isinstance(answer, httpx.TransportError):
            raise answer
        return answer


class Time:
    """A clock that moves only by sleeping."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def api(
    server: Callable[[httpx.Request], httpx.Response], clock: Time, token: Callable[[], str] = lambda: "t"
) -> Api:
    return Api(
        "http://api/",
        token,
        transport=httpx.MockTransport(server),
        sleep=clock.sleep,
        clock=lambda: clock.now,
    )


def ok(content: object = None) -> httpx.Response:
    return httpx.Response(200, json=content or {})


def problem(status: int, detail: str = "no", **headers: str) -> httpx.Response:
    return httpx.Response(
        status, json={"detail": detail}, headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


@pytest.mark.parametrize(
    "trouble",
    [
        problem(429),
        problem(500),
        problem(503),
        httpx.Response(502, text="<html>"),
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("cut off"),
    ],
)
def test_a_temporary_error_is_retried_with_the_same_key_and_body(trouble: Answer) -> None:
    server, clock = Server(trouble, trouble, ok({"x": 1})), Time()
    assert api(server, clock).post("/v1/p", b"{}", key="k1") == {"x": 1}
    assert [request.headers["Idempotency-Key"] for request in server.requests] == ["k1"] * 3
    assert {request.content for request in server.requests} == {b"{}"}
    assert len(clock.slept) == 2


def test_a_post_without_a_key_gets_its_own() -> None:
    server, clock = Server(problem(503), ok(), ok()), Time()
    client = api(server, clock)
    for _ in range(2):
        client.post("/v1/p", b"{}")
    first, again, second = (request.headers["Idempotency-Key"] for request in server.requests)
    assert first == again
    assert second != first


def test_waits_are_random_grow_and_are_bounded() -> None:
    server, clock = Server(*[problem(503)] * 14, ok()), Time()
    api(server, clock).post("/", b"{}")
    ceilings = [min(15.0, 0.25 * 2**attempt) for attempt in range(14)]
    assert all(0 <= slept <= ceiling for slept, ceiling in zip(clock.slept, ceilings, strict=True))
    assert len(set(clock.slept)) > 7


def test_retry_after_is_honoured() -> None:
    server, clock = Server(problem(429, Retry_After="7"), ok()), Time()
    api(server, clock).get("/")
    assert clock.slept[0] >= 7


@pytest.mark.parametrize(
    ("header", "seconds"), [("3", 3.0), (" 0 ", 0.0), (None, 0.0), ("soon", 0.0), ("-1", 0.0)]
)
def test_retry_after_forms(header: str | None, seconds: float) -> None:
    assert retry_after(header) == seconds


def test_retry_after_as_a_date() -> None:
    assert 50 < retry_after(formatdate(time.time() + 60, usegmt=True)) <= 60
    assert retry_after(formatdate(0, usegmt=True)) == 0


def test_patience_ends() -> None:
    server, clock = Server(*[problem(503)] * 1000), Time()
    with pytest.raises(Failure, match="keeps answering 503; run the same command again"):
        api(server, clock).get("/")
    assert PATIENCE / 2 < clock.now <= PATIENCE


def test_a_retry_after_beyond_patience_is_not_waited_for() -> None:
    server, clock = Server(problem(429, Retry_After="86400")), Time()
    with pytest.raises(Failure, match="429"):
        api(server, clock).get("/")
    assert not clock.slept


@pytest.mark.parametrize("status", [400, 403, 409, 412, 413, 422, 501])
def test_a_refusal_is_final_and_carries_the_problem(status: int) -> None:
    server, clock = Server(problem(status, "because")), Time()
    with pytest.raises(RefusedError, match="because") as refused:
        api(server, clock).post("/", b"{}")
    assert refused.value.status == status
    assert not clock.slept


def test_a_missing_resource_is_none() -> None:
    assert api(Server(problem(404)), Time()).get("/v1/projects/x") is None


def test_an_expired_token_is_renewed_once() -> None:
    tokens = iter(["old", "new"])
    server = Server(problem(401), ok({"x": 1}))
    assert api(server, Time(), lambda: next(tokens)).get("/") == {"x": 1}
    assert [request.headers["Authorization"] for request in server.requests] == ["Bearer old", "Bearer new"]


def test_a_token_that_is_not_accepted_ends_it() -> None:
    with pytest.raises(Failure, match="does not accept the token"):
        api(Server(problem(401)), Time()).get("/")


@pytest.mark.parametrize("answer", [httpx.Response(200, text="hello"), httpx.Response(404, text="<html>")])
def test_something_else_than_the_api_is_noticed(answer: httpx.Response) -> None:
    with pytest.raises(Failure, match="not a gridview API"):
        api(Server(answer), Time()).get("/")


def test_cancelling_ends_the_waiting() -> None:
    sender = Api(
        "http://api", lambda: "t", transport=httpx.MockTransport(Server(problem(503, Retry_After="100")))
    )
    sender.cancel()
    with pytest.raises(Failure, match="stopped"):
        sender.get("/")
