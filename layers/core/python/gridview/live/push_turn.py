"""The turn to push: in a small account one invocation pushes at a time, so that requests keep the rest of the
account's concurrency.

The invocations without the turn note which sockets are owed, and end. The one with the turn serves these
notes too, before it gives the turn back. A note written just after that waits for the minute's task, or for
the next commit.
"""

import uuid
from contextlib import suppress
from typing import Final

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import Condition
from gridview.dynamodb.table import Table
from gridview.encoding import keys, live_keys
from gridview.support import clock

SECONDS: Final = 45.0
"""Seconds after which the turn of a crashed invocation is over: longer than one can last."""


def take(owners: Table) -> str | None:
    """Return the name of the new holder of the turn; None: another has it. 1 write unit."""
    holder = uuid.uuid4().hex
    free = Condition(
        "attribute_not_exists(#until) OR #until < :now", {"#until": "until"}, {":now": clock.now()}
    )
    item = {
        keys.PK: live_keys.PUSHING,
        keys.SK: live_keys.PUSHING,
        "holder": holder,
        "until": clock.after(SECONDS),
        keys.TTL_ATTRIBUTE: clock.expiry(1),
    }
    try:
        owners.put(item, free)
    except ConditionFailed:
        return None
    return holder


def give_back(owners: Table, holder: str) -> None:
    """Let others have the turn, unless another has taken it by now. 1 write unit."""
    own = Condition("#holder = :holder", {"#holder": "holder"}, {":holder": holder})
    with suppress(ConditionFailed):
        owners.delete(live_keys.PUSHING, live_keys.PUSHING, own)
