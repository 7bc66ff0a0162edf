"""`./dev import` of real files into a real local stack: everything arrives, in the right types and orders, despite
kills.
"""

import csv
import gzip
import json
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from devtools import paths
from devtools.local import bulk
from gridview.derive.families import has_entries
from gridview.encoding import derived_keys
from gridview.schema.catalog import Catalog
from gridview.schema.items import to_catalog
from gridview.schema.store import read
from tests.support import needs
from tests.support.commands import Done
from tests.support.depth import one_of
from tests.support.stacks import TENANT, LocalStack, running_stack

TITANIUM = paths.DATA / "titanium_issues.csv"
NYC = paths.DATA / "nyc_cases.csv.gz"
SECONDS_TO_INDEX = 240

IN_ALL = 2_501
ROWS = one_of(300, thorough=IN_ALL)
"""The number of the tracker's issues, which have 29 columns: all of them take three minutes to index."""

Key = Callable[[Any], Any]


def walk(client: httpx.Client, project: str, **query: Any) -> list[dict[str, Any]]:
    """All rows of a grid, page by page along `next`; each page is full but the last."""
    rows: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = client.post(f"/v1/projects/{project}/grid", json={"limit": 500, **query, **cursor})
        assert answer.status_code == 200, answer.text
        page = answer.json(parse_float=Decimal)
        rows += page["rows"]
        if page["next"] is None:
            return rows
        assert len(page["rows"]) == 500
        cursor = {"cursor": page["next"]}


def wait_until_indexed(stack: LocalStack, project: str, expected: Mapping[str, int]) -> Catalog:
    """Wait until each order (by field id) has as many issues as have values, by its entries or else by its blocks.

    Does not check which issues they are.
    """
    table = bulk.table_at(stack.state.engine, "gridview")
    catalog = to_catalog(TENANT, project, read(table, TENANT, project))
    deadline = time.monotonic() + SECONDS_TO_INDEX

    def entries(field: str) -> int:
        served = _field(catalog, field).served
        assert served is not None
        if not has_entries(served.order_id):
            blocks = derived_keys.directory(TENANT, project, served.order_id)
            return sum(
                int(block["size"]) for block in table.query_all(blocks, index=True, paths=(("size",),))
            )
        order = derived_keys.order(TENANT, project, served.order_id)
        return sum(1 for _ in table.query_all(order, index=True, paths=()))

    # Backwards: an issue's entries are written in this order, so mostly only the last list is read again and again.
    for field, count in reversed(list(expected.items())):
        while (found := entries(field)) < count:
            assert time.monotonic() < deadline, f"{field}: {found} of {count} entries"
            time.sleep(2)
        assert found == count, field
    return catalog


def _field(catalog: Catalog, field_id: str) -> Any:
    found = catalog.get(field_id)
    assert found is not None
    return found


def folded(text: str) -> str:
    """Text as API.md says it sorts: NFKD, marks dropped, casefolded, 240 characters."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return plain.casefold()[:240]


def key_of(field_type: str, options: Sequence[str]) -> Key:
    """The comparison key of a type's values, according to API.md, for values in the spelling of the CSV."""
    rank = {option: place for place, option in enumerate(options)}
    keys_of_types: dict[str, Key] = {
        "text": folded,
        "number": Decimal,
        "date": date.fromisoformat,
        "datetime": datetime.fromisoformat,
        "enum": rank.__getitem__,
        "multi_enum": lambda cell: sorted(rank[part] for part in cell.split(";")),
    }
    return keys_of_types[field_type]


def expected_order(cells: Mapping[int, str], key: Key, *, descending: bool) -> list[int]:
    """Issue numbers by value, with ties by number in the same direction. Issues without a value are last in each
    direction.
    """
    filled = sorted(
        (num for num in cells if cells[num]), key=lambda num: (key(cells[num]), num), reverse=descending
    )
    return [*filled, *sorted((num for num in cells if not cells[num]), reverse=descending)]


