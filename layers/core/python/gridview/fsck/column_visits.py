"""The part of a check that visits columns: settles suspicions, repairs on request, and collects the findings.

A slice of issues names the pages that are suspects. Each column is visited on its own, since a project may have 400.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal

from gridview.derive.families import column_families
from gridview.dynamodb.table import Table
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
from gridview.support.concurrency import chunked
from gridview.support.errors import Overloaded

PAGES = 20
"""Pages of a column that are judged together: 5,120 ledgers, read twice."""

_TRIES = 4
"""How often a total is judged that folds keep moving."""

_PAUSE = 1.0
"""Seconds between two looks while a fold goes on."""


def suspects(table: Table, catalog: Catalog, derived: DerivedSlice) -> list[str]:
    """Return the parts of columns that a slice of issues makes suspects, in the order of columns.

    Half a read unit for each 4 KB of the slice's pages.
    """
    return [
        _part(family, some)
        for family in column_families(catalog)
        for some in chunked(
            suspect_pages(table, catalog, family, _numbers(derived, family), derived.among, derived.unknown),
            PAGES,
        )
    ]


def whole_columns(catalog: Catalog) -> list[str]:
    """Return all columns, each as one part."""
    return [_part(family) for family in column_families(catalog)]


def _part(family: str, pages: Iterable[int] = ()) -> str:
    """Name a part: `a3.1 0 7` for pages 0 and 7 of a column, `a3.1` for what concerns all of it."""
    return " ".join((family, *map(str, pages)))


def _numbers(derived: DerivedSlice, family: str) -> dict[int, Decimal]:
    return {number_of(key): number_value(body_of(key)) for key in derived.keys.get(family, ())}


class ColumnVisit:
    """Checks a part of a column: some of its pages, or else its total and whether all of its items are pages.

    A total that folds keep moving is not judged: a later check finds it at rest.
    """

    def __init__(self, log: Log, catalog: Catalog, repair: Repairs | None) -> None:
        self.findings: list[Finding] = []
        self._log = log
        self._catalog = catalog
        self._repair = repair

    def check(self, part: str) -> None:
        """Check a part, unless the column is no more."""
        family, *pages = part.split(" ")
        if family not in column_families(self._catalog):
            return
        if pages:
            self._settle(family, list(map(int, pages)))
        else:
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
