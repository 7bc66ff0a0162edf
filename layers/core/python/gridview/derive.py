"""What is derived from one issue: its sort entries and its ledger, brought to an image of it by conditional writes.

The stream consumer does this for each changed issue, background passes for every issue of a project, repairs for those found
wrong. They may meet at an issue: each write carries a condition that a newer one makes fail. `ledger` tells why this holds.
"""

import random
from dataclasses import dataclass
from typing import NamedTuple, Self

from gridview import clock, keys
from gridview.catalog import Catalog
from gridview.catalogs import Catalogs
from gridview.errors import NotFound
from gridview.indexing import UnknownSpec, sort_entry, sort_strings, tombstone
from gridview.keys import IssueKey
from gridview.ledger import Ledger, Order, Plan, plan
from gridview.storage import ABSENT, Condition, ConditionFailed, Item, Table

ENTRY_TOMBSTONE_DAYS = 7
"""A cleared entry's tombstone outlives every write that may still be in flight."""

LEDGER_TOMBSTONE_DAYS = 30
"""A removed issue's ledger outlives the stream's records (1 day) and the dead letters (14 days)."""

ATTEMPTS = 6
"""How often an issue is planned anew because another invocation was at work on it."""

_PAUSE = 0.05
"""Seconds, at most, before it is planned the second time; twice as many each time after that."""


NOT_AN_ISSUE = (KeyError, TypeError, ValueError)
"""What reading an item raises that stands at an issue's key and is none."""


@dataclass(frozen=True, slots=True)
class Image:
    """What an issue is, or was when it was removed, as of one version."""

    key: str
    issue: IssueKey
    order: Order
    document: Item
    restored: bool
    """It was put where nothing stood, and is not the first version."""

    @property
    def project(self) -> tuple[str, str]:
        """Tenant and project."""
        return self.issue.tenant, self.issue.project

    @classmethod
    def of(cls, document: Item) -> Self:
        """Of a stored document; Underivable when it is no issue, whatever its key says."""
        try:
            key = document[keys.PK]
            return cls(
                key, keys.parse_issue(key), Order(int(document["version"]), removed=False), document, False
            )
        except NOT_AN_ISSUE as error:
            raise Underivable(f"{type(error).__name__}: {error}") from error


class Poison(NamedTuple):
    """An issue from which nothing can be derived, however often one tries. `error` names no value of the issue."""

    key: str
    version: int
    error: str

    @classmethod
    def of(cls, image: Image, error: Exception) -> Self:
        """When this came of an attempt."""
        return cls(image.key, image.order.version, str(error))


class Underivable(Exception):
    """Nothing can be derived from an image, or what there is is none. Derivation is pure: what fails in it fails every time."""


class Superseded(Exception):
    """Another invocation, or a newer catalog, was faster: read the ledger again and plan anew."""


def current_catalog(table: Table, catalogs: Catalogs, tenant: str, project: str) -> Catalog | None:
    """The catalog of the epoch that stands in the table now; None for a deleted project, whose issues derive nothing.

    A strongly consistent read of one small item, and of the definitions when the copy here is older.
    """
    stored = table.get(keys.project(tenant, project), keys.CATALOG, consistent=True)
    if stored is None:
        return None
    try:
        return catalogs.at_epoch(table, tenant, project, stored["epoch"])
    except NotFound:
        return None


def pause(attempt: int) -> None:
    """Wait a little, longer each time: two that overtake each other at every step would go on so; let one of them finish."""
    clock.sleep(random.uniform(0, _PAUSE * 2**attempt))  # noqa: S311  (not a secret)


def index(table: Table, catalog: Catalog | None, image: Image, ledger: Ledger, *, touch: bool = True) -> None:
    """Plan and carry out what makes an issue's sort entries those of `image`; Superseded when a condition does not hold.

    With n entries to change: 2 writes of the ledger and n of entries (1 write unit each, and 1 in GSI1). `touch`: write a
    ledger to which a newer version or epoch makes no other difference.
    """
    epoch = catalog.epoch if catalog is not None else ledger.epoch
    if epoch < ledger.epoch:
        raise Superseded
    planned = plan(ledger, image.order, target_of(catalog, image), epoch, restored=image.restored)
    if planned is not None and (touch or planned.put or planned.clear):
        carry_out(table, image.key, ledger, planned)


def target_of(catalog: Catalog | None, image: Image) -> dict[str, str]:
    """The sort strings that an image asks for, by order id; Underivable. `catalog` is None where the project is deleted."""
    if catalog is None or image.order.removed:
        return {}
    try:
        return sort_strings(catalog, image.document)
    except UnknownSpec:
        raise  # no fault of the issue: a newer version of this code can do it
    except Exception as error:
        raise Underivable(f"{type(error).__name__}: {error}") from error


def carry_out(table: Table, key: str, read: Ledger, planned: Plan) -> None:
    """Write what was planned from the ledger `read`; Superseded when another has written meanwhile."""
    revision, version = planned.done.revision, planned.done.version
    expires = clock.expiry(LEDGER_TOMBSTONE_DAYS) if planned.done.removed else None
    not_overtaken = Condition(
        "attribute_not_exists(PK) OR revision <= :revision", values={":revision": revision}
    )
    ours = Condition("revision = :revision", values={":revision": revision})
    try:
        if not planned.put and not planned.clear:
            table.put(planned.done.to_item(key, expires=expires), _unchanged(read))
            return
        table.put(planned.intent.to_item(key, expires=expires), _unchanged(read))
        for order_id, sort in planned.put.items():
            table.put(sort_entry(key, order_id, sort, version=version, revision=revision), not_overtaken)
        for order_id in planned.clear:
            expires_entry = clock.expiry(ENTRY_TOMBSTONE_DAYS)
            table.put(
                tombstone(key, order_id, version=version, revision=revision, expires=expires_entry),
                not_overtaken,
            )
        table.put(planned.done.to_item(key, expires=expires), ours)
    except ConditionFailed as error:
        raise Superseded from error


def _unchanged(ledger: Ledger) -> Condition:
    """The ledger stands as it was read. An intent and what it comes to have the same revision, so both are asked for.

    Else who took the intent for a dead one's could put a new one over the finished ledger, and die with nobody coming after.
    """
    if not ledger.revision:
        return ABSENT
    unfinished = "attribute_not_exists" if ledger.intent is None else "attribute_exists"
    return Condition(f"revision = :revision AND {unfinished}(intent)", values={":revision": ledger.revision})
