"""The stream consumer: keeps derived data correct, also after failures of Lambda, the stream and the network.

It records the change in each record (`history`), and folds the batch to the newest image of each issue. It
reads the ledgers and the catalog's epoch strongly consistent, and brings each issue's derived items to its
image (`derive`).

The records of issues that the table refuses for the moment are handed over to upkeep (`redrive`), so that the
shard continues. If the table refuses the history, the shard waits, because readers of the feed need the
history of a version before they see it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gridview.derive.images import NOT_AN_ISSUE, Image, Poison, Underivable
from gridview.derive.ledger import ImageVersion, Ledger
from gridview.derive.work import Subject, Superseded
from gridview.dynamodb.errors import ItemTooLarge
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import item_from_wire
from gridview.journal import history, maintainer
from gridview.maintenance.trash_list import keep_trash
from gridview.maintenance.waiting import Batch, Records, key_of
from gridview.schema.catalog import Catalog, HistorySetting
from gridview.schema.store import Catalogs, DefinitionsMissing, current_catalog, require_deleted
from gridview.schema.trash import is_trashed
from gridview.support import backoff
from gridview.support.errors import Overloaded


@dataclass(frozen=True, slots=True)
class Arrival(Image):
    """The newest image of an issue in a batch, and the sequence number of the issue's first record in it."""

    first: str


def consume(
    table: Table,
    catalogs: Catalogs,
    records: Records,
    send_poison: Callable[[Poison], None],
    hand_over: Callable[[Records], None] | None = None,
) -> str | None:
    """Derive everything from a batch of stream records. None if all is done, else the sequence number of the
    first failed record.

    Each poison issue goes to `send_poison` and then counts as done. So does an issue whose project's
    definitions are missing: it waits for a repair of the table. All records of the issues that the table
    refuses go to `hand_over` and then count as done, unless that raises Overloaded. Costs a strongly
    consistent read of each ledger and two of the projects' epochs, plus the writes of `history.record` and of
    `maintainer.carry_out`.
    """
    try:
        history.record(table, records, partial(_setting, table, catalogs), partial(_removed, catalogs))
        keep_trash(table, records)
    except Overloaded:
        return str(records[0]["dynamodb"]["SequenceNumber"])
    images, poison = fold(records)
    for one in poison:
        send_poison(one)
    failed = _bring_up(table, catalogs, images, send_poison)
    refused = {key for key, error in failed.items() if isinstance(error, Overloaded)}
    if refused and hand_over is not None:
        try:
            hand_over([one for one in records if key_of(one) in refused])
        except Overloaded:
            refused.clear()
        failed = {key: error for key, error in failed.items() if key not in refused}
    return next((image.first for image in images if image.key in failed), None)


def derive_again(
    table: Table, catalogs: Catalogs, batch: Batch, send_poison: Callable[[Poison], None]
) -> Batch:
    """Derive from a batch that has waited; return the rest of the batch. Overloaded: assume that nothing was
    done.

    If its history is not written yet, it is written for the issues that still exist: purged ones stay
    forgotten. Costs as `consume`, and then a strongly consistent read of each document.
    """
    if not batch.recorded:
        here = _documents_of(table, batch.keys)
        there = [one for one in batch.records if key_of(one) in here]
        history.record(table, there, partial(_setting, table, catalogs), partial(_removed, catalogs))
        keep_trash(table, batch.records)
    images, poison = fold(batch.records)
    if not batch.recorded:
        for one in poison:
            send_poison(one)
    failed = _bring_up(table, catalogs, images, send_poison)
    return batch.only([*failed])._replace(recorded=True)


def _documents_of(table: Table, partitions: Iterable[str]) -> set[str]:
    """Return the partition keys that have a document."""
    issues = [(key, keys.parse_issue(key)) for key in partitions if keys.is_issue(key)]
    wanted = [(key, keys.project(issue.tenant, issue.project)) for key, issue in issues]
    return {key for key, _ in table.batch_get(wanted, consistent=True, paths=((keys.PK,),)).items}


