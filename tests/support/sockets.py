"""Clients of the WebSocket API without a network: the events of API Gateway for their actions, and the stream of
commits.
"""

import json
from itertools import count
from typing import Any

from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import item_to_wire
from tests.support.cloud import Cloud
from tests.support.http import Client, Context

_connections = count(1)


class SocketClient:
    """One connection. A frame that does not continue from the client's own cursor is not applied (`missed`)."""

    def __init__(self, account: Cloud, name: str | None = None) -> None:
        self.account = account
        self.id = name or f"c{next(_connections):014d}="
        self.cursors: dict[str, str | None] = {}
        self.events: dict[str, list[dict[str, Any]]] = {}
        self.missed = 0

    def connect(self, ticket: str) -> int:
        """$connect; the status of API Gateway's answer."""
        self.account.wire.open.add(self.id)
        event = {**self._event("$connect", "CONNECT"), "queryStringParameters": {"ticket": ticket}}
        status: int = self._invoke(event)["statusCode"]
        if status != 200:
            self.account.wire.open.discard(self.id)
        return status

    def leave(self, *, noticed: bool = True) -> None:
        """Close the connection. API Gateway reports that most of the time."""
        self.account.wire.open.discard(self.id)
        if noticed:
            self._invoke(self._event("$disconnect", "DISCONNECT"))

    def send(self, body: str, *, is_base64: bool = False) -> list[dict[str, Any]]:
        """Send a text unchanged. Returns the frames since the last call."""
        event = {**self._event("$default", "MESSAGE"), "body": body, "isBase64Encoded": is_base64}
        assert self._invoke(event) == {"statusCode": 200}
        return self.frames()

    def say(self, **message: Any) -> list[dict[str, Any]]:
        """Send a message. Returns the frames since the last call."""
        return self.send(json.dumps(message))

    def subscribe(self, name: str = "all", **message: Any) -> list[dict[str, Any]]:
        """Subscribe from the client's cursor. Returns the frames."""
        self.cursors.setdefault(name, None)
        self.events.setdefault(name, [])
        return self.say(do="subscribe", id=name, since=self.cursors[name], **message)

    def frames(self) -> list[dict[str, Any]]:
        """The frames since the last call."""
        frames = self.account.wire.sent.pop(self.id, [])
        for frame in frames:
            if "items" in frame:
                self._take(frame)
        return frames

    def ids(self, name: str = "all") -> list[str]:
        """The ids of all events that a subscription received."""
        self.frames()
        return [event.get("id", "reset") for event in self.events[name]]

    @property
    def is_open(self) -> bool:
        """Whether the connection is open."""
        return self.id in self.account.wire.open

    def _take(self, frame: dict[str, Any]) -> None:
        name = frame["id"]
        if name not in self.cursors:
            return
        if frame["since"] != self.cursors[name]:
            self.missed += 1
            return
        self.cursors[name] = frame["next"]
        self.events[name] += frame["items"]

    def _event(self, route: str, kind: str) -> dict[str, Any]:
        return {
            "requestContext": {
                "routeKey": route,
                "eventType": kind,
                "connectionId": self.id,
                "requestId": "r",
                "stage": "live",
            },
            "isBase64Encoded": False,
        }

    def _invoke(self, event: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = self.account.modules["socket"].handler(event, Context())
        return result


def ticket(api: Client, path: str) -> str:
    """A new ticket for a project."""
    answer = api.post(f"{path}/tickets")
    assert answer.status == 200, answer.text
    found: str = answer.body["ticket"]
    return found


def connected(account: Cloud, api: Client, path: str) -> SocketClient:
    """A client with an open socket."""
    client = SocketClient(account)
    assert client.connect(ticket(api, path)) == 200
    return client


class Commits:
    """The table's stream through the socket function's mapping: the commits since the last call."""

    def __init__(self, account: Cloud) -> None:
        self._account = account
        self._seen: dict[tuple[str, str], dict[str, Any]] = {}
        self._number = 0
        self.take()

    def push(self, context: Context | None = None) -> dict[str, Any]:
        """Deliver the new commits. Returns the function's answer."""
        return self.deliver(self.take(), context)

    def deliver(self, records: list[dict[str, Any]], context: Context | None = None) -> dict[str, Any]:
        """Deliver these records. Returns the function's answer."""
        if not records:
            return {"batchItemFailures": []}
        result: dict[str, Any] = self._account.modules["socket"].handler(
            {"Records": records}, context or Context()
        )
        return result

    def take(self) -> list[dict[str, Any]]:
        """The records of the new commits, which are then not delivered."""
        now = {key: item for key, item in self._account.table.items.items() if _is_commit(*key)}
        records = []
        for key in sorted(now):
            if self._seen.get(key) != now[key]:
                self._number += 1
                stream = {
                    "Keys": {keys.PK: {"S": key[0]}, keys.SK: {"S": key[1]}},
                    "SequenceNumber": f"{self._number:021d}",
                    "NewImage": item_to_wire(now[key]),
                }
                records.append({"eventName": "INSERT", "eventSource": "aws:dynamodb", "dynamodb": stream})
        self._seen = now
        return records


def _is_commit(partition: str, sort_key: str) -> bool:
    if derived_keys.is_journal(partition):
        return sort_key.isdecimal()
    return keys.is_views(partition) or (keys.is_project(partition) and sort_key == keys.CATALOG)
