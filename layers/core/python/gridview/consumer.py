"""The stream consumer: keeps what is derived from issues, whatever Lambda, the stream and the network do.

A batch is folded to the newest image of each issue; ledgers and the catalog's epoch are read strongly consistent; `ledger.plan`
says what to write; and each write carries a condition that a newer one makes fail. `ledger` tells why this holds.
"""

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gridview import clock, keys
from gridview.catalog import Catalog
from gridview.catalogs import Catalogs
from gridview.errors import NotFound, Overloaded
from gridview.indexing import sort_entry, sort_strings, tombstone
from gridview.keys import IssueKey
from gridview.ledger import Ledger, Order, Plan, plan
from gridview.storage import Condition, ConditionFailed, Item, ItemTooLarge, Table
from gridview.wire import item_from_wire

ENTRY_TOMBSTONE_DAYS = 7
"""A cleared entry's tombstone outlives every write that may still be in flight."""

LEDGER_TOMBSTONE_DAYS = 30
"""A removed issue's ledger outlives the stream's records (1 day) and the dead letters (14 days)."""

_CONCURRENCY = 8
_ATTEMPTS = 6
"""How often an issue is planned anew because another invocation was at work on it."""

_PAUSE = 0.05
"""Seconds, at most, before it is planned the second time; twice as many each time after that."""


@dataclass(frozen=True, slots=True)
class Image:
    """The newest image of an issue in a batch, and the sequence number of the issue's first record in it."""

    key: str
    issue: IssueKey
    order: Order
    document: Item
    first: str

    @property
    def project(self) -> tuple[str, str]:
        """Tenant and project."""
        return self.issue.tenant, self.issue.project


class Poison(NamedTuple):
    """An issue from which nothing can be derived, however often one tries. `error` names no value of the issue."""

    key: str
    version: int
    error: str


class Underivable(Exception):
    """Nothing can be derived from an image. Derivation is pure: what fails in it fails every time."""


class Superseded(Exception):
    """Another invocation, or a newer catalog, was faster: read the ledger again and plan anew."""


def consume(
    table: Table,
    catalogs: Catalogs,
    records: Sequence[Mapping[str, Any]],
    send_poison: Callable[[Poison], None],
) -> str | None:
    """Derive what a batch of stream records asks for. None when all is done, else the sequence number of the first that is not.

    A poison issue is handed to `send_poison` and counts as done. A new issue of n indexed values takes 2 writes of its ledger and
    n of sort entries (1 write unit each, and 1 in GSI1); a strongly consistent read of each ledger and of the projects' epochs.
    """
    images, poison = fold(records)
    for one in poison:
        send_poison(one)
    failed: set[str] = set()
    try:
        ledgers = table.batch_get([(image.key, keys.LEDGER) for image in images], consistent=True).items
        current = _catalogs_of(table, catalogs, images)
    except Overloaded:
        return images[0].first

    def settle(image: Image) -> None:
        ledger = Ledger.from_item(ledgers.get((image.key, keys.LEDGER)))
        try:
            _settle(table, catalogs, current[image.project], image, ledger)
        except (Overloaded, Superseded):
            failed.add(image.first)
        except (ItemTooLarge, Underivable) as error:
            # All else (a lost permission, say) is no fault of the issue, and fails the batch.
            send_poison(Poison(image.key, image.order.version, str(error)))

    with ThreadPoolExecutor(_CONCURRENCY) as pool:
        list(pool.map(settle, images))
    return next((image.first for image in images if image.first in failed), None)


