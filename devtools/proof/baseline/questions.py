"""The baseline's questions, the same ones each time: together they take every kind of plan. Pure.

A sort is written as its keys: `-` before a key that descends, `^` after one whose issues without a value come first.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from devtools.proof.baseline.world import LABELS, Json, World


@dataclass(frozen=True)
class Question:
    """One question.

    `moves`: `>` and `<` lead to the next result page and the previous one; the question is for the last of them.
    """

    name: str
    kind: str
    body: Json
    moves: str = ""
    share: float | None = None
    """The offset, as a share of the project's size."""
    issue: str = ""
    """The issue whose row number is asked for: an attribute of the world, or a share of its size."""

    def request(self, world: World) -> tuple[str, Json]:
        """The path after the project's, and the body or the query parameters."""
        if self.kind == "row_number":
            known = getattr(world, self.issue, None)
            num = int(float(self.issue) * world.size) if known is None else known
            return f"issues/{max(num, 1)}/row-number", self.body
        offset = {} if self.share is None else {"offset": int(self.share * world.size)}
        return self.kind, self.body | offset


_FIELDS: Final = (
    "name", "state", "created", "updated", "day", "reviewed", "rare", "amount", "kind", "stage", "labels", "assignee", "seen",
    "flag", "reference", "summary",
)  # fmt: skip
_FILTERS: Final[dict[str, Json]] = {
    "0.1%": {"field": "amount", "op": "lt", "value": 1_000},
    "1%": {"field": "amount", "op": "lt", "value": 10_000},
    "30%": {"field": "amount", "op": "lt", "value": 300_000},
    "99%": {"field": "day", "op": "gte", "value": "2015-02-06"},
}
_OPERATORS: Final[tuple[tuple[str, str, Any], ...]] = (
    ("day", "eq", "2019-05-01"),
    ("day", "ne", "2019-05-01"),
    ("day", "in", ["2019-05-01", "2019-05-02", "2020-02-29"]),
    ("day", "between", ["2019-05-01", "2019-05-20"]),
    ("num", "lte", 50),
    ("num", "gt", 500),
    ("rare", "gte", 25),
    ("rare", "is_empty", None),
    ("rare", "is_not_empty", None),
    ("reviewed", "is_empty", None),
    ("reviewed", "lt", "2015-03-01"),
    ("kind", "eq", "Bug"),
    ("kind", "not_in", ["Bug", "Task"]),
    ("kind", "gt", "Epic"),
    ("labels", "has_any", ["ios", "api"]),
    ("labels", "has_all", ["ios", "api"]),
    ("labels", "has_none", ["ios"]),
    ("labels", "eq", ["ios", "api"]),
    ("assignee", "eq", "user-7"),
    ("assignee", "not_in", ["user-7", "user-8"]),
    ("seen", "lt", "2015-03-01T12:00:00Z"),
    ("flag", "eq", True),
    ("state", "ne", "open"),
    ("created", "gte", "2015-01-02T00:00:00Z"),
    ("reference", "starts_with", "beam b"),
    ("reference", "eq", "beam bolt cable"),
    ("summary", "has_words", "Straße"),
    ("summary", "has_words", "rust rivet"),
    ("summary", "starts_with", "tra"),
    ("name", "has_words", "beam bolt"),
)
_UNDECIDED: Final[dict[str, Json]] = {
    "a part of an indexed text": {"field": "reference", "op": "contains", "value": "am bo"},
    "a part of a searched text": {"field": "summary", "op": "contains", "value": "asse riv"},
    "words without an index": {"field": "reference", "op": "has_words", "value": "beam"},
    "a long text": {"field": "summary", "op": "eq", "value": "the same beginning " * 14 + "1"},
    "a few, besides many": {
        "or": [_FILTERS["30%"], {"field": "summary", "op": "eq", "value": "the same beginning " * 14 + "1"}]
    },
    "no index": {"field": "spent", "op": "lt", "value": 20},
    "no index, not": {"not": {"field": "severity", "op": "eq", "value": "Bug"}},
    "no index, few": {"and": [_FILTERS["1%"], {"field": "note", "op": "contains", "value": "be"}]},
    "an index being built": {"field": "later", "op": "gte", "value": 50},
    "options being moved": {"field": "stage", "op": "lte", "value": "check"},
    "one option being moved": {"field": "stage", "op": "eq", "value": "done"},
}
_NESTED: Final[dict[str, Json]] = {
    "and": {"and": [_FILTERS["30%"], {"field": "kind", "op": "eq", "value": "Bug"}]},
    "or": {"or": [_FILTERS["0.1%"], {"field": "labels", "op": "has_all", "value": ["ios", "ui"]}]},
    "not": {"not": {"or": [_FILTERS["30%"], {"field": "flag", "op": "is_empty"}]}},
    "nothing": {"and": [_FILTERS["0.1%"], {"not": _FILTERS["1%"]}]},
}


