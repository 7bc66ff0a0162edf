"""Deletes all that a family has: its blocks, and the pages of its column if it is an order of numbers."""

from collections.abc import Callable

from gridview.chains.block_writer import remove_family
from gridview.chains.column_writer import remove_column
from gridview.derive.families import FamilyKind, kind_of
from gridview.dynamodb.table import Table


def remove_all(
    table: Table,
    tenant: str,
    project: str,
    family: str,
    remaining: Callable[[], float] = lambda: 1.0,
) -> bool:
    """Delete the blocks and pages of a family that has no writers left; False if the seconds in `remaining` ran out.

    Another call continues. Costs as `remove_family` and `remove_column`.
    """
    if not remove_family(table, tenant, project, family, remaining):
        return False
    return kind_of(family) is not FamilyKind.ORDER or remove_column(table, tenant, project, family, remaining)
