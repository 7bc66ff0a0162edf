"""Finds the issues that match a filter, by sets of issues and, if these leave some undecided, by documents. Pure."""

from pyroaring import BitMap

from gridview.query import planner
from gridview.query.bitmap_filter import Judged
from gridview.query.page import projection
from gridview.query.plan import BitmapScan, Recheck
from gridview.query.steps import Ask, Steps, ask_all, record
from gridview.view.reads import Documents, ReadBlocks, ReadDocuments, Snapshot


def bitmap_scan(scan: BitmapScan, snapshot: Snapshot, *, beside: Ask | None = None) -> Steps[Judged]:
    """Return which issues match for sure and which may: the filter's sets in one round, with a parallel read `beside`."""
    reads = Ask(scan, ReadBlocks(scan.wants))
    yield from ask_all([reads, *([beside] if beside is not None else [])])
    judged = scan.selection.evaluate(planner.directories_of(scan.selection, snapshot), snapshot)
    yield from record(scan, sure=len(judged.sure), undecided=len(judged.undecided))
    return judged


def recheck(node: Recheck | None, *, beside: Ask | None = None) -> Steps[BitMap]:
    """Return which undecided issues match by their documents: 0.5 read units each, in one round with the read `beside`."""
    asks = [] if beside is None else [beside]
    if node is None:
        yield from ask_all(asks)
        return BitMap()
    documents: Documents
    documents, *_ = yield from ask_all(
        [Ask(node, ReadDocuments(list(node.issues), projection(node.only.fields()))), *asks]
    )
    return BitMap(num for num, document in documents.found.items() if node.only.matches(document))
