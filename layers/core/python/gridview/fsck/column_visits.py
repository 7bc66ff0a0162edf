"""The part of a check that visits columns: settles suspicions, repairs on request, and collects the findings."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from gridview.derive.families import column_families
from gridview.encoding.sort_strings import body_of, number_of, number_value
from gridview.fsck.chain_check import DerivedSlice
from gridview.fsck.column_check import JudgedPages, JudgedTotal, judge_pages, judge_total, suspect_pages
from gridview.fsck.issue_diff import Difference
from gridview.fsck.progress import RESTLESS, Finding
from gridview.fsck.repairs import Repairs
from gridview.journal.column_fold import recount
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.support import clock
from gridview.support.errors import Overloaded

_TRIES = 4
"""How often a suspicion is judged before it is left for the next run."""

_PAUSE = 1.0
"""Seconds between two looks while a fold goes on."""


class ColumnVisit:
    """Checks the columns of one project for a slice of its issues, and their totals after the last slice.

    `unsettled`: how many pages could not be judged, because folds went on. A total that folds keep moving is not judged: the
    next check finds it at rest.
    """

    def __init__(self, log: Log, catalog: Catalog, repair: Repairs | None) -> None:
        self.findings: list[Finding] = []
        self.unsettled = 0
        self._log = log
        self._catalog = catalog
        self._repair = repair

    def check(self, derived: DerivedSlice, *, whole: bool) -> None:
        """Check the pages of the slice; `whole`: it was the last, so check the totals too."""
        for family in column_families(self._catalog):
            expected = {number_of(key): number_value(body_of(key)) for key in derived.keys.get(family, ())}
            pages = suspect_pages(
                self._log.table, self._catalog, family, expected, derived.among, derived.unknown
            )
            if pages:
                self._settle(family, pages)
            if whole:
                self._check_total(family)

    def _settle(self, family: str, pages: Sequence[int]) -> None:
        judged = self._judged(family, pages)
        self.unsettled += len(judged.unsettled)
        if self._repair is None or not judged.faults:
            self._report(judged.faults, {})
            return
        with suppress(Overloaded):  # what is left is reported
            self._repair.remake(self._log, family, list(judged.faults))
        left = self._judged(family, list(judged.faults))
        self._report(judged.faults, left.faults)
        self.unsettled += len(left.unsettled)

    def _judged(self, family: str, pages: Sequence[int]) -> JudgedPages:
        faults: dict[int, Difference] = {}
        for attempt in range(_TRIES):
            if attempt:
                self._wait()
            judged = judge_pages(self._log, self._catalog, family, pages)
            faults |= judged.faults
            pages = judged.unsettled
            if not pages:
                break
        return JudgedPages(faults, pages)

    def _report(self, found: Mapping[int, Difference], left: Mapping[int, Difference]) -> None:
        if self._repair is None:
            self.findings += (Finding(fault.key, [fault]) for fault in found.values())
            return
        repaired = [fault for page, fault in found.items() if page not in left]
        self.findings += (Finding(fault.key, [fault], repaired=True) for fault in repaired)
        self.findings += (Finding(fault.key, [fault], reason=RESTLESS) for fault in left.values())

    def _check_total(self, family: str) -> None:
        judged = self._judged_total(family)
        if self._repair is not None and (judged.fault is not None or judged.unknown):
            recount(self._log, family)
            after = self._judged_total(family)
            if judged.fault is not None:
                reason = "" if after.fault is None else RESTLESS
                self.findings.append(
                    Finding(judged.fault.key, [judged.fault], repaired=after.fault is None, reason=reason)
                )
        elif judged.fault is not None:
            self.findings.append(Finding(judged.fault.key, [judged.fault]))

    def _judged_total(self, family: str) -> JudgedTotal:
        judged = judge_total(self._log, family)
        for _ in range(_TRIES - 1):
            if judged.settled:
                break
            self._wait()
            judged = judge_total(self._log, family)
        return judged

    def _wait(self) -> None:
        """Give the fold time, or fold, if repairs are allowed."""
        clock.sleep(_PAUSE)
        if self._repair is not None:
            self._repair.fold(self._log)
