"""Properties of columns: each page and each total that is written equals the journal up to its position.

Once all is quiet, columns have the numbers of the documents.
"""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from devtools.proof.faults.world import Difference, World
from gridview.chains.column_pages import ColumnPage
from gridview.derive.families import column_families, derived_strings
from gridview.dynamodb.expressions import Item
from gridview.encoding import derived_keys, keys
from gridview.encoding.number_pages import SLOTS, values_of
from gridview.encoding.sort_strings import body_of, number_value
from gridview.journal.column_fold import recount
from gridview.journal.items import Totals
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.support.errors import NotFound

Numbers = Mapping[int, Decimal]


def watch_page(world: World, item: Item) -> None:
    """A page has just been written: it has the numbers that its issues have by the journal, up to its position."""
    page = ColumnPage.from_item(item)
    if not _written(world, page.family):
        return
    begin = page.number * SLOTS
    held = {begin + slot: number for slot, number in values_of(page.slices).items()}
    said = _said(world, page.family, page.position)
    expected = {num: number for num, number in said.items() if begin <= num < begin + SLOTS}
    if held != expected:
        raise Difference(
            f"page {page.number} of {page.family} at {page.position} has {_differing(held, expected)} of the journal"
        )


def watch_totals(world: World, totals: Totals) -> None:
    """Totals have just been written: each is that of the journal up to their position."""
    for family, total in totals.by_family.items():
        if total is None or not _written(world, family):
            continue
        said = _said(world, family, totals.position)
        if (total.count, Fraction(total.sum)) != (len(said), _sum(said)):
            raise Difference(
                f"the total of {family} at {totals.position} is {total}, the journal says {said}"
            )
        world.totals["totals of columns"] += 1


def assert_columns(world: World, catalog: Catalog | None, but_for: frozenset[str] = frozenset()) -> None:
    """Columns have the numbers of the documents, totals are their sums, and there are no other columns.

    `but_for`: issues that cannot be derived. Without a catalog the project is deleted.
    """
    families = [] if catalog is None else column_families(catalog)
    partitions = {
        family: derived_keys.column(world.tenant, world.project, family) for family in world.columns
    }
    there = [one for one, partition in partitions.items() if world.engine.query(partition).items]
    if gone := sorted(set(there) - set(families)):
        raise Difference(f"there are still pages of {gone}")
    if catalog is None:
        return
    exempt = {keys.parse_issue(key).num for key in but_for}
    expected: dict[str, dict[int, Decimal]] = {family: {} for family in families}
    for key, document in world.documents.items():
        if key not in but_for:
            for family, derived in derived_strings(catalog, document).items():
                if family in expected:
                    expected[family][document["num"]] = number_value(body_of(derived))
    for family in families:
        _assert_column(world, family, expected[family], exempt)


def _assert_column(world: World, family: str, expected: Numbers, exempt: set[int]) -> None:
    held: dict[int, Decimal] = {}
    partition = derived_keys.column(world.tenant, world.project, family)
    for item in world.engine.query_all(partition, consistent=True):
        page = ColumnPage.from_item(item)
        numbers = values_of(page.slices)
        held |= {page.number * SLOTS + slot: number for slot, number in numbers.items()}
    known = {num: number for num, number in held.items() if num not in exempt}
    if known != expected:
        raise Difference(f"the column of {family} has {_differing(known, expected)} of the documents")
    log = Log(world.engine, world.tenant, world.project)
    totals = log.totals()
    if totals.of(family) is None or totals.position != log.head().folded:
        world.totals["unknown totals"] += 1
        if totals.position == log.head().folded and not recount(log, family):
            raise Difference(f"the total of {family} cannot be counted")
    totals = log.totals()
    total = totals.of(family)
    if totals.position == log.head().folded and (
        total is None or (total.count, Fraction(total.sum)) != (len(held), _sum(held))
    ):
        raise Difference(f"the total of {family} is {total}, the pages have {held}")


def _said(world: World, family: str, position: int) -> Numbers:
    """The number of each issue in a family, by the journal items up to a position."""
    said: dict[int, Decimal] = {}
    for number in sorted(number for number in world.journal if number <= position):
        for change in world.journal[number].changes:
            if family in change.moves:
                said.pop(change.num, None)
                to = change.moves[family].to
                if to is not None:
                    said[change.num] = number_value(body_of(to))
    return said


def _sum(numbers: Numbers) -> Fraction:
    return sum(map(Fraction, numbers.values()), Fraction(0))


def _differing(found: Numbers, expected: Numbers) -> str:
    differs = sorted(num for num in found.keys() | expected.keys() if found.get(num) != expected.get(num))
    return ", ".join(
        f"{found.get(num)} for issue {num} instead of the {expected.get(num)}" for num in differs[:5]
    )


def _written(world: World, family: str) -> bool:
    """Whether a family is written under the present definitions; columns of others are not checked."""
    try:
        return family in column_families(world.catalog())
    except NotFound:
        return False
