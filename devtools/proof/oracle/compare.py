"""One question put to the grid and to the oracle, and everything in which the answers differ."""

import json
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from random import Random
from typing import Any

from devtools.proof.oracle import asking, orders, refusals, world
from devtools.proof.oracle.limits import LIMITS, budgets, held_to
from devtools.proof.oracle.loading import Difference, Loaded, container, load, same
from devtools.proof.oracle.plans import plan_of
from devtools.proof.oracle.real import titanium
from devtools.proof.oracle.sql import Oracle, manual_order_of, micros
from devtools.proof.oracle.world import Json, Project, Question
from gridview.dynamodb.table import Table
from gridview.support.errors import NotFound, QueryTooExpensive

QUESTIONS_A_PROJECT = 40
_PAGES = 200
_GROUP_PAGES = 4
_TITANIUM_EVERY, _TITANIUM_AT = 25, 24
"""How often the tracker takes the place of a generated project, and first when."""
_TITANIUM_LIMITS = ("real", "coarse", "coarse dear", "real dear")
DATA = ("both", "generated", "titanium")
_TEXTS = ("name", "state", *world.WRITERS)
"""The built-in fields whose values are texts."""


@dataclass
class Asked:
    """A question and its outcome: how many rows or groups were compared, or why it was `refused`.

    `plans`: how often each was taken; `rounds`: the most sequential calls that an answer by it took.
    """

    question: Question
    rows: int = 0
    refused: str | None = None
    plans: Counter[str] = field(default_factory=Counter)
    rounds: dict[str, int] = field(default_factory=dict)

    def count_plan(self, explain: Json) -> None:
        """Remember the explanation of an answer."""
        plan = plan_of(explain)
        self.plans[plan] += 1
        self.rounds[plan] = max(self.rounds.get(plan, 0), explain["sequential_calls"])


def ask(loaded: Loaded, question: Question) -> Asked:
    """Put a question; Difference."""
    asked = Asked(question)
    must = refusals.must_be_refused(loaded.project, question)
    try:
        with held_to(loaded.project.limits):
            asked.rows = _KINDS[question.kind](loaded, question, asked)
    except QueryTooExpensive as error:
        asked.refused = refusals.why(loaded.project, loaded.oracle, question, budgets(loaded.project.limits))
        if asked.refused is None:
            raise Difference(f"refused without a reason: {error.detail}") from error
    if must:
        same("whether it is refused", asked.refused is not None, must)
    return asked


def _page(loaded: Loaded, body: Json, asked: Asked) -> Any:
    recent = () if "cursor" in body else loaded.recent
    page = asking.page(
        loaded.context(recent=recent), loaded.sends({**body, "keys": True, "explain": True}), loaded.refers()
    ).body
    asked.count_plan(page["explain"])
    return page


def nums_of(page: Any) -> list[int]:
    """The issues of a page's rows."""
    return [row["num"] for row in page["rows"]]


def _check_counts(loaded: Loaded, body: Json, page: Any, matched: int) -> None:
    if body["count"]:
        same("total", page["total"], len(loaded.project.issues))
        same("matched", page["matched"], matched)


def check_keys(oracle: Oracle, body: Json, page: Any) -> None:
    """A row of a manual order has the key that its placement answered."""
    order = manual_order_of(body)
    if order is not None:
        keys = oracle.keys(order)
        shown = {row["num"]: row["key"] for row in page["rows"]}
        same("the keys", shown, {num: keys[num] for num in shown})


def check_values(loaded: Loaded, page: Any, columns: list[str] | None) -> None:
    """A row shows what was sent: all of it, or the columns asked for."""
    kinds = loaded.project.types
    for row in page["rows"]:
        sent = loaded.project.issues[row["num"]]
        ours = {name: row[name] for name in _TEXTS if name in row}
        theirs = {name: loaded.project.value(row["num"], name) for name in _TEXTS}
        same(
            f"the texts of {row['num']}",
            ours,
            {name: one for name, one in theirs.items() if columns is None or name in columns},
        )
        same(
            f"the fields of {row['num']}",
            {name: _canonical(loaded, name, kinds[name], one) for name, one in row["fields"].items()},
            {
                name: _canonical(loaded, name, kinds[name], one)
                for name, one in sent["fields"].items()
                if one not in ("", []) and (columns is None or name in columns)
            },
        )


