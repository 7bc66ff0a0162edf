"""Where local dead letters go: an SQS endpoint that takes SendMessage, and the on-failure destination; both are files."""

import hashlib
import http.server
import json
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from devtools import files
from devtools.container import ACCOUNT
from devtools.delivery import Reason, Record, sequence_number

QUEUE = "gridview-dead-letters"

_TARGET = "AmazonSQS.SendMessage"
_JSON = "application/x-amz-json-1.0"
_MAX_MESSAGE_BYTES = 1024 * 1024


class SqsServer(http.server.ThreadingHTTPServer):
    """SQS on 127.0.0.1, as far as boto3's `send_message` goes; each message becomes a line of a file before it is answered."""

    daemon_threads = True

    def __init__(self, letters: Path) -> None:
        """Listens from now on, on a port that the system chooses; `start` answers."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.letters = letters
        self.appending = threading.Lock()

    @property
    def endpoint(self) -> str:
        """For AWS_ENDPOINT_URL_SQS."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def queue_url(self) -> str:
        """For DEAD_LETTER_QUEUE_URL."""
        return f"{self.endpoint}/{ACCOUNT}/{QUEUE}"

    def start(self) -> None:
        """Answer requests in a thread of its own."""
        threading.Thread(target=self.serve_forever, daemon=True, name="sqs").start()

    def keep(self, letter: Mapping[str, Any]) -> None:
        """Write a letter down."""
        with self.appending:
            files.append_line(self.letters, letter)


def send_message(
    target: str, request: Any, keep: Callable[[Mapping[str, Any]], None]
) -> tuple[HTTPStatus, dict[str, Any]]:
    """Answer a call of SQS; `keep` is given the message, with the time of its arrival."""
    if target != _TARGET:
        return _refusal("UnsupportedOperation", "This local endpoint only takes SendMessage.")
    if not isinstance(request, dict) or not isinstance(body := request.get("MessageBody"), str) or not body:
        return _refusal("MissingParameter", "MessageBody is needed.")
    if len(body.encode()) > _MAX_MESSAGE_BYTES:
        return _refusal("InvalidParameterValue", "The message is longer than 1 MiB.")
    message_id = str(uuid.uuid4())
    keep({"time": time.time(), "id": message_id, "queue": request.get("QueueUrl"), "body": body})
    # SQS defines this digest over the text that the client sent; it is no protection.
    digest = hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()
    return HTTPStatus.OK, {"MD5OfMessageBody": digest, "MessageId": message_id}


def keep_batch(
    path: Path,
    *,
    stream: str,
    shard: str,
    function: str,
    records: list[Record],
    reason: Reason,
    invocations: int,
) -> None:
    """Write records that are given up to a file, whole, in the form of Lambda's invocation record (with S3's `payload`)."""
    files.append_line(
        path,
        {
            "requestContext": {
                "requestId": str(uuid.uuid4()),
                "functionArn": function,
                "condition": reason,
                "approximateInvokeCount": invocations,
            },
            "version": "1.0",
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "DDBStreamBatchInfo": {
                "shardId": shard,
                "startSequenceNumber": sequence_number(records[0]),
                "endSequenceNumber": sequence_number(records[-1]),
                "batchSize": len(records),
                "streamArn": stream,
            },
            "payload": json.dumps({"Records": records}),
        },
    )


def _refusal(code: str, message: str) -> tuple[HTTPStatus, dict[str, Any]]:
    return HTTPStatus.BAD_REQUEST, {"__type": f"com.amazonaws.sqs#{code}", "message": message}


class _Handler(http.server.BaseHTTPRequestHandler):
    server: SqsServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            request = json.loads(body)
        except ValueError:
            request = None
        status, answer = send_message(self.headers.get("X-Amz-Target", ""), request, self.server.keep)
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", _JSON)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Nothing: the letters are the log."""
