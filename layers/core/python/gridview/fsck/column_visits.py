"""The part of a check that visits columns: settles suspicions, repairs on request, and collects the findings."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from gridview.derive.families import column_families
from gridview.encoding.sort_strings import body_of, number_of, number_value
from gridview.fsck.chain_check import DerivedSlice
from gridview.fsck.column_check import JudgedTotal, judge_pages, judge_total, stray_items, suspect_pages
from gridview.fsck.issue_diff import Difference
from gridview.fsck.progress import RESTLESS, Finding
from gridview.fsck.repairs import Repairs
from gridview.journal.column_fold import recount
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.support import clock
from gridview.support.errors import Overloaded

_TRIES = 4
"""How often a total is judged that folds keep moving."""

_PAUSE = 1.0
"""Seconds between two looks while a fold goes on."""


class ColumnVisit:
    """Checks the columns of one project for a slice of its issues, and their totals after the last slice.

    A total that folds keep moving is not judged: a later check finds it at rest.
    """

    def __init__(self, log: Log, catalog: Catalog, repair: Repairs | None) -> None:
        self.findings: list[Finding] = []
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
                self._check_strays(family)
                self._check_total(family)

    def _settle(self, family: str, pages: Sequence[int]) -> None:
        found = self._judged(family, pages)
        left: Mapping[int, Difference] = {}
        if self._repair is not None and found:
            with suppress(Overloaded):  # what is left is reported
                self._repair.remake(self._log, family, list(found))
            left = self._judged(family, list(found))
        self._report(found, left)

    def _judged(self, family: str, pages: Sequence[int]) -> dict[int, Difference]:
        """The faults that are there again after a pause: uncertain changes of an issue are folded by then."""
        found = judge_pages(self._log, self._catalog, family, pages)
        if not found:
            return {}
        self._wait()
        return judge_pages(self._log, self._catalog, family, list(found))

    def _report(self, found: Mapping[int, Difference], left: Mapping[int, Difference]) -> None:
        if self._repair is None:
            self.findings += (Finding(fault.key, [fault]) for fault in found.values())
            return
        repaired = [fault for page, fault in found.items() if page not in left]
        self.findings += (Finding(fault.key, [fault], repaired=True) for fault in repaired)
        self.findings += (Finding(fault.key, [fault], reason=RESTLESS) for fault in left.values())

    def _check_strays(self, family: str) -> None:
        for fault in stray_items(self._log, family):
            if self._repair is not None:
                self._repair.discard(fault.key, fault.place)
            self.findings.append(Finding(fault.key, [fault], repaired=self._repair is not None))

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
