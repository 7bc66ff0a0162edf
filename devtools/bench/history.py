"""Write units that the history adds to a create, an edit and a delete: in a small project, since they depend on no size."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from devtools.bench import issues
from devtools.bench.functions import Functions, event, record
from devtools.bench.measure import images
from gridview.commands.actor import Actor
from gridview.dynamodb.table import Table
from gridview.journal import history
from gridview.schema.catalog import HistorySetting

CREATE: Final = "create"
EDIT: Final = "edit of one field"
DELETE: Final = "delete"

_PROJECT: Final = "history"
_ISSUES: Final = 20
_SETTINGS: Final = {"on": HistorySetting(), "off": HistorySetting(enabled=False)}


@dataclass(frozen=True, slots=True)
class Remembered:
    """Write units that one change of an issue takes to be remembered, means of 20 issues: with the history on, and
    off.

    `stored`: only of the change, as the API has written it.
    """

    kind: str
    stored: float
    on: float
    off: float


def remembered(functions: Functions, actor: Actor, table: Table) -> list[Remembered]:
    """Create, edit and delete some issues, and remember each change by itself, as the stream consumer does."""
    catalog = issues.make_project(table, actor, _PROJECT)
    path = f"/v1/projects/{_PROJECT}/issues"

    def stored(requests: Sequence[Any]) -> float:
        with functions.metered() as units:
            for request in requests:
                functions.command(request)
        return units.write / len(requests)

    def put(kind: str, requests: Sequence[Any], numbers: Sequence[int], *, new: bool = False) -> Remembered:
        before = [None] * len(numbers) if new else images(table, catalog, numbers)
        units = stored(requests)
        after = images(table, catalog, numbers)
        records = [record(*pair, at) for at, pair in enumerate(zip(before, after, strict=True), 1)]
        costs = {name: _cost(functions, records, setting) for name, setting in _SETTINGS.items()}
        return Remembered(kind, units, **costs)

    numbers = range(1, _ISSUES + 1)
    values = range(40_000_000, 40_000_000 + _ISSUES)
    bodies = issues.bodies(_ISSUES, seed=4)
    return [
        put(CREATE, [event(actor, "POST", path, body) for body in bodies], numbers, new=True),
        put(
            EDIT,
            [
                event(actor, "PATCH", f"{path}/{num}", {"fields": {issues.NUMBER: value}})
                for num, value in zip(numbers, values, strict=True)
            ],
            numbers,
        ),
        put(DELETE, [event(actor, "DELETE", f"{path}/{num}") for num in numbers], numbers),
    ]


def _cost(functions: Functions, records: Sequence[Any], setting: HistorySetting) -> float:
    """Write units of each of these stream records."""
    costs = []
    for one in records:
        with functions.metered() as units:
            history.record(functions.consumers_table, [one], lambda _: setting)
        costs.append(units.write)
    return statistics.mean(costs)
