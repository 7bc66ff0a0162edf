"""The functions in an account: imported under its environment, with a queue and a bucket of moto's.

The table is the one in memory, unless a test asks for moto's (`on_moto`). Each function has only its role's reach:
other calls are denied (`reach`).

`tests/unit/dynamodb/test_table.py` proves that the table in memory answers as DynamoDB does, and the real one over moto
too.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, Generic, NamedTuple, Protocol

import boto3
import pytest
from moto import mock_aws
from typing_extensions import TypeVar

from devtools.proof.faults.adversary import record
from devtools.proof.faults.bucket import MemoryBatches
from devtools.proof.faults.lambdas import Hints
from devtools.proof.faults.memory_table import MemoryTable
from gridview.chains.fence_cache import Fences
from gridview.derive.images import Poison
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import item_from_wire, item_to_wire
from gridview.live.delivery_hints import DeliveryHints
from gridview.maintenance.folding import Folder
from gridview.maintenance.job_queue import body_of
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.view.block_cache import BlockCache
from tests.support.event_patterns import wakes
from tests.support.functions import freshly_imported
from tests.support.http import Client, Context, Handlers, claims
from tests.support.iam import Asked
from tests.support.moto_table import MotoTable, Record, adapted
from tests.support.reach import within_reach, within_reach_of_owners
from tests.support.wire import MemoryWire

TABLE = "gridview"
OWNERS = "owners of sockets"
"""The socket function outside any tenant's session."""
SOCKET_URL = "wss://sockets.invalid/live"
EXPORTS = "gridview-exports"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "eu-west-2",
    "AWS_REGION": "eu-west-2",
    "AWS_EC2_METADATA_DISABLED": "true",
    "POWERTOOLS_SERVICE_NAME": "test",
    "POWERTOOLS_METRICS_NAMESPACE": "gridview",
    "POWERTOOLS_LOG_LEVEL": "INFO",
    "TABLE_NAME": TABLE,
    "CURSOR_SECRET": "a secret of the tests",
    "WEBHOOK_SECRET": "another secret of the tests",
    "SETTLE_SECONDS": "0",
    "SOCKET_URL": SOCKET_URL,
    "EXPORT_BUCKET": EXPORTS,
    "FAILED_BATCHES_BUCKET": "gridview-batches",
}


Held = TypeVar("Held", bound=MemoryTable | MotoTable, default=MemoryTable)
"""The table of an account."""


class Stream(Protocol):
    """The stream of a table."""

    def take(self) -> list[Record]:
        """The records since the last call."""


class MemoryStream:
    """The stream of the table in memory, with the records of issues, or of `everything`."""

    def __init__(self, table: MemoryTable, *, everything: bool = False) -> None:
        self._records: list[Record] = []
        self._number = 0
        self._everything = everything
        table.set_listener(self._receive)

    def _receive(self, old: dict[str, Any] | None, new: dict[str, Any] | None) -> None:
        one = new or old or {}
        if self._everything or (keys.is_issue(one[keys.PK]) and keys.is_project(one[keys.SK])):
            self._number += 1
            self._records.append(record(self._number, old, new))

    def take(self) -> list[Record]:
        """The records since the last call."""
        records, self._records = self._records, []
        return records


