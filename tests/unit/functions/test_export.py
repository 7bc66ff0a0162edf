"""Exports from outside: requests, the file, visibility, and refusals."""

import csv
import io
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest

from devtools.importer.inference import to_bool, to_number
from devtools.importer.source import open_source
from gridview.commands import jobs
from gridview.encoding import keys
from gridview.encoding.json_codec import loads
from gridview.maintenance import export
from gridview.maintenance.export_files import FILE_DAYS
from gridview.schema import user_jobs
from gridview.schema.fields import WRITERS
from gridview.support import clock
from tests.support import nasty
from tests.support.cloud import EXPORTS, Cloud
from tests.support.http import Answer, Client

OPEN = {"field": "state", "op": "eq", "value": "open"}
BY_START = [{"field": "3812", "direction": "desc"}]


@pytest.fixture
def indexed(account: Cloud, bridge: str) -> str:
    """The worked example's project, completely indexed."""
    account.derive()
    return bridge


def begin(api: Client, project: str, body: Any, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return api.post(f"{project}/export", body, headers=named)


def exported(account: Cloud, api: Client, project: str, form: str = "csv", **body: Any) -> str:
    """The content of the file that an export makes."""
    answer = begin(api, project, {"format": form, **body})
    assert answer.status == 202, answer.text
    account.upkeep()
    done = api.get(answer.headers["location"]).body
    assert done["state"] == "done", done
    return file_at(done["url"])


def file_at(url: str) -> str:
    """The file at a link. moto answers no browser here, so the link's own parts are read."""
    parts = urlsplit(url)
    assert parts.scheme == "https"
    assert EXPORTS in parts.netloc
    signed = parse_qs(parts.query)
    assert int(signed["X-Amz-Expires"][0]) <= 300
    assert signed["X-Amz-Signature"]
    (name,) = re.findall(r'^attachment; filename="(.+)"$', signed["response-content-disposition"][0])
    assert name == "-".join(parts.path.split("/")[-2:])  # the project, and the job with the form
    content: bytes = boto3.client("s3").get_object(Bucket=EXPORTS, Key=parts.path[1:])["Body"].read()
    return content.decode()


def lines(content: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content, newline="")))


def test_the_rows_of_a_grid_become_a_file_with_a_link(api: Client, account: Cloud, indexed: str) -> None:
    viewer = api.acting(role="viewer", user="vic")
    query = {"filter": OPEN, "sort": BY_START, "columns": ["num", "name", "3812"]}
    answer = begin(viewer, indexed, {"query": query, "format": "csv"})
    job = answer.headers["location"]
    assert (answer.body["kind"], answer.body["state"], answer.body["url"]) == ("export", "waiting", None)
    assert [hint.partition for hint in account.hints] == [keys.job_line("0807")], (
        "a worker gets a hint at once"
    )
    account.upkeep()
    done = viewer.get(job).body
    assert (done["state"], done["done"], done["total"], done["refused"]) == ("done", 2, 2, 0)
    content = file_at(done["url"])
    assert content == "num,name,Start\r\n1,Needs Painting,2023-05-01\r\n3,Girder needs replacing,\r\n"
    assert viewer.get(f"{indexed}/jobs").body["items"][0]["url"] is None
    assert api.get(f"{job}/refused").body == {"items": [], "next": None}


def test_a_view_is_exported_as_it_shows_its_rows(api: Client, account: Cloud, indexed: str) -> None:
    ben = api.acting(role="editor", user="ben")
    columns = [{"field": one, "width": 100} for one in ("name", "num")]
    query = {"filter": OPEN, "sort": BY_START}
    view = ben.made(f"{indexed}/views", {"name": "Mine", "query": query, "columns": columns})["id"]
    assert lines(exported(account, ben, indexed, query={"view": view})) == [
        {"name": "Needs Painting", "num": "1"},
        {"name": "Girder needs replacing", "num": "3"},
    ]
    assert begin(api, indexed, {"query": {"view": view}, "format": "csv"}).kind == (404, "not-found")
    every = ben.made(f"{indexed}/views", {"name": "All"})["id"]
    content = exported(account, ben, indexed, "ndjson", query={"view": every})
    assert [json.loads(line)["num"] for line in content.splitlines()] == [1, 2, 3]


