"""The judgement of a soak: documents, feeds, histories, sums and groups must say the same, and what was answered."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from devtools.proof.soak.client import Client
from devtools.proof.soak.followers import Copied, Copy, RowFollower
from devtools.proof.soak.load import FIELDS, KINDS, Book

_HISTORIES: Final = 300
"""Issues of a project whose history is read, by chance."""
_PAGE: Final = 500
_NUMBERS: Final = ("qty", "cost", "mark", "total")
_STORED: Final = tuple(one["id"] for one in FIELDS if "formula" not in one)
_EDITED: Final = ("name", "state", "qty", "cost", "kind", "due", "note")

Documents = Mapping[int, Copied]


def documents_of(client: Client, project: str) -> dict[int, Copied]:
    """All issues of a project, by its grid, with their stored and computed values."""
    return {
        row["num"]: Copied(row["version"], _values(row))
        for row in _rows(client, project, {"columns": ["name", "state", *(one["id"] for one in FIELDS)]})
    }


def is_settled(client: Client, project: str) -> bool:
    """Whether the index of a project has all changes."""
    return bool(client.require("POST", f"/v1/projects/{project}/grid", {"limit": 1})["index"]["pending"] == 0)


def differences_of_answers(book: Book, documents: Documents) -> Iterator[str]:
    """What the documents lack of the answered writes, or have too much."""
    there = {num for num, issue in book.issues.items() if not issue.deleted}
    if there != set(documents):
        yield (
            f"issues that were answered and are missing: {_some(there - set(documents))}; "
            f"that are there unasked: {_some(set(documents) - there)}"
        )
    for num in sorted(there & set(documents)):
        for name in _EDITED:
            wanted, found = book.issues[num].values[name], documents[num].values.get(name)
            if wanted != found:
                yield f"{name} of issue {num} is {found!r}, and {wanted!r} was answered"


def differences_of_copy(name: str, copy: Copy, documents: Documents) -> Iterator[str]:
    """What a follower's copy lacks, or has too much."""
    yield from (f"{name}: {fault}" for fault in copy.faults)
    stored = {
        num: Copied(one.version, {key: value for key, value in one.values.items() if key != "total"})
        for num, one in documents.items()
    }
    for num in sorted({*copy.issues, *stored}):
        if copy.issues.get(num) != stored.get(num):
            yield f"{name}: issue {num} is {copy.issues.get(num)}, and its document {stored.get(num)}"


def differences_of_rows(
    follower: RowFollower, client: Client, project: str, rows: Mapping[str, Any], sort: str
) -> Iterator[str]:
    """Rows that a follower has and the grid has not, or the reverse, or under another key."""
    yield from (f"{follower.name}: {fault}" for fault in follower.faults)
    query = {"filter": rows, "sort": [{"field": sort}], "keys": True, "columns": ["name"]}
    keys = {row["num"]: row["key"] for row in _rows(client, project, query)}
    for num in sorted({*keys, *follower.keys}):
        if keys.get(num) != follower.keys.get(num):
            yield f"{follower.name}: issue {num} has {follower.keys.get(num)!r}, and the grid {keys.get(num)!r}"


def differences_of_histories(
    client: Client, project: str, documents: Documents, chance: random.Random
) -> Iterator[str]:
    """Histories of some issues that have not each version once, or do not lead to the document."""
    for num in sorted(chance.sample(sorted(documents), min(_HISTORIES, len(documents)))):
        copy = Copy()
        for event in sorted(_history(client, project, num), key=lambda one: one["version"]):
            copy.take(event)
        yield from (f"history: {fault}" for fault in copy.faults)
        values = {name: value for name, value in documents[num].values.items() if name != "total"}
        if copy.issues.get(num) != Copied(documents[num].version, values):
            yield f"history: issue {num} becomes {copy.issues.get(num)}, and its document is {documents[num]}"


