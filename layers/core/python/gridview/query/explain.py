"""Makes the `explain` part of an answer: the plan as a tree of nodes with a sentence each, and its cost. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from gridview.dynamodb.metering import Meter
from gridview.query import plan
from gridview.query.grid_request import in_words
from gridview.query.plan import Node
from gridview.query.trace import Facts, Trace
from gridview.view.moves import NewIssues


def explanation_of(root: Node, beside: Sequence[Node], trace: Trace, meter: Meter) -> dict[str, Any]:
    """Return the explanation of a plan, with the reads `beside` it, and every call that it took."""
    return {
        "plan": [
            *_sentences(root, trace),
            *_of_blocks(trace),
            *(said for one in beside for said in _sentences(one, trace)),
        ],
        "tree": _tree(root, trace, beside),
        "calls": [
            {
                "operation": call.operation,
                "target": call.target,
                "round": call.round,
                "items_read": call.items,
                "read_units": call.capacity,
            }
            for call in meter.calls
        ],
        "sequential_calls": meter.rounds,
        "items_read": sum(call.items for call in meter.calls),
        "read_units": meter.capacity,
    }


def _tree(node: Node, trace: Trace, beside: Sequence[Node] = ()) -> dict[str, Any]:
    used, facts = trace.usage.get(node), trace.facts.get(node, {})
    estimate = node.estimate
    answer: dict[str, Any] = {
        "node": _name(node),
        "sentence": sentence(node, facts),
        "read_units": 0.0 if used is None else round(used.units, 2),
        "rounds": [] if used is None else sorted(used.rounds),
    }
    if estimate is not None:
        made = "after" if estimate.informed else "before"
        answer["estimated"] = {"read_units": round(estimate.units, 2), "directories": made}
    children = [_tree(one, trace) for one in (*node.children, *_chosen(facts), *beside)]
    return {**answer, "children": children} if children else answer


def _sentences(node: Node, trace: Trace) -> Iterator[str]:
    """The plan in words: first the nodes that a node needs, then the node, then the one that it chose."""
    facts = trace.facts.get(node, {})
    for child in node.children:
        yield from _sentences(child, trace)
    yield sentence(node, facts)
    for way in _chosen(facts):
        yield from _sentences(way, trace)


def _chosen(facts: Facts) -> tuple[Node, ...]:
    """The node that was chosen."""
    return (facts["chosen"],) if "chosen" in facts else ()


def _of_blocks(trace: Trace) -> Iterator[str]:
    """The sentence about the sources of the blocks, if there are any."""
    if trace.reads.blocks or trace.reads.cached or trace.age:
        listed = f", and the directories are of {trace.age:,.1f} s ago" if trace.age else ""
        yield (
            f"Of the blocks, {trace.reads.blocks:,} were read from the table and {trace.reads.cached:,} were at hand from earlier "
            f"requests{listed}."
        )


def _name(node: Node) -> str:
    """BucketScan: `bucket scan`."""
    name = type(node).__name__
    return "".join(f" {one.lower()}" if one.isupper() else one for one in name).strip()


def sentence(node: Node, facts: Facts) -> str:  # noqa: C901  (one case for each kind of node)
    """A node in plain words, with its facts."""
    match node:
        case plan.Said():
            return node.said(facts)
        case plan.Choice(question=question):
            return f"{question}."
        case plan.DirectoryScan():
            return "Read the directories: which blocks the indexes have, and how many issues stand in each."
        case plan.EpochRead():
            return "Read the project's epoch: the definitions that the container has are the current ones."
        case plan.OverlayRead(issues=issues):
            named = (
                [f"the documents and ledgers of {_issues(issues)} that the request's tokens name"]
                if issues
                else []
            )
            logged = "the last items of the project's journal"
            return (
                f"Read {' and '.join((*named, logged))}: of {facts['displaced']:,} the index may not show everything yet, so what "
                "they are is laid over it."
            )
        case plan.NewIssuesRead():
            return _of_the_new(facts["new"])
        case plan.Freshness():
            return str(facts["lag"].sentence())
        case plan.Total():
            return "Count the issues by the sizes of the blocks that hold their numbers."
        case plan.NumberScan(query=query):
            return f"Read the issues in number order, {in_words(query.sort)}: the index holds the documents."
        case plan.IndexScan(query=query):
            said = (
                f"Read the sort entries of {query.keys[0].field_id} from the page's place on, which stand in the order "
                f"{in_words(query.sort)}"
            )
            return (
                f"{said}; they ended on this page, and the issues without a value come next."
                if "chosen" in facts
                else f"{said}."
            )
        case plan.BitmapScan(selection=selection):
            sure, undecided = facts["sure"], facts["undecided"]
            said = f"Keep what matches: {selection.only}. By the sets of the index {_issues(sure)} {'does' if sure == 1 else 'do'}"
            return f"{said}, and {undecided:,} may." if undecided else f"{said}."
        case plan.Recheck(issues=issues):
            return f"Fetch the documents of {_issues(len(issues))} that the sets leave open, and keep those that match."
        case plan.TopN(candidates=candidates):
            return f"They are few enough: fetch the documents of all {len(candidates):,} that may match, and sort them in memory."
        case plan.FullScan(reason=reason, project=project):
            large = f", and the project has {project:,} issues" if project is not None else ""
            return (
                f"The request asks for {reason}{large}: read all that may match, in ranges of numbers side by side, and judge and "
                "sort them in memory."
            )
        case plan.SetOrder(query=query):
            way = "descending" if query.keys[0].descending else "ascending"
            return f"Sort by num, {way}: a set of issues is in that order already.{_to_the_offset(query)}"
        case plan.RestScan(query=query, without=without, examined=examined):
            return (
                f"{_issues(without)} without a value of {query.keys[0].field_id}: among the next {examined:,} documents in number "
                "order should be enough of them; read these, of which DynamoDB passes on those without one."
            )
        case plan.BucketScan(query=query):
            return _along(query, facts)
        case plan.BucketCount(keys=keys):
            return f"Add up how many issues stand before this one by the blocks of {keys[0].field_id}."
        case plan.GridPage(query=query):
            return (
                f"Show {query.limit:,} rows at most: fetch the documents that were not read yet, and leave out rows whose "
                "documents no longer pass or stand elsewhere by now."
            )
    raise TypeError(node)


def _of_the_new(new: NewIssues) -> str:
    """The outcome of the search for new issues."""
    if new.missing:
        return (
            f"Up to {_issues(new.missing)} of the last numbers are not in the index yet, or gone. They are too many to be laid "
            "over it, so they are missing here."
        )
    if not new.moves:
        return "Numbers were given out lately: the index has heard of all their issues."
    return f"Read the new issues that the index has not heard of: {_issues(len(new.moves))}, laid over it."


def _along(query: Any, facts: Facts) -> str:
    """How the rows of the page were found along an order."""
    first, *others = query.keys
    way = "descending" if first.descending else "ascending"
    said = f"Go along the blocks of {first.field_id}, {way}, to the rows of the page"
    if "blocks" in facts:
        said += f": {facts['blocks']:,} of {facts['of']:,} blocks were looked into"
    if any(key.order is not None for key in others):
        said += f". Sort those of one {first.field_id} by {in_words(others)}, by their documents"
    return f"{said}.{_to_the_offset(query)}"


def _to_the_offset(query: Any) -> str:
    if not query.offset:
        return ""
    added = "how many of them match" if query.filter is not None else "how many issues stand in each block"
    return f" Row {query.offset:,} is found by adding up {added}."


def _issues(count: int) -> str:
    return "1 issue" if count == 1 else f"{count:,} issues"
