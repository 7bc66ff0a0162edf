"""How late a change is pushed: a local stack, a socket that follows a project, and edits one after the other.

The clock runs from the answer to a write to the message that reports it. In between are the stream, the consumer, its
commit, the stream again, and the socket function. All parts of the cloud are there, on this machine's processors.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

import httpx
from rich.console import Console
from websockets.sync.client import ClientConnection, connect

from devtools import page_tools
from devtools.bench import output
from devtools.failure import Failure
from devtools.local import tokens

EDITS: Final = 60
_PAUSE: Final = 0.2
"""Seconds between two edits: a person does not wait for the stream."""
_PATIENCE: Final = 60.0
_PROJECT: Final = "push"


def _call(api: httpx.Client, method: str, path: str, body: Any = None) -> Any:
    """Make a call. Failure if it is refused."""
    answer = api.request(method, path, json=body)
    if answer.is_error:
        raise Failure(f"{method} {path} answered {answer.status_code}: {answer.text}")
    return answer.json()


def run(args: argparse.Namespace) -> int:
    """Measure; 0 when every edit was pushed."""
    Console(stderr=True).print("Starting a stack ...")
    with tempfile.TemporaryDirectory() as made:
        data = Path(made) / "data"
        with page_tools.empty_stack(data) as running:
            token = tokens.issue(tokens.key_in(data), tenant="bench", role="admin")
            headers = {"Authorization": f"Bearer {token}"}
            with httpx.Client(base_url=running.api, headers=headers, timeout=_PATIENCE) as api:
                seconds = _measured(api, args.repeat or EDITS)
    print(report(seconds))
    if args.json is not None:
        output.write_json(args.json, figures(seconds))
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
    latency = figures(seconds)
    return (
        f"Push latency of {latency['edits']} edits, from the answer to the message on a socket:\n"
        f"  median {latency['median_ms']} ms, 95th percentile {latency['p95_ms']} ms, "
        f"maximum {latency['most_ms']} ms"
    )


def _measured(api: httpx.Client, edits: int) -> list[float]:
    project = f"/v1/projects/{_PROJECT}"
    _call(api, "POST", "/v1/projects", {"name": "Push", "id": _PROJECT})
    num = _call(api, "POST", f"{project}/issues", {"name": "warm"})["num"]
    ticket = _call(api, "POST", f"{project}/tickets")
    with connect(f"{ticket['url']}?ticket={ticket['ticket']}", open_timeout=_PATIENCE) as socket:
        socket.send(json.dumps({"do": "subscribe", "id": "bench"}))
        socket.recv(timeout=_PATIENCE)
        seconds = []
        for edit in range(edits + 1):
            version = _call(api, "PATCH", f"{project}/issues/{num}", {"name": f"edit {edit}"})["version"]
            answered = time.monotonic()
            _wait_for_push(socket, f"{num}.{version}")
            seconds.append(time.monotonic() - answered)
            time.sleep(_PAUSE)
    return seconds[1:]  # the first one starts the functions


def _wait_for_push(socket: ClientConnection, event: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        frame = json.loads(socket.recv(timeout=_PATIENCE))
        if any(item.get("id") == event for item in frame.get("items", ())):
            return
    raise Failure(f"{event} did not arrive within {_PATIENCE:.0f} s.")
