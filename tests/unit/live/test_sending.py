"""One attempt at a receiver: the address of the connection, and the limits of a bad receiver's effect on the sender."""

import socket
import ssl
import time
from collections.abc import Sequence

import pytest

from gridview.live.outbox import Reply
from gridview.live.sending import Sender, addresses_of
from tests.support.receivers import (
    HOST,
    PUBLIC,
    Behaviour,
    Receiver,
    answers,
    drips,
    hangs,
    hangs_up,
    pours,
    says,
    trusting,
)

URL = f"https://{HOST}/hook?a=b"
BODY = b'{"type":"update"}'


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


def sender(receiver: Receiver, *addresses: str, seconds: float = 5.0, localhost: bool = False) -> Sender:
    return Sender(
        resolve=lambda *_: addresses or (PUBLIC,),
        connect=receiver.connect,
        context=trusting,
        seconds=seconds,
        localhost=localhost,
    )


def test_a_message_is_posted_with_its_headers(receiver: Receiver) -> None:
    receiver.otherwise = answers(202, b"thanks")
    assert sender(receiver).post(URL, {"webhook-id": "w_1_2"}, BODY) == Reply(202, "thanks")
    (message,) = receiver.received
    assert (message.resource, message.body) == ("/hook?a=b", BODY)
    assert (
        message.headers.items()
        >= {
            "host": HOST,
            "content-type": "application/json",
            "content-length": str(len(BODY)),
            "webhook-id": "w_1_2",
        }.items()
    )


def test_the_connection_is_made_to_the_address_that_was_judged_and_tls_names_the_host(
    receiver: Receiver,
) -> None:
    assert sender(receiver, "1.1.1.1").post(URL, {}, BODY).succeeded
    assert receiver.asked == [("1.1.1.1", 443)]
    assert receiver.named == [HOST]


def test_a_name_that_changes_its_meaning_between_judging_and_connecting_leads_nowhere(
    receiver: Receiver,
) -> None:
    meanings = [[PUBLIC], ["127.0.0.1"], ["169.254.169.254"], [PUBLIC, "10.0.0.1"]]
    looked_up: list[Sequence[str]] = []

    def resolve(host: str, port: int) -> Sequence[str]:
        looked_up.append(meanings[len(looked_up)])
        return looked_up[-1]

    rebound = Sender(resolve=resolve, connect=receiver.connect, context=trusting)
    assert rebound.post(URL, {}, BODY).succeeded
    assert len(looked_up) == 1
    for why in ("loopback", "cloud metadata", "private"):
        reply = rebound.post(URL, {}, BODY)
        assert reply == Reply(problem=f"Nothing was sent: the host has a forbidden address ({why}).")
    assert receiver.asked == [(PUBLIC, 443)]
    assert len(receiver.received) == 1


@pytest.mark.parametrize("url", ["http://hooks.example.org/", "https://10.0.0.1/", "http://127.0.0.1:8000/"])
def test_a_url_that_is_not_taken_any_more_is_not_sent_to(receiver: Receiver, url: str) -> None:
    reply = sender(receiver).post(url, {}, BODY)
    assert reply.problem.startswith("Nothing was sent: the URL must ")
    assert receiver.asked == []


def test_localhost_can_be_allowed_and_needs_no_lookup() -> None:
    receiver = Receiver(secure=False)
    allowed = sender(receiver, PUBLIC, localhost=True)
    assert allowed.post("http://localhost:8000/x", {}, BODY).succeeded
    assert receiver.asked == [("127.0.0.1", 8000)]
    # Not by a name that belongs to another.
    reply = sender(receiver, "127.0.0.1", localhost=True).post(URL, {}, BODY)
    assert "loopback" in reply.problem


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(receiver: Receiver, status: int) -> None:
    receiver.otherwise = answers(status, b"elsewhere", Location="https://hooks.example.org/other")
    reply = sender(receiver).post(URL, {}, BODY)
    assert reply == Reply(status, "elsewhere", f"The receiver answered {status}; redirects are not followed.")
    assert len(receiver.received) == len(receiver.asked) == 1