def _canonical(loaded: Loaded, name: str, kind: str, value: Any) -> Any:
    match kind:
        case "number":
            return Decimal(str(value))
        case "datetime":
            return micros(value)
        case "multi_enum":
            return sorted(value, key=loaded.project.options[name].index)
    return value


def _walk(loaded: Loaded, question: Question, asked: Asked) -> int:
    """All pages forwards, and then all of them backwards."""
    body = question.body
    expected = loaded.oracle.rows(body)
    page = _page(loaded, body, asked)
    pages = [page]
    while page["next"] is not None and len(pages) < _PAGES:
        page = _page(loaded, {**body, "cursor": page["next"]}, asked)
        same("the offset of a page after a cursor", page["offset"], None)
        pages.append(page)
    for one in pages:
        _check_counts(loaded, body, one, len(expected))
        check_values(loaded, one, body.get("columns"))
        check_keys(loaded.oracle, body, one)
    limit = body["limit"]
    chunks = [expected[at : at + limit] for at in range(0, len(expected), limit)] or [[]]
    same("the pages", [nums_of(one) for one in pages], chunks)
    keys = [row["key"].encode() for one in pages for row in one["rows"]]
    same("the order of the keys", keys, sorted(set(keys)))
    back: list[list[int]] = []
    while page["prev"] is not None and len(back) < _PAGES:
        page = _page(loaded, {**body, "cursor": page["prev"]}, asked)
        back.append(nums_of(page))
    same("the pages backwards", back, chunks[:-1][::-1])
    return len(expected)


def _offset(loaded: Loaded, question: Question, asked: Asked) -> int:
    """A page at an offset, and the pages before and after it."""
    body = question.body
    expected = loaded.oracle.rows(body)
    offset, limit = body["offset"], body["limit"]
    page = _page(loaded, body, asked)
    same("the rows", nums_of(page), expected[offset : offset + limit])
    same("the offset", page["offset"], offset)
    check_keys(loaded.oracle, body, page)
    _check_counts(loaded, body, page, len(expected))
    onward = {name: one for name, one in body.items() if name != "offset"}
    end = min(offset, len(expected)) + len(page["rows"])
    same("whether there is a next page", page["next"] is not None, end < len(expected))
    if page["next"] is not None:
        after = _page(loaded, {**onward, "cursor": page["next"]}, asked)
        same("the rows after", nums_of(after), expected[end : end + limit])
    before = expected[max(0, offset - limit) : offset] if offset < len(expected) else expected[-limit:]
    same("whether there is a page before", page["prev"] is not None, bool(offset and before))
    if page["prev"] is not None:
        same("the rows before", nums_of(_page(loaded, {**onward, "cursor": page["prev"]}, asked)), before)
    return len(page["rows"])


def _groups(loaded: Loaded, question: Question, asked: Asked) -> int:
    """Pages of groups, and the pages of the grid that the filters of some groups give."""
    body, limit = question.body, question.body["limit"]
    expected = groups_expected(loaded, body)
    cursor: str | None = None
    compared = 0
    for _ in range(_GROUP_PAGES):
        request = {**body, "cursor": cursor, "explain": True}
        recent = loaded.recent if cursor is None else ()
        answer = asking.grouped(loaded.context(recent=recent), loaded.sends(request), loaded.refers()).body
        asked.count_plan(answer["explain"])
        groups = answered_groups(loaded, body, answer)
        same("the groups", groups, expected[compared : compared + limit])
        compared += len(groups)
        same("whether there are more groups", answer["more"], len(expected) > compared)
        same("whether there is a next page of groups", answer["next"] is not None, answer["more"])
        for group in answer["groups"][-1:]:
            _group_rows(loaded, group, asked)
        cursor = answer["next"]
        if cursor is None:
            break
    return compared