@dataclass(frozen=True)
class Cloud(Generic[Held]):
    """The running parts of an account: the functions' modules, the queue of poison issues, and the
    hints at due jobs.
    """

    modules: Mapping[str, ModuleType]
    queue_url: str
    hints: deque[Hint]
    outboxes: deque[Hint]
    """Hints at the outboxes of webhooks."""
    retries: deque[Hint]
    """Hints at the outboxes of webhooks whose receivers fail."""
    table: Held
    """The table, for changes that the API cannot make."""
    asked: Mapping[str, set[Asked]]
    """The requests of each function to DynamoDB."""
    stream: Stream
    """The table's stream."""
    wire: MemoryWire
    """The connections of the WebSocket API."""

    @property
    def handlers(self) -> Handlers:
        """The functions' handlers."""
        return {name: module.handler for name, module in self.modules.items()}

    def api(self, **who: str) -> Client:
        """A client of the API: `tenant`, `role`, `user`, by default an admin of tenant 0807."""
        return Client(self.handlers, claims(**who))

    def reset(self) -> None:
        """Empty the table, and let the functions forget the former one."""
        for queue in (self.hints, self.outboxes, self.retries):
            queue.clear()
        self.table.clear()
        self.stream.take()
        self.wire.clear()
        self.forget()

    def forget(self) -> None:
        """Let the functions read every catalog and directory again, like other containers, or like
        these after a while.
        """
        for module in self.modules.values():
            module.catalogs = Catalogs()  # type: ignore[attr-defined]
            if hasattr(module, "fences"):
                module.fences = Fences()  # type: ignore[attr-defined]
            if hasattr(module, "cache"):
                # Its clock does not move, so the reads of a request do not depend on how busy this machine
                # is.
                module.cache = BlockCache(clock=lambda: 0.0)  # type: ignore[attr-defined]
            if hasattr(module, "delivery_hints"):
                module.delivery_hints = DeliveryHints(module.webhook_queue.send)  # type: ignore[attr-defined]

    def items(self) -> list[dict[str, Any]]:
        """Everything in the table, in wire form."""
        return [item_to_wire(item) for item in self.table.items.values()]

    def put(self, items: list[dict[str, Any]]) -> None:
        """Put items in wire form into the table."""
        self.table.batch_put(map(item_from_wire, items))

    def derive(self) -> None:
        """Hand every issue's newest image, and the removal of each that is gone, to the stream consumer."""
        items = self.items()
        issues = [item for item in items if _is_issue(item)]
        alive = {item["PK"]["S"] for item in issues}
        gone = [
            item for item in items if item["SK"]["S"] == derived_keys.LEDGER and item["PK"]["S"] not in alive
        ]
        records = [
            _record("INSERT" if issue["version"]["N"] == "1" else "MODIFY", issue["PK"], {"NewImage": issue})
            for issue in issues
        ]
        records += [
            _record("REMOVE", ledger["PK"], {"OldImage": {"version": ledger["version"]}}) for ledger in gone
        ]
        result = self.modules["maintain"].handler({"Records": records}, Context())
        assert result == {"batchItemFailures": []}

    def follow(self) -> None:
        """Hand all stream records to the stream consumer: every change with its old and its new image."""
        self._hand("maintain", self.stream.take())

    def deliver_stream(self) -> None:
        """Hand the stream's records to both functions that read it, until no record invokes one of them."""
        while records := [
            one for one in self.stream.take() if wakes("maintain", one) or wakes("socket", one)
        ]:
            for function in ("maintain", "socket"):
                self._hand(function, records)

    def _hand(self, function: str, records: Sequence[Record]) -> None:
        """Hand a function the records that pass its mapping's filter."""
        event = {"Records": [one for one in records if wakes(function, one)]}
        assert self.modules[function].handler(event, Context()) == {"batchItemFailures": []}

    def upkeep(self) -> int:
        """Work on the background jobs until none is left; then start new containers. Returns the number of turns."""
        turns = 0
        while self.modules["upkeep"].handler({"task": "jobs"}, Context())["due"]:
            turns += self.deliver_hints()
        self.forget()
        return turns

    def fold(self) -> None:
        """Fold everything in the journals, however little it is, by a new container.

        The fold seems to be a minute old: GSI1 already shows the blocks to every reader.
        """
        now = clock.seconds
        journals = [partition for partition, sort_key in self.table.items if sort_key == derived_keys.FOLD]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(clock, "seconds", lambda: now() - 60.0)
            for place in map(derived_keys.parse_journal, journals):
                assert Folder(self.table, Catalogs(), Fences(), *place, _unexpected).fold_all(lambda: 60.0)

    def deliver_hints(self, context: Context | None = None) -> int:
        """Deliver the hints at due jobs, as Lambda does, until none is left. Returns the number of turns."""
        turns = 0
        while self.hints:
            message = {"body": body_of(self.hints.popleft())}
            turns += self.modules["upkeep"].handler({"Records": [message]}, context or Context())["jobs"]
        return turns


def _unexpected(poison: Poison) -> None:
    raise AssertionError(poison)


def _is_issue(item: Mapping[str, Any]) -> bool:
    partition_key, sort_key = str(item["PK"]["S"]), str(item["SK"]["S"])
    return partition_key.startswith(keys.ISSUE_PREFIX) and sort_key.startswith(keys.PROJECT_PREFIX)


