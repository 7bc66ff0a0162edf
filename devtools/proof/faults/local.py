"""Scenarios over DynamoDB Local: one engine for all of them, a table for each.

Its index follows at once and its reads are of the present, so only the adversary makes anything late.
"""

import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from devtools.local import engine as engines
from devtools.local.table import create_table_input
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.project import TENANT, Engine, prepare
from gridview.dynamodb.metering import Meter
from gridview.dynamodb.table import Table

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


_MADE: list[str] = []
"""The table of the scenario that this process plays."""


@dataclass(frozen=True)
class Tables:
    """Makes a table for each scenario, and removes the one that was made before it: a background job may belong to
    any scenario.

    Without a stream: the simulator delivers the writes.
    """

    endpoint: str

    def __call__(self, seed: int) -> tuple[Table, str]:
        """The table of a scenario, with the prepared project in it."""
        client = _client(self.endpoint)
        while _MADE:
            client.delete_table(TableName=_MADE.pop())
        asked = create_table_input(f"faults-{seed}-{secrets.token_hex(4)}")
        del asked["StreamSpecification"]
        client.create_table(**asked)
        _MADE.append(asked["TableName"])
        table = Table(asked["TableName"], client, Meter(recording=False))
        prepared = MemoryTable()
        prepare(prepared, TENANT)
        table.batch_put(prepared.items.values())
        return table, TENANT


@cache
def _client(endpoint: str) -> "DynamoDBClient":
    return engines.signed(engines.client(endpoint))


def on(engine: engines.Engine) -> Engine:
    """Scenarios over an engine that runs."""
    return Engine("local", Tables(engine.endpoint))


@contextlib.contextmanager
def running() -> Iterator[Engine]:
    """DynamoDB Local, for the time of a `with` block."""
    with engines.running(in_memory=True) as engine:
        yield on(engine)
