"""Changes that an undo can take back at once, without a request that made them."""

from uuid import UUID

from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.catalog import HistorySetting
from gridview.schema.change_entries import list_items
from gridview.schema.history import Change, Values, expiry_of, to_items
from gridview.support import clock

CHANGE = "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"
BEFORE = "Before"


def items_of(tenant: str, project: str, setting: HistorySetting, change: Change) -> list[Item]:
    """All items in which a change is recorded."""
    own = to_items(tenant, project, change, expiry_of(setting, change.at))
    return [*own, *list_items(tenant, project, setting, [change])]


def put(table: Table, tenant: str = "0807", project: str = "35e9", num: int = 1, by: str = "ann") -> None:
    """Record that a user renamed an issue an hour ago, by its present version, without any lag."""
    document = table.get(keys.issue(tenant, project, num), keys.project(tenant, project))
    assert document is not None
    edited = {"name": Values(BEFORE, document["name"])}
    change = Change(num, document["version"], "update", by, clock.after(-3600), UUID(CHANGE).bytes, edited)
    for item in items_of(tenant, project, HistorySetting(), change):
        table.put(item)
    on_time(table)


def on_time(table: Table, lag: float = 0.0) -> None:
    """Let the stream consumer be so many seconds late."""
    noted = {"taken_in": round(clock.seconds() * 1_000), "lag": round(lag * 1_000)}
    table.put({keys.PK: keys.LAG_OF_BEAT, keys.SK: keys.LAG, **noted})