def _group_rows(loaded: Loaded, group: Json, asked: Asked) -> None:
    """The filter of a group means its issues, to the oracle and to the grid (unless that may refuse it)."""
    if group["filter"] is None:
        return
    # Every other group is shown in the order of a view, if there is one.
    orders = loaded.project.orders if group["count"] % 2 else []
    sort = [{"manual": order} for order in orders[:1]]
    body: Json = {"filter": group["filter"], "sort": sort, "limit": 500, "count": True}
    expected = loaded.oracle.rows(body)
    same("the issues of a group's filter", group["count"], len(expected))
    may_refuse = refusals.why(
        loaded.project, loaded.oracle, Question("walk", body), budgets(loaded.project.limits)
    )
    try:
        page = _page(loaded, body, asked)
    except QueryTooExpensive as error:
        if may_refuse is None:
            raise Difference(f"the filter of a group is refused without a reason: {error.detail}") from error
        return
    same("the issues that the grid shows of a group", page["matched"], len(expected))
    same("the rows of a group", nums_of(page), expected[:500])


def answered_groups(loaded: Loaded, body: Json, answer: Any) -> list[Json]:
    """The groups of an answer, in the form in which they are compared."""
    kinds = [_shown_kind(loaded, one) for one in body["by"]]
    return [
        {
            "count": group["count"],
            "values": [_group_value(kind, one) for kind, one in zip(kinds, group["values"], strict=True)],
            "aggregates": [_number(one["value"]) for one in group.get("aggregates", ())],
        }
        for group in answer["groups"]
    ]


def groups_expected(loaded: Loaded, body: Json) -> list[Json]:
    """The groups as the oracle has them, in that form."""
    kinds = [_shown_kind(loaded, one) for one in body["by"]]
    return [
        {
            "count": group["count"],
            "values": [_expected_value(kind, one) for kind, one in zip(kinds, group["values"], strict=True)],
            "aggregates": [_number(one) for one in group["aggregates"]],
        }
        for group in loaded.oracle.groups(body)
    ]


def _number(given: Any) -> Decimal | None:
    return None if given is None else Decimal(str(given))


def _shown_kind(loaded: Loaded, by: Any) -> str:
    if isinstance(by, str):
        return loaded.project.types[by]
    if "bins" in by or "width" in by:
        return "range"
    return "period" if "unit" in by else loaded.project.types[by["field"]]


