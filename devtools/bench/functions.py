"""The four handlers in this process, called with the events that Lambda would give them, and the cost of their
calls.
"""

import contextlib
import importlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TextIO

from devtools.bench.capacity import Counter, Units
from devtools.failure import Failure
from devtools.local import gateway, matching, sqs
from devtools.local.container import Context
from devtools.local.environment import local
from gridview.commands.actor import Actor
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.jobs import Hint
from gridview.support import clock

_SECONDS: Final = 60.0

Handler = Callable[[Any, Context], Any]


class Functions:
    """The handlers, loaded once. A process has one environment, so it can have one of these."""

    def __init__(self, endpoint: str, table: str, sink: TextIO) -> None:
        """`sink` takes the output of the handlers (metrics): its making is a part of their work, its reading is not."""
        self._sink = sink
        environment = _environment(endpoint, table)
        os.environ.clear()
        os.environ.update(environment)
        self._counter = Counter()  # the handlers make their clients when they are imported
        self._query, self._command, self._maintain, self._upkeep = (
            _handler(name) for name in ("query", "command", "maintain", "upkeep")
        )
        # Hints lead to nothing: the benchmark has work done when it is time.
        self._hints = _Hints()
        for name in ("command", "maintain", "upkeep"):
            vars(importlib.import_module(f"functions.{name}.handler")).update(
                job_queue=self._hints, webhook_queue=_Hints()
            )

    @property
    def consumers_table(self) -> Table:
        """The table as the maintain function has it: the units of its calls are counted."""
        found: Table = vars(importlib.import_module("functions.maintain.handler"))["table"]
        return found

    def query(self, event: Mapping[str, Any]) -> Any:
        """The body of an answer of the query function."""
        return _body(self._call(self._query, event))

    def command(self, event: Mapping[str, Any]) -> Any:
        """The body of an answer of the command function."""
        return _body(self._call(self._command, event))

    def maintain(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Have stream records consumed, all of them."""
        answer = self._call(self._maintain, {"Records": list(records)})
        if answer["batchItemFailures"]:
            raise Failure("The maintain function did not finish a batch.")

    def upkeep(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Have these messages of the queue of jobs worked on: a turn each. Hints at further turns are forgotten."""
        self._call(self._upkeep, {"Records": list(messages)})

    def hints_at_jobs(self) -> list[Hint]:
        """The targets of each minute's hints from upkeep."""
        self._hints.sent.clear()
        self._call(self._upkeep, {"task": "jobs"})
        return list(self._hints.sent)

    def metered(self) -> contextlib.AbstractContextManager[Units]:
        """The units used up by calls inside the block."""
        return self._counter.metered()

    def _call(self, handler: Handler, event: Any) -> Any:
        with contextlib.redirect_stdout(self._sink):
            return handler(event, Context("gridview-bench", time.monotonic() + _SECONDS))


class _Hints:
    """A queue that keeps its messages."""

    def __init__(self) -> None:
        self.sent: list[Hint] = []

    def send(self, hint: Hint) -> None:
        self.sent.append(hint)


def event(actor: Actor, method: str, path: str, body: Any = None) -> dict[str, Any]:
    """The event of a request."""
    request = gateway.Request(
        method=method,
        path=path,
        query="",
        headers={"content-type": "application/json"},
        body=json.dumps(body).encode() if body is not None else b"",
    )
    claims = {
        "sub": actor.user,
        "token_use": "id",
        "custom:tenant": actor.tenant,
        "custom:role": actor.role.name.lower(),
    }
    return gateway.event(request, matching.match(method, path), claims)


def record(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, sequence: int
) -> dict[str, Any]:
    """A stream record of an item in DynamoDB's own form: inserted, changed or removed."""
    image: Any = after or before
    stream: dict[str, Any] = {
        "Keys": {name: image[name] for name in (keys.PK, keys.SK)},
        "SequenceNumber": f"{sequence:021d}",
        "StreamViewType": "NEW_AND_OLD_IMAGES",
        "ApproximateCreationDateTime": int(clock.seconds()),
    }
    if before is not None:
        stream["OldImage"] = before
    if after is not None:
        stream["NewImage"] = after
    name = "MODIFY" if before and after else "INSERT" if after else "REMOVE"
    return {"eventID": str(sequence), "eventName": name, "eventSource": "aws:dynamodb", "dynamodb": stream}


def _environment(endpoint: str, table: str) -> dict[str, str]:
    return local(
        {
            "TABLE_NAME": table,
            "SETTLE_SECONDS": "0",
            "CURSOR_SECRET": "the benchmark's cursors are no secret",
            "WEBHOOK_SECRET": "nor are its webhooks",
            "AWS_ENDPOINT_URL_DYNAMODB": endpoint,
            # A poison issue would be a bug: nothing listens there, and the benchmark ends.
            **sqs.environment("http://127.0.0.1:9"),
            "EXPORT_BUCKET": "none",
            "FAILED_BATCHES_BUCKET": "none",
            "POWERTOOLS_SERVICE_NAME": "bench",
            "POWERTOOLS_METRICS_NAMESPACE": "gridview",
            "POWERTOOLS_LOG_LEVEL": "ERROR",
            "POWERTOOLS_TRACE_DISABLED": "true",
        }
    )


def _handler(name: str) -> Handler:
    handler: Handler = importlib.import_module(f"functions.{name}.handler").handler
    return handler


def _body(response: Mapping[str, Any]) -> Any:
    body = json.loads(response["body"]) if response.get("body") else None
    if response["statusCode"] >= 300:
        raise Failure(f"A handler answered {response['statusCode']}: {body}")
    return body
