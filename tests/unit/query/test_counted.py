"""The changes that an answer counts, according to its reads."""

from gridview.query.counted import Counted, Seen
from gridview.schema.catalog import Catalog
from gridview.view.moves import Logged
from gridview.view.shown_versions import Overlaid

CATALOG = Catalog("0807", "35e9", 1, (), (), 1)
OVERLAID = Overlaid(Logged(last=7), {}, ())


def test_an_answer_counts_the_journal_as_far_as_it_was_read() -> None:
    assert Seen().counted(CATALOG, OVERLAID, None) == Counted(8, {})


def test_nothing_is_counted_where_the_index_may_be_ahead_or_entries_decide() -> None:
    assert Seen().counted(CATALOG, OVERLAID._replace(outrun=True), None) is None
    assert Seen(unsure=True).counted(CATALOG, OVERLAID, None) is None
