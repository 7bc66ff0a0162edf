"""One question put to the grid and to the oracle, and everything in which the answers differ."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any

from devtools import bulk
from devtools.oracle import world
from devtools.oracle.sql import Oracle, micros
from devtools.oracle.world import Json, Project, Question
from gridview import attributes, counting, documents, groups, projects
from gridview.catalog import Catalog
from gridview.catalogs import Catalogs
from gridview.cursors import Cursors
from gridview.errors import NotFound
from gridview.grid import grid_page
from gridview.gridrequest import resolve, resolve_position
from gridview.identity import Actor
from gridview.jsontext import dumps
from gridview.routes import Role
from gridview.storage import Table
from gridview.values import parse_datetime

QUESTIONS_A_PROJECT = 40
_PAGES = 200


class Difference(AssertionError):
    """The grid and the oracle do not agree."""


def same(what: str, ours: Any, expected: Any) -> None:
    """Difference when they are not equal."""
    if ours != expected:
        raise Difference(f"{what}: the grid says {str(ours)[:2000]}, the oracle {str(expected)[:2000]}")


@dataclass
class Loaded:
    """A project that is in the table and in the oracle."""

    project: Project
    table: Table
    catalog: Catalog
    oracle: Oracle
    cursors: Cursors


def load(table: Table, project: Project, tenant: str, project_id: str) -> Loaded:
    """Put a project's issues into the table, with all that is derived from them, and into SQLite."""
    actor = Actor(tenant, "oracle", Role.ADMIN)
    body = {"id": project_id, "name": project_id, "states": project.states}
    projects.create_project(table, actor, body)
    for attribute in project.attributes:
        attributes.create_attribute(table, Catalogs(), actor, project_id, attribute)
    catalog = Catalogs().get(table, tenant, project_id)
    made = []
    for num, issue in project.issues.items():
        now = parse_datetime(project.times[num][0])
        one = documents.new_document(
            catalog, num, documents.parse_create(catalog, issue), user="oracle", now=now
        )
        made.append({**one, "updated": parse_datetime(project.times[num][1])})
    if made:
        bulk.take_numbers(table, catalog, max(project.issues))
        bulk.load(table, catalog, made, bulk.in_batches)
    return Loaded(project, table, catalog, Oracle(project), Cursors([b"of the oracle"], "grid"))


def ask(loaded: Loaded, question: Question) -> int:
    """Put a question, and tell how many rows or groups were compared; Difference."""
    return _KINDS[question.kind](loaded, question)


def _page(loaded: Loaded, body: Json) -> Any:
    answer = grid_page(loaded.table.metered(), loaded.catalog, resolve(loaded.catalog, body), loaded.cursors)
    return json.loads(dumps(answer), parse_float=Decimal)


def _nums(page: Any) -> list[int]:
    return [row["num"] for row in page["rows"]]


def _check_counts(loaded: Loaded, body: Json, page: Any, matched: int) -> None:
    if body["count"]:
        same("total", page["total"], len(loaded.project.issues))
        same("matched", page["matched"], matched)