@pytest.mark.parametrize("status", [400, 404, 410, 429, 500, 503])
def test_a_status_but_of_success_is_a_failure(receiver: Receiver, status: int) -> None:
    receiver.otherwise = answers(status, b"no")
    assert sender(receiver).post(URL, {}, BODY) == Reply(status, "no", f"The receiver answered {status}.")


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("120", 120), ("0", 0), ("-1", 0), ("soon", 0), ("9" * 9, 86_400), ("9" * 5_000, 0)],
)
def test_retry_after_of_a_receiver_is_read_in_seconds(
    receiver: Receiver, header: str, seconds: float
) -> None:
    receiver.otherwise = answers(503, b"", Retry_After=header)
    assert sender(receiver).post(URL, {}, BODY).asked == seconds


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        (hangs, "did not answer in time"),
        (drips(b""), "not HTTP"),
        (drips(b"HTTP/1.1 200 OK\r\nX: "), "did not answer in time"),
        (hangs_up, "connection failed"),
        (says(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), "not HTTP"),
        (says(b"\x00" * 100 + b"\r\n\r\n"), "not HTTP"),
        (says(b"HTTP/1.1 200 OK\r\n"), "connection failed"),
        (pours(b"HTTP/1.1 200 OK\r\nX: "), "not HTTP"),
        (pours(b""), "not HTTP"),
    ],
)
def test_a_receiver_that_misbehaves_is_a_failure_and_no_error(
    receiver: Receiver, behaviour: Behaviour, problem: str
) -> None:
    receiver.otherwise = behaviour
    reply = sender(receiver, seconds=0.5).post(URL, {}, BODY)
    assert (reply.code, reply.succeeded) == (None, False)
    assert problem in reply.problem or "in time" in reply.problem


def test_headers_are_read_up_to_a_limit(receiver: Receiver) -> None:
    receiver.otherwise = says(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000)
    assert sender(receiver).post(URL, {}, BODY).problem == "The receiver's answer is not HTTP."


@pytest.mark.parametrize(
    "beginning",
    [
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40000000\r\n",
    ],
)
def test_only_the_beginning_of_a_huge_answer_is_read(receiver: Receiver, beginning: bytes) -> None:
    receiver.otherwise = pours(beginning)
    reply = sender(receiver).post(URL, {}, BODY)
    assert (reply.code, reply.succeeded) == (200, True)
    assert set(reply.answer) <= {"x"}
    assert len(reply.answer) <= 256


def test_an_answer_without_its_body_has_its_status(receiver: Receiver) -> None:
    def half(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        hangs(connection)

    receiver.otherwise = half
    assert sender(receiver).post(URL, {}, BODY) == Reply(200, "")


def test_an_interim_answer_is_none(receiver: Receiver) -> None:
    receiver.otherwise = says(b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 500 No\r\n\r\nbroken")
    assert sender(receiver).post(URL, {}, BODY).code == 500


def test_an_answer_is_kept_as_text_whatever_it_contains(receiver: Receiver) -> None:
    receiver.otherwise = answers(200, b"\xff\xfe ok \x00")
    assert sender(receiver).post(URL, {}, BODY).answer == "\ufffd\ufffd ok \x00"


def test_a_certificate_of_another_host_or_an_unknown_authority_is_refused(receiver: Receiver) -> None:
    other = sender(receiver).post("https://other.example.org/", {}, BODY)
    assert "certificate is not valid" in other.problem
    strict = Sender(resolve=lambda *_: [PUBLIC], connect=receiver.connect, context=ssl.create_default_context)
    assert "certificate is not valid" in strict.post(URL, {}, BODY).problem
    assert receiver.received == []


def test_an_unknown_host_is_a_failure() -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    def bad(host: str, port: int) -> list[str]:
        raise UnicodeError("label too long")

    for resolve in (unknown, bad):
        reply = Sender(resolve=resolve).post(URL, {}, BODY)
        assert reply == Reply(problem="Nothing was sent: the host's name cannot be looked up.")
    assert Sender(resolve=lambda *_: []).post(URL, {}, BODY).problem == (
        "Nothing was sent: the host has no address."
    )


def test_a_look_up_that_hangs_is_given_up(receiver: Receiver) -> None:
    def slow(host: str, port: int) -> list[str]:
        time.sleep(0.6)
        return [PUBLIC]

    hung = Sender(resolve=slow, connect=receiver.connect, seconds=0.2)
    assert hung.post(URL, {}, BODY).problem == (
        "Nothing was sent: the host's name could not be looked up in time."
    )
    assert receiver.asked == []


def test_another_address_of_the_host_is_tried_where_one_does_not_answer(receiver: Receiver) -> None:
    tried: list[str] = []

    def connect(address: str, port: int, seconds: float) -> socket.socket:
        tried.append(address)
        if address != "1.1.1.3":
            raise ConnectionRefusedError(111, "Connection refused")
        return receiver.connect(address, port, seconds)

    def at(*addresses: str) -> Reply:
        return Sender(resolve=lambda *_: addresses, connect=connect, context=trusting).post(URL, {}, BODY)

    assert at("1.1.1.1", "1.1.1.2", "1.1.1.3").succeeded
    assert at("1.1.1.1").problem == "The connection failed: connection refused."
    tried.clear()
    assert not at("1.1.1.1", "1.1.1.2", "1.1.1.4", "1.1.1.3").succeeded
    assert len(tried) == 3


def test_addresses_are_looked_up_with_those_of_ipv4_first(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("2606:4700::1", 443, 0, 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (PUBLIC, 443)),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    assert addresses_of(HOST, 443) == [PUBLIC, "2606:4700::1"]
