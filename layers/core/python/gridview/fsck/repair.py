"""Repairs the data derived from one issue, in any state and beside any other writer.

A repair follows the protocol of every derivation (`ledger`, `committer`). First comes a ledger that intends
everything again under a revision above all existing ones. The journal item that commits it follows, then the
entries; the fold writes the blocks. So consumers, passes, invocations believed dead, folds and other repairs
may meet it at any point.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from gridview.derive.families import with_entries
from gridview.derive.images import Underivable, target_of
from gridview.derive.ledger import EVERY_FAMILY, ImageVersion, Intent, Ledger, Plan, Report, left_after
from gridview.derive.sort_entries import UnknownSpec
from gridview.derive.work import Superseded, Work
from gridview.dynamodb.errors import ConditionFailed, ItemTooLarge
from gridview.dynamodb.expressions import Condition, Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.fsck.issue_diff import LEFT_ALONE, Collection, compared, is_entry
from gridview.journal.committer import settled
from gridview.journal.log import Log
from gridview.journal.maintainer import carry_out
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs, DefinitionsMissing, current_catalog, require_deleted
from gridview.schema.trash import KEPT_DAYS, LIVING, TRASHED, is_trashed
from gridview.support import backoff, clock
from gridview.support.concurrency import in_threads
from gridview.support.errors import Overloaded

_LEAP = 100
"""Revisions skipped if a ledger is lost: more than there may be writes in flight under unknown revisions."""

_REPORTED = (DefinitionsMissing, ItemTooLarge, Overloaded, Superseded, Underivable, UnknownSpec)

_STALE = 10.0
"""Seconds after which the definitions are read again: an operator's process may be suspended for any time, at
any point.
"""


class _Prepared(NamedTuple):
    """The remaining work for an issue before the definitions are `stale` (a stored instant); and whether some
    was done already.
    """

    work: Work | None
    stale: str
    changed: bool


def repair_issue(
    table: Table,
    catalogs: Catalogs,
    partition_key: str,
    version_hint: int = 0,
) -> bool:
    """Repair the data derived from an issue: its ledger, its sort entries and its keys in blocks. False if
    the ledger and the entries were right. Raises the errors of `repair_issues`.

    `version_hint` is a version that the issue is known to have had (from a dead letter), 0 for none.
    """
    done = repair_issues(table, catalogs, {partition_key: version_hint})[partition_key]
    if isinstance(done, Exception):
        raise done
    return done


def repair_issues(table: Table, catalogs: Catalogs, hints: Mapping[str, int]) -> dict[str, bool | Exception]:
    """Like `repair_issue`, for several issues, which share an item of the journal; return the outcome of each.
    `hints` are by key.

    Underivable, UnknownSpec and ItemTooLarge: the repair is impossible. DefinitionsMissing: the project's
    definitions are missing. Overloaded and Superseded: it may succeed later.

    Costs a strongly consistent read of all items of an issue. If something is wrong, it also costs a write of
    each item. The fold then writes each block in which the issue has a key.
    """
    results: dict[str, bool | Exception] = {}
    changed: set[str] = set()
    left = list(hints)
    for _ in backoff.attempts():

        def prepare(key: str) -> _Prepared | Exception:
            try:
                return _prepare(table, catalogs, key, hints[key])
            except _REPORTED as error:
                return error

        prepared = dict(zip(left, in_threads(prepare, left), strict=True))
        works = []
        for key, one in prepared.items():
            results[key] = one if isinstance(one, Exception) else one.changed or key in changed
            if isinstance(one, _Prepared) and one.changed:
                changed.add(key)
            if isinstance(one, _Prepared) and one.work is not None:
                results[key] = Superseded()
                if clock.now() <= one.stale:
                    results[key] = True
                    works.append(one.work)
        results |= carry_out(table, works)
        left = [key for key in left if isinstance(results[key], Superseded)]
        if not left:
            break
    return results


def _prepare(table: Table, catalogs: Catalogs, key: str, hint: int) -> _Prepared:
    try:
        collection = Collection.of(key, table.query_all(key, consistent=True))
    except ValueError as error:
        raise Underivable("not the key of an issue") from error
    foreign = [item for item in collection.strangers if is_entry(item)]
    for item in foreign:  # no ledger knows of them
        _remove(table, item)
    issue = collection.issue
    # Read after the ledger, so that the ledger was never derived from anything newer than the document. The
    # exception is an older document that someone restored by hand, which then holds.
    collection.document = table.get(key, keys.project(issue.tenant, issue.project), consistent=True)
    expiry_repaired = _repair_expiry(table, collection.document)
    stale = clock.after(_STALE)
    catalog = current_catalog(table, catalogs, issue.tenant, issue.project)
    if catalog is None and collection.document is not None:
        require_deleted(table, issue.tenant, issue.project)
    ledger = _look_up(table, collection, catalog)
    malformed = [collection.entries[order_id] for order_id in collection.malformed]
    if ledger is None and collection.ledger is not None:
        malformed.append(collection.ledger)
    for item in malformed:  # nobody else writes it: it fails every condition
        _remove(table, item)
    if ledger is None or malformed:
        return _prepare(table, catalogs, key, hint)._replace(changed=True)
    planned = _plan(collection, ledger, catalog, hint)
    work = None if planned is None else Work(catalog, key, ledger, planned, thorough=True)
    return _Prepared(work, stale, bool(foreign) or expiry_repaired)


def _remove(table: Table, item: Item) -> None:
    """Remove an item, unless another repair was faster, and a sound one is there."""
    stored = item.get("revision")
    as_read = Condition("revision = :revision", values={":revision": stored})
    with suppress(ConditionFailed):
        table.delete(
            item[keys.PK],
            item[keys.SK],
            as_read if "revision" in item else Condition("attribute_not_exists(revision)"),
        )


def _repair_expiry(table: Table, document: Item | None) -> bool:
    """Take from an issue the expiry that only a deleted one has, or give it to that. Whether there was
    anything to do.
    """
    if document is None or is_trashed(document) is (keys.TTL_ATTRIBUTE in document):
        return False
    place = document[keys.PK], document[keys.SK]
    with suppress(ConditionFailed):  # just deleted or restored by another writer
        if is_trashed(document):
            table.update(*place, TRASHED, default={keys.TTL_ATTRIBUTE: clock.expiry(KEPT_DAYS)})
            document[keys.TTL_ATTRIBUTE] = clock.expiry(KEPT_DAYS)
        else:
            table.update(*place, LIVING, drop=(keys.TTL_ATTRIBUTE,))
            del document[keys.TTL_ATTRIBUTE]
    return True


def _look_up(table: Table, collection: Collection, catalog: Catalog | None) -> Ledger | None:
    """Return the ledger, after its project's journal was asked whether it is finished; None if it is
    malformed.
    """
    ledger = collection.read_ledger()
    if ledger is not None and ledger.number and catalog is not None:
        outcomes = settled(Log(table, catalog.tenant, catalog.project), (ledger.number,))
        collection.committed = outcomes[ledger.number]
    return collection.read_ledger()


def _plan(collection: Collection, ledger: Ledger, catalog: Catalog | None, hint: int) -> Plan | None:
    """Return the plan, or None if nothing is wrong. If anything is wrong all is written, so that no write in
    flight can undo it.
    """
    image = collection.image()
    target = {} if image is None else target_of(catalog, image)
    order = (
        image.order if image else ImageVersion(max(ledger.version, collection.version, hint), removed=True)
    )
    unknown_here = image is None and hint > 0 and ledger.order < order
    wrong = any(one.kind not in LEFT_ALONE for one in compared(collection, catalog))
    entries = with_entries(target)
    if not wrong and not unknown_here and collection.live == entries:
        return None
    present = {**ledger.present}
    for family, entry in collection.entries.items():
        if keys.SORT in entry:
            present[family] = tuple(dict.fromkeys((*present.get(family, ()), entry[keys.SORT])))
        elif entry.get("revision", 0) > ledger.revision or keys.TTL_ATTRIBUTE not in entry:
            present.setdefault(family, ())
    epoch = catalog.epoch if catalog is not None else ledger.epoch
    lost = collection.ledger is None or collection.revision > ledger.revision
    revision = collection.revision + _LEAP if lost else ledger.revision + 1
    now = int(clock.seconds())
    left = left_after(ledger, present, {**present, **target}, now)
    # A lost ledger's records of other families are unknown, and so are the journal's reports of the issue.
    left |= {EVERY_FAMILY: ()} if lost else {}
    report = Report(None, None) if lost and catalog is not None else None
    done = Ledger(order.version, order.removed, epoch, revision, target, left=left, at=now, report=report)
    intents = {
        family: Intent(
            target.get(family),
            tuple(sort for sort in present.get(family, ()) if sort != ledger.applied.get(family)),
        )
        for family in {**present, **target}
    }
    return Plan(
        intent=replace(done, applied=ledger.applied, intent=intents, left=ledger.left_by(now)),
        put=target,
        clear=tuple(family for family in present if family not in target),
        done=done,
    )
