"""What all ways of reading a page give, and how they get the page's documents."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import NamedTuple, Protocol

from gridview.dynamodb.expressions import Item, Key
from gridview.dynamodb.table import Fetched, Table
from gridview.encoding import keys
from gridview.encoding.attribute_values import item_size
from gridview.encoding.sort_strings import sort_string
from gridview.index.sort_entries import present_sort_strings
from gridview.query.explain import Steps
from gridview.query.grid_request import GridQuery
from gridview.query.predicates import Filter
from gridview.query.sort_order import Keys, Place, Spot, rows_before
from gridview.schema.catalog import Catalog, Field

MAX_PAGE_BYTES = 5_000_000
"""Of the rows of one answer."""

_MAX_PROJECTED = 100
"""Fields up to which DynamoDB is asked for these alone: an expression may have 4 KB."""

Paths = list[tuple[str, ...]] | None


class Row(NamedTuple):
    """One place in the order, the document found there (None: it has gone), and whether it still belongs there."""

    place: Place
    document: Item | None
    belongs: bool = True


@dataclass(slots=True)
class Reading:
    """Rows in the direction of travel. `stopped_at`: where reading was broken off before the order ended.

    `behind`: where reading began, if rows may lie behind that. `counts`: `total` and `matched`, where the reading tells them.
    """

    rows: list[Row] = attribute(default_factory=list)
    stopped_at: Spot | None = None
    behind: Spot | None = None
    counts: Mapping[str, int] = attribute(default_factory=dict)


class Reader(Protocol):
    """One way of reading along an order of a project."""

    steps: Steps
    """What each round of its calls was for."""

    def read(self, spot: Spot | None, *, backward: bool) -> Reading:
        """The rows of a page from a spot on (None: from the beginning, or the offset asked for), and one more if there is one."""
        ...

    def plan(self) -> list[str]:
        """What was done, for people."""
        ...


def cut(
    order: Keys, places: Sequence[Place], spot: Spot | None, offset: int, limit: int, *, backward: bool
) -> tuple[list[Place], Spot | None]:
    """Of places in order those of a page, in the direction of travel and one more if there is one; and what lies behind it."""
    at = min(offset, len(places)) if spot is None else rows_before(order, places, spot)
    behind = Spot(places[at - 1], after=True) if spot is None and at > 0 else spot
    if backward:
        return list(places[max(0, at - limit - 1) : at][::-1]), behind
    return list(places[at : at + limit + 1]), behind


def belongs(order: Keys, only: Filter | None, document: Item | None, place: Place) -> bool:
    """Whether an issue passes, and still stands where it was found."""
    if document is None or (only is not None and not only.matches(document)):
        return False
    first, *others = order
    if first.order is not None:
        body = place.parts[0]
        found = None if body is None else sort_string(body, place.num)
        if found not in present_sort_strings(first.order, document):
            return False
    return all(key.part(document) == part for key, part in zip(others, place.parts[1:], strict=True))


def fetch_all(table: Table, catalog: Catalog, numbers: Iterable[int], paths: Paths) -> dict[int, Item]:
    """The documents of all these issues that exist, by number: 0.5 read units each for 4 KB, in one round."""
    project = keys.project(catalog.tenant, catalog.project)
    wanted = [(keys.issue(catalog.tenant, catalog.project, num), project) for num in numbers]
    return {item["num"]: item for item in table.batch_get(wanted, paths=paths).items.values()}


def fetch(table: Table, catalog: Catalog, numbers: Iterable[int], paths: Paths) -> tuple[list[Key], Fetched]:
    """The documents of these issues by number, as many as fill a page: 0.5 read units each for 4 KB, in one round."""
    project = keys.project(catalog.tenant, catalog.project)
    wanted: list[Key] = [(keys.issue(catalog.tenant, catalog.project, num), project) for num in numbers]
    return wanted, table.batch_get(wanted, paths=paths, enough=lambda found: fills_a_page(wanted, found))


def fills_a_page(wanted: Sequence[Key], found: Mapping[Key, Item]) -> bool:
    """Whether the documents at the head of the list that have come already fill an answer."""
    size = 0
    for key in wanted:
        if key not in found:
            break
        size += item_size(found[key])
    return size > MAX_PAGE_BYTES


class PageRows:
    """The documents of a page's rows: those fetched to judge or sort them, and the others, once their places are known."""

    def __init__(self, table: Table, catalog: Catalog, query: GridQuery) -> None:
        self.paths = page_paths(catalog, query)
        """What of a document is needed to show it."""
        self._table = table
        self._catalog = catalog
        self._query = query
        self._documents: dict[int, Item | None] = {}

    def keep(self, numbers: Iterable[int], documents: Mapping[int, Item]) -> None:
        """The documents of these issues are at hand, read with `paths`; those that are missing have gone."""
        self._documents.update(dict.fromkeys(numbers))
        self._documents.update(documents)

    def add(
        self, places: Sequence[Place], reading: Reading, limit: int, steps: Steps, *, backward: bool
    ) -> None:
        """Add the rows at these places, up to the limit with their documents: 0.5 read units for each that is not at hand."""
        room = max(limit - len(reading.rows), 0)
        missing = [place.num for place in places[:room] if place.num not in self._documents]
        left: set[int] = set()
        if missing:
            with steps.titled("documents of the page"):
                wanted, fetched = fetch(self._table, self._catalog, missing, self.paths)
            for num, key in zip(missing, wanted, strict=True):
                self._documents[num] = fetched.items.get(key)
                if key in fetched.left:
                    left.add(num)
        for place in places[:room]:
            if place.num in left:
                reading.stopped_at = Spot(reading.rows[-1].place, after=not backward)
                return
            document = self._documents[place.num]
            reading.rows.append(
                Row(place, document, belongs(self._query.keys, self._query.filter, document, place))
            )
        reading.rows += [Row(place, None) for place in places[room:]]


def page_paths(catalog: Catalog, query: GridQuery) -> Paths:
    """What of a page's documents is read: all of them, or what the columns and the checks of the rows take."""
    if query.columns is None:
        return None
    columns = (catalog.get(column) for column in sorted(query.columns))
    return projection([*(field for field in columns if field is not None), *judged(query)])


def judged(query: GridQuery) -> list[Field]:
    """The fields that decide whether an issue passes, and where it stands."""
    sorted_by = [field for key in query.keys for field in key.fields]
    return [*sorted_by, *(query.filter.fields() if query.filter is not None else ())]


def projection(fields: Iterable[Field]) -> Paths:
    """The paths of number, version and these fields; None (all) when those are too many to ask for."""
    paths = list(dict.fromkeys([("num",), ("version",), *(field.path for field in fields)]))
    return paths if len(paths) <= _MAX_PROJECTED else None
