"""Valid bodies: JSON that is understood completely, or nothing is written; and every error in one answer."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from gridview.encoding.json_codec import MAX_NESTING
from infra.openapi.document import document as openapi_document
from tests.support import schemas, worked_example
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client, invoke

BRIDGE = worked_example.PATH
CALLS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "create_project": ("POST", "/v1/projects", {"name": "Tay"}),
    "update_project": ("PATCH", BRIDGE, {"name": "Forth"}),
    "create_attribute": ("POST", f"{BRIDGE}/attributes", {"name": "Kind", "type": "text"}),
    "update_attribute": ("PATCH", f"{BRIDGE}/attributes/3812", {"name": "Begin"}),
    "create_issue": ("POST", f"{BRIDGE}/issues", {"name": "Paint"}),
    "update_issue": ("PATCH", f"{BRIDGE}/issues/1", {"name": "Paint"}),
    "create_webhook": ("POST", f"{BRIDGE}/webhooks", {"url": "https://hooks.example.org"}),
    "update_webhook": ("PATCH", f"{BRIDGE}/webhooks/w3k9q2m7x1c0z", {"enabled": False}),
    "batch": ("POST", f"{BRIDGE}/issues/batch", {"operations": [{"create": {"name": "Paint"}}]}),
    "grid": ("POST", f"{BRIDGE}/grid", {"limit": 1}),
}
every_call = pytest.mark.parametrize("name", sorted(CALLS))


@pytest.fixture(scope="module")
def owner(shared_account: Cloud) -> Client:
    client = shared_account.api(tenant="owner2")
    worked_example.load(client)
    return client


@pytest.fixture(autouse=True)
def _nothing_is_written(shared_account: Cloud, owner: Client) -> Iterator[None]:
    before = shared_account.items()
    yield
    assert shared_account.items() == before


def send(client: Client, name: str, body: Any) -> Answer:
    method, path, _ = CALLS[name]
    return client.call(method, path, body)


def error_fields(answer: Answer) -> set[str]:
    assert answer.kind == (400, "invalid-request"), answer.text
    return set(answer.errors)


@every_call
def test_an_unknown_property_is_refused(owner: Client, name: str) -> None:
    _, _, body = CALLS[name]
    assert error_fields(send(owner, name, {**body, "colour": 1, "Name": "x"})) == {"colour", "Name"}


NOT_JSON = [
    "{",
    "{'name': 'x'}",
    '{"name": "x",}',
    "\ufeff{}",
    '{"name": "\t"}',
    '{"a": 1} x',
]


@every_call
def test_a_text_that_is_not_json_is_refused(owner: Client, name: str) -> None:
    for text in NOT_JSON:
        assert error_fields(send(owner, name, text)) == {"body"}, text
    assert error_fields(send(owner, name, b'{"name": "\xff"}')) == {"body"}
    assert error_fields(send(owner, name, '{"name": NaN}')) == {"name"}


@every_call
def test_a_repeated_property_is_refused(owner: Client, name: str) -> None:
    answer = send(owner, name, '{"x": [{"name": "a", "name": "a"}]}')
    assert answer.errors == {"x.0": "repeats a property"}


@every_call
def test_a_lone_surrogate_is_refused_at_any_place(owner: Client, name: str) -> None:
    assert error_fields(send(owner, name, '{"name": "\\ud800", "x": [{"y": "\\udfff"}]}')) == {
        "name",
        "x.0.y",
    }


@every_call
def test_a_body_that_is_no_object_is_refused(owner: Client, name: str) -> None:
    for body in ("[]", '"text"', "1", "null", "true", "1e400"):
        answer = send(owner, name, body)
        assert error_fields(answer) == {"body"}, body
        assert answer.errors == {"body": "must be an object"}


@every_call
def test_deep_nesting_is_refused(owner: Client, name: str) -> None:
    _, _, body = CALLS[name]
    known = next(iter(body))
    for depth in (MAX_NESTING, 300, 50_000):
        answer = send(owner, name, f'{{"{known}": ' + "[" * depth + "]" * depth + "}")
        assert error_fields(answer) == {"body"}, depth
        assert "nested too deeply" in answer.body["detail"]
    nested = json.dumps({**body, known: json.loads("[" * (MAX_NESTING - 1) + "]" * (MAX_NESTING - 1))})
    assert any(field.split(".")[0] == known for field in error_fields(send(owner, name, nested)))


@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"grid"}))
def test_a_body_is_needed(owner: Client, name: str) -> None:
    for body in (b"", b"  \n"):
        assert error_fields(send(owner, name, body)) == {"body"}


def test_the_grid_needs_no_body(owner: Client) -> None:
    assert send(owner, "grid", b"").timeless == send(owner, "grid", {}).timeless


@every_call
def test_a_body_that_the_gateway_sends_as_base64_is_the_same(owner: Client, name: str) -> None:
    method, path, _ = CALLS[name]
    event = owner.event(method, path, b'{"colour": 1}')
    event |= {"body": base64.b64encode(b'{"colour": 1}').decode(), "isBase64Encoded": True}
    assert "colour" in error_fields(invoke(owner.handlers, event))
    for broken in (base64.b64encode(b"\xff\xfe").decode(), "a"):
        assert invoke(owner.handlers, event | {"body": broken}).kind == (400, "invalid-request"), broken


@pytest.mark.parametrize(
    ("name", "body", "fields"),
    [
        ("create_project", {}, {"name"}),
        (
            "create_project",
            {"name": "", "id": "A", "states": ["a", ""], "x": 1},
            {"name", "id", "states.1.value", "x"},
        ),
        ("create_project", {"name": 5, "id": 5, "states": "open"}, {"name", "id", "states"}),
        ("create_project", {"name": None, "states": []}, {"name", "states"}),
        (
            "create_project",
            {"name": "x" * 1025, "id": "a" * 33, "states": ["a", "a"]},
            {"name", "id", "states"},
        ),
        ("update_project", {"name": "", "states": [], "id": "other"}, {"name", "states", "id"}),
        ("update_project", {"name": None, "states": None}, {"name", "states"}),
        ("create_attribute", {}, {"name", "type"}),
        (
            "create_attribute",
            {
                "name": "",
                "type": "text",
                "id": "A-B",
                "options": ["a"],
                "required": 1,
                "indexed": "no",
                "position": -1,
                "x": 1,
            },
            {"name", "id", "options", "required", "indexed", "position", "x"},
        ),
        (
            "create_attribute",
            {"name": "x" * 257, "type": "colour", "id": "", "options": [1], "position": 1.5},
            {"name", "type", "id", "options.0", "position"},
        ),
        ("create_attribute", {"name": "K", "type": "enum", "options": ["a", "b", "a"]}, {"options"}),
        ("create_attribute", {"name": "K", "type": "enum", "position": 10**30}, {"position"}),
        (
            "update_attribute",
            {"name": "", "type": "date", "required": None, "indexed": 0, "position": "1", "id": "x"},
            {"name", "type", "required", "indexed", "position", "id"},
        ),
        ("create_issue", {}, {"name"}),
        (
            "create_issue",
            {
                "name": "",
                "state": "opened",
                "num": 7,
                "fields": {"3812": "soon", "3fe6": "x", "47e5": 1, "zz": 1},
            },
            {"name", "state", "num", "fields.3812", "fields.3fe6", "fields.47e5", "fields.zz"},
        ),
        ("create_issue", {"name": 7, "fields": []}, {"name", "fields"}),
        (
            "create_issue",
            {"name": "x" * 1025, "version": 1, "created": "2023-05-01"},
            {"name", "version", "created"},
        ),
        (
            "update_issue",
            {"name": None, "state": None, "version": 3, "fields": {"3812": 20230501, "a1": "2023-05-01"}},
            {"name", "state", "version", "fields.3812", "fields.a1"},
        ),
        ("update_issue", {"name": "", "state": "", "fields": "none"}, {"name", "state", "fields"}),
        ("batch", {}, {"operations"}),
        ("batch", {"operations": []}, {"operations"}),
        ("batch", {"operations": {}}, {"operations"}),
        (
            "batch",
            {
                "operations": [
                    {"create": 1},
                    {"update": {}},
                    {"destroy": {"num": 1}},
                    {},
                    {"create": {}, "delete": {"num": 1}},
                    {"create": None},
                    {"delete": {"num": 0}},
                    {"delete": {"num": "1"}},
                    {"update": {"num": 1.5, "version": 0}},
                    {"delete": {"num": True, "name": "x"}},
                    "create",
                ]
            },
            {
                "operations.0.create",
                "operations.1.update.num",
                "operations.2.destroy",
                "operations.3",
                "operations.4",
                "operations.5.create",
                "operations.6.delete.num",
                "operations.7.delete.num",
                "operations.8.update.num",
                "operations.8.update.version",
                "operations.9.delete.num",
                "operations.9.delete.name",
                "operations.10",
            },
        ),
    ],
)
def test_all_errors_are_listed_at_once(
    owner: Client, name: str, body: dict[str, Any], fields: set[str]
) -> None:
    assert error_fields(send(owner, name, body)) == fields


@pytest.mark.parametrize("literal", ["1e99999999", "-1e-99999999", "1" * 5000, "9" * 400])
def test_a_huge_number_is_refused_with_its_place(owner: Client, literal: str) -> None:
    def fields(name: str, body: str) -> set[str]:
        return error_fields(send(owner, name, body % literal))

    assert fields("create_issue", '{"name": "a", "fields": {"3fe6": %s}}') == {"fields.3fe6"}
    assert fields("create_attribute", '{"name": "a", "type": "text", "position": %s}') == {"position"}
    assert fields("grid", '{"limit": %s}') == {"limit"}
    assert fields("batch", '{"operations": [{"delete": {"num": %s}}]}') >= {"operations.0.delete.num"}


def test_a_message_is_for_people_and_repeats_nothing_that_was_sent(owner: Client) -> None:
    answer = send(
        owner, "create_issue", {"name": ["secret"], "state": "secret", "fields": {"3812": "secret"}}
    )
    assert error_fields(answer) == {"name", "state", "fields.3812"}
    assert "secret" not in answer.text
    wrong: list[dict[str, Any]] = [{"name": "x", "fields": 3}, {"name": {}, "fields": []}]
    for body in wrong:
        text = send(owner, "create_issue", body).text
        assert "Fields" not in text
        assert "instance" not in text


@pytest.mark.parametrize("name", ["create_issue", "update_issue"])
def test_a_state_may_be_null_exactly_where_the_schema_says_so(owner: Client, name: str) -> None:
    method, _, body = CALLS[name]
    path = "/v1/projects/{project}/issues" + ("/{num}" if name == "update_issue" else "")
    operation = openapi_document()["paths"][path][method.lower()]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    for state in (None, 1, ["open"], "open"):
        whole = {**body, "name": 5, "state": state}  # the name is wrong, so nothing is written
        refused = "state" in error_fields(send(owner, name, whole))
        assert refused == any(place.startswith("$.state") for place in schemas.violations(schema, whole)), (
            state
        )
    null = {**body, "name": 5, "state": None}
    assert ("state" in error_fields(send(owner, name, null))) == (name == "update_issue")
