"""The limits of a project, each with a clear 422."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from pyroaring import BitMap

from gridview.chains.blocks import Block, split
from gridview.derive.families import NUMBERS
from gridview.dynamodb.errors import ItemTooLarge
from gridview.encoding import keys
from gridview.schema.ids import MAX_ISSUE_NUMBER
from tests.support.cloud import Cloud
from tests.support.http import Client, invoke
from tests.support.many_attributes import add_attributes

FACES = "\U0001f600" * 1024
"""A text of the greatest length, of 4 KB."""


def test_400_attributes_are_the_most(api: Client, account: Cloud, project: str) -> None:
    add_attributes(api, account, project, 399, type="text")
    assert api.made(f"{project}/attributes", {"name": "The last", "type": "text"})["position"] == 399
    before = account.items()
    answer = api.post(f"{project}/attributes", {"name": "One more", "type": "text"})
    assert answer.kind == (422, "limit-exceeded")
    assert "400" in answer.body["detail"]
    assert account.items() == before
    assert len(api.get(project).body["attributes"]) == 400


def test_the_first_40_attributes_are_indexed_by_default(api: Client, account: Cloud, project: str) -> None:
    add_attributes(api, account, project, 39, type="text")
    made = [
        api.made(f"{project}/attributes", {"name": "A", "type": "text", **given})["indexed"]
        for given in ({}, {"indexed": None, "position": 0}, {"indexed": True})
    ]
    assert made == [True, False, True]


def test_an_issue_of_400_values_is_one_document_that_can_be_changed_and_shown(
    api: Client, account: Cloud, project: str
) -> None:
    ids = add_attributes(api, account, project, 400, type="number", indexed=False)
    values = {name: place for place, name in enumerate(ids)}
    issue = api.made(f"{project}/issues", {"name": "x", "fields": values})
    assert issue["fields"] == values
    (row,) = api.post(f"{project}/grid", {"columns": ids}).body["rows"]
    assert row["fields"] == values
    assert api.patch(f"{project}/issues/1", {"fields": dict.fromkeys(ids[1:])}).body["fields"] == {"f0": 0}


@pytest.fixture
def wide(api: Client, account: Cloud, project: str) -> dict[str, str]:
    """The values of an issue of just under 400 KB: 97 texts of 4 KB."""
    ids = add_attributes(api, account, project, 100, type="text", indexed=False)
    return dict.fromkeys(ids[:97], FACES)


def test_an_issue_larger_than_400_kb_is_refused(
    api: Client, account: Cloud, project: str, wide: dict[str, str]
) -> None:
    made = api.made(f"{project}/issues", {"name": "x", "fields": wide})
    assert made["fields"] == wide
    assert api.get(f"{project}/issues/1").body == made
    more = dict.fromkeys(("f97", "f98", "f99"), FACES)
    before = account.items()
    for answer in (
        api.post(f"{project}/issues", {"name": "x", "fields": {**wide, **more}}),
        api.patch(f"{project}/issues/1", {"fields": more}),
    ):
        assert answer.kind == (422, "limit-exceeded")
        assert "400 KB" in answer.body["detail"]
    results = api.batch(
        "plain", {"create": {"name": "x", "fields": {**wide, **more}}}, {"update": {"num": 1, "fields": more}}
    ).body["results"]
    assert [result["status"] for result in results] == [422, 422]
    assert account.items() == before
    assert api.made(f"{project}/issues", {"name": "next"})["num"] == 2, "no number was spent"


def test_a_page_and_a_batch_of_large_issues_are_cut_where_an_answer_must_end(
    api: Client, account: Cloud, project: str, wide: dict[str, str]
) -> None:
    results = api.batch("plain", *({"create": {"name": "x", "fields": wide}} for _ in range(14))).body[
        "results"
    ]
    statuses = [result["status"] for result in results]
    assert statuses.count(413) >= 1
    assert set(statuses) == {201, 413}
    written = sorted(result["issue"]["num"] for result in results if result["status"] == 201)
    assert [api.get(f"{project}/issues/{num}").status for num in written] == [200] * len(written)
    for _ in range(14 - len(written)):
        written.append(api.made(f"{project}/issues", {"name": "x", "fields": wide})["num"])
    seen: list[int] = []
    cursor, pages = None, 0
    while pages == 0 or cursor:
        answer = api.post(f"{project}/grid", {"limit": 500, **({"cursor": cursor} if cursor else {})})
        assert len(json.dumps(answer.text, ensure_ascii=False).encode()) < 6_000_000
        seen += [row["num"] for row in answer.body["rows"]]
        cursor, pages = answer.body["next"], pages + 1
    assert seen == sorted(written)
    assert pages > 1


def test_a_million_issues_are_the_most(api: Client, account: Cloud, project: str) -> None:
    numbers_given(account, 999_999)
    issues_there(account, 1_000_000)
    assert api.made(f"{project}/issues", {"name": "the last"})["num"] == 1_000_000
    assert api.get(project).body["issues"] == 1_000_000
    before = account.items()
    answer = api.post(f"{project}/issues", {"name": "one more"})
    assert answer.kind == (422, "limit-exceeded")
    assert "1,000,000" in answer.body["detail"]
    assert account.items() == before, "no number was spent"
    issues_there(account, 999_999)
    results = api.batch(
        "plain",
        {"create": {"name": "a"}},
        {"create": {"name": "b"}},
        {"update": {"num": 1_000_000, "name": "c"}},
    ).body["results"]
    assert [result["status"] for result in results] == [422, 422, 200]


def test_a_project_that_has_deleted_issues_goes_on_past_a_million_numbers(
    api: Client, account: Cloud, project: str
) -> None:
    numbers_given(account, 1_000_000)
    issues_there(account, 999_998)
    results = api.batch("plain", {"create": {"name": "a"}}, {"create": {"name": "b"}}).body["results"]
    assert [result["issue"]["num"] for result in results] == [1_000_001, 1_000_002]
    numbers_given(account, MAX_ISSUE_NUMBER)
    answer = api.post(f"{project}/issues", {"name": "there is no number for it"})
    assert answer.kind == (422, "limit-exceeded")
    assert "99,999,999" in answer.body["detail"]


def numbers_given(account: Cloud, last: int) -> None:
    counter = account.table.get(keys.project("0807", "plain"), keys.COUNTER)
    assert counter is not None
    account.table.put({**counter, "last": last})


def issues_there(account: Cloud, count: int) -> None:
    """Let the index report so many issues."""
    (block,) = split(replace(Block.head(NUMBERS), sets={"": BitMap(range(1, count + 1))}))
    account.table.put(block.to_item("0807", "plain"))


def test_definitions_larger_than_400_kb_are_refused(api: Client, account: Cloud, project: str) -> None:
    api.made(f"{project}/attributes", {"id": "kind", "name": "Kind", "type": "enum"})

    def options(generation: int) -> list[str]:
        return [f"{generation}.{place}.".ljust(256, FACES[0]) for place in range(200)]

    assert api.patch(f"{project}/attributes/kind", {"options": options(1)}).status == 200
    refused = api.patch(f"{project}/attributes/kind", {"options": options(2)})
    assert refused.kind == (422, "limit-exceeded")
    assert "with the 200 dropped ones" in refused.body["detail"]
    assert api.patch(f"{project}/attributes/kind", {"name": "New"}).status == 200


def test_a_transaction_that_dynamodb_refuses_for_the_size_of_an_item_is_no_error_of_the_server(
    api: Client, account: Cloud, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Any) -> None:
        raise ItemTooLarge("The item would be larger than 400 KB.")

    monkeypatch.setattr(account.modules["command"].table, "transact", refuse)
    assert api.patch(project, {"name": "x"}).kind == (422, "limit-exceeded")


WIDE_OPTIONS = [f"{place}.".ljust(256, "\0") for place in range(200)]
"""The options of a field that take most room in an answer: each character takes seven there."""


def test_a_project_that_an_answer_could_not_hold_is_refused(
    api: Client, account: Cloud, project: str
) -> None:
    body = {"name": "Wide", "type": "enum", "options": WIDE_OPTIONS}
    api.made(f"{project}/attributes", {**body, "id": "narrow", "options": ["a"]})
    answer = api.post(f"{project}/attributes", body)
    while answer.status == 201:
        answer = api.post(f"{project}/attributes", body)
    before = account.items()
    for refused in (
        api.post(f"{project}/attributes", body),
        api.patch(f"{project}/attributes/narrow", {"options": WIDE_OPTIONS}),
        api.patch(project, {"states": ["open", "closed", *WIDE_OPTIONS[:198]]}),
    ):
        assert refused.kind == (422, "limit-exceeded")
        assert "5 MB" in refused.body["detail"]
    assert account.items() == before
    assert api.patch(f"{project}/attributes/narrow", {"name": "New", "options": ["b"]}).status == 200
    answer = api.get(project)
    assert len(answer.body["attributes"]) > 10
    assert len(json.dumps(answer.text)) < 6_000_000


def test_the_room_of_a_project_includes_dropped_options(
    api: Client, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.made(f"{project}/attributes", {"id": "kind", "name": "Kind", "type": "enum", "options": ["a"]})
    for path, name, most in ((project, "states", 20_000), (f"{project}/attributes/kind", "options", 40_000)):
        monkeypatch.setattr("gridview.commands.answers.MAX_PROJECT_BYTES", most)
        generations = ([f"{at}.{place}".ljust(100) for place in range(20)] for at in range(10))
        answers = [api.patch(path, {name: values}) for values in generations]
        assert [answer.status for answer in answers[:3]] == [200] * 3
        assert answers[-1].kind == (422, "limit-exceeded")
        assert "Dropped options count too" in answers[-1].body["detail"]


def test_the_room_of_a_project_includes_formulas_with_the_new_names_of_what_they_read(
    api: Client, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    attributes = f"{project}/attributes"
    api.made(attributes, {"id": "the_costs_of_a_rivet", "name": "c", "type": "number"})
    api.made(attributes, {"id": "kind", "name": "Kind", "type": "enum", "options": ["a"]})
    api.made(
        attributes, {"id": "double", "name": "D", "type": "number", "formula": " + ".join(["{c}"] * 100)}
    )
    chosen = "OR(" + ", ".join(['{Kind} = "a"'] * 50) + ")"
    api.made(attributes, {"id": "is_a", "name": "A", "type": "bool", "formula": chosen})
    (option,) = api.get(f"{attributes}/kind").body["options"]
    monkeypatch.setattr("gridview.commands.answers.MAX_PROJECT_BYTES", len(api.get(project).text) + 1_000)
    costs, longer = f"{attributes}/the_costs_of_a_rivet", {"options": [{**option, "value": "a" * 100}]}
    assert api.patch(costs, {"name": "cost of a rivet, painted"}).kind == (422, "limit-exceeded")
    assert api.patch(f"{attributes}/kind", longer).kind == (422, "limit-exceeded")
    assert api.post(attributes, {"name": "c", "type": "bool"}).kind == (422, "limit-exceeded"), (
        "c is ambiguous"
    )
    assert api.patch(costs, {"name": "k"}).status == 200
    api.made(attributes, {"name": "c", "type": "bool"})


def test_a_page_of_projects_is_cut_where_an_answer_must_end(api: Client) -> None:
    made = {api.made("/v1/projects", {"name": "Wide", "states": WIDE_OPTIONS})["id"] for _ in range(16)}
    found: list[str] = []
    query, pages = {"limit": "500"}, 0
    while query:
        answer = api.get("/v1/projects", query=query)
        assert len(json.dumps(answer.text)) < 6_000_000
        found += [one["id"] for one in answer.body["items"]]
        query = {"limit": "500", "cursor": answer.body["next"]} if answer.body["next"] else {}
        pages += 1
    assert sorted(found) == sorted(made)
    assert pages > 1


PAYLOAD = 6 * 1024 * 1024
"""Lambda's limit for an event and for an answer, in bytes."""


