"""The pages agree with the code: routes, operators, keys, sort strings, links, and every path and name of code."""

import ast
import inspect
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import pytest

from gridview.encoding import derived_keys, fences, keys, live_keys, sort_strings
from gridview.query.operators import OPERATORS, Operand
from gridview.schema.fields import Field, FieldType
from gridview.support.errors import PROBLEMS
from infra.routes import ROUTES
from tests.unit.test_architecture import LAYERS

ROOT = Path(__file__).parents[2]
PAGES = sorted(str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
SEPARATOR = "␁"

README_LINES = 250
README_WORDS = 900
"""The most words outside code and the diagram."""

PAGE_WORDS = 2_500
LONG_PAGES = {"docs/performance.md", "docs/sort-strings.md"}
"""The pages of docs that may have more words than the others."""

WALKS = ("docs/life-of-a-write.md", "docs/life-of-a-query.md", "docs/life-of-a-delivery.md")
"""The pages that walk through the code, step by step and function by function."""

ENDPOINTS = {(f"{route.function}_api", route.operation) for route in ROUTES}
"""The packages of endpoints, each with their names."""


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def section_of(page: str, heading: str) -> str:
    """The text below a heading, up to the next of its level or above."""
    level = heading.index(" ")
    below = text_of(page).split(f"\n{heading}\n", 1)[1]
    return re.split(rf"\n#{{1,{level}}} ", below, maxsplit=1)[0]


def table_in(page: str, heading: str) -> list[list[str]]:
    """The body rows of the first table below a heading, code marks removed."""
    rows = re.findall(r"(?:^\|.*\|$\n?)+", section_of(page, heading), re.MULTILINE)[0].splitlines()
    return [[cell.strip().replace("`", "") for cell in row[1:-1].split("|")] for row in rows[2:]]


def test_the_readme_is_read_in_one_sitting() -> None:
    assert len(text_of("README.md").splitlines()) <= README_LINES
    prose = re.sub(r"^```.*?^```$", "", text_of("README.md"), flags=re.MULTILINE | re.DOTALL)
    assert len(prose.split()) <= README_WORDS


def test_no_page_of_docs_is_too_long() -> None:
    words = {
        str(path.relative_to(ROOT)): len(path.read_text("utf-8").split())
        for path in (ROOT / "docs").glob("*.md")
    }
    assert {page for page, count in words.items() if count > PAGE_WORDS} == LONG_PAGES


def test_the_table_of_calls_is_the_table_of_routes() -> None:
    expected = [
        [route.key, route.function, route.role.name.lower() if route.role else ""] for route in ROUTES
    ]
    assert table_in("docs/calls.md", "## All calls") == expected


def test_the_table_of_operators_is_the_registry() -> None:
    expected = [
        [
            one.name,
            "all" if one.types == frozenset(FieldType) else ", ".join(sorted(one.types)),
            one.operand.value,
            one.summary if one.operand is Operand.NOTHING else f"{one.summary} …",
        ]
        for one in OPERATORS.values()
    ]
    assert table_in("docs/querying.md", "## Filters") == expected


JOB = "018f3a5c2b71e7d4c90a"
START = Field("3812", "a1", "Start", FieldType.DATE)

CONNECTION = "L0SM9cOFvHcCIhw="

ENTITIES = {
    "restore": (keys.RESTORE, keys.RESTORE, ""),
    "tenant": (keys.tenant("0807"), keys.TENANT_SELF, ""),
    "project": (
        keys.project("0807", "35e9"),
        keys.tenant("0807"),
        sort_strings.text("Forth Rail Bridge") + sort_strings.SEPARATOR + "35e9",
    ),
    "deleted project": (
        keys.project("0807", "35e9"),
        keys.tenant("0807"),
        keys.deleted_project("2026-11-21T08:00:00.000000Z", "35e9"),
    ),
    "catalog": (keys.project("0807", "35e9"), keys.CATALOG, ""),
    "issue counter": (keys.project("0807", "35e9"), keys.COUNTER, ""),
    "attribute": (keys.project("0807", "35e9"), keys.attribute("0807", "35e9", "3812"), ""),
    "background work": (keys.project("0807", "35e9"), keys.JOB, "2026-11-21T08:00:00.000000Z"),
    "slice of it": (keys.project("0807", "35e9"), keys.job(1), "2026-11-21T08:00:00.000000Z"),
    "issue": (keys.issue("0807", "35e9", 1), keys.project("0807", "35e9"), sort_strings.issue_number(1)),
    "sort entry": (
        keys.issue("0807", "35e9", 1),
        derived_keys.order("0807", "35e9", f"{START.key}.1"),
        sort_strings.sort_string(sort_strings.date("2023-05-01"), 1),
    ),
    "block": (
        derived_keys.block("0807", "35e9", f"{START.key}.1", "7f3a"),
        derived_keys.directory("0807", "35e9", f"{START.key}.1"),
        fences.before(sort_strings.date("2023-05-01")),
    ),
    "deleted issue": (keys.issue("0807", "35e9", 1), keys.project("0807", "35e9"), ""),
    "place in the trash": (
        keys.trash("0807", "35e9"),
        keys.trash_place("2026-11-21T08:00:00.000000Z", 1, 3),
        "",
    ),
    "page of a column": (derived_keys.column("0807", "35e9", "a2.1"), derived_keys.column_page(12), ""),
    "ledger": (keys.issue("0807", "35e9", 1), derived_keys.LEDGER, ""),
    "journal": (derived_keys.journal("0807", "35e9"), derived_keys.FOLD, "2026-11-21T08:00:00.000000Z"),
    "journal item": (derived_keys.journal("0807", "35e9"), derived_keys.journal_item(57), ""),
    "totals of columns": (derived_keys.journal("0807", "35e9"), derived_keys.TOTALS, ""),
    "journal mark": (derived_keys.journal("0807", "35e9"), derived_keys.journal_mark(57), ""),
    "history": (derived_keys.history("0807", "35e9", 1), derived_keys.history_item(3), ""),
    "history part": (derived_keys.history("0807", "35e9", 1), derived_keys.history_part(3, 1), ""),
    "activity": (
        derived_keys.activity("0807", "35e9"),
        derived_keys.activity_group("2026-11-21T08:00:00.000000Z", "5f0c7a9be1d2c3a4"),
        "",
    ),
    "note of a change": (
        derived_keys.change("0807", "35e9", UUID("5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3").bytes),
        derived_keys.change_note("ann"),
        "",
    ),
    "part of a change": (
        derived_keys.change("0807", "35e9", UUID("5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3").bytes),
        derived_keys.change_group(1, "5f0c7a9be1d2c3a4"),
        "",
    ),
    "composite index": (keys.project("0807", "35e9"), keys.composite("0807", "35e9", "c1"), ""),
    "lag": (keys.lag("0807", "35e9"), keys.LAG, ""),
    "lag of the heartbeat": (keys.LAG_OF_BEAT, keys.LAG, ""),
    "heartbeat": (keys.BEAT, keys.BEAT, ""),
    "canary": (keys.CANARY, keys.CANARY, keys.CANARY),
    "check of the table": (keys.CHECK, keys.JOB, "2026-11-21T03:17:00.000000Z"),
    "segment of it": (keys.CHECK, keys.job(1), "2026-11-21T03:17:00.000000Z"),
    "purged issues": (keys.request("0807", "35e9"), keys.JOB, "2026-11-21T08:00:00.000000Z"),
    "remembered request": (keys.request("0807", "35e9"), keys.remembered("9f86d081"), ""),
    "answer part": (
        keys.request("0807", "35e9"),
        keys.remembered_part("9f86d081", 0, 1),
        "",
    ),
    "webhook": (live_keys.webhooks("0807", "35e9"), "w3k9q2m7x1c0z", ""),
    "outbox of a webhook": (
        live_keys.outbox("0807", "35e9", "w3k9q2m7x1c0z"),
        live_keys.OUTBOX,
        "2026-11-21T08:00:00.000000Z",
    ),
    "delivery": (live_keys.outbox("0807", "35e9", "w3k9q2m7x1c0z"), live_keys.delivery(57, 1), ""),
    "next attempt": (
        live_keys.outbox("0807", "35e9", "w3k9q2m7x1c0z"),
        live_keys.retry("2026-11-21T08:00:00.000000Z", live_keys.delivery(57, 1)),
        "",
    ),
    "user": (
        keys.user("0807", "ann"),
        keys.users("0807"),
        sort_strings.text("Ann Arrol") + sort_strings.SEPARATOR + "ann",
    ),
    "register of views": (keys.views("0807", "35e9"), keys.VIEW_REGISTER, ""),
    "shared view": (keys.views("0807", "35e9"), keys.shared_view(12), ""),
    "private view": (keys.views("0807", "35e9"), keys.private_view("ann", 13), ""),
    "order of private views": (keys.views("0807", "35e9"), keys.private_order("ann"), ""),
    "comments of an issue": (keys.comments("0807", "35e9"), keys.comment_register(1), ""),
    "comment": (keys.comments("0807", "35e9"), keys.comment(1, 12), ""),
    "comment activity": (
        derived_keys.activity("0807", "35e9"),
        keys.comment_activity("2026-11-21T08:00:00.000000Z", 1, 12),
        "",
    ),
    "last placements": (keys.placements("0807", "35e9"), keys.JOB, "2026-11-21T08:00:00.000000Z"),
    "line of jobs": (keys.job_line("0807"), keys.LINE, "2026-11-21T08:00:00.000000Z"),
    "job": (keys.jobs("0807", "35e9"), JOB, ""),
    "job request": (keys.job_parts("0807", "35e9", JOB), keys.ASKED, ""),
    "issues of a job": (keys.job_parts("0807", "35e9", JOB), keys.frozen_numbers(2, 0), ""),
    "formula of a job": (keys.job_parts("0807", "35e9", JOB), keys.frozen_formula(2, "a7"), ""),
    "issues refused by a job": (keys.job_parts("0807", "35e9", JOB), keys.refusals(7), ""),
    "socket": (live_keys.sockets("0807"), live_keys.socket("35e9", CONNECTION), ""),
    "subscription": (live_keys.sockets("0807"), live_keys.subscription("35e9", CONNECTION, "rows"), ""),
    "last presence": (live_keys.sockets("0807"), "35e9", ""),
    "bucket of a user's starts": (live_keys.seats("0807"), live_keys.seat("ann"), ""),
    "seat of a socket": (live_keys.seats("0807"), live_keys.seat("ann", CONNECTION), ""),
    "owed pushes": (live_keys.owed_pushes("0807", "35e9"), live_keys.OWED, "2026-11-21T08:00:00.000000Z"),
    "turn to push": (live_keys.PUSHING, live_keys.PUSHING, ""),
    "owner of a socket": (
        live_keys.socket_owner(CONNECTION),
        live_keys.SOCKET,
        "2026-11-21T08:00:00.000000Z",
    ),
    "open polls of a user": (live_keys.polls("0807"), "ann", ""),
    "used ticket": (live_keys.tickets("0807"), "5d0e1a5244c54f5e9d2b52a1", ""),
    "counted writes": (keys.rate("0807"), "179531990", ""),
}


def test_the_entity_chart_shows_the_keys_that_the_code_makes() -> None:
    shown = {
        row[0]: (row[1], row[2], row[3].replace(SEPARATOR, sort_strings.SEPARATOR))
        for row in table_in("docs/data-model.md", "## Entities")
    }
    assert shown == ENTITIES


def test_the_entity_chart_leaves_out_no_key() -> None:
    tree = ast.parse(Path(__file__).read_text("utf-8"))
    (chart,) = (node for node in tree.body if "ENTITIES" in assigned(node))
    charted = {node.attr for node in ast.walk(chart) if isinstance(node, ast.Attribute)}
    made = {
        name
        for module in (keys, derived_keys, live_keys)
        for name, one in vars(module).items()
        if inspect.isfunction(one) and one.__module__ == module.__name__
        if inspect.signature(one).return_annotation is str and not name.startswith("parse_")
        if not name.endswith("_place")  # what cursors hold
    }
    assert made >= {"tenant", "issue", "block", "request"}
    assert made <= charted


def test_the_annotated_sort_string_is_that_of_the_number() -> None:
    shown = re.search(r"^(<\S+)$", section_of("docs/data-model.md", "## One sort string"), re.MULTILINE)
    assert shown is not None
    expected = sort_strings.sort_string(sort_strings.number(Decimal("-123.4")), 42)
    assert shown.group(1).replace(SEPARATOR, sort_strings.SEPARATOR) == expected


def test_the_life_of_a_write_names_the_sort_string_that_moves() -> None:
    moving = sort_strings.sort_string(sort_strings.date("2023-05-01"), 1)
    assert moving.replace(sort_strings.SEPARATOR, SEPARATOR) in text_of("docs/life-of-a-write.md")


def test_the_rooms_are_the_packages_of_the_core() -> None:
    packages = {path.parent.name for path in (ROOT / "layers/core/python/gridview").glob("*/__init__.py")}
    rooms = [
        re.sub(r"^\[(\w+)\].*", r"\1", row[0]) for row in table_in("docs/architecture.md", "## The rooms")
    ]
    assert sorted(rooms) == sorted(packages)
    levels = [next(at for at, layer in enumerate(LAYERS) if room in layer) for room in rooms]
    assert levels == sorted(levels)


class Link(NamedTuple):
    """A relative link of a page: its text, the file that it leads to, and the heading in there."""

    text: str
    file: Path
    heading: str


def links_of(page: str) -> Iterator[Link]:
    return links_in(page, text_of(page))


def links_in(page: str, text: str) -> Iterator[Link]:
    """The links of a part of a page, without blocks of code."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for name, target in re.findall(r"\[([^\[\]]+)\]\(((?!https?:|mailto:)[^)\s]+)\)", prose):
        path, _, heading = target.partition("#")
        yield Link(name, (ROOT / page).parent / path if path else ROOT / page, heading)


@pytest.mark.parametrize("page", PAGES)
def test_every_link_to_a_file_leads_to_one(page: str) -> None:
    assert [link for link in links_of(page) if not link.file.exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_link_to_a_heading_leads_to_one(page: str) -> None:
    assert [
        link
        for link in links_of(page)
        if link.heading and link.heading not in anchors_of(link.file.read_text("utf-8"))
    ] == []


def anchors_of(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    return {
        re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    }


@pytest.mark.parametrize("page", PAGES)
def test_every_name_of_code_that_is_linked_is_defined_in_that_file(page: str) -> None:
    """A link whose text is `name` or `Class.name`, and whose target is a module, names what the module defines."""
    wrong = [
        link
        for link in links_of(page)
        if link.file.suffix == ".py"
        and (name := re.fullmatch(r"`([A-Za-z_][\w.]*)`", link.text))
        and not name[1].endswith(".py")
        and name[1] not in defined_in(link.file)
    ]
    assert wrong == []


def defined_in(file: Path) -> set[str]:
    """Functions, classes, methods (`Class.name`) and constants of a module."""
    names: set[str] = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        match node:
            case ast.FunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name, body=body):
                names |= {name} | {f"{name}.{one.name}" for one in body if isinstance(one, ast.FunctionDef)}
                names |= {f"{name}.{target}" for one in body for target in assigned(one)}
            case _:
                names.update(assigned(node))
    return names


def assigned(node: ast.stmt) -> Iterator[str]:
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    yield from (target.id for target in targets if isinstance(target, ast.Name))


def steps_of(walk: str) -> list[list[Link]]:
    """The numbered steps of a walk through the code, each with the names of code that it links, in order."""
    steps = re.split(r"^\d+\. ", section_of(walk, "## The walk"), flags=re.MULTILINE)[1:]
    named = [[link for link in links_in(walk, step) if link.file.suffix == ".py"] for step in steps]
    assert sum(map(len, named)) > len(named) > 3
    return named


@pytest.mark.parametrize("walk", WALKS)
def test_a_step_of_a_walk_enters_no_module_twice(walk: str) -> None:
    """Within one step the walk never returns to a module."""
    for number, step in enumerate(steps_of(walk), 1):
        entered = [file for file, _ in groupby(link.file.resolve() for link in step)]
        assert len(entered) == len(set(entered)), f"step {number} of {walk}"


@pytest.mark.parametrize("walk", WALKS)
def test_each_function_of_a_walk_is_named_in_the_code_that_the_walk_has_passed(walk: str) -> None:
    """Each function is named in a module that the reader has already read.

    A handler starts again, and so does an endpoint: its decorator names the path that the walk has named.
    """
    passed: set[Path] = set()
    for link in (link for step in steps_of(walk) for link in step):
        file, name = link.file.resolve(), link.text.strip("`").rpartition(".")[2]
        begins = file.is_relative_to(ROOT / "functions") or (file.parent.name, name) in ENDPOINTS
        assert begins or file in passed or any(name in used_in(one) for one in passed), link
        passed.add(file)


def used_in(file: Path) -> set[str]:
    """Every name and attribute in the code of a module."""
    nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
    return {
        *(node.id for node in nodes if isinstance(node, ast.Name)),
        *(node.attr for node in nodes if isinstance(node, ast.Attribute)),
        *(node.name for node in nodes if isinstance(node, ast.alias)),
    }


_SEEN_AT_ROOT = (
    "layers/",
    "functions/",
    "infra/",
    "devtools/",
    "tests/",
    "docs/",
    "events/",
    "requirements/",
)
_BUILT = {"functions/query/openapi.json.gz"}
"""Paths that only exist once something has built them."""


@pytest.mark.parametrize("page", PAGES)
def test_every_path_of_the_repository_that_is_named_exists(page: str) -> None:
    named = set(re.findall(r"`([\w./\-]+/[\w./\-]*)`", text_of(page))) - _BUILT
    assert [path for path in named if path.startswith(_SEEN_AT_ROOT) and not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_module_that_is_named_by_its_import_exists(page: str) -> None:
    core = ROOT / "layers/core/python"
    for named in re.findall(r"`(gridview(?:\.\w+)+)`", text_of(page)):
        *parents, last = named.split(".")
        package, module = core.joinpath(*parents, last), core.joinpath(*parents).with_suffix(".py")
        assert package.is_dir() or package.with_suffix(".py").exists() or last in defined_in(module), named


def test_the_page_of_fields_names_all_types() -> None:
    page = text_of("docs/fields.md")
    assert [kind for kind in FieldType if f"`{kind}`" not in page] == []


def test_every_command_that_is_shown_is_one_of_dev() -> None:
    from devtools.cli import COMMANDS

    shown = {name for page in PAGES for name in re.findall(r"\./dev ([a-z]\w*)", text_of(page))}
    assert shown <= {*COMMANDS, "python"}


def test_the_glossary_says_each_term_once_and_links_the_module_that_owns_it() -> None:
    rows = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \| \[`\w+`\]\(([^)]+)\) \|$", text_of("docs/glossary.md"), re.MULTILINE
    )
    terms = [term for term, _, _ in rows]
    assert len(rows) == text_of("docs/glossary.md").count("\n| ") - 1  # not the heading
    assert terms == sorted(set(terms))
    for term, meaning, module in rows:
        assert (ROOT / "docs" / module).is_file(), term
        assert len(re.findall(r"[.?](?: |$)", meaning)) <= 3, term


def test_the_table_of_problem_types_is_that_of_the_code() -> None:
    """Every type, with each of its statuses, and no other."""
    rows = table_in("docs/errors.md", "## All types")
    shown = [(re.sub(r"^\[(.*)\]\(#(.*)\)$", r"\1", kind), int(status)) for kind, status, _ in rows]
    assert shown == [(kind.name, kind.status) for kind in PROBLEMS.values()]
    assert all(retry for _, _, retry in rows)


def test_every_problem_type_has_a_section_with_a_true_example() -> None:
    """An example of each type and status: its title is the code's, and its detail a text of the code."""
    page = text_of("docs/errors.md")
    expected = {(kind.name, kind.status, kind.title) for kind in PROBLEMS.values()}
    shown = set()
    for name in {kind.name for kind in PROBLEMS.values()}:
        section = section_of("docs/errors.md", f"### {name}")
        for example in map(json.loads, re.findall(r"```json\n(.*?)```", section, re.DOTALL)):
            assert example["type"] == name
            shown.add((name, example["status"], example["title"]))
            assert is_said(example["detail"]), example["detail"]
    assert shown == expected
    headings = set(re.findall(r"^### (.+)$", page, re.MULTILINE)) - {"How to retry"}
    assert headings == {name for name, _, _ in expected}


def is_said(detail: str) -> bool:
    """Whether a text, or each of its sentences, is one that the core writes."""
    parts = re.split(r"(?<=[.?]) (?=[A-Z0-9])", detail)
    return _is_written(detail) or all(map(_is_written, parts))


def _is_written(text: str) -> bool:
    constants, forms = texts_of_the_core()
    return text in constants or any(form.fullmatch(text) for form in forms)


@cache
def texts_of_the_core() -> tuple[frozenset[str], tuple[re.Pattern[str], ...]]:
    """The literals of the core, and a pattern for each f-string that does not consist mostly of its values."""
    constants, forms = set(), {}
    for file in (ROOT / "layers/core/python/gridview").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                constants.add(node.value)
            elif isinstance(node, ast.JoinedStr):
                fixed = [part.value if isinstance(part, ast.Constant) else None for part in node.values]
                if sum(len(str(part)) for part in fixed if part is not None) > 12:
                    pattern = "".join(".+" if part is None else re.escape(str(part)) for part in fixed)
                    forms[pattern] = re.compile(pattern)
    return frozenset(constants), tuple(forms.values())
