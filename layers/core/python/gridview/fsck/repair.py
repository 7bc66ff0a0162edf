"""Repair: what is derived from one issue is brought right, whatever is there and whoever else is at work on it.

It goes the way of every derivation (`ledger`): an intent under a revision above all that are found, then the entries, then it is
done. So consumers, passes, invocations thought dead and other repairs may meet it at any point.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from gridview.dynamodb.errors import ItemTooLarge
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.fsck.issue_diff import Collection, DifferenceKind, compared, is_entry
from gridview.index.families import has_entries
from gridview.index.fence_cache import Fences
from gridview.index.images import Underivable, target_of
from gridview.index.ledger import ImageVersion, Intent, Ledger, Plan
from gridview.index.maintainer import Superseded, Work, carry_out, current_catalog
from gridview.index.sort_entries import UnknownSpec
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs, DefinitionsMissing, require_deleted
from gridview.support import backoff, clock
from gridview.support.concurrency import in_threads
from gridview.support.errors import Overloaded

_LEAP = 100
"""Revisions that are left out when a ledger is lost: more than there may be writes in flight under revisions nobody can see."""

_LEFT_ALONE = frozenset({DifferenceKind.UNKNOWN, DifferenceKind.ORPHAN})
"""What is not derived, so that only a person can tell what it is there for."""

_TOLD = (DefinitionsMissing, ItemTooLarge, Overloaded, Superseded, Underivable, UnknownSpec)

_STALE = 10.0
"""Seconds after which the definitions are read again: a process of an operator may be stopped for any time, at any point."""


class _Prepared(NamedTuple):
    """What is left to do for an issue, before the definitions are `stale` (a stored instant); and whether some was done already."""

    work: Work | None
    stale: str
    changed: bool


def mend(
    table: Table,
    catalogs: Catalogs,
    partition_key: str,
    version_hint: int = 0,
    fences: Fences | None = None,
) -> bool:
    """Bring what is derived from an issue right: its ledger, its sort entries and its places in blocks; False when the ledger and
    the entries were. Raises what `mend_all` tells.

    `version_hint` is a version that the issue is known to have had (a dead letter's), 0 for none.
    """
    done = mend_all(table, catalogs, {partition_key: version_hint}, fences)[partition_key]
    if isinstance(done, Exception):
        raise done
    return done


def mend_all(
    table: Table, catalogs: Catalogs, hints: Mapping[str, int], fences: Fences | None = None
) -> dict[str, bool | Exception]:
    """As `mend`, of several issues, which share their writes of blocks; tells of each what came of it. `hints` are by key.

    Underivable, UnknownSpec and ItemTooLarge say that it cannot be done, DefinitionsMissing that the project's definitions are not
    there, Overloaded, Superseded and Unreadable (a block) that it may be done later. A strongly consistent read of all items of an
    issue, and where something is wrong a write for each of them and each block in which it has a place.
    """
    fences = fences or Fences()
    results: dict[str, bool | Exception] = {}
    changed: set[str] = set()
    left = list(hints)
    for attempt in range(backoff.ATTEMPTS):

        def prepare(key: str) -> _Prepared | Exception:
            try:
                return _prepare(table, catalogs, key, hints[key])
            except _TOLD as error:
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
        results |= carry_out(table, fences, works)
        left = [key for key in left if isinstance(results[key], Superseded)]
        if not left:
            break
        backoff.pause(attempt)
    return results


def _prepare(table: Table, catalogs: Catalogs, key: str, hint: int) -> _Prepared:
    try:
        collection = Collection.of(key, table.query_all(key, consistent=True))
    except ValueError as error:
        raise Underivable("not the key of an issue") from error
    foreign = [item for item in collection.strangers if is_entry(item)]
    for item in foreign:  # no ledger knows of them
        table.delete(key, item[keys.SK])
    issue = collection.issue
    # Read after the ledger: so what the ledger was derived from is never newer than the document, unless somebody went back to
    # an older one by hand, which then holds.
    collection.document = table.get(key, keys.project(issue.tenant, issue.project), consistent=True)
    stale = clock.after(_STALE)
    catalog = current_catalog(table, catalogs, issue.tenant, issue.project)
    if catalog is None and collection.document is not None:
        require_deleted(table, issue.tenant, issue.project)
    ledger = collection.read_ledger()
    malformed = [keys.order(issue.tenant, issue.project, order_id) for order_id in collection.malformed]
    if ledger is None:
        malformed.append(keys.LEDGER)
    for sort_key in malformed:  # nobody else writes it: it fails every condition
        table.delete(key, sort_key)
    if ledger is None or malformed:
        return _prepare(table, catalogs, key, hint)._replace(changed=True)
    planned = _plan(collection, ledger, catalog, hint)
    work = None if planned is None else Work(catalog, key, ledger, planned, thorough=True)
    return _Prepared(work, stale, bool(foreign))


def _plan(collection: Collection, ledger: Ledger, catalog: Catalog | None, hint: int) -> Plan | None:
    """What to write, None for nothing. Where anything is wrong all is written: so nothing that is still in flight can undo it."""
    image = collection.image()
    target = {} if image is None else target_of(catalog, image)
    order = (
        image.order if image else ImageVersion(max(ledger.version, collection.version, hint), removed=True)
    )
    unheard_of = image is None and hint > 0 and ledger.order < order
    wrong = any(one.kind not in _LEFT_ALONE for one in compared(collection, catalog))
    standing = {family: string for family, string in target.items() if has_entries(family)}
    if not wrong and not unheard_of and collection.live == standing:
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
    done = Ledger(order.version, order.removed, epoch, revision, target)
    intents = {
        family: Intent(
            target.get(family),
            tuple(sort for sort in present.get(family, ()) if sort != ledger.applied.get(family)),
        )
        for family in {**present, **target}
    }
    return Plan(
        intent=replace(done, applied=ledger.applied, intent=intents),
        put=target,
        clear=tuple(family for family in present if family not in target),
        done=done,
    )
