"""What is derived from issues: ledgers, sort entries and places in blocks, brought to their images by conditional writes.

The stream consumer does this for each changed issue, background passes for every issue of a project, repairs for those found
wrong. They may meet at an issue: each write carries a condition that a newer one makes fail. `ledger` tells why this holds.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gridview.dynamodb.errors import ConditionFailed, ItemTooLarge
from gridview.dynamodb.expressions import ABSENT, Condition, Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.index.block_writer import BlockWriter, KeyChange, still_at
from gridview.index.families import FamilyKind, families_of, has_entries, is_key, keys_of, kind_of
from gridview.index.fence_cache import Fences
from gridview.index.images import Image, Underivable, target_of
from gridview.index.ledger import Ledger, Plan, plan
from gridview.index.sort_entries import sort_entry, tombstone
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs, DefinitionsMissing
from gridview.support import backoff, clock
from gridview.support.concurrency import in_threads
from gridview.support.errors import NotFound, Overloaded

ENTRY_TOMBSTONE_DAYS = 7
"""A cleared entry's tombstone outlives every write that may still be in flight."""

LEDGER_TOMBSTONE_DAYS = 30
"""A removed issue's ledger outlives the stream's records (1 day) and the dead letters (14 days)."""


class Superseded(Exception):
    """Another invocation, or a newer catalog, was faster: read the ledger again and plan anew."""


def current_catalog(table: Table, catalogs: Catalogs, tenant: str, project: str) -> Catalog | None:
    """The catalog as it is now; None without definitions: a deleted project's issues derive nothing (`require_deleted`)."""
    try:
        return catalogs.current(table, tenant, project)
    except (DefinitionsMissing, NotFound):
        return None


@dataclass(frozen=True, slots=True)
class Work:
    """What was planned for one issue under the definitions of `catalog` from the ledger that was `read`.

    `thorough`: every block is written that may hold one of the issue's keys, whether the ledger gives reason to or not.
    """

    catalog: Catalog | None
    key: str
    read: Ledger
    planned: Plan
    thorough: bool = False

    @property
    def light(self) -> bool:
        """Whether nothing but the ledger differs."""
        return not self.planned.put and not self.planned.clear

    @property
    def project(self) -> tuple[str, str]:
        """Tenant and project."""
        issue = keys.parse_issue(self.key)
        return issue.tenant, issue.project


def work_on(catalog: Catalog | None, image: Image, ledger: Ledger, *, touch: bool = True) -> Work | None:
    """What makes an issue's derived items those of `image`; None for nothing. Superseded by a newer epoch; Underivable.

    `touch`: write a ledger to which a newer version or epoch makes no other difference.
    """
    epoch = catalog.epoch if catalog is not None else ledger.epoch
    if epoch < ledger.epoch:
        raise Superseded
    found = plan(ledger, image.order, target_of(catalog, image), epoch, restored=image.restored)
    if found is None or not (touch or found.put or found.clear):
        return None
    return Work(catalog, image.key, ledger, found)


class Subject(NamedTuple):
    """An issue whose derived items are to become those of `image`, by these definitions, from what the ledger says is there."""

    catalog: Catalog | None
    image: Image
    ledger: Ledger


def derive(
    table: Table,
    fences: Fences,
    issues: Sequence[str],
    read: Callable[[Sequence[str]], Iterable[Subject]],
    *,
    touch: bool = True,
) -> dict[str, Exception]:
    """Bring the derived items of issues to their images; gives what kept that from being done, by issue.

    `read` gives issues as they are now, and is asked again for those that others got in between of; an issue that it gives no more
    is done with. `touch`: as of `work_on`. What `carry_out` gives, Underivable, or Superseded by others again and again.
    """
    failed: dict[str, Exception] = {}
    for attempt in range(backoff.ATTEMPTS):
        works, superseded = [], set()
        for subject in read(issues):
            key = subject.image.key
            try:
                work = work_on(*subject, touch=touch)
            except Superseded:
                superseded.add(key)
            except Underivable as error:
                failed[key] = error
            else:
                works += [work] if work is not None else []
        for key, trouble in carry_out(table, fences, works).items():
            if isinstance(trouble, Superseded):
                superseded.add(key)
            else:
                failed[key] = trouble
        if not superseded:
            return failed
        backoff.pause(attempt)
        issues = [key for key in issues if key in superseded]
    return failed | {key: Superseded() for key in issues}


