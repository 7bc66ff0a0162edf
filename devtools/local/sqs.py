"""The local queues, which boto3 takes for SQS. Dead letters are in a file. moto's server keeps nothing: decision 0073."""

import hashlib
import itertools
import json
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from devtools import files
from devtools.local.container import ACCOUNT
from devtools.local.service import Asked, Reply, Service

DEAD_LETTERS = "gridview-dead-letters"
JOBS = "gridview-jobs"
"""The queue of hints at due jobs. It is in memory: hints are of no use after a restart."""
WEBHOOKS = "gridview-webhooks"
WEBHOOK_RETRIES = "gridview-webhook-retries"
"""The queues of hints at webhooks that have something to send. They are in memory too."""

QUEUES = {
    "DEAD_LETTER_QUEUE_URL": DEAD_LETTERS,
    "JOB_QUEUE_URL": JOBS,
    "WEBHOOK_QUEUE_URL": WEBHOOKS,
    "WEBHOOK_RETRY_QUEUE_URL": WEBHOOK_RETRIES,
}
"""The queues by the functions' variables that name them."""

_TARGET = "AmazonSQS."
_JSON = "application/x-amz-json-1.0"
_MAX_MESSAGE_BYTES = 1024 * 1024
_MAX_RECEIVED = 10
_MAX_DELAY_SECONDS = 900
_VISIBILITY_SECONDS = 30


class _RefusedError(Exception):
    """SQS refuses such a call; `code` is the name of the exception."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class _Letter:
    id: str
    body: str
    sent: float
    """Seconds since 1970."""
    visible: float = 0.0
    """On the queue's clock."""
    received: int = 0


class Queue:
    """Messages in a file that only grows while this object lives: one line for each send and one for each delete.

    Acknowledged calls are on the disk. Receipts are not: a queue that is opened again shows every message that was
    not deleted. SQS delivers at least once, too. `now` gives seconds. Safe for use by many threads.
    """

    def __init__(self, path: Path | None, now: Callable[[], float] = time.monotonic) -> None:
        """Read the file and rewrite it without deleted messages. There is no file when there is no message, or no path."""
        self._path = path
        self._now = now
        self._lock = threading.Lock()
        self._letters = {} if path is None else _reopened(path)

    def send(self, body: str, delay: float = 0.0) -> str:
        """Keep a message and return its id. It is invisible for `delay` seconds."""
        letter = _Letter(str(uuid.uuid4()), body, time.time(), self._now() + delay)
        with self._lock:
            self._note(_line(letter))
            self._letters[letter.id] = letter
        return letter.id

    def receive(self, most: int, hidden: float) -> list[tuple[str, _Letter]]:
        """Up to `most` visible messages, oldest first, each with a receipt. They are invisible for `hidden` seconds."""
        with self._lock:
            now = self._now()
            found = list(
                itertools.islice((one for one in self._letters.values() if one.visible <= now), most)
            )
            for letter in found:
                letter.visible = now + hidden
                letter.received += 1
            return [(f"{letter.id}/{letter.received}", letter) for letter in found]

    def hide(self, receipt: str, seconds: float) -> None:
        """Hide a received message for this long from now."""
        with self._lock:
            if letter := self._of(receipt):
                letter.visible = self._now() + seconds

    def delete(self, receipt: str) -> None:
        """Delete a received message; nothing happens when it is gone."""
        with self._lock:
            if letter := self._of(receipt):
                self._note({"deleted": letter.id})
                del self._letters[letter.id]

    def count(self) -> tuple[int, int]:
        """The counts of visible and of hidden messages."""
        with self._lock:
            now = self._now()
            visible = sum(letter.visible <= now for letter in self._letters.values())
            return visible, len(self._letters) - visible

    def _note(self, line: dict[str, Any]) -> None:
        if self._path is not None:
            files.append_line(self._path, line)

    def _of(self, receipt: str) -> _Letter | None:
        return self._letters.get(receipt.partition("/")[0])


def _line(letter: _Letter) -> dict[str, Any]:
    return {"time": letter.sent, "id": letter.id, "body": letter.body}


def _reopened(path: Path) -> dict[str, _Letter]:
    letters = _read(path)
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    for letter in letters.values():
        files.append_line(fresh, _line(letter))
    if letters:
        fresh.replace(path)
    else:
        path.unlink(missing_ok=True)
    return letters


def _read(path: Path) -> dict[str, _Letter]:
    """The messages of a file that were not deleted. A line that a crash cut off was never answered, so it is skipped."""
    letters: dict[str, _Letter] = {}
    if not path.exists():
        return letters
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = json.loads(line)
            if "deleted" in entry:
                letters.pop(entry["deleted"], None)
            else:
                letters[entry["id"]] = _Letter(entry["id"], entry["body"], entry["time"])
        except (ValueError, KeyError, TypeError):
            continue
    return letters