def test_a_project_as_ndjson_is_what_the_grid_answers(api: Client, account: Cloud, indexed: str) -> None:
    rows = [loads(line) for line in exported(account, api, indexed, "ndjson").splitlines()]
    assert rows == [api.get(f"{indexed}/issues/{num}").body for num in (1, 2, 3)]
    some = [
        loads(line)
        for line in exported(
            account, api, indexed, "ndjson", query={"columns": ["name", "3812"]}
        ).splitlines()
    ]
    assert some == api.post(f"{indexed}/grid", {"columns": ["name", "3812"]}).body["rows"]


def test_the_writes_of_tokens_are_in_it_and_later_ones_are_not(
    api: Client, account: Cloud, indexed: str
) -> None:
    token = api.patch(f"{indexed}/issues/2", {"state": "open"}).headers["x-consistency-token"]
    body = {"query": {"filter": OPEN, "columns": ["num"]}, "format": "csv"}
    answer = begin(api, indexed, body, x_consistency_token=token)
    account.upkeep()
    content = file_at(api.get(answer.headers["location"]).body["url"])
    assert content == "num\r\n1\r\n2\r\n3\r\n"
    assert begin(api, indexed, body, x_consistency_token="x").kind == (400, "invalid-request")


# The content of a file


@pytest.mark.parametrize("seed", range(3))
def test_an_exported_file_equals_the_grid(
    api: Client, account: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """A project of nasty values, sorted by each of its fields; parts of a few rows."""
    monkeypatch.setattr(export, "PART", 3_000)
    monkeypatch.setattr("moto.s3.models.S3_UPLOAD_PART_MIN_SIZE", 1)
    path = "/v1/projects/nasty"
    api.made("/v1/projects", {"id": "nasty", "name": "Nasty", "states": nasty.STATES})
    for attribute in nasty.ATTRIBUTES:
        api.made(f"{path}/attributes", attribute)
    bodies = list(nasty.issues(40, seed))
    for body in bodies:
        assert api.batch("nasty", {"create": body}).body["results"][0]["status"] == 201
    account.derive()
    sort = [{"field": nasty.FIELDS[seed * 3 + 2], "direction": "desc"}]
    grid = api.post(f"{path}/grid", {"sort": sort, "limit": 500}).body["rows"]
    assert len(grid) == 40
    content = exported(account, api, path, "ndjson", query={"sort": sort})
    rows = [loads(line) for line in content.split("\n")[:-1]]
    assert rows == grid
    file = tmp_path / "nasty.csv"
    file.write_text(
        exported(account, api, path, query={"sort": sort}, formula_guard=False), "utf-8", newline=""
    )
    cells = [row.cells for row in open_source(file).rows()]
    names = {attribute["id"]: attribute["name"] for attribute in nasty.ATTRIBUTES}
    assert len(cells) == len(grid)
    for row, cell in zip(grid, cells, strict=True):
        assert (cell["num"], cell["name"], cell["state"]) == (str(row["num"]), row["name"], row["state"])
        for name, title in names.items():
            assert _same(cell[title], row["fields"].get(name)), (name, cell[title], row["fields"].get(name))


def _same(cell: Any, value: Any) -> bool:
    if value is None:
        return bool(cell == "")
    if isinstance(value, bool):
        return to_bool(cell) is value
    if isinstance(value, list):
        return bool(cell == ";".join(value))
    if isinstance(value, int | Decimal):
        return to_number(cell) is not None and Decimal(cell) == value
    return bool(cell == value)


FORMULAS = {
    "=1+1": "'=1+1",
    "+1+1": "'+1+1",
    "-a": "'-a",
    "@sum": "'@sum",
    "＝1": "'＝1",
    "\tx": "'\tx",
    "\rx": "'\rx",
    '=HYPERLINK("http://x")': '\'=HYPERLINK("http://x")',
    "x;=cmd|' /C calc'!A0": "x;'=cmd|' /C calc'!A0",
    "a\n=2+5": "a\n'=2+5",
    "a\t＠x": "a\t'＠x",
    "a\n- item": "a\n- item",
    "-5": "-5",
}


def test_formulas_are_guarded_as_text_unless_raw(api: Client, account: Cloud, project: str) -> None:
    for body in (
        {"id": "note", "name": "=Note", "type": "text"},
        {"id": "cost", "name": "Cost", "type": "number"},
        {"id": "tags", "name": "Tags", "type": "multi_enum", "options": ["=a", "b;=c", "d\\"]},
        {"id": "who", "name": "Who", "type": "user"},
    ):
        api.made(f"{project}/attributes", body)
    for text in FORMULAS:
        fields = {"note": text, "cost": -5, "tags": ["=a", "b;=c", "d\\"], "who": text}
        api.made(f"{project}/issues", {"name": text, "fields": fields})
    account.derive()
    query = {"columns": ["name", "note", "cost", "tags", "who"]}
    guarded, raw = (
        lines(exported(account, api, project, query=query, formula_guard=one)) for one in (True, False)
    )
    for (text, content), safe, same in zip(FORMULAS.items(), guarded, raw, strict=True):
        assert (safe["name"], safe["'=Note"], safe["Who"]) == (content,) * 3
        assert (safe["Cost"], same["Cost"]) == ("-5", "-5"), "a number is none"
        assert (safe["Tags"], same["Tags"]) == ("'=a;b\\;'=c;d\\\\", "=a;b\\;=c;d\\\\")
        assert (same["name"], same["=Note"], same["Who"]) == (text,) * 3
    content = exported(account, api, project, "ndjson", query=query)
    assert [json.loads(line)["name"] for line in content.splitlines()] == [*FORMULAS], (
        "NDJSON is for programs"
    )


def test_columns_of_one_name_get_their_ids_in_the_header(api: Client, account: Cloud, project: str) -> None:
    for one in ("a", "b"):
        api.made(f"{project}/attributes", {"id": one, "name": "Same", "type": "text"})
    api.made(f"{project}/attributes", {"id": "c", "name": "name", "type": "text"})
    api.made(f"{project}/issues", {"name": "x", "fields": {"a": "1", "b": "2", "c": "3"}})
    account.derive()
    (row,) = lines(exported(account, api, project))
    found = {name: row[name] for name in row if name not in ("created", "updated", *WRITERS)}
    assert found == {
        "num": "1",
        "name (name)": "x",
        "state": "open",
        "Same (a)": "1",
        "Same (b)": "2",
        "name (c)": "3",
    }


# Rights


def test_every_viewer_may_export_and_cancel_only_own_exports(
    api: Client, account: Cloud, indexed: str
) -> None:
    vic, wes = (api.acting(role="viewer", user=user) for user in ("vic", "wes"))
    job = begin(vic, indexed, {"format": "csv"}).headers["location"]
    assert wes.delete(job).status == 403
    assert vic.delete(job).status == 204
    account.upkeep()
    found = vic.get(job).body
    assert (found["state"], found["url"]) == ("cancelled", None)


def test_another_tenant_sees_neither_job_nor_file_and_has_its_own_files(
    api: Client, account: Cloud, indexed: str
) -> None:
    other = api.acting(tenant="0808")
    other.made("/v1/projects", {"name": "Theirs", "id": "35e9"})
    other.made("/v1/projects/35e9/issues", {"name": "Only theirs"})
    account.derive()
    job = begin(api, indexed, {"format": "csv"}).headers["location"]
    theirs = begin(other, indexed, {"format": "csv"}).headers["location"]
    account.upkeep()
    assert other.get(job).kind == (404, "not-found")
    assert api.get(theirs).kind == (404, "not-found")
    ours, own = api.get(job).body["url"], other.get(theirs).body["url"]
    assert urlsplit(ours).path.startswith("/files/0807/35e9/")
    assert urlsplit(own).path.startswith("/files/0808/35e9/")
    assert [row["name"] for row in lines(file_at(own))] == ["Only theirs"]
    view = api.made(f"{indexed}/views", {"name": "All", "visibility": "shared"})["id"]
    assert begin(other, indexed, {"query": {"view": view}, "format": "csv"}).kind == (404, "not-found")


def test_only_the_user_and_administrators_get_a_link(api: Client, account: Cloud, indexed: str) -> None:
    """The view may be private, and of another user."""
    mine = api.acting(user="ann", role="viewer")
    view = mine.made(f"{indexed}/views", {"name": "Mine", "visibility": "private"})["id"]
    job = begin(mine, indexed, {"query": {"view": view}, "format": "csv"}).headers["location"]
    account.upkeep()
    assert mine.get(job).body["url"]
    assert api.acting(user="cid", role="admin").get(job).body["url"]
    for role in ("viewer", "editor"):
        answer = api.acting(user="bob", role=role).get(job)
        assert (answer.status, answer.body["state"], answer.body["url"]) == (200, "done", None)


def test_links_end_with_the_file(
    api: Client, account: Cloud, indexed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = begin(api, indexed, {"format": "csv"}).headers["location"]
    account.upkeep()
    assert api.get(job).body["url"]
    until = clock.until
    for days, linked in ((FILE_DAYS - 0.1, True), (FILE_DAYS + 0.1, False)):
        monkeypatch.setattr(clock, "until", lambda instant, days=days: until(instant) - days * 86_400)
        answer = api.get(job).body
        assert (answer["state"], bool(answer["url"])) == ("done", linked)
    assert user_jobs.KEPT_DAYS > FILE_DAYS


# Refusals

WRONG: list[tuple[Any, set[str]]] = [
    ({}, {"format"}),
    ({"format": "xlsx"}, {"format"}),
    ({"format": "csv", "query": None}, {"query"}),
    ({"format": "csv", "query": []}, {"query"}),
    ({"format": "csv", "query": {"limit": 5}}, {"query.limit"}),
    ({"format": "csv", "formula_guard": "yes", "more": 1}, {"formula_guard", "more"}),
    ({"format": "csv", "query": {"columns": []}}, {"query.columns"}),
    ({"format": "csv", "query": {"columns": ["name", "name"]}}, {"query.columns"}),
    ({"format": "csv", "query": {"view": "x"}}, {"query.view"}),
    (
        {"format": "csv", "query": {"view": "v1", "sort": BY_START, "filter": OPEN, "columns": ["num"]}},
        {"query.sort", "query.filter", "query.columns"},
    ),
    (
        {
            "format": "csv",
            "query": {
                "sort": [{"field": "none"}],
                "filter": {"field": "none", "op": "eq", "value": 1},
                "columns": ["none"],
            },
        },
        {"query.sort.0.field", "query.filter.field", "query.columns.0"},
    ),
    ([], {"body"}),
]


@pytest.mark.parametrize(
    ("body", "fields"), WRONG, ids=lambda part: str(sorted(part)) if isinstance(part, set) else ""
)
def test_all_errors_of_a_request_are_listed_at_once_and_no_job_begins(
    api: Client, account: Cloud, bridge: str, body: Any, fields: set[str]
) -> None:
    before = account.items()
    refused = begin(api, bridge, body)
    assert refused.kind == (400, "invalid-request")
    assert set(refused.errors) == fields
    assert account.items() == before


def test_an_order_that_no_index_gives_is_refused_with_a_remedy(api: Client, bridge: str) -> None:
    api.patch(f"{bridge}/attributes/47e5", {"indexed": False})
    refused = begin(api, bridge, {"query": {"sort": [{"field": "47e5"}]}, "format": "csv"})
    assert refused.kind == (422, "query-too-expensive")
    assert refused.body["remedies"]


def test_a_request_too_large_for_an_item_is_refused(api: Client, account: Cloud, bridge: str) -> None:
    several = [f"{'x' * 1000}{at}" for at in range(200)]
    only = {"field": "name", "op": "in", "value": several}
    body = {"query": {"filter": {"or": [only, {"not": only}]}}, "format": "csv"}
    assert begin(api, bridge, body).kind == (413, "too-large")


def test_the_same_key_begins_one_export(api: Client, account: Cloud, indexed: str) -> None:
    first, again = (begin(api, indexed, {"format": "csv"}, idempotency_key="k") for _ in range(2))
    assert (again.status, again.text) == (202, first.text)
    assert begin(api, indexed, {"format": "ndjson"}, idempotency_key="k").status == 409
    assert len(api.get(f"{indexed}/jobs").body["items"]) == 1


def test_an_export_takes_one_of_the_places_for_open_jobs(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MOST_OF_PROJECT", 1)
    assert begin(api, bridge, {"format": "csv"}).status == 202
    assert begin(api, bridge, {"format": "csv"}).kind == (429, "too-many-jobs")


def test_the_export_of_a_deleted_project_is_not_found(api: Client, account: Cloud, indexed: str) -> None:
    job = begin(api, indexed, {"format": "csv"}).headers["location"]
    account.upkeep()
    api.delete(indexed)
    assert api.get(job).status == 404