def _record(kind: str, partition_key: Any, images: Mapping[str, Any]) -> dict[str, Any]:
    stream = {
        "Keys": {"PK": partition_key, "SK": {"S": keys.PROJECT_PREFIX}},
        "SequenceNumber": "1",
        **images,
    }
    return {"eventName": kind, "dynamodb": stream}


class _Imported(NamedTuple):
    """The functions' modules, shared by every account of a process: their environment at the import
    is always the same.
    """

    modules: Mapping[str, ModuleType]
    tables: Mapping[str, Table]
    """The table that each has made itself, and by `OWNERS` the socket function's other one."""


@cache
def _imported() -> _Imported:
    modules = freshly_imported()
    tables = {name: module.table for name, module in modules.items()}
    return _Imported(modules, {**tables, OWNERS: modules["socket"].owners})


@cache
def _moto_table() -> MotoTable:
    """The table of tests on moto. Its client takes longer to make than most tests."""
    return MotoTable(TABLE, ENVIRONMENT["AWS_REGION"])


@contextmanager
def running() -> Iterator[Cloud]:
    """The account, with an empty table in memory. Other tests' modules of the same names stay as they were."""
    with _environment() as queue_url:
        table = MemoryTable()
        yield _account(queue_url, table, MemoryStream(table), lambda _: table.metered())


@contextmanager
def running_with_whole_stream() -> Iterator[Cloud]:
    """The same, with a stream that has records of all items."""
    with _environment() as queue_url:
        table = MemoryTable()
        yield _account(queue_url, table, MemoryStream(table, everything=True), lambda _: table.metered())


@contextmanager
def running_on_moto() -> Iterator[Cloud[MotoTable]]:
    """The account, with an empty table on moto, which each function uses by its own client."""
    with _environment() as queue_url, adapted():
        table, own = _moto_table(), _imported().tables
        table.create()
        yield _account(queue_url, table, table, own.__getitem__)


@contextmanager
def _environment() -> Iterator[str]:
    """moto, and the environment of the functions; the URL of the queue of dead letters."""
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        for name in (
            "AWS_PROFILE",
            "AWS_ENDPOINT_URL",
            "AWS_ENDPOINT_URL_DYNAMODB",
            "AWS_ENDPOINT_URL_SQS",
            "AWS_ENDPOINT_URL_S3",
        ):
            patch.delenv(name, raising=False)
        queue_url = boto3.client("sqs").create_queue(QueueName="dead-letters")["QueueUrl"]
        patch.setenv("DEAD_LETTER_QUEUE_URL", queue_url)
        for name in ("JOB_QUEUE_URL", "WEBHOOK_QUEUE_URL", "WEBHOOK_RETRY_QUEUE_URL"):
            patch.setenv(name, "https://queue.invalid")
        boto3.client("s3").create_bucket(
            Bucket=EXPORTS, CreateBucketConfiguration={"LocationConstraint": ENVIRONMENT["AWS_REGION"]}
        )
        yield queue_url


def _account(queue_url: str, table: Held, stream: Stream, opened: Callable[[str], Table]) -> Cloud[Held]:
    """The functions on a table, which `opened` returns to each by its name."""
    modules = _imported().modules
    asked: dict[str, set[Asked]] = {name: set() for name in (*modules, OWNERS)}
    for name, module in modules.items():
        module.table = within_reach(name, opened(name), asked[name])  # type: ignore[attr-defined]
    sockets = modules["socket"]
    sockets.owners = within_reach_of_owners(opened(OWNERS), asked[OWNERS])  # type: ignore[attr-defined]
    wire = MemoryWire()
    sockets.wire = wire  # type: ignore[attr-defined]
    hints: deque[Hint] = deque()
    for name in ("command", "maintain", "upkeep"):
        modules[name].job_queue = Hints(hints.append)  # type: ignore[attr-defined]
    outboxes: deque[Hint] = deque()
    for name in ("command", "maintain", "deliver"):
        modules[name].webhook_queue = Hints(outboxes.append)  # type: ignore[attr-defined]
    retries: deque[Hint] = deque()
    modules["deliver"].retry_queue = Hints(retries.append)  # type: ignore[attr-defined]
    batches = MemoryBatches()
    for name in ("maintain", "upkeep"):
        modules[name].batches = batches  # type: ignore[attr-defined]
    account = Cloud(modules, queue_url, hints, outboxes, retries, table, asked, stream, wire)
    account.forget()
    return account
