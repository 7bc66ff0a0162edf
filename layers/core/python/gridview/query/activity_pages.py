"""Reads a project's activity backwards: its entries, newest first and each once, whichever items have them.

Entries of one second may be in any of its items (`schema.change_entries`), so a second is read whole before it is sorted.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

from gridview.dynamodb.expressions import Bound, Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.schema.change_entries import activity_entries

_ITEMS = 60
"""New items of a Query: 60 KB, 8 read units, if all of them are groups."""

_IN_ORDER = 5_000
"""Entries of one second that are sorted together. More of them, as after a bulk load, are returned run by run."""


class PageStart(NamedTuple):
    """The place after which the rest of a list begins, and the sort key of the item after which its run begins, if any."""

    item: str
    place: str

    @classmethod
    def before(cls, place: str) -> Self:
        """Return the start of a page with everything older than a place, or an instant."""
        return cls("", place)

    def at(self, entry: Item) -> Self:
        """Return the start after an entry of the page that begins here."""
        same = bool(self.item) and derived_keys.parse_activity_second(
            self.item
        ) == derived_keys.parse_activity_second(entry[keys.SK])
        return self._replace(item=self.item if same else "", place=entry[keys.SK])


class Stretch(NamedTuple):
    """Entries as separate items, newest first, and the start of the older ones; None: there are none."""

    entries: list[Item]
    rest: PageStart | None


def read_back(
    table: Table, partition: str, lower: str, begin: PageStart, enough: Callable[[Sequence[Item]], bool]
) -> Stretch:
    """Return the entries after `begin`, back to the instant `lower`, at least until there are `enough`.

    Calls of up to 60 items each: 0.5 read units for each 4 KB.
    """
    entries: list[Item] = []
    run: dict[str, Item] = {}
    bound = Bound(
        "between",
        derived_keys.parse_activity_second(lower),
        begin.item or derived_keys.parse_activity_second_end(begin.place),
    )
    known, second = begin.item, ""

    def end_run() -> None:
        upper = begin.place or derived_keys.ACTIVITY_END
        entries.extend(run[place] for place in sorted(run, reverse=True) if lower <= place < upper)
        run.clear()

    while True:
        page = table.query(partition, bound=bound, forward=False, limit=_ITEMS + bool(known))
        for item in page.items:
            if item[keys.SK] == known:
                continue
            if second != (second := derived_keys.parse_activity_second(item[keys.SK])):
                end_run()
            run.update((entry[keys.SK], entry) for entry in activity_entries(item))
        if page.last is None:
            end_run()
            return Stretch(entries, None)
        if enough(entries):
            return Stretch(entries, PageStart.before(derived_keys.parse_activity_second_end(second)))
        if len(run) >= _IN_ORDER:
            end_run()
            return Stretch(entries, PageStart(page.last, ""))
        known, bound = page.last, bound._replace(upper=page.last)
