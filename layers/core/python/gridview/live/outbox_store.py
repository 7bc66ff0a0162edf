"""Reads and writes the outbox of one webhook."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.dynamodb.expressions import ABSENT, PRESENT, Bound, Condition, Write, delete, put
from gridview.dynamodb.leases import ItemChanged, LeaseLost, held_by, new_holder, release, take, update_held
from gridview.dynamodb.partitions import remove_partition
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys, live_keys
from gridview.live.outbox import Delivery, Outbox, lane_of, sort_key_of
from gridview.schema.jobs import Hint
from gridview.support import clock

_DUE_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class OutboxStore:
    """The outbox of one webhook."""

    table: Table
    tenant: str
    project: str
    webhook: str

    @property
    def partition(self) -> str:
        """Its partition key."""
        return live_keys.outbox(self.tenant, self.project, self.webhook)

    def read(self) -> Outbox | None:
        """Return the outbox, strongly consistent: 1 read unit. None if there is none."""
        item = self.table.get(self.partition, live_keys.OUTBOX, consistent=True)
        return None if item is None else Outbox.from_item(item)

    def close(self) -> None:
        """Delete the outbox of a webhook that is gone: 1 write unit, and 1 in GSI1. Its deliveries expire."""
        self.table.delete(self.partition, live_keys.OUTBOX)

    # Taking and giving back

    def take(self, outbox: Outbox) -> Outbox | None:
        """Take the outbox for the time of a lease. None if it rests, or if another worker holds it; that
        worker then looks once more.

        1 write unit, and 2 in GSI1. A worker that takes it and finds a holder may not know how far that one
        has come.
        """
        now = clock.now()
        if outbox.is_held(now):
            try:
                item = self.table.update(self.partition, live_keys.OUTBOX, PRESENT, assign={"called": True})
            except ConditionFailed:
                return None
            outbox = Outbox.from_item(item)
            if outbox.is_held(now):
                return None
        if outbox.rests > now:
            return None
        # A worker that has been faster looks at the feed after this.
        taken = take(self.table, self.partition, live_keys.OUTBOX, outbox.due, new_holder(), drop=["called"])
        return None if taken is None else Outbox.from_item(taken)

    def save(self, outbox: Outbox) -> None:
        """Save how far it has come: 1 write unit. LeaseLost."""
        update_held(self.table, self.partition, live_keys.OUTBOX, outbox.holder, assign=outbox.progress)

    def postpone(self, outbox: Outbox, due: str) -> None:
        """Save it, still held, due at an instant before the end of the lease: 1 write unit, and 2 in GSI1. LeaseLost."""
        state = {"state": lane_of(slow=outbox.delays_others), keys.SORT: due}
        assign = {**state, **outbox.progress}
        update_held(self.table, self.partition, live_keys.OUTBOX, outbox.holder, assign=assign)

    def give_back(self, outbox: Outbox, due: str | None, *, whatever_has_come: bool = False) -> bool:
        """Save it and release it, due at an instant; None: not due until it is put again. 1 write unit, and 2
        in GSI1.

        False if a writer has called meanwhile: then it is still held. LeaseLost.
        """
        try:
            release(
                self.table,
                self.partition,
                live_keys.OUTBOX,
                outbox.holder,
                due,
                unless="" if whatever_has_come else "called",
                assign={"state": lane_of(slow=outbox.delays_others), **outbox.progress},
                drop=["called"],
            )
        except LeaseLost:
            raise
        except ItemChanged:
            # It looks once more after this, so the call is taken back.
            update_held(self.table, self.partition, live_keys.OUTBOX, outbox.holder, drop=["called"])
            return False
        return True

    # Deliveries

    def recorded(self, deliveries: Sequence[Delivery]) -> frozenset[str]:
        """Return the sort keys of the deliveries that were tried before: a read unit for each of
        `deliveries`.
        """
        places = [(self.partition, one.sort_key) for one in deliveries]
        return frozenset(sk for _, sk in self.table.batch_get(places, consistent=True, paths=()).items)

    def record(self, before: Delivery, after: Delivery) -> None:
        """Record the outcome of an attempt: 1 write unit for a first attempt that succeeded, else 2 for each
        of 2 to 3 items.

        If another worker has written the delivery meanwhile, its record stays: the delivery was replayed, or
        tried twice.
        """
        item = after.to_item(self.partition)
        if not before.due and not after.due:
            try:
                self.table.put(item, ABSENT)
            except ConditionFailed:
                return
            return
        writes: list[Write] = [put(item, _due_at(before.due) if before.due else ABSENT)]
        if before.due:
            writes.append(delete(self.partition, live_keys.retry(before.due, before.sort_key)))
        if after.due:
            writes.append(put(after.retry_item(self.partition)))
        try:
            self.table.transact(writes)
        except TransactionFailed:
            return

    def due_retries(self, limit: int) -> list[Delivery]:
        """Return up to `limit` deliveries that are due for another attempt, the longest wait first.

        A read unit, and one for each delivery. Deletes retry items whose instant differs from that of the
        delivery.
        """
        bound = Bound("between", live_keys.RETRY, live_keys.retry(clock.now(), ""))
        while True:
            page = self.table.query(self.partition, bound=bound, limit=limit, consistent=True, paths=())
            attempts = [live_keys.parse_retry(item[keys.SK]) for item in page.items]
            found = self._deliveries(sort_key for _, sort_key in attempts)
            due: list[Delivery] = []
            for at, sort_key in attempts:
                delivery = found.get(sort_key)
                if delivery is not None and delivery.due == at:
                    due.append(delivery)
                else:
                    self.table.delete(self.partition, live_keys.retry(at, sort_key))
            if due or not attempts:
                return due

    def next_retry(self) -> str | None:
        """When the next attempt is due, None if none is: a read unit."""
        bound = Bound("begins_with", live_keys.RETRY)
        page = self.table.query(self.partition, bound=bound, limit=1, consistent=True, paths=())
        return live_keys.parse_retry(page.items[0][keys.SK])[0] if page.items else None

    def delivery(self, delivery_id: str) -> Delivery | None:
        """Return a delivery, strongly consistent: a read unit. None if there is none."""
        return self._deliveries([sort_key_of(delivery_id)]).get(sort_key_of(delivery_id))

    def _deliveries(self, sort_keys: Iterable[str]) -> dict[str, Delivery]:
        places = [(self.partition, one) for one in dict.fromkeys(sort_keys)]
        if not places:
            return {}
        now = clock.seconds()
        found = self.table.batch_get(places, consistent=True).items
        return {
            sk: Delivery.from_item(item) for (_, sk), item in found.items() if item[keys.TTL_ATTRIBUTE] > now
        }

    def forget_from(self, number: int, left: Callable[[], float]) -> None:
        """Delete the deliveries of a number and all after it, which the journal gives out again. Their retry
        items are removed later.

        A strongly consistent read of them, and a write unit for each KB, until the seconds in `left` are
        over.
        """
        bound = Bound(
            "between", live_keys.delivery(number, 0), live_keys.delivery(derived_keys.MAX_JOURNAL_NUMBER, 0)
        )
        remove_partition(self.table, self.partition, left, bound)

    def replay(self, before: Delivery, after: Delivery) -> list[Write]:
        """Return the writes by which a delivery is due at once. They fail if it is just being tried."""
        return [
            put(after.to_item(self.partition), _due_at(before.due)),
            put(after.retry_item(self.partition)),
        ]

    def wake(self, due: str) -> None:
        """Make the outbox due, though it rests: 1 write unit, and 2 in GSI1. Does nothing if it is held: the
        holder looks anyway.
        """
        with suppress(ConditionFailed):
            self.table.update(
                self.partition, live_keys.OUTBOX, held_by(""), assign={"rests": "", keys.SORT: due}
            )


def _due_at(due: str) -> Condition:
    """Return the condition that the delivery is as it was read: each attempt and each replay makes it due at
    another instant.
    """
    return Condition("#due = :due", {"#due": "due"}, {":due": due})


def due_outboxes(table: Table) -> list[tuple[Hint, bool]]:
    """Return hints at due outboxes, the longest wait first, each with whether it goes through the slow queue.

    One Query of GSI1, half a read unit for each 4 KB: up to 1 MB of them.
    """
    page = table.query(live_keys.OUTBOX, index=True, bound=Bound("<=", clock.now()))
    slow = lane_of(slow=True)
    return [(Hint(item[keys.PK], item[keys.SORT]), item["state"] == slow) for item in page.items]