READ_WHOLE: Final = 4_000
"""Issues of the project of which only what may take reading all of them is asked: smaller ones take less, larger ones refuse."""


def questions(size: int) -> tuple[Question, ...]:
    """Those of a project of so many issues, none twice."""
    every = (_plain, _filtered, _several_keys, _groups, _positions)
    found = tuple(one for some in ((_whole,) if size == READ_WHOLE else every) for one in some())
    names = [one.name for one in found]
    assert len({*names}) == len(names), "a question has no name of its own"  # noqa: S101
    return found


def _sort(text: str) -> list[Json]:
    return [
        {
            "field": key.strip("-^"),
            "direction": "desc" if key.startswith("-") else "asc",
            "nulls": "first" if key.endswith("^") else "last",
        }
        for key in text.split(", ")
    ]


def _page(
    sort: str,
    only: tuple[str, Json] | None = None,
    *,
    limit: int = 20,
    moves: str = "",
    share: float | None = None,
    **more: Any,
) -> Question:
    body: Json = {"sort": _sort(sort), "limit": limit, "columns": ["day", "kind", "amount"], **more}
    said = [f"page by {sort}", f"{limit}"]
    if only is not None:
        said.insert(1, f"where {only[0]}")
        body["filter"] = only[1]
    if share is not None:
        said.append(f"from {share:g}")
    said += [f"{name} {json.dumps(value)}" for name, value in more.items()]
    if moves:
        said.append(moves)
    return Question(", ".join(said), "grid", body, moves, share)


def _plain() -> Iterator[Question]:
    """One key, no filter."""
    yield from (_page(sort, moves=moves) for sort in ("num", "-num") for moves in ("", ">", ">><"))
    yield _page("num", limit=500, columns=None)
    yield _page("num", count=True)
    yield _page("day", limit=500, columns=None, explain=True)
    for field in _FIELDS:
        yield _page(field)
        yield _page(f"-{field}", moves=">")
        yield _page(field, share=0.7, count=True)
    yield from (_page(field) for field in ("spent", "later"))
    yield from _nulls()
    for sort in ("num", "-day", "amount", "reviewed", "kind", "summary"):
        for share in (0.02, 0.3, 0.99, 1.0, 2.0):
            yield _page(sort, share=share, count=True)
        for moves in ("<", ">", "<<", "<>"):
            yield _page(sort, share=0.33, moves=moves)


def _nulls() -> Iterator[Question]:
    """Pages among the issues without a value, into them and back."""
    for field in ("reviewed", "rare", "kind", "flag", "stage"):
        for sort in (f"{field}^", f"-{field}^"):
            yield _page(sort)
            yield _page(sort, share=0.5, moves="<")
        yield _page(field, limit=100, moves=">>>")
        yield _page(field, limit=100, moves=">>>><")
    for field in ("reviewed", "rare"):
        for moves in (">", ">>>>", ">>>><"):
            yield _page(field, limit=500, moves=moves, count=True)


def _filtered() -> Iterator[Question]:
    """One key under a filter."""
    for name, only in _FILTERS.items():
        for sort in ("num", "day", "-amount", "amount^", "kind", "reviewed", "rare^", "reference"):
            yield _page(sort, (name, only), count=True)
        for sort in ("num", "day", "reviewed"):
            yield _page(sort, (name, only), moves=">")
            yield _page(sort, (name, only), share=0.2, count=True)
            yield _page(sort, (name, only), share=0.2, moves="<")
        yield _page("day", (name, only), share=2.0)
    for field, operator, value in _OPERATORS:
        only = {"field": field, "op": operator} | ({} if value is None else {"value": value})
        named = (f"{field} {operator} {json.dumps(value)}", only)
        yield _page("num", named, count=True)
        yield _page("day" if field in ("num", "day") else f"-{field}", named)
    for moment in ("2015-01-03T18:00:00Z", "2015-06-01T00:00:00Z", "2015-12-01T00:00:00Z"):
        last = (f"created since {moment}", {"field": "created", "op": "gte", "value": moment})
        yield _page("updated", last, count=True)  # all matches are at the end
        yield _page("-updated", last, moves="><")
        yield _page("updated, kind", last, share=0.01)
    for group in (_UNDECIDED, _NESTED):
        for named in group.items():
            yield _page("num", named, count=True)
            yield _page("day", named)
            yield _page("amount, day", named, share=0.005)
            yield _page("-reviewed", named, moves=">")
    yield _page("day", ("30%", _FILTERS["30%"]), limit=500, columns=None, explain=True)


