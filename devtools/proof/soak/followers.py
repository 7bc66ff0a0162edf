"""The followers of a soak: copies of a project that are made of nothing but its changes."""

import contextlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import urlencode

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from devtools.failure import Failure
from devtools.proof.soak.client import Client

_WAIT: Final = 10
_PAUSE: Final = 1.0
_PATIENCE: Final = 20.0


class Copied(NamedTuple):
    """An issue as its changes say: its version and the values that it has."""

    version: int
    values: Mapping[str, Any]


class Follower(Protocol):
    """A way to follow a project."""

    name: str
    faults: list[str]

    def run(self, stop: threading.Event) -> None:
        """Follow until the end."""


@dataclass(slots=True)
class Copy:
    """A project as its changes say. An event that does not continue what is known is a fault."""

    issues: dict[int, Copied] = field(default_factory=dict)
    versions: dict[int, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    events: int = 0

    def take(self, event: Mapping[str, Any]) -> None:
        """Take in the next change."""
        kind = event["kind"]
        if kind == "reset":
            self.faults.append("a reset came, though no definition changed")
            return
        self.events += 1
        num, version = event["num"], event["version"]
        if version != (expected := self.versions.get(num, 0) + 1):
            self.faults.append(f"version {version} of issue {num} came where {expected} is next")
        self.versions[num] = version
        if kind == "delete":
            self.issues.pop(num, None)
            return
        known = self.issues[num].values if num in self.issues else {}
        if (num in self.issues) != (kind == "update"):
            self.faults.append(f"{kind} of issue {num}, which is {'' if num in self.issues else 'not '}there")
        changed = {}
        for name, (old, new) in _both(event["fields"]).items():
            if known.get(name) != old:
                self.faults.append(
                    f"{name} of issue {num} was {old!r} before version {version}, and {known.get(name)!r} here"
                )
            changed[name] = new
        values = {name: value for name, value in {**known, **changed}.items() if value is not None}
        self.issues[num] = Copied(version, values)


class Poller:
    """Follows all changes by long polls."""

    name = "polls"

    def __init__(self, client: Client, project: str) -> None:
        self.copy = Copy()
        self.faults = self.copy.faults
        self._client = client
        self._path = f"/v1/projects/{project}/changes"
        self._cursor = client.require("GET", self._path)["next"]

    def run(self, stop: threading.Event) -> None:
        """Follow until the end."""
        while not stop.is_set():
            answer = self._client.require("GET", f"{self._path}?since={self._cursor}&wait={_WAIT}")
            self._cursor = answer["next"]
            for event in answer["items"]:
                self.copy.take(event)


class Listener:
    """Follows all changes by a socket, which is opened again whenever it breaks."""

    name = "socket"

    def __init__(self, client: Client, project: str) -> None:
        self.copy = Copy()
        self.faults = self.copy.faults
        self.sockets = 0
        self._client = client
        self._path = f"/v1/projects/{project}"
        self._cursor = client.require("GET", f"{self._path}/changes")["next"]

    def run(self, stop: threading.Event) -> None:
        """Follow until the end."""
        while not stop.is_set():
            try:
                self._follow(stop)
            except (OSError, WebSocketException):
                stop.wait(_PAUSE)

    def _follow(self, stop: threading.Event) -> None:
        bought = self._client.require("POST", f"{self._path}/tickets")
        with connect(f"{bought['url']}?ticket={bought['ticket']}", open_timeout=_PATIENCE) as socket:
            self.sockets += 1
            socket.send(json.dumps({"do": "subscribe", "id": "all", "since": self._cursor}))
            while not stop.is_set():
                with contextlib.suppress(TimeoutError):
                    message = json.loads(socket.recv(timeout=_PAUSE), parse_float=Decimal)
                    if "items" not in message or message["since"] != self._cursor:
                        return
                    self._cursor = message["next"]
                    for event in message["items"]:
                        self.copy.take(event)


class RowFollower:
    """Follows the rows of a filter in an order, by long polls: the keys of the rows, as changes say."""

    name = "rows"

    def __init__(self, client: Client, project: str, rows: Mapping[str, Any], sort: str) -> None:
        """`rows`: a filter. `sort`: a field."""
        self.keys: dict[int, str] = {}
        self.faults: list[str] = []
        self._client = client
        self._path = f"/v1/projects/{project}/changes"
        self._rows = urlencode({"filter": json.dumps(rows), "sort": sort})
        self._cursor = client.require("GET", f"{self._path}?{self._rows}")["next"]

    def run(self, stop: threading.Event) -> None:
        """Follow until the end."""
        while not stop.is_set():
            answer = self._client.require(
                "GET", f"{self._path}?since={self._cursor}&wait={_WAIT}&{self._rows}"
            )
            self._cursor = answer["next"]
            for event in answer["items"]:
                self._take(event)

    def _take(self, event: Mapping[str, Any]) -> None:
        if event["kind"] == "reset":
            self.faults.append("a reset of rows came, though no definition changed")
            return
        num, move = event["num"], event["move"]
        if self.keys.get(num) != event["previous_key"]:
            self.faults.append(
                f"issue {num} had the key {self.keys.get(num)!r}, and {move} says {event['previous_key']!r}"
            )
        if (key := event["key"]) is None:
            self.keys.pop(num, None)
        else:
            self.keys[num] = key


def running(follower: Follower, stop: threading.Event) -> None:
    """Follow until the end; a call that is not answered is a fault."""
    try:
        follower.run(stop)
    except Failure as failure:
        if not stop.is_set():
            follower.faults.append(str(failure))


def _both(fields: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[Any, Any]]:
    return {name: (both["old"], both["new"]) for name, both in fields.items()}