def payload(of: Any) -> int:
    return len(json.dumps(of, ensure_ascii=False).encode())


def counted(api: Client, account: Cloud, operations: list[Any]) -> tuple[list[Any], Counter[str]]:
    """The results of a batch in plain form, and its calls."""
    module: Any = account.modules["command"]
    usual, module.table = module.table, account.table.metered()
    try:
        event = api.event("POST", "/v1/projects/plain/issues/batch", {"operations": operations})
        assert payload(event) < PAYLOAD
        answer = invoke(api.handlers, event)
        calls = Counter(call.operation for call in module.table.meter.calls)
    finally:
        module.table = usual
    assert payload(answer.text) < PAYLOAD
    return answer.body["results"], calls


def test_the_largest_batch_takes_so_many_calls(api: Client, account: Cloud, project: str) -> None:
    """docs/writing.md compares them with the 29 s that API Gateway waits."""
    ids = add_attributes(api, account, project, 9, type="text", indexed=False)
    large = {"name": "x", "fields": dict.fromkeys(ids, "x" * 1024)}
    results, calls = counted(api, account, [{"create": large}] * 500)
    assert Counter(one["status"] for one in results) == {201: 500}
    assert calls == {"query": 1, "update_item": 1, "put_item": 500}, "16 at a time"
    results, calls = counted(api, account, [{"update": {"num": 1, "name": f"{at}"}} for at in range(500)])
    assert Counter(one["status"] for one in results) == {200: 500}
    assert calls == {"get_item": 501, "put_item": 500}, "one after the other"


@pytest.mark.parametrize("character", ["x", "\0", '"', "\N{GRINNING FACE}"])
def test_a_batch_in_which_everything_is_wrong_has_an_answer_that_fits(
    api: Client, account: Cloud, project: str, character: str
) -> None:
    unknown = {f"{place:02}{character * 60}": 1 for place in range(12)}
    results, calls = counted(api, account, [{"create": {"name": "x", "fields": unknown}}] * 500)
    assert Counter(one["status"] for one in results) == {400: 500}
    assert all(len(one["problem"]["errors"]) + one["problem"].get("more", 0) == 12 for one in results)
    assert calls.keys() <= {"query", "get_item"}
