"""Places rows in the manual order of a view.

The placements of a project take effect one after the other (`schema.placements`). One transaction writes the documents of
some of the rows, each with its rank and its next version.
"""

import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Literal, NamedTuple, Protocol

from gridview.commands.context import WriteContext
from gridview.commands.placing_request import OrderRequest
from gridview.dynamodb.errors import TransactionFailed
from gridview.dynamodb.expressions import Item, Key, put, version_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.attribute_values import item_size
from gridview.encoding.consistency import Recent
from gridview.encoding.fractional_keys import LONG_KEY, Draw, NoRoom, between, default_key_above
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.document_store import issue_key
from gridview.schema.documents import Document
from gridview.schema.manual_orders import ManualOrder
from gridview.schema.placements import MOST, Full, LongRank, Neighbors, Placements, RankedRow
from gridview.schema.trash import living
from gridview.support import backoff, clock
from gridview.support.errors import AnchorGone, Conflict, IndexBuilding, Overloaded

TOGETHER = 90
"""The most documents that one transaction writes, which takes 100 items."""

_BYTES_TOGETHER = 3_000_000
"""The most bytes of these documents. A transaction takes 4 MB."""

_FEW = 2
"""Rows beside a place that are read first. More are read if all of them are about to be moved themselves."""

_ATTEMPTS = 10


class PlacedRow(NamedTuple):
    """A row that was placed: its issue, its rank, and the version of the document."""

    num: int
    rank: str
    version: int


class RowsBeside(Protocol):
    """Returns the rows beside a row of the order, as `query.neighbors` does. `recent`: the writes to include."""

    def __call__(self, beside: RankedRow | None, limit: int, recent: Recent, *, backward: bool) -> Neighbors:
        """Return up to `limit` rows after a row, or `backward` before it, the nearest first."""


class Gap(NamedTuple):
    """The ranks between which rows are placed (None: there is no limit), and the one to stay near.

    `pending`: the issues whose placements the index lacked when the neighbors were read.
    """

    low: str | None
    high: str | None
    lean: Literal["low", "high"] | None = None
    pending: Collection[int] = ()

    def below(self, rank: str) -> "Gap":
        """Return the part of the gap below a rank; the whole gap if the rank is outside."""
        beyond = self.high is not None and self.lean != "low" and self.high <= rank
        outside = beyond or (self.low is not None and rank <= self.low)
        return self if outside else self._replace(high=rank, lean=None)


class _Done(NamedTuple):
    """How many rows of the request are done, and which of them exist, in place."""

    seen: int
    rows: list[PlacedRow]


