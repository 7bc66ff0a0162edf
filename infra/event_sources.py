"""The kinds of events that can invoke a function, as plain data.

`wiring` makes the constructs. No CDK here: any code can import these.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

QueueName = Literal["jobs", "webhooks", "retries"]
"""A queue of hints, by its name among the `Parts`."""


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The endpoints of the HTTP API that name the function (`infra.routes`)."""


@dataclass(frozen=True, slots=True)
class SocketRoutes:
    """All routes of the WebSocket API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRecords:
    """Batches of records of the table's stream that match one of `filters`, each an event pattern of Lambda.

    `construct` is the mapping's place in the stack, which its logical id is made of. Lambda runs up to
    `batches_per_shard` batches of a shard at once, and retries each up to `retries` times and for `oldest_seconds`.
    Then it puts the batch into the bucket of dead letters if `keeps_failures`. Otherwise it bisects a batch that
    crashes, and drops the records that still fail. A batch that is not full waits `window_seconds` for more.
    """

    construct: str
    filters: tuple[Mapping[str, Any], ...]
    starting_position: Literal["TRIM_HORIZON", "LATEST"]
    batches_per_shard: int
    retries: int
    oldest_seconds: int
    keeps_failures: bool
    window_seconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """The messages of a queue, up to `batch` in one invocation, and up to `invocations` at once."""

    queue: QueueName
    invocations: int
    batch: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The event `{"task": task}` at `times`, which EventBridge writes as `rate(...)` or `cron(...)`.

    `construct` and `name` are the rule's place in the stack, which its logical id is made of.
    """

    construct: str
    name: str
    task: str
    times: str
    description: str


EventSource = Endpoints | SocketRoutes | StreamRecords | Hints | Schedule
