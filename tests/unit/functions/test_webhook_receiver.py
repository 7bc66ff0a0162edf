"""The receiver of docs/webhooks.md, exactly as in the page, receives real messages."""

import io
import re
from email.message import Message as Headers
from types import SimpleNamespace
from typing import Any

import pytest

from gridview.live.outbox import Reply
from gridview.live.signatures import new_secret, signed_headers
from gridview.support import clock
from infra.paths import ROOT

BODY = b'{"type":"update"}'


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """The definitions in the program of the page."""
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/webhooks.md").read_text("utf-8"), re.DOTALL)
    lines = [line for line in program.splitlines() if line.strip()]
    assert len(lines) <= 25
    names: dict[str, Any] = {"__name__": "a receiver"}
    exec(program, names)  # noqa: S102  our own page
    return names


def answer(page: dict[str, Any], headers: dict[str, str], body: bytes = BODY) -> int:
    """The status that the receiver answers to a message."""
    sent = Headers()
    for name, value in {**headers, "content-length": str(len(body))}.items():
        sent[name] = value
    answered: list[int] = []
    request = SimpleNamespace(
        headers=sent, rfile=io.BytesIO(body), send_response=answered.append, end_headers=lambda: None
    )
    page["Receiver"].do_POST(request)
    (status,) = answered
    return status


@pytest.fixture
def secret(page: dict[str, Any]) -> str:
    page["SECRET"] = new_secret()
    found: str = page["SECRET"]
    return found


def test_a_genuine_message_is_accepted(page: dict[str, Any], secret: str) -> None:
    now = int(clock.seconds())
    assert answer(page, signed_headers([secret], "w_1_2", now, BODY)) == 204
    assert answer(page, signed_headers([new_secret(), secret], "w_1_2", now, BODY)) == 204
    assert Reply(204).succeeded


def test_forged_changed_and_delayed_messages_are_refused(page: dict[str, Any], secret: str) -> None:
    now = int(clock.seconds())
    good = signed_headers([secret], "w_1_2", now, BODY)
    assert answer(page, signed_headers([new_secret()], "w_1_2", now, BODY)) == 401
    assert answer(page, good, BODY + b" ") == 401
    assert answer(page, {**good, "webhook-id": "w_1_3"}) == 401
    assert answer(page, {**good, "webhook-timestamp": str(now + 1)}) == 401
    for then in (now - 400, now + 400):
        assert answer(page, signed_headers([secret], "w_1_2", then, BODY)) == 401