def _check_values(loaded: Loaded, page: Any) -> None:
    """A row shows what was sent."""
    for row in page["rows"]:
        sent = loaded.project.issues[row["num"]]["fields"]
        kinds = loaded.project.types
        same(
            f"the fields of {row['num']}",
            {name: _canonical(loaded, name, kinds[name], one) for name, one in row["fields"].items()},
            {
                name: _canonical(loaded, name, kinds[name], one)
                for name, one in sent.items()
                if one not in ("", [])
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


def _walk(loaded: Loaded, question: Question) -> int:
    """All pages forwards, and then all of them backwards."""
    body = question.body
    expected = loaded.oracle.rows(body)
    page = _page(loaded, body)
    pages = [page]
    while page["next"] is not None and len(pages) < _PAGES:
        page = _page(loaded, {**body, "cursor": page["next"]})
        same("the offset of a page behind a cursor", page["offset"], None)
        pages.append(page)
    for one in pages:
        _check_counts(loaded, body, one, len(expected))
    _check_values(loaded, pages[0])
    limit = body["limit"]
    chunks = [expected[at : at + limit] for at in range(0, len(expected), limit)] or [[]]
    same("the pages", [_nums(one) for one in pages], chunks)
    back: list[list[int]] = []
    while page["prev"] is not None and len(back) < _PAGES:
        page = _page(loaded, {**body, "cursor": page["prev"]})
        back.append(_nums(page))
    same("the pages backwards", back, chunks[:-1][::-1])
    return len(expected)


def _offset(loaded: Loaded, question: Question) -> int:
    """A page at an offset, and the pages before and after it."""
    body = question.body
    expected = loaded.oracle.rows(body)
    offset, limit = body["offset"], body["limit"]
    page = _page(loaded, body)
    same("the rows", _nums(page), expected[offset : offset + limit])
    same("the offset", page["offset"], offset)
    _check_counts(loaded, body, page, len(expected))
    onward = {name: one for name, one in body.items() if name != "offset"}
    end = min(offset, len(expected)) + len(page["rows"])
    same("whether there is a next page", page["next"] is not None, end < len(expected))
    if page["next"] is not None:
        after = _page(loaded, {**onward, "cursor": page["next"]})
        same("the rows after", _nums(after), expected[end : end + limit])
    before = expected[max(0, offset - limit) : offset] if offset < len(expected) else expected[-limit:]
    same("whether there is a page before", page["prev"] is not None, bool(offset and before))
    if page["prev"] is not None:
        same("the rows before", _nums(_page(loaded, {**onward, "cursor": page["prev"]})), before)
    return len(page["rows"])


def _groups(loaded: Loaded, question: Question) -> int:
    body = question.body
    expected = loaded.oracle.groups(body)
    answer = counting.grouped_counts(
        loaded.table.metered(), loaded.catalog, groups.resolve(loaded.catalog, body)
    )
    page = json.loads(dumps(answer), parse_float=Decimal)
    same("whether there are more groups", page["more"], len(expected) > body["limit"])
    kinds = [_shown_kind(loaded, one) for one in body["by"]]
    ours = [
        {
            "count": group["count"],
            "values": [_group_value(kind, one) for kind, one in zip(kinds, group["values"], strict=True)],
            "aggregates": [_number(one["value"]) for one in group.get("aggregates", ())],
        }
        for group in page["groups"]
    ]
    theirs = [
        {
            "count": group["count"],
            "values": [
                (
                    _number(one)
                    if kind == "number"
                    else bool(one)
                    if kind == "bool" and one is not None
                    else one
                )
                for kind, one in zip(kinds, group["values"], strict=True)
            ],
            "aggregates": [_number(one) for one in group["aggregates"]],
        }
        for group in expected[: body["limit"]]
    ]
    same("the groups", ours, theirs)
    return len(ours)


def _number(given: Any) -> Decimal | None:
    return None if given is None else Decimal(str(given))


def _shown_kind(loaded: Loaded, by: Any) -> str:
    if isinstance(by, str):
        return loaded.project.types[by]
    return "period" if "unit" in by else loaded.project.types[by["field"]]


def _group_value(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "number":
        return _number(value)
    return micros(value) if kind == "datetime" else value


def _position(loaded: Loaded, question: Question) -> int:
    body = question.body
    order, only = resolve_position(loaded.catalog, body)
    try:
        found = counting.position(loaded.table.metered(), loaded.catalog, question.num, order, only)
    except NotFound:
        same("whether there is the issue", False, question.num in loaded.project.issues)
        return 1
    same("whether there is the issue", True, question.num in loaded.project.issues)
    rows = loaded.oracle.rows(body)
    same("the position", found["position"], rows.index(question.num) if question.num in rows else None)
    return 1


_KINDS: dict[str, Callable[[Loaded, Question], int]] = {
    "walk": _walk,
    "offset": _offset,
    "groups": _groups,
    "position": _position,
}


class Player:
    """Plays questions by number; those of one project follow each other, so that it is made once."""

    def __init__(self, new_table: Callable[[], Table]) -> None:
        self._new_table = new_table
        self._place = -1
        self._loaded: Loaded | None = None
        self._run = f"r{datetime.now().timestamp():.0f}"  # tenants of this run alone

    def play(self, seed: int) -> tuple[Question, int]:
        """Put the question of this number; Difference."""
        place = seed // QUESTIONS_A_PROJECT
        if self._loaded is None or place != self._place:
            project = world.make(Random(f"project {place}"))  # noqa: S311  (the same one each time)
            self._loaded = load(self._new_table(), project, f"{self._run}x{place}", f"p{place}")
            self._place = place
        question = world.question(Random(f"question {seed}"), self._loaded.project)  # noqa: S311
        try:
            return question, ask(self._loaded, question)
        except Difference as error:
            raise Difference(f"{error}\n  {question.kind} {json.dumps(question.body)}") from error