def comparable(field_type: str, value: Any) -> Any:
    """A value from the API or from a cell of the CSV, in one form for both."""
    match field_type:
        case "datetime":
            return datetime.fromisoformat(value)
        case "number":
            return Decimal(value)
        case "multi_enum":
            return set(value.split(";") if isinstance(value, str) else value)
    return value


class Titanium(NamedTuple):
    """The real project: the output of the import, the rows of the file by their key, and the attributes by their
    column.
    """

    done: Done
    arguments: Sequence[str]
    source: Mapping[str, Mapping[str, str]]
    attributes: Mapping[str, Mapping[str, Any]]
    states: Sequence[str]


@pytest.fixture(scope="module")
def titanium(stack: LocalStack, tmp_path_factory: pytest.TempPathFactory) -> Titanium:
    """The imported project. The stream is consumed while the tests continue, and the last of them
    waits for the rest.
    """
    arguments = (
        str(TITANIUM),
        "--project",
        "titanium",
        "--progress",
        str(tmp_path_factory.mktemp("progress")),
        "--limit",
        str(ROWS),
    )
    done = stack.dev("import", *arguments)
    with TITANIUM.open(encoding="utf-8", newline="") as file:
        source = {row["key"]: row for row in islice(csv.DictReader(file), ROWS)}
    with stack.client("viewer") as client:
        project = client.get("/v1/projects/titanium").json()
    attributes = {attribute["name"]: attribute for attribute in project["attributes"]}
    states = [state["value"] for state in project["states"]]
    return Titanium(done, arguments, source, attributes, states)


@needs.data
def test_titanium_arrives_whole_in_the_right_types(stack: LocalStack, titanium: Titanium) -> None:
    assert titanium.done.status == 0, titanium.done.stderr
    summary = f"{ROWS:,} rows read, {ROWS:,} issues created in the project 'titanium', 0 rows refused"
    assert summary in titanium.done.stdout
    attributes, source = titanium.attributes, titanium.source
    valued = {column for row in source.values() for column, cell in row.items() if cell}
    assert attributes.keys() == valued - {"title", "status"}
    assert (attributes["created"]["id"], attributes["updated"]["id"]) == ("created_2", "updated_2")
    types = {column: attribute["type"] for column, attribute in attributes.items()}
    assert [
        types[column] for column in ("created", "resolved", "sprint_end", "components", "labels", "number")
    ] == [
        "datetime",
        "datetime",
        "date",
        "multi_enum",
        "text",
        "number",
    ]
    with stack.client("viewer") as client:
        issues = walk(client, "titanium")
    assert [issue["num"] for issue in issues] == list(range(1, ROWS + 1))
    assert {issue["fields"]["key"] for issue in issues} == source.keys()
    for issue in issues:
        row = source[issue["fields"]["key"]]
        assert (issue["name"], issue["state"]) == (row["title"], row["status"])
        filled = {column: attribute["id"] for column, attribute in attributes.items() if row[column]}
        assert issue["fields"].keys() == set(filled.values())
        for column, field in filled.items():
            found = comparable(types[column], issue["fields"][field])
            assert found == comparable(types[column], row[column]), (row["key"], column)


