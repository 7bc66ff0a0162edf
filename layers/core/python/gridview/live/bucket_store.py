"""Buckets in the table: one number of an item, which concurrent calls change without a lock."""

from typing import Any

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import Condition
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.live.token_buckets import TokenBucket
from gridview.support import clock


class BucketEmpty(Exception):
    """Nothing is left in a bucket for now."""


def take(
    table: Table, key: tuple[str, str], bucket: TokenBucket, spent: int, *, expires: int | None = None
) -> None:
    """Take one out of the bucket of an item, last seen as `spent` (milliseconds): 1 write unit, a second one where two
    come together.

    With `expires` a missing item is a full bucket, and is written with that expiry. BucketEmpty, which usually takes no
    write. ConditionFailed: the item is missing.
    """
    now = clock.seconds()
    if not bucket.has_room(spent, now):
        raise BucketEmpty
    instant = round(now * 1_000)
    if spent <= instant:
        made = "" if expires is None else "attribute_not_exists(PK) OR "
        is_full = Condition(f"{made}spent <= :now", values={":now": instant})
        expiry: dict[str, Any] = {} if expires is None else {keys.TTL_ATTRIBUTE: expires}
        try:
            table.update(*key, is_full, assign={"spent": instant + bucket.step, **expiry})
            return
        except ConditionFailed as error:
            if error.item is None:
                raise
            if not bucket.has_room(int(error.item["spent"]), now):
                raise BucketEmpty from None
    has_room = Condition("spent <= :fullest", values={":fullest": bucket.fullest(now)})
    try:
        table.update(*key, has_room, add={"spent": bucket.step})
    except ConditionFailed as error:
        if error.item is None:
            raise
        raise BucketEmpty from None