def fold(records: Iterable[Mapping[str, Any]]) -> tuple[list[Image], list[Poison]]:
    """The newest image of each issue, in the order of the issues' first records, and what is no issue though its key says so.

    Other items' records are passed over.
    """
    newest: dict[str, Image] = {}
    poison = []
    for record in records:
        stream = record["dynamodb"]
        key, sort_key = stream["Keys"][keys.PK]["S"], stream["Keys"][keys.SK]["S"]
        if not key.startswith(keys.ISSUE_PREFIX) or not sort_key.startswith(keys.PROJECT_PREFIX):
            continue
        try:
            image = _image(key, record["eventName"] == "REMOVE", stream)
        except (KeyError, TypeError, ValueError) as error:
            poison.append(Poison(key, 0, f"{type(error).__name__}: {error}"))
            continue
        known = newest.get(key)
        if known is None:
            newest[key] = image
        elif image.order > known.order:
            newest[key] = replace(image, first=known.first)
    return list(newest.values()), poison


def _image(key: str, removed: bool, stream: Mapping[str, Any]) -> Image:
    issue = keys.parse_issue(key)
    document = item_from_wire(stream["OldImage" if removed else "NewImage"])
    return Image(key, issue, Order(int(document["version"]), removed), document, stream["SequenceNumber"])


def _catalogs_of(
    table: Table, catalogs: Catalogs, images: Iterable[Image]
) -> dict[tuple[str, str], Catalog | None]:
    return {
        project: _current(table, catalogs, *project)
        for project in dict.fromkeys(image.project for image in images)
    }


def _current(table: Table, catalogs: Catalogs, tenant: str, project: str) -> Catalog | None:
    """The catalog of the epoch that stands in the table now; None for a deleted project, whose issues derive nothing."""
    stored = table.get(keys.project(tenant, project), keys.CATALOG, consistent=True)
    if stored is None:
        return None
    try:
        return catalogs.at_epoch(table, tenant, project, stored["epoch"])
    except NotFound:
        return None


def _settle(table: Table, catalogs: Catalogs, catalog: Catalog | None, image: Image, ledger: Ledger) -> None:
    """Bring one issue's entries to its image; again with a fresh ledger and catalog as long as others get in between."""
    for attempt in range(_ATTEMPTS):
        try:
            index(table, catalog, image, ledger)
        except Superseded:
            # Two that overtake each other at every step would go on so: let one of them finish.
            time.sleep(random.uniform(0, _PAUSE * 2**attempt))  # noqa: S311  (not a secret)
            ledger = Ledger.from_item(table.get(image.key, keys.LEDGER, consistent=True))
            catalog = _current(table, catalogs, *image.project)
        else:
            return
    raise Superseded


def index(table: Table, catalog: Catalog | None, image: Image, ledger: Ledger) -> None:
    """Plan and carry out what makes an issue's sort entries those of `image`; Superseded when a condition does not hold."""
    epoch = catalog.epoch if catalog is not None else ledger.epoch
    if epoch < ledger.epoch:
        raise Superseded
    planned = plan(ledger, image.order, _target(catalog, image), epoch)
    if planned is not None:
        _carry_out(table, image.key, ledger, planned)


def _target(catalog: Catalog | None, image: Image) -> dict[str, str]:
    if catalog is None or image.order.removed:
        return {}
    try:
        return sort_strings(catalog, image.document)
    except Exception as error:
        raise Underivable(f"{type(error).__name__}: {error}") from error


def _carry_out(table: Table, key: str, read: Ledger, planned: Plan) -> None:
    revision, version = planned.done.revision, planned.done.version
    expires = clock.expiry(LEDGER_TOMBSTONE_DAYS) if planned.done.removed else None
    unchanged = (
        Condition("revision = :revision", values={":revision": read.revision})
        if read.revision
        else Condition("attribute_not_exists(PK)")
    )
    not_overtaken = Condition(
        "attribute_not_exists(PK) OR revision <= :revision", values={":revision": revision}
    )
    ours = Condition("revision = :revision", values={":revision": revision})
    try:
        if not planned.put and not planned.clear:
            table.put(planned.done.to_item(key, expires=expires), unchanged)
            return
        table.put(planned.intent.to_item(key, expires=expires), unchanged)
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
