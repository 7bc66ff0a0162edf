"""Reads the numbers of fields: from their columns, or of all issues from totals and the ends of orders. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from gridview.chains.column_totals import ColumnTotal
from gridview.encoding import keys
from gridview.encoding.number_pages import SLOTS
from gridview.encoding.sort_strings import body_of, number_value
from gridview.query import prices
from gridview.query.group_blocks import is_indexed, valued_family
from gridview.query.number_functions import Function, SomeNumbers, TotalNumbers
from gridview.query.order_ends import end_of, not_empty
from gridview.query.plan import Node, Said
from gridview.query.steps import Ask, AtHand, Steps, ask, ask_all, record
from gridview.schema.fields import NUM, Field, FieldType
from gridview.view.reads import Listed, ReadColumns, ReadTotals
from gridview.view.shown_columns import ShownColumn

Columns = Mapping[str, ShownColumn]
"""The columns of fields, by the fields' ids."""

_ENDS: Mapping[Function, bool] = {"min": True, "max": False}
"""The functions that one end of an order has: whether it is the first."""
_OF_TOTALS = frozenset[Function](("count", "empty", "sum", "avg"))


def has_column(field: Field) -> bool:
    """Whether a column has the numbers of a field: it is a number field, and its index is complete."""
    return field.type is FieldType.NUMBER and field.id != NUM and is_indexed(field)


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnScan(Said):
    """All numbers of some fields, in their columns."""

    fields: tuple[Field, ...]

    def said(self, facts: Mapping[str, Any]) -> str:
        """Return a sentence about the work that was done."""
        names = ", ".join(field.id for field in self.fields)
        if "read" not in facts:
            return f"The columns of {names} were not needed."
        read = facts["read"]
        kept = len(self.fields) - read
        return f"Take the numbers of {names} from their columns: {read:,} read, {kept:,} kept from earlier requests."


@dataclass(frozen=True, eq=False, kw_only=True)
class TotalScan(Said):
    """Functions of all numbers of some fields, as far as totals and the ends of orders have them."""

    asked: tuple[tuple[Field, frozenset[Function]], ...]

    def said(self, facts: Mapping[str, Any]) -> str:
        """Return a sentence about the work that was done."""
        found: Sequence[str] = facts["found"]
        if not found:
            return "No stored total suffices."
        return (
            f"Take the functions of {', '.join(found)} over all issues from stored totals, the ends of orders, "
            "and columns that are kept."
        )


def units_of_a_column(issues: int) -> float:
    """Return the read units that a column takes in a project of so many issues."""
    return prices.ITEM + issues / SLOTS * prices.COLUMN_PAGE


def kept_columns(node: Node, fields: Iterable[Field]) -> Steps[Columns]:
    """Return the columns of these fields that take no call."""
    found: dict[str, ShownColumn] = {}
    for field in fields:
        family = valued_family(field)
        answers = yield AtHand([Ask(node, ReadColumns((family,), 0))])
        if answers is not None:
            found[field.id] = answers[0][family]
    return found


def columns_of(scan: ColumnScan, issues: int) -> Steps[Columns]:
    """Return the columns of the fields, in one round at most. `issues`: about how many the project has."""
    if not scan.fields:
        return {}
    kept = yield from kept_columns(scan, scan.fields)
    families = {field.id: valued_family(field) for field in scan.fields}
    found = yield from ask(scan, ReadColumns(tuple(families.values()), issues))
    yield from record(scan, read=len(scan.fields) - len(kept))
    return {name: found[family] for name, family in families.items()}


def of_all_issues(scan: TotalScan) -> Steps[dict[str, SomeNumbers]]:
    """Return the numbers of all issues in the fields whose functions take no column that must be read, by field id.

    Half a read unit for the totals, and half a unit for each end of an order: one round.
    """
    columns = yield from kept_columns(scan, (field for field, _ in scan.asked))
    found: dict[str, SomeNumbers] = {name: column.all for name, column in columns.items()}
    simple = [
        (field, functions)
        for field, functions in scan.asked
        if field.id not in found and functions <= _OF_TOTALS | _ENDS.keys()
    ]
    summed = tuple(valued_family(field) for field, functions in simple if functions & _OF_TOTALS)
    ends = [(field, function) for field, functions in simple for function in _ENDS if function in functions]
    reads = [end_of(valued_family(field), first=_ENDS[function]) for field, function in ends]
    asked = [Ask(scan, read) for read in reads]
    if summed:
        asked.append(Ask(scan, ReadTotals(summed)))
    answers = yield from ask_all(asked)
    totals: Mapping[str, ColumnTotal | None] = answers[-1] if summed else {}
    pages = yield from not_empty(scan, reads, answers[: len(reads)])
    at_ends = {
        (field.id, function): _number_at(page) for (field, function), page in zip(ends, pages, strict=True)
    }
    for field, functions in simple:
        total = totals[valued_family(field)] if functions & _OF_TOTALS else ColumnTotal()
        if total is not None:
            found[field.id] = TotalNumbers(
                total, at_ends.get((field.id, "min")), at_ends.get((field.id, "max"))
            )
    yield from record(scan, found=list(found))
    return found


def _number_at(page: Listed) -> Decimal | None:
    return number_value(body_of(page.items[0][keys.SORT])) if page.items else None