def _several_keys() -> Iterator[Question]:
    """Two keys and more: with few ties and with many, by composite indexes and without."""
    for sort in (
        "day, amount", "-day, -amount", "assignee, amount", "assignee^, -day", "kind, amount", "kind, day", "kind, -day",
        "-kind^, day", "flag, amount", "reviewed, amount", "reviewed^, kind, -day", "rare, num", "reference, day", "stage, day",
        "labels, day", "day, -num",
    ):  # fmt: skip
        yield _page(sort, moves=">")
        yield _page(sort, share=0.5, count=True)
        yield _page(sort, share=0.5, moves="<")
    for sort in ("day, amount", "kind, amount", "kind, -day", "reviewed, amount"):
        for named in (*_FILTERS.items(), ("no index, few", _UNDECIDED["no index, few"])):
            yield _page(sort, named, count=True)
            yield _page(sort, named, share=0.005, moves=">")


def _whole() -> Iterator[Question]:
    """Filters that sets leave open for most issues, and first keys with many ties."""
    open_to_most = ("words without an index", "no index, not", "an index being built")
    named = [(name, _UNDECIDED[name]) for name in open_to_most]
    for only in named:
        for sort in ("num", "-reviewed", "kind, amount"):
            yield _page(sort, only, count=True)
            yield _page(sort, only, moves=">><")
            yield _page(sort, only, share=0.2, count=True)
        for sort in ("num", "day", "flag, amount"):
            yield _placed("with_all", sort, only)
    for sort in ("flag, amount", "-state, reference", "rare, -day", "created, rare"):
        for filtered in (None, ("99%", _FILTERS["99%"]), named[1]):
            yield _page(sort, filtered, count=True)
            yield _page(sort, filtered, share=0.5, moves="<")
            yield _placed("with_none", sort, filtered)


def _groups() -> Iterator[Question]:
    def grouped(by: Sequence[Any], only: str = "", limit: int = 100, **more: Any) -> Question:
        body: Json = {"by": list(by), "limit": limit, **more}
        said = [f"groups by {' and '.join(map(_by_name, by))}", f"{limit}"]
        if only:
            said.insert(1, f"where {only}")
            body["filter"] = (_FILTERS | _UNDECIDED | _NESTED)[only]
        said += [f"{name} {json.dumps(value)}" for name, value in more.items()]
        return Question(", ".join(said), "groups", body)

    periods = (
        {"field": "day", "unit": "month"},
        {"field": "day", "unit": "year"},
        {"field": "seen", "unit": "year", "timezone": "America/St_Johns"},
        {"field": "seen", "unit": "day", "timezone": "Asia/Kolkata"},
    )
    aggregates = [{"field": "amount", "function": one} for one in ("sum", "min", "max", "avg")]
    for by in ("num", *_FIELDS, "note", "later", *periods):
        yield grouped([by])
        yield grouped([by], limit=3)
        yield grouped([by], "30%", limit=20)
    for only in (*_FILTERS, *_UNDECIDED, *_NESTED):
        yield grouped(["kind"], only)
        yield grouped(["labels", "flag"], only)
    for several in (
        ("kind", "flag"), ("flag", "assignee"), ("assignee", "kind"), ("kind", "labels", "state"), ("summary", "kind"),
        ("kind", "stage"), ("stage", "flag"), ("flag", "num"), ("kind", periods[0]), ("day", "amount"), ("kind", "severity"),
    ):  # fmt: skip
        yield grouped(several, limit=3)
        yield grouped(several, "1%")
    for only in ("", "1%", "30%", "no index, few"):
        yield grouped(["kind"], only, aggregates=aggregates)
        yield grouped(["severity", "flag"], only, aggregates=aggregates[:1])
    yield grouped(["kind"], explain=True)


def _positions() -> Iterator[Question]:
    sorts: Iterable[str] = (
        "num", "-num", "day", "-amount", "kind", "reviewed", "-reviewed^", "rare", "stage", "labels", "assignee", "summary",
        "reference", "kind, -day", "-kind^, day", "day, amount", "kind, amount", "reviewed, amount", "flag, day", "spent", "later",
    )  # fmt: skip
    for sort in sorts:
        for issue in ("with_all", "with_none", "0.9"):
            yield _placed(issue, sort)
    filters: dict[str, Json] = {
        **_FILTERS,
        **_NESTED,
        "labels": {"field": "labels", "op": "has_any", "value": list(LABELS)},
        "most, undecided": _UNDECIDED["no index, not"],
        "few, undecided": _UNDECIDED["no index, few"],
    }
    for named in filters.items():
        for sort in ("num", "day", "reviewed", "kind, -day", "kind, amount"):
            yield _placed("with_all", sort, named)
        yield _placed("with_none", "reviewed", named)
    yield _placed("2", "day")


def _placed(issue: str, sort: str, named: tuple[str, Json] | None = None) -> Question:
    body: Json = {"sort": _sort(sort)}
    said = f"row number of {issue} by {sort}"
    if named is not None:
        said += f", where {named[0]}"
        body["filter"] = named[1]
    return Question(said, "row_number", body, issue=issue)


def _by_name(by: Any) -> str:
    return by if isinstance(by, str) else " ".join(map(str, by.values()))
