"""What `explain` says of a plan by blocks, in sentences. Pure."""

from collections.abc import Sequence

from gridview.index.block_reads import Reads
from gridview.query.buckets import Line
from gridview.query.grid_request import Asked, GridQuery, in_words


def matches(only: str, sure: int, undecided: int, total: int) -> str:
    """How many issues match what is asked for, by the sets."""
    said = f"Keep what matches: {only}. By the sets of the index {_issues(sure)} of {total:,} {'does' if sure == 1 else 'do'}"
    return f"{said}, and {undecided:,} may: their documents tell." if undecided else f"{said}."


def all_sorted(candidates: int, sort: Sequence[Asked]) -> str:
    """That everything that matches is sorted in memory."""
    return (
        f"They are few enough: fetch the documents of all {candidates:,} that may match, and sort them by "
        f"{in_words(sort)} in memory."
    )


def rest_among_documents(field_id: str, without: int, examined: int) -> str:
    """That issues without a value are looked for among all documents."""
    return (
        f"{_issues(without)} without a value of {field_id}: among the next {examined:,} documents in number order should be "
        "enough of them. Read these, of which DynamoDB passes on those without one."
    )


def along(query: GridQuery, line: Line, looked_into: int) -> list[str]:
    """How the rows of the page were found along an order, where so many of its blocks were looked into."""
    first = query.keys[0]
    way = "descending" if first.descending else "ascending"
    if line.by_number and query.filter is not None:
        said = [f"Sort by num, {way}: a set of issues is in that order already."]
    else:
        looked = f"{looked_into:,} of {len(line.directory.entries):,} blocks were looked into"
        said = [f"Go along the blocks of {first.field_id}, {way}, to the rows of the page: {looked}."]
    if query.offset:
        told = "how many of them match" if query.filter is not None else "how many issues stand in each block"
        said.append(f"Row {query.offset:,} is found by adding up {told}.")
    if not line.simple:
        said.append(f"Sort those of one {first.field_id} by {in_words(query.keys[1:])}, by their documents.")
    return said


def recheck(reads: Reads, age: float) -> list[str]:
    """Where the blocks came from, and what is done with the rows."""
    listed = f", and the directories are of {age:,.1f} s ago" if age else ""
    return [
        f"Of the blocks, {reads.blocks:,} were read from the table and {reads.cached:,} were at hand from earlier requests"
        f"{listed}.",
        "Fetch the page's documents, and leave out a row whose document no longer passes or stands elsewhere by now.",
    ]


def _issues(count: int) -> str:
    return "1 issue" if count == 1 else f"{count:,} issues"
