"""The work for one issue: from its image and its ledger to the change to commit. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from gridview.derive.images import Image, Underivable, target_of
from gridview.derive.issue_changes import FamilyChange, IssueChange
from gridview.derive.ledger import Ledger, Plan, Report, plan
from gridview.dynamodb.expressions import ABSENT, Condition, revision_is
from gridview.encoding import keys
from gridview.schema.catalog import Catalog


class Superseded(Exception):
    """Another invocation or a newer catalog was faster. Read the ledger again and make a new plan."""


class Subject(NamedTuple):
    """An issue whose derived items are to match `image` under these definitions, starting from its ledger."""

    catalog: Catalog | None
    image: Image
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Pending:
    """The change of one issue: the ledger that intends it, written on a condition."""

    key: str
    change: IssueChange
    ledger: Ledger
    unchanged: Condition


@dataclass(frozen=True, slots=True)
class Work:
    """The plan for one issue under the definitions of `catalog`, based on the ledger that was `read`.

    `thorough`: the fold writes every block that may hold one of the issue's keys, whether the ledger gives
    reason to or not. `reports`: the journal reports the image.
    """

    catalog: Catalog | None
    key: str
    read: Ledger
    planned: Plan
    thorough: bool = False
    reports: bool = False

    @property
    def light(self) -> bool:
        """Whether only the ledger differs."""
        return not self.planned.put and not self.planned.clear

    @property
    def needs_journal(self) -> bool:
        """Return whether it is committed to the journal.

        A finished ledger that only gets a newer epoch is not. An invocation believed dead may write that, and
        end before the item when no other comes after it. Work on a project without definitions is not either:
        its journal may be gone.
        """
        changes = not self.light or self.reports or self.thorough or self.read.intent is not None
        return self.catalog is not None and changes

    @property
    def project(self) -> tuple[str, str]:
        """Tenant and project."""
        issue = keys.parse_issue(self.key)
        return issue.tenant, issue.project

    @property
    def pending(self) -> Pending:
        """The planned change as the journal has it.

        An unfinished intent, or a repair, may have left any of its strings in blocks, so all of them are written.
        """
        intent, read = self.planned.intent, self.read
        thorough = self.thorough or read.intent is not None
        moves = {}
        for family, one in (intent.intent or {}).items():
            had = (read.applied[family],) if family in read.applied else ()
            moves[family] = FamilyChange((*had, *one.left), one.to, thorough)
        num, report = keys.parse_issue(self.key).num, self._report()
        # If both are the version itself, a removal reports that the issue was taken out of the table: if it was there.
        reports = report.to == intent.version and (report.before != report.to or bool(read.applied))
        before = report.before if reports else intent.version + intent.removed
        change = IssueChange(num, *intent.order, intent.revision, moves, before)
        # It is not written again when it is finished.
        ledger = replace(intent, left=self.planned.done.left, report=report)
        return Pending(self.key, change, ledger, self.unchanged)

    @property
    def done(self) -> Ledger:
        """The finished ledger. One that names a number still reports that this is finished, and whether it is
        folded.
        """
        if self.catalog is not None and self.read.number:
            return replace(self.planned.done, intent={}, number=self.read.number, report=self.read.report)
        return self.planned.done

    @property
    def unchanged(self) -> Condition:
        """Return the condition that the ledger is as it was read. An intent and its completion share a
        revision, so both are checked.

        A project without definitions has both. An invocation could mistake the intent for an abandoned one
        and put another over the finished ledger. It could then end when no other comes after it. A ledger
        that names a number keeps its intent.
        """
        read = self.read
        if not read.revision:
            return ABSENT
        unfinished = read.intent is not None or read.number
        exists = "attribute_exists" if unfinished else "attribute_not_exists"
        return Condition(f"revision = :revision AND {exists}(intent)", values={":revision": read.revision})

    @property
    def intended(self) -> Condition:
        """The condition that the ledger is the one that intends the plan."""
        return revision_is(self.planned.done.revision)

    def _report(self) -> Report:
        """Return the journal's report on the issue.

        A plan that was left unfinished makes the report that it was to make then. Versions that a pass or a
        repair has derived are only reported by the next image from the stream.
        """
        intent, read = self.planned.intent, self.read
        if intent.report is not None:
            return intent.report
        unfinished = read.report is not None and read.intent is not None and read.report.to == intent.version
        return Report(read.reported, intent.version if self.reports or unfinished else read.reported)


def work_on(subject: Subject, *, touch: bool = True, now: int) -> Work | None:
    """Return the work that brings an issue's derived items to its image at `now`; None if there is none.

    `touch`: write the ledger even if a newer version or epoch makes no other difference. The journal then
    also reports the image if it has not. Images that do not come from the stream report nothing: the issue's
    history may not have its version yet.

    Superseded by a newer epoch; Underivable.
    """
    catalog, image, ledger = subject
    epoch = catalog.epoch if catalog is not None else ledger.epoch
    if epoch < ledger.epoch:
        raise Superseded
    target = target_of(catalog, image)
    news = touch and catalog is not None and image.order.version > (ledger.reported or 0)
    found = plan(ledger, image.order, target, epoch, news=news, now=now)
    if found is None or not (touch or found.put or found.clear):
        return None
    return Work(catalog, image.key, ledger, found, reports=news and found.done.order == image.order)


def planned(
    subjects: Iterable[Subject], *, touch: bool = True, now: int
) -> tuple[list[Work], dict[str, Exception]]:
    """Return the work for issues, and Superseded and Underivable by issue."""
    works, failed = [], dict[str, Exception]()
    for subject in subjects:
        try:
            work = work_on(subject, touch=touch, now=now)
        except (Superseded, Underivable) as error:
            failed[subject.image.key] = error
        else:
            works += [work] if work is not None else []
    return works, failed
