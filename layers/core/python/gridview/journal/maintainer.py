"""Brings the derived items of issues up to their images: ledgers, sort entries, and by the journal their keys
in blocks.

The stream consumer does this for each changed issue, background passes for every issue of a project, repairs
for issues found wrong. They may meet at an issue: each write carries a condition that a newer write makes
fail. `ledger` explains why this is safe.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from gridview.derive.families import has_entries
from gridview.derive.sort_entries import ENTRY_TOMBSTONE_DAYS, not_overtaken, sort_entry, tombstone
from gridview.derive.work import Pending, Subject, Superseded, Work, planned
from gridview.dynamodb.errors import ConditionFailed, ItemTooLarge
from gridview.dynamodb.table import Table
from gridview.journal.committer import commit, ledger_item, settled
from gridview.journal.log import Log
from gridview.support import clock
from gridview.support.concurrency import in_threads
from gridview.support.errors import Overloaded


def derive(table: Table, subjects: Iterable[Subject], *, touch: bool = True) -> dict[str, Exception]:
    """Bring the derived items of issues to their images; return the errors that prevented it, by issue.

    The errors are as for `carry_out`, and Underivable. Superseded: read the issue again and repeat. `touch`:
    as for `work_on`.
    """
    works, failed = planned(_settled(table, subjects), touch=touch, now=int(clock.seconds()))
    return failed | carry_out(table, works)


def _settled(table: Table, subjects: Iterable[Subject]) -> Iterator[Subject]:
    """Return the subjects, with ledgers as the journal decides them (`committer.settled`)."""
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

    Changes go through the journal (`committer.commit`). A ledger that only comes to a newer epoch is 1 write.
    Without definitions, n entries cost 2 writes of the ledger and n of entries (1 write unit each, and 1 in
    GSI1). Superseded: another invocation has written meanwhile. Overloaded and ItemTooLarge: from the table.
    """
    failed = _commit(table, works)

    def attempt(work: Work) -> None:
        try:
            if not work.light:
                _clear(table, work)
            table.put(ledger_item(work.key, work.done), work.unchanged if work.light else work.intended)
        except ConditionFailed:
            failed[work.key] = Superseded()
        except (Overloaded, ItemTooLarge) as error:
            failed[work.key] = error

    in_threads(attempt, [work for work in works if not work.needs_journal])
    return failed


def _commit(table: Table, works: Iterable[Work]) -> dict[str, Exception]:
    """Commit the changes that journals list."""
    by_project: dict[tuple[str, str], list[Pending]] = defaultdict(list)
    for work in works:
        if work.needs_journal:
            by_project[work.project].append(work.pending)
    failed: dict[str, Exception] = {}
    for project, pending in by_project.items():
        failed |= commit(Log(table, *project), pending)
    return failed


def _clear(table: Table, work: Work) -> None:
    """Write the intent of a project without definitions, and the entries that it names."""
    plan, key = work.planned, work.key
    revision, version = plan.done.revision, plan.done.version
    condition = not_overtaken(revision)
    table.put(ledger_item(key, plan.intent), work.unchanged)
    for family, sort in plan.put.items():
        if has_entries(family):
            table.put(sort_entry(key, family, sort, version=version, revision=revision), condition)
    for family in plan.clear:
        if has_entries(family):
            expires = clock.expiry(ENTRY_TOMBSTONE_DAYS)
            table.put(tombstone(key, family, version=version, revision=revision, expires=expires), condition)
