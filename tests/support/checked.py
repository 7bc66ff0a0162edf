"""Checks the whole table by the functions of `./dev fsck`."""

from gridview.dynamodb.table import Table
from gridview.fsck.checker import Check
from gridview.fsck.issue_diff import Difference
from gridview.fsck.walks import TableWalk

_STEPS = 10_000


def differences_in(table: Table) -> list[Difference]:
    """All differences, in issues and in blocks, judged at the same time."""
    found: list[Difference] = []
    check = Check(table, TableWalk(table), lambda finding: found.extend(finding.differences), patience=0.0)
    for _ in range(_STEPS):
        if check.done:
            return found
        check.step()
    raise AssertionError("the check does not end")
