"""Scenarios over DynamoDB Local: one engine and one table for all of them, a tenant for each.

Its index follows at once and its reads are of the present, so what is late here is what the adversary makes late.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from devtools import engine as engines
from devtools import table as tables
from devtools.faults.scenarios import Engine, prepare
from gridview.storage import Meter, Table, parse_fast

_TABLE = "faults"


@dataclass(frozen=True)
class Tenants:
    """Prepares a project of a tenant of its own for each scenario."""

    endpoint: str
    name: str

    def __call__(self, seed: int) -> tuple[Table, str]:
        client = engines.client(self.endpoint)
        parse_fast(client)
        table = Table(self.name, client, Meter(recording=False))
        tenant = f"s{seed}"
        prepare(table, tenant)
        return table, tenant


@contextlib.contextmanager
def running() -> Iterator[Engine]:
    """DynamoDB Local, for the time of a `with` block."""
    with engines.running(in_memory=True) as engine:
        tables.ensure(engine.client(), _TABLE)
        yield Engine("local", Tenants(engine.endpoint, _TABLE))