def carry_out(table: Table, fences: Fences, works: Sequence[Work]) -> dict[str, Exception]:
    """Write what was planned for issues, each at most once among them; gives what kept it from being done, by issue.

    Superseded: another has written meanwhile. Overloaded and ItemTooLarge: of the table. Unreadable: one of its blocks. With n
    entries to change: 2 writes of the ledger and n of entries (1 write unit each, and 1 in GSI1); and blocks, which all issues
    share (`block_writer`).
    """
    failed: dict[str, Exception] = {}

    def all_do(step: Callable[[Work], None], chosen: Iterable[Work]) -> None:
        def attempt(work: Work) -> None:
            try:
                step(work)
            except ConditionFailed:
                failed[work.key] = Superseded()
            except (Overloaded, ItemTooLarge) as error:
                failed[work.key] = error

        in_threads(attempt, chosen)

    all_do(
        lambda work: table.put(_done_item(work), _unchanged(work.read)), [one for one in works if one.light]
    )
    by_project: dict[tuple[str, str], list[Work]] = defaultdict(list)
    for work in works:
        if not work.light:
            by_project[work.project].append(work)
    for project, chosen in by_project.items():
        places = {work.key: list(_places(work)) for work in chosen}
        chains = BlockWriter(table, *project, fences)
        try:
            failed |= chains.read(place for some in places.values() for place in some)
            begun = [work for work in chosen if work.key not in failed]
            all_do(lambda work: _begin(table, work), begun)
            revisions = {work.key: work.planned.done.revision for work in begun if work.key not in failed}
            written = chains.write(
                [place for key in revisions for place in places[key]],
                still_at(table, revisions, intent=True),
            )
        except Overloaded as error:
            failed.update((work.key, error) for work in chosen)
            continue
        failed |= written.failed
        failed.update((key, Superseded()) for key in written.lost)
        all_do(
            lambda work: table.put(_done_item(work), _revision_is(work)),
            [work for work in chosen if work.key not in failed],
        )
    return failed


def _begin(table: Table, work: Work) -> None:
    """The intent, and the entries that it names."""
    planned, key = work.planned, work.key
    revision, version = planned.done.revision, planned.done.version
    not_overtaken = Condition(
        "attribute_not_exists(PK) OR revision <= :revision", values={":revision": revision}
    )
    table.put(planned.intent.to_item(key, expires=_expires(work)), _unchanged(work.read))
    for family, sort in planned.put.items():
        if has_entries(family):
            table.put(sort_entry(key, family, sort, version=version, revision=revision), not_overtaken)
    for family in planned.clear:
        if has_entries(family):
            expires = clock.expiry(ENTRY_TOMBSTONE_DAYS)
            table.put(
                tombstone(key, family, version=version, revision=revision, expires=expires), not_overtaken
            )


def _done_item(work: Work) -> Item:
    return work.planned.done.to_item(work.key, expires=_expires(work))


def _expires(work: Work) -> int | None:
    return clock.expiry(LEDGER_TOMBSTONE_DAYS) if work.planned.done.removed else None


def _revision_is(work: Work) -> Condition:
    return Condition("revision = :revision", values={":revision": work.planned.done.revision})


def _places(work: Work) -> Iterator[KeyChange]:
    """Where the issue is to be in blocks, and where not, in every family that the intent names.

    Families that nobody writes any more are left out: their blocks are removed as they are (`chains.remove_family`).
    """
    intent = work.planned.intent
    for family in families_of(work.catalog) if work.catalog is not None else ():
        if family not in (intent.intent or {}):
            continue
        target = work.planned.done.applied.get(family)
        wanted = _keys(work, family, () if target is None else (target,))
        had = _keys(work, family, intent.present.get(family, ()))
        if kind_of(family) is FamilyKind.TOKENS and work.read.intent is None and not work.thorough:
            # What a finished ledger says is so: tokens that stay need no write.
            kept = wanted & _keys(work, family, work.read.present.get(family, ()))
            wanted, had = wanted - kept, had - kept
        yield from (KeyChange(work.key, family, key, present=True) for key in sorted(wanted))
        yield from (KeyChange(work.key, family, key, present=False) for key in sorted(had - wanted))


def _keys(work: Work, family: str, derived: Iterable[str]) -> frozenset[str]:
    """The keys of an issue; what somebody has put into its ledger by hand may be none, and then is in no block."""
    num = keys.parse_issue(work.key).num
    return frozenset(key for one in derived if is_key(one, num) for key in keys_of(family, one))


def _unchanged(ledger: Ledger) -> Condition:
    """The ledger stands as it was read. An intent and what it comes to have the same revision, so both are asked for.

    Else who took the intent for a dead one's could put a new one over the finished ledger, and die with nobody coming after.
    """
    if not ledger.revision:
        return ABSENT
    unfinished = "attribute_not_exists" if ledger.intent is None else "attribute_exists"
    return Condition(f"revision = :revision AND {unfinished}(intent)", values={":revision": ledger.revision})