def _group_value(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "range":
        return _number(value["from"]), _number(value["to"])
    if kind == "number":
        return _number(value)
    return micros(value) if kind == "datetime" else value


def _expected_value(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "range":
        return tuple(_number(one or None) for one in value.split(" "))
    return _number(value) if kind == "number" else bool(value) if kind == "bool" else value


def _summary(loaded: Loaded, question: Question, asked: Asked) -> int:
    body = question.body
    asked_for = {**body, "explain": True}
    answer = asking.summarized(loaded.context(), loaded.sends(asked_for), loaded.refers()).body
    asked.count_plan(answer.pop("explain"))
    same("the summary", answered_summary(loaded, body, answer), summary_expected(loaded, body))
    return len(answer["summaries"])


def answered_summary(loaded: Loaded, body: Json, answer: Any) -> Json:
    """A summary in the form in which it is compared."""
    same(
        "the fields",
        [one.pop("field") for one in answer["summaries"]],
        [one["field"] for one in body["fields"]],
    )
    return {
        "matched": answer["matched"],
        "summaries": [
            {
                function: _function_value(loaded, asked["field"], function, value)
                for function, value in one.items()
            }
            for asked, one in zip(body["fields"], answer["summaries"], strict=True)
        ],
    }


def _function_value(loaded: Loaded, name: str, function: str, value: Any) -> Any:
    if value is None or function in ("count", "empty", "distinct"):
        return value
    return _canonical(loaded, name, loaded.project.types[name], value)


def summary_expected(loaded: Loaded, body: Json) -> Json:
    """A summary as the oracle has it, in that form."""
    found = loaded.oracle.summary(body)
    for asked, one in zip(body["fields"], found["summaries"], strict=True):
        name = asked["field"]
        for function in {"min", "max"} & one.keys():
            holder = one[function]
            value = None if holder is None else loaded.project.value(holder, name)
            one[function] = (
                None if value is None else _canonical(loaded, name, loaded.project.types[name], value)
            )
        for function in {"sum", "avg", "median"} & one.keys():
            one[function] = _number(one[function])
    return found


def _position(loaded: Loaded, question: Question, _: Asked) -> int:
    body = question.body
    try:
        found = asking.position(loaded.context(), question.num, loaded.sends(body), loaded.refers()).body
    except NotFound:
        same("whether there is the issue", False, question.num in loaded.project.issues)
        return 1
    same("whether there is the issue", True, question.num in loaded.project.issues)
    rows = loaded.oracle.rows(body)
    same("the row number", found["row_number"], rows.index(question.num) if question.num in rows else None)
    everything = loaded.oracle.rows({**body, "filter": None})
    ahead = set(everything[: everything.index(question.num)])
    same("the rows before it", found["before"], len(ahead.intersection(rows)))
    return 1


_KINDS: dict[str, Callable[[Loaded, Question, Asked], int]] = {
    "walk": _walk,
    "offset": _offset,
    "groups": _groups,
    "summary": _summary,
    "row_number": _position,
}


class Player:
    """Plays questions by number; the questions of one project follow each other, so that it is made once.

    Every other project is asked by one container, which keeps its reads; the others by a container for each question.
    `data`: "generated" projects, the "titanium" tracker, or "both", the tracker every 25th time.
    """

    def __init__(
        self, new_table: Callable[[], Table], data: str = "generated", limits: Sequence[str] = tuple(LIMITS)
    ) -> None:
        self._new_table = new_table
        self._data = data
        self._limits = limits
        self._place = -1
        self._loaded: Loaded | None = None
        self._titanium: dict[str, Loaded] = {}
        self.happened: Counter[str] = Counter()
        """How many rows were placed before the questions, and the like."""
        self._run = f"r{secrets.token_hex(4)}"  # tenants of this run only

    def play(self, seed: int) -> Asked:
        """Put the question of this number; Difference."""
        place = seed // QUESTIONS_A_PROJECT
        if self._loaded is None or place != self._place:
            self._loaded = self._at(place)
            self._place = place
        if place % 2 == 0:
            fresh = container(self._loaded.table, self._loaded.catalog)
            self._loaded = replace(self._loaded, cache=fresh)
        return put(self._loaded, world.question(Random(f"question {seed}"), self._loaded.project))  # noqa: S311

    def _at(self, place: int) -> Loaded:
        if is_titanium(place, self._data):
            limits = [one for one in self._limits if one in _TITANIUM_LIMITS]
            chosen = limits[place // (_TITANIUM_EVERY if self._data == "both" else 1) % len(limits)]
            if chosen not in self._titanium:
                self._titanium[chosen] = self._load(
                    titanium(chosen), chosen.replace(" ", ""), "titanium", place
                )
            return self._titanium[chosen]
        project = world.make(Random(f"project {place}"), self._limits)  # noqa: S311  (the same one each time)
        return self._load(project, str(place), f"p{place}", place)

    def _load(self, project: Project, name: str, project_id: str, seed: int) -> Loaded:
        loaded = load(self._new_table(), project, f"{self._run}{name}", project_id)
        return orders.placed(loaded, seed, self.happened)


def is_titanium(place: int, data: str) -> bool:
    """Whether the project at this place is the tracker."""
    return data == "titanium" or (data == "both" and place % _TITANIUM_EVERY == _TITANIUM_AT)


def put(loaded: Loaded, question: Question) -> Asked:
    """Put a question; a Difference names it."""
    try:
        return ask(loaded, question)
    except Difference as error:
        text = f"{question.kind} {question.num or ''} {json.dumps(question.body)}, limits: {loaded.project.limits}"
        raise Difference(f"{error}\n  {text}") from error