@dataclass(frozen=True, slots=True)
class Placing:
    """Places rows in an order, under the definitions of a context. `draw`: returns random numbers."""

    context: WriteContext
    order: ManualOrder
    rows_beside: RowsBeside
    draw: Draw = lambda: random.random()  # noqa: S311  (no secret, and the simulator has its own)

    def place(self, request: OrderRequest) -> list[PlacedRow]:
        """Place rows together, in the order of the request. Returns the existing ones as they are then.

        AnchorGone if the row beside which they go does not exist; IndexBuilding if ranks there would be too long. Conflict if
        other placements keep coming first; Overloaded while the index lacks too many placements. Then some of the rows may
        have been placed.

        For each 90 rows:
        - reads: strongly consistent, the placements and each document; and a result page of a few rows beside the place;
        - writes: a transaction of the placements and the documents, at twice the units of each.

        Rows that are already in place are not written.
        """
        anchor, backward = request.anchor, request.backward
        # The later rows go after the earlier ones, and still before the anchor: the index may not have it yet.
        limit = anchor if backward else None
        left, placed = list(request.nums), list[PlacedRow]()
        while left:
            moving = frozenset(request.nums)
            done = self._some(left[:TOGETHER], anchor, limit, backward=backward, moving=moving)
            placed += done.rows
            left = left[done.seen :]
            if done.rows:
                anchor, backward = done.rows[-1].num, False
        return placed

    def _some(
        self,
        nums: Sequence[int],
        anchor: int | None,
        limit: int | None,
        *,
        backward: bool,
        moving: Collection[int],
    ) -> _Done:
        is_late = False
        for attempt in range(_ATTEMPTS):
            before, found = self._read([*nums, *(one for one in (anchor, limit) if one is not None)])
            row = None
            if anchor is not None:
                if anchor not in found:
                    raise AnchorGone(f"Issue {anchor}, beside which the rows go, does not exist any more.")
                row = RankedRow(anchor, self.order.value_in(found[anchor]))
            some = next(in_transactions(found[num] for num in nums if num in found), [])
            seen = nums.index(some[-1]["num"]) + 1 if some else len(nums)
            gap = self._gap(row, before, moving, backward=backward)
            if limit is not None and limit in found and not backward:
                gap = gap.below(self.order.value_in(found[limit]))
            if self._fits(some, gap):
                return _Done(seen, [self._placed(one) for one in some])
            try:
                written = self._written(before, some, gap)
            except (TransactionFailed, Full) as error:
                is_late = isinstance(error, Full)
                backoff.pause(min(attempt, backoff.ATTEMPTS))
                continue
            return _Done(seen, [self._placed(one) for one in written])
        if is_late:
            raise Overloaded(
                f"The index lacks the last {MOST:,} placements in this project. Try again later."
            )
        raise Conflict("Other requests are changing this order. Try again.")

    def _read(self, nums: Iterable[int]) -> tuple[Placements, dict[int, Document]]:
        """Return the placements, and the documents of the issues that exist. The epoch is read beside them."""
        context = self.context
        return context.epoch.beside(
            context.table, partial(read_placements, context.table, context.catalog, nums)
        )

    def _gap(
        self, row: RankedRow | None, before: Placements, moving: Collection[int], *, backward: bool
    ) -> Gap:
        """Return the gap beside a row (None: at the end of the order, `backward`: at its beginning)."""
        recent = before.writes_known(self.context.catalog.project, clock.seconds())
        # From an end of the order, its first row is looked for in the other direction.
        inward = backward if row is not None else not backward
        other: RankedRow | None = None
        for limit in (_FEW, len(moving) + _FEW):
            near, pending = self.rows_beside(row, limit, recent, backward=inward)
            others = (one for one in near if one.num not in moving and (row is None or one.rank != row.rank))
            other = next(others, None)
            if other is not None or len(near) < limit:
                break
        own, others_rank = (None if one is None else one.rank for one in (row, other))
        gap = gap_between(others_rank, own) if inward else gap_between(own, others_rank)
        return gap._replace(pending=pending)

    def _fits(self, some: Sequence[Document], gap: Gap) -> bool:
        """Return whether the rows are in place already."""
        limit = None if gap.lean == "low" else gap.high
        ranks = [gap.low, *map(self.order.value_in, some), limit]
        return all(one < other for one, other in pairwise(one for one in ranks if one is not None))

    def _written(self, before: Placements, some: Sequence[Document], gap: Gap) -> list[Document]:
        context, now = self.context, clock.now()
        catalog, seconds = context.catalog, clock.seconds()
        try:
            ranks = between(gap.low, gap.high, self.draw, len(some), lean=gap.lean)
        except NoRoom:
            self._shorten(before, gap)
        written = [
            documents.placed(
                one, self.order.key, rank, user=context.actor.user, now=now, change=context.change
            )
            for one, rank in zip(some, ranks, strict=True)
        ]
        after = before.adding({one["num"]: one["version"] for one in written}, seconds, pending=gap.pending)
        longest = max(ranks, key=len)
        if len(longest) > LONG_KEY:
            after = after.to_shorten(LongRank(self.order.key, longest), now)
        write_placements(context.table, catalog, before, after, written)
        return written

    def _shorten(self, before: Placements, gap: Gap) -> None:
        """Have the ranks of the gap rebalanced, and refuse the request."""
        context = self.context
        rank = LongRank(self.order.key, gap.low or gap.high or "")
        after = before.to_shorten(rank, clock.now())
        if after != before:
            write_placements(context.table, context.catalog, before, after, ())
        raise IndexBuilding(
            "This part of the order is being rebalanced. Send the request again in a minute.",
            members={"build": None},
        )

    def _placed(self, document: Document) -> PlacedRow:
        return PlacedRow(document["num"], self.order.value_in(document), document["version"])


def gap_between(low: str | None, high: str | None) -> Gap:
    """Return the gap between the ranks of neighbors (None: there is none).

    After the last row, new issues still have room behind the rows that are placed.
    """
    if high is None and low is not None:
        return Gap(low, default_key_above(low), "low")
    return Gap(low, high, "high" if low is None and high is not None else None)


def read_placements(
    table: Table, catalog: Catalog, nums: Iterable[int]
) -> tuple[Placements, dict[int, Document]]:
    """Return the placements of a project, and the documents of those issues that exist, by number. Strongly consistent."""
    state: Key = (keys.placements(catalog.tenant, catalog.project), keys.JOB)
    wanted = {num: issue_key(catalog, num) for num in nums}
    found = table.batch_get([state, *wanted.values()], consistent=True).items
    there = {num: living(found.get(key)) for num, key in wanted.items()}
    alive = {num: one for num, one in there.items() if one is not None}
    return Placements.from_item(found.get(state)), alive


def write_placements(
    table: Table, catalog: Catalog, before: Placements, after: Placements, written: Iterable[Item]
) -> None:
    """Write documents of the next version with the placements, in one transaction. TransactionFailed."""
    saved = before.saved_as(after, catalog.tenant, catalog.project)
    table.transact([saved, *(put(one, version_is(one["version"] - 1)) for one in written)])


def in_transactions(found: Iterable[Document]) -> Iterator[list[Document]]:
    """Return the documents, as many together as a transaction takes by their bytes."""
    some, size = list[Document](), 0
    for one in found:
        size += item_size(one)
        if some and size > _BYTES_TOGETHER:
            yield some
            some, size = [], item_size(one)
        some.append(one)
    if some:
        yield some
