"""What both ways of reading a page give, and how they get the page's documents."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import NamedTuple, Protocol

from gridview import keys
from gridview.catalog import Catalog, Field
from gridview.gridrequest import GridQuery
from gridview.ordering import Place, Spot
from gridview.storage import Fetched, Item, Key, Table
from gridview.wire import item_size

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

    `behind`: where reading began, if rows may lie behind that. `total`, `matched` and `offset` if they were counted.
    """

    rows: list[Row] = attribute(default_factory=list)
    stopped_at: Spot | None = None
    behind: Spot | None = None
    counts: Mapping[str, int] = attribute(default_factory=dict)


class Reader(Protocol):
    """One way of reading along an order of a project."""

    def read(self, spot: Spot | None, *, backward: bool) -> Reading:
        """The rows of a page from a spot on (None: from the beginning, or the offset asked for), and one more if there is one."""
        ...

    def plan(self) -> list[str]:
        """What it does, for people."""
        ...


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


def page_paths(catalog: Catalog, query: GridQuery) -> Paths:
    """What of a page's documents is read: all of them, or what the columns and the checks of the rows take."""
    if query.columns is None:
        return None
    columns = (catalog.get(column) for column in sorted(query.columns))
    return projection([*(field for field in columns if field is not None), *judged(query)])


def judged(query: GridQuery) -> list[Field]:
    """The fields that decide whether an issue passes, and where it stands."""
    sorted_by = [key.field for key in query.keys if key.field is not None]
    return [*sorted_by, *(query.filter.fields() if query.filter is not None else ())]


def projection(fields: Iterable[Field]) -> Paths:
    """The paths of number, version and these fields; None (all) when those are too many to ask for."""
    paths = list(dict.fromkeys([("num",), ("version",), *(field.path for field in fields)]))
    return paths if len(paths) <= _MAX_PROJECTED else None
