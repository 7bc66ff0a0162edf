"""The functions on the engine, with the stream delivered to the consumer when a test asks for it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest

from devtools.local import sqs
from devtools.local.delivery import Record
from devtools.local.engine import Engine
from devtools.local.environment import local
from devtools.local.streams import StreamClient
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from tests.support.functions import freshly_imported
from tests.support.http import Client, Context, claims

BATCH = 100
_AT_ONCE = 1000


@dataclass
class Stack:
    """The functions of a stack, a tenant in it, and the position up to which the tenant's stream has been delivered."""

    engine: Engine
    name: str
    tenant: str
    modules: dict[str, ModuleType]
    api: Client = field(init=False)
    _onward: dict[str, str | None] = field(default_factory=dict)
    """For each shard of the stream the iterator after the delivered records."""

    def __post_init__(self) -> None:
        handlers = {name: module.handler for name, module in self.modules.items()}
        self.api = Client(handlers, claims(tenant=self.tenant))

    @property
    def table(self) -> Table:
        """The table, with a meter of its own."""
        return Table(self.name, self.engine.client()).metered()

    def stream(self) -> list[Record]:
        """All records of this tenant that pass the mapping's filter, from the beginning."""
        return self._read({})

    def deliver(self) -> int:
        """Deliver the new records to the consumer. Returns their number."""
        records = self._read(self._onward)
        for at in range(0, len(records), BATCH):
            assert self.maintain(records[at : at + BATCH]) == {"batchItemFailures": []}
        return len(records)

    def maintain(self, records: Sequence[Record]) -> Any:
        """One invocation of the consumer."""
        return self.modules["maintain"].handler({"Records": list(records)}, Context())

    def batch(self, project: str, operations: Sequence[Any]) -> list[dict[str, Any]]:
        """Up to 500 operations, all of which must succeed."""
        answer = self.api.batch(project, *operations)
        assert answer.status == 200, answer.text
        results: list[dict[str, Any]] = answer.body["results"]
        assert [result for result in results if result["status"] >= 300] == []
        return results

    def _read(self, onward: dict[str, str | None]) -> list[Record]:
        """The records from these iterators on, or from the beginning of the shard; the iterators advance."""
        found: list[Record] = []
        client = StreamClient(self.engine.endpoint)
        try:
            arn = client.stream_of(self.name)
            for shard in client.shards(arn):
                if shard.id not in onward:
                    onward[shard.id] = client.iterator(arn, shard.id, None)
                while (iterator := onward[shard.id]) is not None:
                    page = client.read(arn, iterator, _AT_ONCE)
                    onward[shard.id] = page.next
                    found += filter(self._is_ours, page.records)
                    if not page.records:
                        break
        finally:
            client.close()
        return found

    def _is_ours(self, record: Record) -> bool:
        key = record["dynamodb"]["Keys"]
        return bool(
            key[keys.PK]["S"].startswith(f"{keys.ISSUE_PREFIX}{self.tenant}.")
            and key[keys.SK]["S"].startswith(keys.PROJECT_PREFIX)
        )


@contextmanager
def stack(engine: Engine, table_name: str, tenant: str) -> Iterator[Stack]:
    """The functions, imported again under an environment that leads to the engine."""
    environment = {
        **{name: value for name, value in local().items() if name.startswith("AWS_")},
        "AWS_ENDPOINT_URL_DYNAMODB": engine.endpoint,
        "TABLE_NAME": table_name,
        "CURSOR_SECRET": "a secret of the tests",
        "WEBHOOK_SECRET": "another secret of the tests",
        "SETTLE_SECONDS": "0",
        **sqs.environment("http://127.0.0.1:9"),
        "EXPORT_BUCKET": "nowhere",
        "FAILED_BATCHES_BUCKET": "nowhere",
        "SOCKET_URL": "ws://127.0.0.1:9/nobody-listens",
        "POWERTOOLS_SERVICE_NAME": "engine-test",
        "POWERTOOLS_METRICS_NAMESPACE": "gridview",
        "POWERTOOLS_LOG_LEVEL": "CRITICAL",
        "POWERTOOLS_METRICS_DISABLED": "true",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        yield Stack(
            engine,
            table_name,
            tenant,
            freshly_imported(),
        )
