"""Removes the partitions of a deleted project's histories, activity and outboxes."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from gridview.dynamodb.expressions import Item
from gridview.dynamodb.partitions import AT_ONCE, remove_partition
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys, live_keys
from gridview.schema.change_entries import activity_entries
from gridview.support.concurrency import in_threads


def remove_histories(table: Table, tenant: str, project: str, numbers: Iterable[int]) -> None:
    """Delete the history of these issues: a strongly consistent read of each, and a write unit for each KB."""
    in_threads(
        lambda num: remove_partition(table, derived_keys.history(tenant, project, num), lambda: 1.0),
        list(numbers),
    )


def remove_activity(table: Table, tenant: str, project: str, left: Callable[[], float]) -> bool:
    """Delete a project's changes in the order of time, with their members; False if the seconds in `left` ran
    out.

    Another call continues. Costs a strongly consistent read of all, and a write unit for each item.
    """
    partition = derived_keys.activity(tenant, project)
    while left() > 0:
        page = table.query(partition, consistent=True, limit=AT_ONCE)
        for group in _groups(page.items):
            parts = [derived_keys.change(tenant, project, one) for one in group.changes]
            # The activity goes last: without it nothing would name the change any more.
            if not all(in_threads(partial(remove_partition, table, left=left), parts)):
                return False
            in_threads(lambda item: table.delete(partition, item[keys.SK]), group.items)
        if page.last is None:
            return True
    return False


class _ActivityGroup(NamedTuple):
    """Items of an activity, and the changes that they name."""

    items: list[Item]
    changes: set[bytes]


def _groups(items: Iterable[Item]) -> list[_ActivityGroup]:
    """Return the items in groups that name few changes each: a page may name 5,000, too many for the rest of a turn."""
    groups = [_ActivityGroup([], set())]
    for item in items:
        changes = {entry["change"] for entry in activity_entries(item) if "change" in entry}
        if len(groups[-1].changes | changes) > AT_ONCE:
            groups.append(_ActivityGroup([], set()))
        groups[-1].items.append(item)
        groups[-1].changes.update(changes)
    return groups


def remove_jobs(table: Table, tenant: str, project: str, left: Callable[[], float]) -> bool:
    """Delete a project's user jobs, with all that belongs to them; False if the seconds in `left` ran out.

    Another call continues. A job that the tenant's line still lists leaves it at its next turn. Costs a
    strongly consistent read of all, and a write unit for each KB.
    """
    partition = keys.jobs(tenant, project)
    for item in table.query_all(partition, consistent=True, paths=()):
        parts = keys.job_parts(tenant, project, item[keys.SK])
        # Its parts go first: without the job nothing names them.
        if not remove_partition(table, parts, left):
            return False
        table.delete(partition, item[keys.SK])
    return True


def remove_outboxes(table: Table, tenant: str, project: str, left: Callable[[], float]) -> bool:
    """Delete the outboxes of a project's webhooks, with their deliveries; False if the seconds in `left` ran
    out.

    The webhooks stay: they list the outboxes. Another call continues. Costs a strongly consistent read of
    all, and a write unit for each KB.
    """
    webhooks = table.query_all(live_keys.webhooks(tenant, project), consistent=True, paths=())
    return all(
        remove_partition(table, live_keys.outbox(tenant, project, one[keys.SK]), left) for one in webhooks
    )
