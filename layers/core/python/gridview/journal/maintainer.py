"""Brings what is derived from issues up to their images: ledgers, sort entries, and by the journal their keys in blocks.

The stream consumer does this for each changed issue, background passes for every issue of a project, repairs for issues found
wrong. They may meet at an issue: each write carries a condition that a newer write makes fail. `ledger` explains why this holds.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from gridview.derive.families import has_entries
from gridview.derive.images import Image, Underivable, target_of
from gridview.derive.ledger import Ledger, Plan, Telling, plan
from gridview.derive.sort_entries import ENTRY_TOMBSTONE_DAYS, not_overtaken, sort_entry, tombstone
from gridview.dynamodb.errors import ConditionFailed, ItemTooLarge
from gridview.dynamodb.expressions import ABSENT, Condition, Item, revision_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.journal.committer import Pending, Superseded, commit, settled
from gridview.journal.items import FamilyChange, IssueChange
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs, DefinitionsMissing
from gridview.support import backoff, clock
from gridview.support.concurrency import in_threads
from gridview.support.errors import NotFound, Overloaded

LEDGER_TOMBSTONE_DAYS = 60
"""A removed issue's ledger outlives the stream's records (1 day), the dead letters (14 days) and the trash (30 days, and the days
that the table takes to remove an item). A restored issue goes on with its versions and revisions.
"""


def current_catalog(table: Table, catalogs: Catalogs, tenant: str, project: str) -> Catalog | None:
    """The catalog of the table's present epoch, also of a deleted project that can be restored (`Catalogs.kept`).

    None if there are no definitions: nothing is derived from the issues of a project deleted for good (`require_deleted`).
    """
    try:
        return catalogs.kept(table, tenant, project)
    except (DefinitionsMissing, NotFound):
        return None


@dataclass(frozen=True, slots=True)
class Work:
    """The plan for one issue under the definitions of `catalog`, based on the ledger that was `read`.

    `thorough`: have the fold write every block that may hold one of the issue's keys, whether the ledger gives reason to or not.
    `tells`: the journal is to report the image.
    """

    catalog: Catalog | None
    key: str
    read: Ledger
    planned: Plan
    thorough: bool = False
    tells: bool = False

    @property
    def light(self) -> bool:
        """Whether only the ledger differs."""
        return not self.planned.put and not self.planned.clear

    @property
    def needs_journal(self) -> bool:
        """Whether it is committed to the journal.

        A finished ledger that only comes to a newer epoch is not: an invocation believed dead may write that, and die before the
        item when no other comes after it. Neither is anything of a project without definitions: its journal may be gone.
        """
        changes = not self.light or self.tells or self.thorough or self.read.intent is not None
        return self.catalog is not None and changes

    @property
    def project(self) -> tuple[str, str]:
        """Tenant and project."""
        issue = keys.parse_issue(self.key)
        return issue.tenant, issue.project


def work_on(catalog: Catalog | None, image: Image, ledger: Ledger, *, touch: bool = True) -> Work | None:
    """The work that brings an issue's derived items to `image`; None if there is none. Superseded by a newer epoch; Underivable.

    `touch`: write the ledger even if a newer version or epoch makes no other difference, and have the journal tell of the image if
    it has not. What does not come from the stream tells nothing: the history of the issue may not have its version yet.
    """
    epoch = catalog.epoch if catalog is not None else ledger.epoch
    if epoch < ledger.epoch:
        raise Superseded
    target = target_of(catalog, image)
    news = touch and catalog is not None and image.order.version > (ledger.told or 0)
    now = int(clock.seconds())
    found = plan(ledger, image.order, target, epoch, restored=image.restored, tell=news, now=now)
    if found is None or not (touch or found.put or found.clear):
        return None
    return Work(catalog, image.key, ledger, found, tells=news and found.done.order == image.order)


class Subject(NamedTuple):
    """An issue whose derived items are to match `image` under these definitions, starting from its ledger."""

    catalog: Catalog | None
    image: Image
    ledger: Ledger


def derive(
    table: Table,
    issues: Sequence[str],
    read: Callable[[Sequence[str]], Iterable[Subject]],
    *,
    touch: bool = True,
) -> dict[str, Exception]:
    """Bring the derived items of issues to their images; returns the errors that prevented it, by issue.

    `read` returns the present state of issues, and is called again for those that others changed in between; an issue that it omits
    needs no more work. `touch`: as for `work_on`. The errors are those of `carry_out`, Underivable, and Superseded after too many
    lost races.
    """
    failed: dict[str, Exception] = {}
    for attempt in range(backoff.ATTEMPTS):
        works, superseded = [], set()
        for subject in _settled(table, read(issues)):
            key = subject.image.key
            try:
                work = work_on(*subject, touch=touch)
            except Superseded:
                superseded.add(key)
            except Underivable as error:
                failed[key] = error
            else:
                works += [work] if work is not None else []
        for key, trouble in carry_out(table, works).items():
            if isinstance(trouble, Superseded):
                superseded.add(key)
            else:
                failed[key] = trouble
        if not superseded:
            return failed
        backoff.pause(attempt)
        issues = [key for key in issues if key in superseded]
    return failed | {key: Superseded() for key in issues}


def _settled(table: Table, subjects: Iterable[Subject]) -> Iterator[Subject]:
    """The subjects, with ledgers as the journal decides them (`committer.settled`)."""
    named: dict[tuple[str, str], list[Subject]] = defaultdict(list)
    for subject in subjects:
        if subject.catalog is not None and subject.ledger.number:
            named[subject.image.project].append(subject)
        else:
            yield subject
    for project, some in named.items():
        committed = settled(Log(table, *project), (subject.ledger.number for subject in some))
        for subject in some:
            ledger = subject.ledger
            yield subject._replace(ledger=ledger.committed() if committed[ledger.number] else ledger)


def carry_out(table: Table, works: Sequence[Work]) -> dict[str, Exception]:
    """Write the work planned for issues, none of them twice; returns the errors that prevented it, by issue.

    Changes go through the journal (`committer.commit`). A ledger that only comes to a newer epoch is 1 write. Without definitions,
    n entries cost 2 writes of the ledger and n of entries (1 write unit each, and 1 in GSI1). Superseded: another invocation has
    written meanwhile. Overloaded and ItemTooLarge: from the table.
    """
    failed = _commit(table, works)

    def attempt(work: Work) -> None:
        try:
            if not work.light:
                _clear(table, work)
            table.put(_done_item(work), _unchanged(work.read) if work.light else _revision_is(work))
        except ConditionFailed:
            failed[work.key] = Superseded()
        except (Overloaded, ItemTooLarge) as error:
            failed[work.key] = error

    in_threads(attempt, [work for work in works if not work.needs_journal])
    return failed


def _commit(table: Table, works: Iterable[Work]) -> dict[str, Exception]:
    """Commit what the journals are to know."""
    by_project: dict[tuple[str, str], list[Pending]] = defaultdict(list)
    for work in works:
        if work.needs_journal:
            by_project[work.project].append(_pending(work))
    failed: dict[str, Exception] = {}
    for project, pending in by_project.items():
        failed |= commit(Log(table, *project), pending)
    return failed


def _pending(work: Work) -> Pending:
    """The planned change as the journal has it.

    Of an unfinished intent, or in the course of a repair, nobody knows what it has left in blocks, so all of them are written.
    """
    intent, read = work.planned.intent, work.read
    thorough = work.thorough or read.intent is not None
    moves = {}
    for family, one in (intent.intent or {}).items():
        had = (read.applied[family],) if family in read.applied else ()
        moves[family] = FamilyChange((*had, *one.left), one.to, thorough)
    num, telling = keys.parse_issue(work.key).num, _telling(work)
    # Where both are the version itself, a removal tells that somebody has taken the issue out of the table: if it was there.
    tells = telling.to == intent.version and (telling.before != telling.to or bool(read.applied))
    before = telling.before if tells else intent.version + intent.removed
    change = IssueChange(num, *intent.order, intent.revision, moves, before)
    # It is not written again when it is finished.
    ledger = replace(intent, left=work.planned.done.left, telling=telling)
    return Pending(work.key, change, ledger, _unchanged(read), _expires(work))


def _telling(work: Work) -> Telling:
    """What the journal is to tell of the issue.

    A plan that somebody left unfinished tells what it was to tell then. Only the next image from the stream tells what a pass or a
    repair has derived before it.
    """
    intent, read = work.planned.intent, work.read
    if intent.telling is not None:
        return intent.telling
    unfinished = read.telling is not None and read.intent is not None and read.telling.to == intent.version
    return Telling(read.told, intent.version if work.tells or unfinished else read.told)


def _clear(table: Table, work: Work) -> None:
    """Write the intent of a project without definitions, and the entries that it names."""
    planned, key = work.planned, work.key
    revision, version = planned.done.revision, planned.done.version
    condition = not_overtaken(revision)
    table.put(planned.intent.to_item(key, expires=_expires(work)), _unchanged(work.read))
    for family, sort in planned.put.items():
        if has_entries(family):
            table.put(sort_entry(key, family, sort, version=version, revision=revision), condition)
    for family in planned.clear:
        if has_entries(family):
            expires = clock.expiry(ENTRY_TOMBSTONE_DAYS)
            table.put(tombstone(key, family, version=version, revision=revision, expires=expires), condition)


def _done_item(work: Work) -> Item:
    """The finished ledger. If it names a number, the item of that goes on to tell that it is finished, and whether it is folded."""
    done, read = work.planned.done, work.read
    if work.catalog is not None and read.number:
        done = replace(done, intent={}, number=read.number, telling=read.telling)
    return done.to_item(work.key, expires=_expires(work))


def _expires(work: Work) -> int | None:
    return clock.expiry(LEDGER_TOMBSTONE_DAYS) if work.planned.done.removed else None


def _revision_is(work: Work) -> Condition:
    return revision_is(work.planned.done.revision)


def _unchanged(ledger: Ledger) -> Condition:
    """The condition that the ledger is as it was read. An intent and its completion share a revision, so both are checked.

    A project without definitions has both: an invocation that mistook the intent for a dead one's could put a new intent over the
    finished ledger, and die when no other comes after it. A ledger that names a number keeps its intent.
    """
    if not ledger.revision:
        return ABSENT
    unfinished = ledger.intent is not None or ledger.number
    exists = "attribute_exists" if unfinished else "attribute_not_exists"
    return Condition(f"revision = :revision AND {exists}(intent)", values={":revision": ledger.revision})