def _bring_up(
    table: Table, catalogs: Catalogs, images: Sequence[Arrival], send_poison: Callable[[Poison], None]
) -> dict[str, Overloaded | Superseded]:
    """Bring derived items to these images; return the errors that another attempt may not meet, by issue."""
    by_key = {image.key: image for image in images}
    failed: dict[str, Exception | None] = {}
    left = list(by_key)
    try:
        for _ in backoff.attempts():
            subjects, undefined = _subjects(table, catalogs, [by_key[key] for key in left])
            failed |= dict.fromkeys(left) | undefined | maintainer.derive(table, subjects)
            left = [key for key in left if isinstance(failed[key], Superseded)]
            if not left:
                break
    except Overloaded as busy:
        failed |= dict.fromkeys(left, busy)
    for key, error in failed.items():
        if isinstance(error, ItemTooLarge | Underivable | DefinitionsMissing):
            send_poison(Poison.of(by_key[key], error))
    return {key: error for key, error in failed.items() if isinstance(error, Overloaded | Superseded)}


def _subjects(
    table: Table, catalogs: Catalogs, images: Sequence[Image]
) -> tuple[list[Subject], dict[str, DefinitionsMissing]]:
    """Return the images with the present definitions and ledgers, and the issues without definitions.

    The images come from the batch, even if the issues have changed since: those changes are still to come.
    """
    ledgers = table.batch_get([(image.key, derived_keys.LEDGER) for image in images], consistent=True).items
    current = _catalogs_of(table, catalogs, images)
    subjects, undefined = [], {}
    for image in images:
        catalog = current[image.project]
        if isinstance(catalog, DefinitionsMissing):
            undefined[image.key] = catalog
        else:
            subjects.append(
                Subject(catalog, image, Ledger.from_item(ledgers.get((image.key, derived_keys.LEDGER))))
            )
    return subjects, undefined


def fold(records: Iterable[Mapping[str, Any]]) -> tuple[list[Arrival], list[Poison]]:
    """Return the newest image of each issue, in the order of their first records; and items with an issue's
    key that are not issues.

    Skips records of other items, and of the removal of a deleted issue.
    """
    newest: dict[str, Arrival] = {}
    poison = []
    for record in records:
        stream = record["dynamodb"]
        key, sort_key = stream["Keys"][keys.PK]["S"], stream["Keys"][keys.SK]["S"]
        if not (keys.is_issue(key) and keys.is_project(sort_key)) or _is_no_change(record):
            continue
        try:
            image = _image(key, record["eventName"], stream)
        except NOT_AN_ISSUE as error:
            poison.append(Poison(key, 0, f"{type(error).__name__}: {error}"))
            continue
        known = newest.get(key)
        if known is None:
            newest[key] = image
        elif image.order > known.order:
            newest[key] = replace(image, first=known.first)
    return list(newest.values()), poison


def _is_no_change(record: Mapping[str, Any]) -> bool:
    """Return whether a record says that a deleted issue was permanently removed from the trash. Its delete
    was the change.
    """
    return record["eventName"] == "REMOVE" and is_trashed(record["dynamodb"].get("OldImage", {}))


def _image(key: str, event: str, stream: Mapping[str, Any]) -> Arrival:
    removed = event == "REMOVE"
    document = item_from_wire(stream["OldImage" if removed else "NewImage"])
    order = ImageVersion(int(document["version"]), removed or is_trashed(document))
    return Arrival(
        key=key,
        issue=keys.parse_issue(key),
        order=order,
        document=document,
        first=stream["SequenceNumber"],
    )


def _setting(table: Table, catalogs: Catalogs, project: history.ProjectKey) -> HistorySetting | None:
    """Return a project's setting of the history; None if the project was deleted. The default if its
    definitions are missing.
    """
    found = _definitions(table, catalogs, *project)
    if isinstance(found, DefinitionsMissing):
        return HistorySetting()
    return None if found is None else found.history


def _removed(catalogs: Catalogs, project: history.ProjectKey, key: str) -> bool:
    """Return whether an attribute was permanently deleted, by the definitions that `_setting` has just looked
    at.
    """
    known = catalogs.known(*project)
    return known is not None and known.removed(key)


def _catalogs_of(
    table: Table, catalogs: Catalogs, images: Iterable[Image]
) -> dict[tuple[str, str], Catalog | DefinitionsMissing | None]:
    return {
        project: _definitions(table, catalogs, *project)
        for project in dict.fromkeys(image.project for image in images)
    }


def _definitions(
    table: Table, catalogs: Catalogs, tenant: str, project: str
) -> Catalog | DefinitionsMissing | None:
    """Return the current catalog, None for a deleted project. Without this check, lost definitions would
    clear a project's index.
    """
    catalog = current_catalog(table, catalogs, tenant, project)
    if catalog is None:
        try:
            require_deleted(table, tenant, project)
        except DefinitionsMissing as error:
            return error
    return catalog
