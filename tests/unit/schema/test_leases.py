"""How background work saves how far it has come."""

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.dynamodb.errors import ConditionFailed
from gridview.schema.leases import checkpoint

HELD = {"PK": "job", "SK": "job", "revision": 3, "holder": "one", "at": 10}


def test_a_checkpoint_is_saved_once_and_by_who_holds_the_item() -> None:
    table = MemoryTable()
    table.put(HELD)
    after = {**HELD, "revision": 4, "at": 20}
    checkpoint(table, after, 3)
    checkpoint(table, after, 3)  # the SDK repeats a write whose answer was lost
    assert table.get("job", "job") == after
    with pytest.raises(ConditionFailed):
        checkpoint(table, {**after, "holder": "two"}, 3)
    assert table.get("job", "job") == after
