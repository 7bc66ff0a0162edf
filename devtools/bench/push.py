"""How late a change is pushed: a local stack, a socket that follows a project, and edits one after the other.

The clock runs from the answer to a write to the message that tells it. What lies between is the stream, the consumer, its commit,
the stream again, and the socket function: everything that there is in the cloud, on this machine's processors.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from http.client import HTTPConnection
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final
from urllib.parse import urlsplit

from rich.console import Console
from websockets.sync.client import ClientConnection, connect

from devtools import files, page_tools
from devtools.failure import Failure
from devtools.local import tokens

EDITS: Final = 60
_PAUSE: Final = 0.2
"""Seconds between two edits: a person does not wait for the stream."""
_PATIENCE: Final = 60.0
_PROJECT: Final = "push"


class _Caller:
    """The API of a stack, as one user."""

    def __init__(self, api: str, data: Path) -> None:
        self._host = urlsplit(api).netloc
        token = tokens.issue(tokens.key_in(data), tenant="bench", role="admin")
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Make a call. Failure if it is refused."""
        connection = HTTPConnection(self._host, timeout=_PATIENCE)
        connection.request(method, path, None if body is None else json.dumps(body), self._headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if answer.status >= 300:
            raise Failure(f"{method} {path} answered {answer.status}: {content.decode()}")
        return json.loads(content) if content else None


def run(args: argparse.Namespace) -> int:
    """Measure; 0 when every edit was told."""
    Console(stderr=True).print("Starting a stack ...")
    with tempfile.TemporaryDirectory() as made:
        data = Path(made) / "data"
        with page_tools.empty_stack(data) as running:
            seconds = _measured(_Caller(running.api, data), args.repeat or EDITS)
    print(report(seconds))
    if args.json is not None:
        files.write_json(args.json, figures(seconds))
    return 0


def figures(seconds: Sequence[float]) -> dict[str, float | int]:
    """The push latency in milliseconds."""
    return {
        "edits": len(seconds),
        "median_ms": round(1_000 * median(seconds)),
        "p95_ms": round(1_000 * quantiles(seconds, n=20)[-1]),
        "most_ms": round(1_000 * max(seconds)),
    }


def report(seconds: Sequence[float]) -> str:
    """The same in words."""
    told = figures(seconds)
    return (
        f"Push latency, from the answer to a write to the message on a socket, of {told['edits']} edits:\n"
        f"  median {told['median_ms']} ms, 95 of 100 within {told['p95_ms']} ms, at most {told['most_ms']} ms"
    )


def _measured(caller: _Caller, edits: int) -> list[float]:
    project = f"/v1/projects/{_PROJECT}"
    caller.call("POST", "/v1/projects", {"name": "Push", "id": _PROJECT})
    num = caller.call("POST", f"{project}/issues", {"name": "warm"})["num"]
    ticket = caller.call("POST", f"{project}/tickets")
    with connect(f"{ticket['url']}?ticket={ticket['ticket']}") as socket:
        socket.send(json.dumps({"do": "subscribe", "id": "bench"}))
        socket.recv(timeout=_PATIENCE)
        seconds = []
        for edit in range(edits + 1):
            version = caller.call("PATCH", f"{project}/issues/{num}", {"name": f"edit {edit}"})["version"]
            answered = time.monotonic()
            _until_told(socket, f"{num}.{version}")
            seconds.append(time.monotonic() - answered)
            time.sleep(_PAUSE)
    return seconds[1:]  # the first one starts the functions


def _until_told(socket: ClientConnection, event: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        frame = json.loads(socket.recv(timeout=_PATIENCE))
        if any(item.get("id") == event for item in frame.get("items", ())):
            return
    raise Failure(f"{event} was not told within {_PATIENCE:.0f} s.")