def test_refused_rows_are_reported_and_the_exit_code_says_so(stack: LocalStack, tmp_path: Path) -> None:
    file = tmp_path / "small.csv"
    long = "x" * 1025
    file.write_text(
        f'title,weight,day\nfirst,1.50,2024-02-29\n{long},2,\n,3,\n"last, but one",four,2024-01-01\nlast,,\n'
    )
    types = tmp_path / "types.json"
    types.write_text('{"weight": "number"}')
    arguments = (str(file), "--project", "small", "--name-column", "title", "--types", str(types))
    with stack.client("viewer") as client:
        done = stack.dev("import", *arguments)
        assert done.status == 3, done.stderr
        assert "5 rows read, 2 issues created in the project 'small', 3 rows refused" in done.stdout
        rejected = tmp_path / f"small.csv.{TENANT}.small.rejected.ndjson"
        lines = [json.loads(line) for line in rejected.read_text().splitlines()]
        assert sorted(line["row"] for line in lines) == [2, 3, 4]
        by_row = {line["row"]: line for line in lines}
        assert by_row[2]["errors"] == [{"field": "name", "message": "must be at most 1024 characters long"}]
        assert "no value in 'title'" in by_row[3]["reason"]
        assert by_row[4]["errors"] == [{"field": "fields.weight", "message": "must be a number"}]
        assert by_row[4]["values"] == {"title": "last, but one", "weight": "four", "day": "2024-01-01"}
        found = {issue["name"]: issue["fields"] for issue in walk(client, "small")}
        assert found == {"first": {"weight": Decimal("1.5"), "day": "2024-02-29"}, "last": {}}

        assert stack.dev("import", *arguments).status == 3
        assert len(walk(client, "small")) == 2
        assert stack.dev("import", *arguments, "--again").status == 3
        assert len(walk(client, "small")) == 4

        # The same project with another file: new options are added, another type is refused before anything
        # is sent.
        file.write_text(
            "title,weight,day,kind\n" + "".join(f"t{n},{n},2024-01-01,{'ab'[n % 2]}\n" for n in range(8))
        )
        changed = stack.dev("import", *arguments)
        assert changed.status == 1
        assert "Another import of small.csv into this project, complete, is on record" in changed.stderr
        assert len(client.get("/v1/projects/small").json()["attributes"]) == 2
        assert stack.dev("import", *arguments, "--again").status == 0
        file.write_text(
            "title,weight,day,kind\n" + "".join(f"u{n},{n},2024-01-01,{'bc'[n % 2]}\n" for n in range(8))
        )
        assert stack.dev("import", *arguments, "--again").status == 0
        assert [row["fields"].get("kind") for row in walk(client, "small")][-2:] == ["b", "c"]
        file.write_text("title,weight,day,kind\nv,1,soon,a\n")
        wrong = stack.dev("import", *arguments, "--again")
        assert wrong.status == 1
        assert wrong.stderr.strip().endswith(
            "The project 'small' has an attribute 'day' of type date, but the column 'day' is text: say otherwise with --types, "
            "or take another project."
        )
        assert len(walk(client, "small")) == 20