def differences_of_sums(client: Client, project: str, documents: Documents) -> Iterator[str]:
    """Sums, counts and groups that differ from the documents'."""
    for num, one in documents.items():
        if (total := _total(one.values)) != one.values.get("total"):
            yield f"total of issue {num} is {one.values.get('total')!r}, and its fields give {total!r}"
    body: dict[str, Any] = {
        "fields": [{"field": name, "functions": ["count", "sum", "min", "max"]} for name in _NUMBERS],
        "filter": None,
    }
    answer = client.require("POST", f"/v1/projects/{project}/summary", body)
    if answer["matched"] != len(documents):
        yield f"{answer['matched']} issues match, of {len(documents)}"
    for found in answer["summaries"]:
        yield from _unlike(found["field"], found, _figures(documents.values(), found["field"]))
    body = {"by": ["kind"], "aggregates": [{"field": "total", "function": "sum"}]}
    groups = client.require("POST", f"/v1/projects/{project}/groups", body)["groups"]
    by_kind: defaultdict[Any, list[Copied]] = defaultdict(list)
    for one in documents.values():
        by_kind[one.values.get("kind")].append(one)
    order = [kind for kind in (*KINDS, None) if kind in by_kind]
    if [group["values"][0] for group in groups] != order:
        yield f"the groups are {[group['values'][0] for group in groups]}, not {order}"
    for group in groups:
        kind = group["values"][0]
        if group["count"] != len(by_kind[kind]):
            yield f"{group['count']} issues of kind {kind}, and {len(by_kind[kind])} documents"
        figures = {"sum": group["aggregates"][0]["value"]}
        yield from _unlike(f"total of kind {kind}", figures, _figures(by_kind[kind], "total"))


def differences_of_imports(client: Client, book: Book) -> Iterator[str]:
    """Imported projects that do not have each row once."""
    for project, rows in book.imported.items():
        names = Counter(row["name"] for row in _rows(client, project, {"columns": ["name"]}))
        if names != Counter(f"Row {at}" for at in range(rows)):
            yield f"{project} has {names.total()} issues of {len(names)} rows, and {rows} were imported"


def _figures(issues: Any, field: str) -> dict[str, Any]:
    values = [Decimal(one.values[field]) for one in issues if field in one.values]
    if not values:
        return {"count": 0, "sum": None, "min": None, "max": None}
    return {"count": len(values), "sum": sum(values), "min": min(values), "max": max(values)}


def _unlike(name: str, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    for function, value in wanted.items():
        if function not in found:
            continue
        given = found[function]
        if (None if given is None else Decimal(given)) != (None if value is None else Decimal(value)):
            yield f"{function} of {name} is {given}, and the documents give {value}"


def _total(values: Mapping[str, Any]) -> Decimal | None:
    if "cost" not in values or "qty" not in values:
        return None
    return (Decimal(values["cost"]) * Decimal(values["qty"])).quantize(Decimal("0.01"), ROUND_HALF_UP)


def _values(row: Mapping[str, Any]) -> dict[str, Any]:
    values = {"name": row["name"], "state": row["state"], **row["fields"]}
    return {name: value for name, value in values.items() if value is not None}


def _rows(client: Client, project: str, query: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    cursor = None
    while True:
        body = {"sort": [{"field": "num"}], **query, "limit": _PAGE}
        answer = client.require(
            "POST", f"/v1/projects/{project}/grid", body | ({"cursor": cursor} if cursor else {})
        )
        yield from answer["rows"]
        if (cursor := answer["next"]) is None:
            return


def _history(client: Client, project: str, num: int) -> Iterator[Mapping[str, Any]]:
    cursor = ""
    while True:
        answer = client.require(
            "GET",
            f"/v1/projects/{project}/issues/{num}/history?limit={_PAGE}{cursor and f'&cursor={cursor}'}",
        )
        yield from answer["items"]
        if answer["next"] is None:
            return
        cursor = answer["next"]


def _some(nums: Sequence[int] | set[int]) -> list[int]:
    return sorted(nums)[:10]
