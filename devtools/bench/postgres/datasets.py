"""The projects that are compared: generated issues, and New York's constituent cases."""

import csv
import gzip
import hashlib
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

from devtools import paths
from devtools.bench import issues, number_issues
from devtools.bench.postgres.questions import Condition, NumberSubject, Question, Subject
from devtools.local.passes import work_off
from gridview.commands.actor import Actor, Role
from gridview.commands.attributes import create_attribute, update_attribute
from gridview.commands.projects import create_project
from gridview.dynamodb.table import Table
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Document
from gridview.schema.items import to_catalog
from gridview.schema.store import Catalogs, read

ACTOR: Final = Actor("bench", "gridview.bench", Role.ADMIN)
NYC: Final = paths.DATA / "nyc_cases.csv.gz"


@dataclass(frozen=True)
class Dataset:
    """Issues that can be made again and again. `make` creates the empty project."""

    name: str
    project: str
    count: int
    make: Callable[[Table], Catalog]
    documents: Callable[[Catalog], Iterator[Document]]
    questions: Callable[[], Sequence[Question]]
    sources: tuple[Path, ...]
    """The sources of the issues, in addition to their number: files that make other issues when they change."""


def generated(size: int) -> Dataset:
    """So many issues of 20 attributes, 4 of them indexed."""
    project = f"n{size}"

    def make(table: Table) -> Catalog:
        issues.make_project(table, ACTOR, project)
        return _without_updated(table, project)

    def subject() -> Subject:
        first, last = issues.FIRST_DAY, issues.FIRST_DAY + timedelta(days=issues.DAYS)
        lowest, highest = issues.AMOUNTS
        return Subject(
            issues=size,
            day=issues.DATE,
            later=issues.SPARSE,
            without=sum(issues.SPARSE not in body["fields"] for body in issues.bodies(min(size, _SAMPLE)))
            * size
            // min(size, _SAMPLE),
            few="state",
            rare=Condition(
                issues.NUMBER,
                lowest + (highest - lowest) // 3,
                lowest + (highest - lowest) // 3 + (highest - lowest) // 100,
            ),
            common=Condition("state", "open", "open"),
            common_issues=size * 2 // 5,
            late=Condition(issues.DATE, (last - (last - first) // 100).isoformat(), last.isoformat()),
        )

    return Dataset(
        f"{size:,} issues",
        project,
        size,
        make,
        lambda catalog: issues.generate(catalog, size),
        lambda: subject().questions(),
        (Path(issues.__file__),),
    )


def for_the_page(size: int) -> Dataset:
    """The generated issues, with an index of the field by which the page shows a board."""
    project = f"p{size}"

    def make(table: Table) -> Catalog:
        issues.make_project(table, ACTOR, project, (*issues.INDEXED, issues.BOARD))
        return _without_updated(table, project)

    return replace(generated(size), project=project, make=make)


def numbers(size: int) -> Dataset:
    """So many issues with five numbers, for sums."""
    project = f"s{size}"

    def make(table: Table) -> Catalog:
        number_issues.make_project(table, ACTOR, project)
        return _without_updated(table, project)

    def made(catalog: Catalog) -> Iterator[Document]:
        for num, fields in enumerate(number_issues.fields(size), 1):
            changes = documents.parse_create(catalog, {"name": f"Issue {num}", "fields": fields})
            yield documents.new_document(catalog, num, changes, user=ACTOR.user, now=issues.moment(num))

    subject = NumberSubject(
        issues=size,
        numbers=number_issues.NUMBERS,
        group=number_issues.KIND,
        few=Condition(number_issues.SHARE, 0, 0),
        half=Condition(number_issues.DONE, True, True),
    )
    return Dataset(
        f"{size:,} issues with five numbers",
        project,
        size,
        make,
        made,
        subject.questions,
        (Path(number_issues.__file__), Path(__file__)),
    )


_SAMPLE: Final = 10_000

_CASES: Final[Mapping[str, tuple[str, bool]]] = {
    # column: type, indexed
    "account": ("text", False),
    "opendate": ("date", True),
    "closedate": ("date", True),
    "complaint_type": ("enum", True),
    "descriptor": ("text", False),
    "zip": ("text", False),
    "borough": ("enum", True),
    "city": ("text", False),
    "council_dist": ("text", False),
    "community_board": ("text", False),
    "days_open": ("number", True),
}


def cases() -> Dataset:
    """341,299 real ones; 11 attributes, 5 of them indexed. The name is the case's key, the state whether it was closed."""
    rows = _read(NYC)
    values = {column: Counter(row[column] for row in rows if row[column]) for column in rows[0]}

    def make(table: Table) -> Catalog:
        catalogs = Catalogs()
        create_project(table, ACTOR, {"id": "nyc", "name": "Constituent cases"})
        for column, (kind, indexed) in _CASES.items():
            body: dict[str, Any] = {"id": column, "name": column, "type": kind, "indexed": indexed}
            if kind == "enum":
                body["options"] = sorted(values[column])
            create_attribute(table, catalogs, ACTOR, "nyc", body)
        return _without_updated(table, "nyc")

    def subject() -> Subject:
        late = sorted(row["opendate"] for row in rows)[-len(rows) // 100]
        share = len(rows) // 100
        rare = min(values["complaint_type"].items(), key=lambda one: abs(one[1] - share))[0]
        return Subject(
            issues=len(rows),
            day="opendate",
            later="closedate",
            without=sum(not row["closedate"] for row in rows),
            few="borough",
            rare=Condition("complaint_type", rare, rare),
            common=Condition("days_open", 0, 0),
            common_issues=values["days_open"]["0"],
            late=Condition("opendate", late, date.max.isoformat()),
        )

    return Dataset(
        f"{NYC.name} ({len(rows):,} issues)",
        "nyc",
        len(rows),
        make,
        lambda catalog: _cases(catalog, rows),
        lambda: subject().questions(),
        (NYC, Path(__file__)),
    )


def digest(dataset: Dataset, code: tuple[Path, ...]) -> str:
    """Another one when the issues or what `code` makes of them may be others."""
    found = hashlib.sha256(str(dataset.count).encode())
    for file in (*dataset.sources, *code):
        found.update(file.read_bytes())
    return found.hexdigest()[:16]


def _read(file: Path) -> list[dict[str, str]]:
    with gzip.open(file) as packed:
        return list(csv.DictReader(io.TextIOWrapper(packed, encoding="utf-8", newline="")))


def _cases(catalog: Catalog, rows: list[dict[str, str]]) -> Iterator[Document]:
    for num, row in enumerate(rows, 1):
        body = {
            "name": row["unique_key"],
            "state": "closed" if row["closedate"] else "open",
            "fields": {column: row[column] for column in _CASES if row[column]},
        }
        changes = documents.parse_create(catalog, body)
        yield documents.new_document(catalog, num, changes, user=ACTOR.user, now=issues.moment(num))


def _without_updated(table: Table, project: str) -> Catalog:
    """The project's catalog, after switching off the index of `updated`, which every edit of an issue pays for."""
    update_attribute(table, Catalogs(), ACTOR, project, "updated", {"indexed": False}, None, settling=0)
    work_off(table)
    return to_catalog(ACTOR.tenant, project, read(table, ACTOR.tenant, project))