class SqsServer(Service):
    """The part of SQS that sends, receives and deletes messages: dead letters, and hints at due work."""

    def __init__(self, letters: Path, listener: socket.socket | None = None) -> None:
        """`letters`: the file of dead letters. `listener` as for any service."""
        self.queues = {name: Queue(letters if name == DEAD_LETTERS else None) for name in QUEUES.values()}
        super().__init__(self._answer, listener)

    def _answer(self, asked: Asked) -> Reply:
        try:
            request = json.loads(asked.body)
        except ValueError:
            request = None
        status, reply = answer(self.queues, asked.headers.get("x-amz-target", ""), request)
        return Reply(status, json.dumps(reply).encode(), {"Content-Type": _JSON})


def queue_url(endpoint: str, name: str = DEAD_LETTERS) -> str:
    """The URL of a queue of the server at an endpoint."""
    return f"{endpoint}/{ACCOUNT}/{name}"


def environment(endpoint: str) -> dict[str, str]:
    """The variables by which functions find the queues of the server at an endpoint."""
    urls = {variable: queue_url(endpoint, name) for variable, name in QUEUES.items()}
    return {"AWS_ENDPOINT_URL_SQS": endpoint, **urls}


def answer(queues: Mapping[str, Queue], target: str, request: Any) -> tuple[HTTPStatus, dict[str, Any]]:
    """Answer a call by the queue whose URL it names. `target`, the header X-Amz-Target, names the operation."""
    try:
        operation = _OPERATIONS.get(target.removeprefix(_TARGET))
        if operation is None or not target.startswith(_TARGET):
            raise _RefusedError(
                "UnsupportedOperation", f"This local endpoint takes {', '.join(_OPERATIONS)}."
            )
        if not isinstance(request, dict):
            raise _RefusedError("MalformedInput", "The request is not a JSON object.")
        queue = queues.get(_text(request, "QueueUrl").rpartition("/")[2])
        if queue is None:
            raise _RefusedError("QueueDoesNotExist", f"There is no queue {request['QueueUrl']!r}.")
        return HTTPStatus.OK, operation(queue, request)
    except _RefusedError as refused:
        refusal = {"__type": f"com.amazonaws.sqs#{refused.code}", "message": str(refused)}
        return HTTPStatus.BAD_REQUEST, refusal


def _send(queue: Queue, request: Mapping[str, Any]) -> dict[str, Any]:
    body = _text(request, "MessageBody")
    if len(body.encode()) > _MAX_MESSAGE_BYTES:
        raise _RefusedError("InvalidParameterValue", "The message is longer than 1 MiB.")
    delay = _number(request, "DelaySeconds", 0)
    if delay > _MAX_DELAY_SECONDS:
        raise _RefusedError("InvalidParameterValue", f"DelaySeconds is at most {_MAX_DELAY_SECONDS}.")
    return {"MessageId": queue.send(body, delay), "MD5OfMessageBody": _digest(body)}


def _receive(queue: Queue, request: Mapping[str, Any]) -> dict[str, Any]:
    most = _number(request, "MaxNumberOfMessages", 1)
    if not 1 <= most <= _MAX_RECEIVED:
        raise _RefusedError("InvalidParameterValue", f"MaxNumberOfMessages is from 1 to {_MAX_RECEIVED}.")
    messages = [
        {
            "MessageId": letter.id,
            "ReceiptHandle": receipt,
            "MD5OfBody": _digest(letter.body),
            "Body": letter.body,
            "Attributes": {
                "SentTimestamp": str(int(letter.sent * 1000)),
                "ApproximateReceiveCount": str(letter.received),
            },
        }
        for receipt, letter in queue.receive(most, _number(request, "VisibilityTimeout", _VISIBILITY_SECONDS))
    ]
    return {"Messages": messages} if messages else {}


def _hide(queue: Queue, request: Mapping[str, Any]) -> dict[str, Any]:
    queue.hide(_text(request, "ReceiptHandle"), _number(request, "VisibilityTimeout", _VISIBILITY_SECONDS))
    return {}


def _delete(queue: Queue, request: Mapping[str, Any]) -> dict[str, Any]:
    queue.delete(_text(request, "ReceiptHandle"))
    return {}


def _attributes(queue: Queue, request: Mapping[str, Any]) -> dict[str, Any]:
    visible, hidden = queue.count()
    known = {
        "ApproximateNumberOfMessages": str(visible),
        "ApproximateNumberOfMessagesNotVisible": str(hidden),
    }
    asked = request.get("AttributeNames") or []
    return {"Attributes": {name: value for name, value in known.items() if name in asked or "All" in asked}}


_OPERATIONS: dict[str, Callable[[Queue, Mapping[str, Any]], dict[str, Any]]] = {
    "SendMessage": _send,
    "ReceiveMessage": _receive,
    "ChangeMessageVisibility": _hide,
    "DeleteMessage": _delete,
    "GetQueueAttributes": _attributes,
}


def _text(request: Mapping[str, Any], name: str) -> str:
    value = request.get(name)
    if not isinstance(value, str) or not value:
        raise _RefusedError("MissingParameter", f"{name} is needed.")
    return value


def _number(request: Mapping[str, Any], name: str, otherwise: int) -> int:
    value = request.get(name, otherwise)
    if not isinstance(value, int) or value < 0:
        raise _RefusedError("InvalidParameterValue", f"{name} is a number, and not negative.")
    return value


def _digest(body: str) -> str:
    # SQS defines this digest over the text that the client sent; it is no protection.
    return hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()
