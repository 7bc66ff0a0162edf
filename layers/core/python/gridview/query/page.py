"""The rows of a result page: their places in an order, how they are cut out of it, and their documents. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from gridview.derive.sort_entries import present_sort_strings
from gridview.dynamodb.expressions import Item
from gridview.encoding.attribute_values import item_size
from gridview.encoding.sort_strings import sort_string
from gridview.query.grid_request import GridQuery
from gridview.query.plan import GridPage
from gridview.query.predicates import Filter
from gridview.query.sort_order import Keys, Place, Spot, rows_before
from gridview.query.steps import Steps, ask
from gridview.schema.catalog import Catalog
from gridview.schema.fields import Field
from gridview.view.reads import Documents, Paths, ReadDocuments

MAX_PAGE_BYTES = 5_000_000
"""Limit of the rows of one answer."""

_MAX_PROJECTED = 100
"""The most fields by which DynamoDB is asked for only these: an expression may have 4 KB."""


class Row(NamedTuple):
    """One place in the order, the document found there (None: it has gone), and whether it still belongs there."""

    place: Place
    document: Item | None
    belongs: bool = True


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in the direction of travel. `stopped_at`: where reading was broken off before the order ended.

    `start`: where reading began, if rows may precede that. `total`, `matched`: how many issues there are, and match.
    """

    rows: tuple[Row, ...] = ()
    stopped_at: Spot | None = None
    started_at: Spot | None = None
    total: int | None = None
    matched: int | None = None

    def adding(self, rows: Iterable[Row]) -> "Rows":
        """The same with more rows."""
        return replace(self, rows=(*self.rows, *rows))


def cut(page: GridPage, places: Sequence[Place]) -> tuple[list[Place], Spot | None]:
    """Return a page's places in the direction of travel, and one more if there is one; and the spot that they begin at."""
    query = page.query
    at = min(query.offset, len(places)) if page.spot is None else rows_before(query.keys, places, page.spot)
    start = Spot(places[at - 1], after=True) if page.spot is None and at > 0 else page.spot
    if page.backward:
        return list(places[max(0, at - query.limit - 1) : at][::-1]), start
    return list(places[at : at + query.limit + 1]), start


def belongs(order: Keys, only: Filter | None, document: Item | None, place: Place) -> bool:
    """Whether an issue passes the filter, and is still at the place where it was found."""
    if document is None or (only is not None and not only.matches(document)):
        return False
    first, *others = order
    if first.order is not None:
        body = place.parts[0]
        found = None if body is None else sort_string(body, place.num)
        if found not in present_sort_strings(first.order, document):
            return False
    return all(key.part(document) == part for key, part in zip(others, place.parts[1:], strict=True))


def add_rows(
    page: GridPage,
    catalog: Catalog,
    found: Rows,
    places: Sequence[Place],
    at_hand: Mapping[int, Item | None],
    limit: int,
) -> Steps[Rows]:
    """Add the rows at these places, up to the limit with their documents: 0.5 read units for each that is not at hand."""
    room = max(limit - len(found.rows), 0)
    missing = [place.num for place in places[:room] if place.num not in at_hand]
    fetched = Documents({})
    if missing:
        fetched = yield from ask(
            page, ReadDocuments(missing, page_paths(catalog, page.query), MAX_PAGE_BYTES)
        )
    return rows_of(page, found, places, {**fetched.found, **at_hand}, limit, fetched.left)


def rows_of(
    page: GridPage,
    found: Rows,
    places: Sequence[Place],
    documents: Mapping[int, Item | None],
    limit: int,
    left: frozenset[int] = frozenset(),
) -> Rows:
    """Rows with those at these places, up to the limit with documents. Stops before one whose document was left out."""
    query = page.query
    room = max(limit - len(found.rows), 0)
    rows = list(found.rows)
    for place in places[:room]:
        if place.num in left:
            return replace(found, rows=tuple(rows), stopped_at=Spot(rows[-1].place, after=not page.backward))
        document = documents.get(place.num)
        rows.append(Row(place, document, belongs(query.keys, query.filter, document, place)))
    rows += [Row(place, None) for place in places[room:]]
    return replace(found, rows=tuple(rows))


def fills_a_page(documents: Iterable[Item]) -> bool:
    """Whether these documents fill an answer."""
    return sum(map(item_size, documents)) > MAX_PAGE_BYTES


def page_paths(catalog: Catalog, query: GridQuery) -> Paths:
    """The fields of a page's documents to read: all, or only those of the columns, the rules and the checks of the rows."""
    if query.columns is None:
        return None
    columns = (catalog.get(column) for column in sorted(query.columns))
    shown = [field for field in columns if field is not None]
    ruling = [field for rule in query.rules for field in rule.fields()]
    return projection([*shown, *judged(query.keys, query.filter), *ruling])


def judged(keys: Keys, only: Filter | None) -> tuple[Field, ...]:
    """The fields that decide whether an issue passes the filter, and its place."""
    sorted_by = (field for key in keys for field in key.fields)
    return (*sorted_by, *(only.fields() if only is not None else ()))


def projection(fields: Iterable[Field]) -> Paths:
    """The paths of number, version, its time, and these fields; None (all) if those are too many to ask for."""
    read = (path for field in fields for path in field.paths)
    paths = list(dict.fromkeys([("num",), ("version",), ("updated",), *read]))
    return paths if len(paths) <= _MAX_PROJECTED else None