def test_without_a_stack_or_a_token_one_sentence_says_so(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("title\nx\n")
    stack = LocalStack(tmp_path / "data")
    local = stack.dev("import", str(file))
    assert (local.status, local.stderr.count("\n")) == (1, 1)
    assert "The local stack is not running" in local.stderr
    remote = stack.dev("import", str(file), "--api", "http://127.0.0.1:9")
    assert (remote.status, remote.stderr.count("\n")) == (1, 1)
    assert "give --token or set GRIDVIEW_TOKEN" in remote.stderr


KILLED_ROWS = 1_500
"""Three batches."""


@needs.data
@needs.time
def test_nothing_is_lost_or_doubled_when_importer_and_stack_are_killed(tmp_path: Path) -> None:
    types = tmp_path / "types.json"
    kept = ("unique_key", "opendate", "zip", "days_open")
    with gzip.open(NYC, "rt", encoding="utf-8", newline="") as file:
        columns = next(csv.reader(file))
    types.write_text(json.dumps({column: "skip" for column in columns if column not in kept}))
    options = [
        "--project",
        "nyc",
        "--limit",
        str(KILLED_ROWS),
        "--types",
        str(types),
        "--workers",
        "1",
        "--progress",
        str(tmp_path),
    ]
    progress_file = tmp_path / f"{NYC.name}.{TENANT}.nyc.progress.json"
    with gzip.open(NYC, "rt", encoding="utf-8", newline="") as file:
        source = list(islice(csv.DictReader(file), KILLED_ROWS))

    def wait_for_batches(count: int) -> None:
        deadline = time.monotonic() + 60
        while not progress_file.exists() or len(_batches(progress_file)) < count:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    with running_stack(tmp_path) as stack:
        importer = stack.start("import", str(NYC), *options)
        wait_for_batches(1)
        importer.kill()
        importer.communicate()
        sent = len(_batches(progress_file))
        assert 1 <= sent < 3

        importer = stack.start("import", str(NYC), *options)
        wait_for_batches(sent + 1)
        stack.kill()
        stack.up()
        output, _ = importer.communicate(timeout=150)
        assert importer.returncode == 0, output
        assert (
            f"{KILLED_ROWS:,} rows read, {KILLED_ROWS:,} issues created in the project 'nyc', 0 rows refused"
            in output
        )

        with stack.client("viewer") as client:
            attributes = client.get("/v1/projects/nyc").json()["attributes"]
            assert {one["id"]: one["type"] for one in attributes} == {
                "opendate": "date",
                "zip": "text",
                "days_open": "number",
            }
            issues = walk(client, "nyc")
            assert sorted(issue["name"] for issue in issues) == sorted(row["unique_key"] for row in source)
            by_key = {row["unique_key"]: row for row in source}
            cells = {issue["num"]: by_key[issue["name"]]["days_open"] for issue in issues}
            # The pump continues where it was: writes accepted before the kill are indexed after it.
            wait_until_indexed(stack, "nyc", {"days_open": sum(1 for cell in cells.values() if cell)})
            for direction in ("asc", "desc"):
                walked = walk(
                    client, "nyc", sort=[{"field": "days_open", "direction": direction}], columns=["num"]
                )
                wanted = expected_order(cells, Decimal, descending=direction == "desc")
                assert [row["num"] for row in walked] == wanted


def _batches(progress_file: Path) -> list[int]:
    acknowledged = json.loads(progress_file.read_text())["acknowledged"]
    return [index for first, last in acknowledged for index in range(first, last + 1)]


@needs.data
def test_titanium_sorts_by_everything_both_ways(stack: LocalStack, titanium: Titanium) -> None:
    orders = {
        "name": ("title", key_of("text", [])),
        "state": ("status", key_of("enum", titanium.states)),
    }
    for column, attribute in titanium.attributes.items():
        options = [option["value"] for option in attribute.get("options", [])]
        orders[attribute["id"]] = (column, key_of(attribute["type"], options))
    filled = {
        field: sum(1 for row in titanium.source.values() if row[column])
        for field, (column, _) in orders.items()
    }
    wait_until_indexed(stack, "titanium", filled)
    with stack.client("viewer") as client:
        issues = walk(client, "titanium", columns=["key"])
        rows = {issue["num"]: titanium.source[issue["fields"]["key"]] for issue in issues}
        for field, (column, key) in list(orders.items())[:: one_of(5)]:
            cells = {num: row[column] for num, row in rows.items()}
            for direction in ("asc", "desc"):
                sort = [{"field": field, "direction": direction}]
                walked = walk(client, "titanium", sort=sort, columns=["num"])
                wanted = expected_order(cells, key, descending=direction == "desc")
                assert [row["num"] for row in walked] == wanted, (field, direction)
        # The built-in ones have the server's time of arrival: any order that agrees with the values.
        for field in ("created", "updated"):
            walked = walk(client, "titanium", sort=[{"field": field}], columns=[field])
            assert len(walked) == ROWS
            assert walked == sorted(walked, key=lambda row: (datetime.fromisoformat(row[field]), row["num"]))


@needs.data
def test_an_import_that_is_complete_is_not_done_again(stack: LocalStack, titanium: Titanium) -> None:
    again = stack.dev("import", *titanium.arguments)
    assert again.status == 0
    assert f"This file is in the project 'titanium' already: {ROWS:,} issues" in again.stdout
