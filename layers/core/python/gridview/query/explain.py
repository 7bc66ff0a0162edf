"""Makes the `explain` part of an answer: the plan as a tree of nodes with a sentence each, and its cost. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gridview.dynamodb.metering import Meter
from gridview.query import plan
from gridview.query.grid_request import in_words
from gridview.query.plan import Node
from gridview.query.trace import Facts, Trace
from gridview.view.moves import NewIssues


def explanation_of(
    root: Node, beside: Sequence[Node], trace: Trace, meter: Meter, said: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the explanation of a plan, with the reads `beside` it, and every call that it took. `said`: sentences before it."""
    return {
        "plan": [
            *said,
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
        listed = f", and the directories were {trace.age:,.1f} s old" if trace.age else ""
        yield (
            f"Blocks: {trace.reads.blocks:,} were read from the table and {trace.reads.cached:,} were cached "
            f"from earlier requests{listed}."
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
            return "Read the directories: the blocks of the indexes, and the number of issues in each."
        case plan.EpochRead():
            return "Read the project's epoch: the container has the current definitions."
        case plan.OverlayRead(issues=issues):
            named = (
                [f"the documents and ledgers of {_issues(issues)} that the request's tokens name"]
                if issues
                else []
            )
            logged = "the last items of the project's journal"
            return (
                f"Read {' and '.join((*named, logged))}. The index may not show all of {facts['displaced']:,} yet, "
                "so their present state is overlaid."
            )
        case plan.NewIssuesRead():
            return _of_the_new(facts["new"])
        case plan.Freshness():
            return str(facts["lag"].sentence())
        case plan.Total():
            return "Count the issues by the sizes of the blocks with their numbers."
        case plan.NumberScan(query=query):
            return (
                f"Read the issues in number order, {in_words(query.sort)}: the index contains the documents."
            )
        case plan.IndexScan(query=query):
            said = (
                f"Read the sort entries of {query.keys[0].field_id} from the place of the result page on, in the "
                f"order {in_words(query.sort)}"
            )
            return (
                f"{said}; they ended on this result page, and the issues without a value come next."
                if "chosen" in facts
                else f"{said}."
            )
        case plan.BitmapScan(selection=selection):
            sure, undecided = facts["sure"], facts["undecided"]
            said = (
                f"Keep the issues that match: {selection.only}. By the index, {_issues(sure)} "
                f"{'matches' if sure == 1 else 'match'}"
            )
            return f"{said}, and {undecided:,} may match." if undecided else f"{said}."
        case plan.Recheck(issues=issues):
            return (
                f"Fetch the documents of {_issues(len(issues))} that the sets leave open, and keep the issues that "
                "match."
            )
        case plan.TopN(candidates=candidates):
            return (
                f"Few issues remain: fetch the documents of all {len(candidates):,} that may match, and sort them in "
                "memory."
            )
        case plan.FullScan(reason=reason, project=project):
            large = f", and the project has {project:,} issues" if project is not None else ""
            return (
                f"The request needs {reason}{large}. Read all issues that may match, in parallel ranges of numbers, "
                "and filter and sort them in memory."
            )
        case plan.SetOrder(query=query):
            way = "descending" if query.keys[0].descending else "ascending"
            return f"Sort by num, {way}: sets of issues are in that order already.{_to_the_offset(query)}"
        case plan.RestScan(query=query, without=without, examined=examined):
            return (
                f"{_issues(without)} without a value of {query.keys[0].field_id}: read the next {examined:,} "
                "documents in number order, which should include enough of them. DynamoDB returns only those "
                "without a value."
            )
        case plan.BucketScan(query=query):
            return _along(query, facts)
        case plan.BucketCount(keys=keys):
            return f"Add up the issues before this one by the blocks of {keys[0].field_id}."
        case plan.GridPage(query=query):
            return (
                f"Show at most {query.limit:,} rows: fetch their documents if they were not read yet. Leave out rows "
                "that no longer match or whose place has changed."
            )
    raise TypeError(node)


def _of_the_new(new: NewIssues) -> str:
    """The outcome of the search for new issues."""
    if new.missing:
        return (
            f"Up to {_issues(new.missing)} of the last numbers are not in the index yet, or were deleted. They are "
            "too many to be overlaid, so they are missing here."
        )
    if not new.moves:
        return "Numbers were given out recently, and the index has all their issues."
    return f"Read {_issues(len(new.moves))} that the index does not have yet, and overlay them."


def _along(query: Any, facts: Facts) -> str:
    """How the rows of the page were found along an order."""
    first, *others = query.keys
    way = "descending" if first.descending else "ascending"
    said = f"Follow the blocks of {first.field_id}, {way}, to the rows of the result page"
    if "blocks" in facts:
        said += f": {facts['blocks']:,} of {facts['of']:,} blocks were examined"
    if any(key.order is not None for key in others):
        said += f". Sort the issues with one {first.field_id} by {in_words(others)}, from their documents"
    return f"{said}.{_to_the_offset(query)}"


def _to_the_offset(query: Any) -> str:
    if not query.offset:
        return ""
    added = "the matching issues in each block" if query.filter is not None else "the issues in each block"
    return f" Find row {query.offset:,} by adding up {added}."


def _issues(count: int) -> str:
    return "1 issue" if count == 1 else f"{count:,} issues"
