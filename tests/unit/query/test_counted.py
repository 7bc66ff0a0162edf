"""The changes that an answer counts, according to its reads."""

from inspect import isclass

from gridview.query import plan
from gridview.query.counted import Counted, Seen, of_a_page
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


DECIDING = {plan.BitmapScan, plan.Recheck, plan.TopN, plan.FullScan}
"""The nodes whose reads show which issues match."""

OTHERS = {
    plan.Node,
    plan.Said,
    plan.Choice,
    plan.DirectoryScan,
    plan.EpochRead,
    plan.OverlayRead,
    plan.NewIssuesRead,
    plan.Freshness,
    plan.GridPage,
    plan.PlainPage,
    plan.PageByBlocks,
    plan.Matching,
    plan.Total,
    plan.NumberScan,
    plan.IndexScan,
    plan.RestScan,
    plan.BucketScan,
    plan.SetOrder,
    plan.RowNumber,
    plan.BucketCount,
}


def test_each_node_is_known_to_decide_what_a_page_counts_or_not() -> None:
    """A new node with documents that decide, if it is forgotten, makes a wrong cursor of the changes."""
    nodes = {kind for kind in vars(plan).values() if isclass(kind) and issubclass(kind, plan.Node)}
    assert nodes == DECIDING | OTHERS
    assert {kind for kind in nodes if of_a_page(object.__new__(kind))} == DECIDING
