"""The authorization of calls: tokens, roles, tenants, and requests that are no calls."""

from collections.abc import Iterator
from typing import Any

import pytest

from gridview.api.paths import EVERY_PATH, most_specific
from gridview.api.routes import Route
from gridview.commands.actor import Role
from gridview.support.errors import Overloaded
from infra.routes import BY_PATH, METHODS, ROUTES, resources
from tests.support import worked_example
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client, invoke
from tests.support.user_jobs import JOB

WITH_TOKEN = [route for route in ROUTES if route.role is not None]
WITH_PROJECT = [route for route in ROUTES if "{project}" in route.path]
BODIES: dict[str, Any] = {
    "create_project": {"name": "New"},
    "update_project": {"name": "New"},
    "create_attribute": {"name": "New", "type": "text"},
    "update_attribute": {"name": "New"},
    "create_issue": {"name": "New"},
    "update_issue": {"name": "New"},
    "batch": {"operations": [{"create": {"name": "New"}}, {"delete": {"num": 1}}]},
    "grid": {},
    "groups": {"by": ["state"]},
    "check_formula": {"formula": "1"},
    "summary": {"fields": [{"field": "state", "functions": ["count"]}]},
    "create_index": {"sort": [{"field": "state"}, {"field": "3812"}]},
    "update_matching": {"filter": None, "set": {"name": "New"}},
    "delete_matching": {"filter": None},
    "undo": {"change": "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"},
    "export": {"format": "csv"},
    "create_comment": {"text": "New"},
    "update_comment": {"text": "New"},
    "create_view": {"name": "New", "color_by": "state"},
    "update_view": {"name": "New"},
    "place_rows": {"nums": [1], "after": None},
    "create_webhook": {"url": "https://hooks.example.org"},
    "update_webhook": {"enabled": False},
}
PARTS = {
    "project": "35e9",
    "attribute": "3812",
    "num": "1",
    "index": "c1",
    "view": "v1",
    "webhook": "w3k9q2m7x1c0z",
    "delivery": "57_1",
    "comment": "1",
    "job": JOB,
}


def operation(route: Route) -> str:
    return route.operation


def make(client: Client, route: Route, **parts: str) -> Answer:
    """A valid request of a route, by default about issue 1, attribute 3812 and so on of project 35e9."""
    path = route.path.format(**{**PARTS, **parts})
    body = BODIES.get(route.operation)
    return client.call(route.method, path) if body is None else client.call(route.method, path, body)


def without_request_id(answer: Answer) -> dict[str, Any]:
    return {name: value for name, value in answer.body.items() if name != "request_id"}


@pytest.fixture(scope="module")
def owner(shared_account: Cloud) -> Client:
    """The owner of the worked example."""
    owner = shared_account.api(tenant="owner1")
    worked_example.load(owner)
    return owner


@pytest.fixture(scope="module")
def stranger(shared_account: Cloud, owner: Client) -> Client:
    """An admin of another tenant, which has a project of its own."""
    stranger = shared_account.api(tenant="stranger")
    stranger.made("/v1/projects", {"id": "own", "name": "Own"})
    return stranger


@pytest.fixture
def unchanged(shared_account: Cloud, owner: Client) -> Iterator[None]:
    """Check that the test changes nothing in the table."""
    before = shared_account.items()
    yield
    assert shared_account.items() == before


@pytest.mark.parametrize("role", Role, ids=lambda role: role.name.lower())
@pytest.mark.parametrize("route", WITH_TOKEN, ids=operation)
def test_a_role_may_call_what_the_table_of_routes_says(owner: Client, route: Route, role: Role) -> None:
    nobody = owner.acting(tenant="nobody", role=role.name.lower())
    answer = make(nobody, route)
    assert route.role is not None
    if role < route.role:
        assert answer.kind == (403, "forbidden")
    elif route in WITH_PROJECT:
        assert answer.kind == (404, "not-found"), "allowed, and then there is no such project"
    else:
        assert answer.status in (200, 201)


NOBODIES: dict[str, dict[str, Any]] = {
    "access token": {"token_use": "access"},
    "no use": {"token_use": None},
    "no tenant": {"custom:tenant": None},
    "bad tenant": {"custom:tenant": "OWNER1"},
    "no role": {"custom:role": None},
    "unknown role": {"custom:role": "root"},
    "no user": {"sub": None},
}


@pytest.mark.parametrize("route", WITH_TOKEN, ids=operation)
@pytest.mark.usefixtures("unchanged")
def test_without_a_valid_token_every_call_is_refused(owner: Client, route: Route) -> None:
    refused = [
        make(owner.anonymous(), route),
        *(make(owner.claiming(**wrong), route) for wrong in NOBODIES.values()),
    ]
    assert {answer.kind for answer in refused} == {(401, "unauthenticated")}
    assert {answer.headers["www-authenticate"] for answer in refused} == {"Bearer"}


@pytest.mark.parametrize(
    "authorizer", [None, {}, {"jwt": None}, {"jwt": {}}, {"lambda": {"tenant": "owner1"}}]
)
def test_an_event_of_another_authorizer_is_unauthenticated(owner: Client, authorizer: Any) -> None:
    event = owner.event("GET", "/v1/projects")
    event["requestContext"]["authorizer"] = authorizer
    assert invoke(owner.handlers, event).kind == (401, "unauthenticated")


@pytest.mark.parametrize("path", ["/v1/health", "/v1/openapi.json"])
def test_health_and_the_openapi_document_need_no_token(owner: Client, path: str) -> None:
    assert owner.anonymous().get(path).status == 200
    assert owner.claiming(token_use="access").get(path).status == 200


@pytest.mark.parametrize("route", WITH_PROJECT, ids=operation)
@pytest.mark.usefixtures("unchanged")
def test_resources_of_another_tenant_answer_exactly_like_missing_ones(stranger: Client, route: Route) -> None:
    theirs = make(stranger, route)
    missing = make(stranger, route, project="missing")
    assert theirs.kind == (404, "not-found")
    assert without_request_id(theirs) == without_request_id(missing)
    assert theirs.headers == missing.headers


@pytest.mark.parametrize(
    "route",
    [route for route in WITH_PROJECT if "{attribute}" in route.path or "{num}" in route.path],
    ids=operation,
)
@pytest.mark.usefixtures("unchanged")
def test_ids_of_another_tenants_attributes_and_issues_mean_nothing_in_ones_own_project(
    stranger: Client, route: Route
) -> None:
    theirs = make(stranger, route, project="own")
    missing = make(stranger, route, project="own", attribute="missing", num="77")
    assert theirs.kind == (404, "not-found")
    assert without_request_id(theirs) == without_request_id(missing)


def test_a_tenant_lists_only_its_own_projects(owner: Client, stranger: Client) -> None:
    assert [one["id"] for one in owner.get("/v1/projects").body["items"]] == ["35e9"]
    assert [one["id"] for one in stranger.get("/v1/projects").body["items"]] == ["own"]


def test_two_tenants_may_use_the_same_ids(owner: Client, stranger: Client) -> None:
    third = owner.acting(tenant="third")
    third.made("/v1/projects", {"id": "35e9", "name": "Ours"})
    third.made("/v1/projects/35e9/issues", {"name": "Our issue"})
    assert third.get("/v1/projects/35e9/issues/1").body["name"] == "Our issue"
    assert owner.get("/v1/projects/35e9/issues/1").body["name"] == "Needs Painting"
    assert third.delete("/v1/projects/35e9").status == 204
    assert owner.get("/v1/projects/35e9").status == 200


@pytest.mark.parametrize(
    ("part", "values"),
    [
        ("project", ["A", "a", "35E9", "a" * 33, "a.b", "a-b", "35e9%0A", "%2E%2E", "caf%C3%A9"]),
        (
            "attribute",
            ["Start", "a" * 65, "a-b", "a.b", "3812%0A", "num"],
        ),
        ("view", ["1", "V1", "v0", "v01", "v123456789", "v1%0A", "register"]),
        ("comment", ["0", "01", "-1", "1.0", "abc", "1234567", "1%0A", "%D9%A1"]),
        ("job", ["1", JOB[1:], f"0{JOB}", JOB.upper(), f"{JOB[1:]}g", "line", f"{JOB}%0A"]),
        ("num", ["0", "01", "-1", "1.0", "1e1", "abc", "123456789", "1%0A", "%D9%A1", "+1"]),
    ],
)
@pytest.mark.usefixtures("unchanged")
def test_an_id_that_cannot_be_one_is_not_found(owner: Client, part: str, values: list[str]) -> None:
    for route in WITH_PROJECT:
        if f"{{{part}}}" in route.path:
            for value in values:
                assert make(owner, route, **{part: value}).kind == (404, "not-found"), (route.key, value)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/v1/health"),
        ("PUT", "/v1/projects/35e9"),
        ("POST", "/v1/projects/35e9"),
        ("GET", "/v1/projects/35e9/issues"),
        ("DELETE", "/v1/projects/35e9/attributes"),
        ("GET", "/v1/projects/35e9/issues/batch"),
        ("PATCH", "/v1/projects/35e9/issues/batch"),
        ("PUT", "/v1/projects/35e9/issues/batch"),
        ("DELETE", "/v1/projects/35e9/grid"),
        ("PUT", "/v1/projects/missing"),
        ("PUT", "/v1/projects/NO ID"),
        ("PUT", "/v1/projects/%E9%FF"),
        ("POST", "/v1/projects/35e9/issues/999999"),
        ("POST", "/v1/projects/35e9/issues/x%20y"),
        ("POST", "/v1/projects/missing/views/none"),
        ("HEAD", "/v1/projects"),
        ("OPTIONS", "/v1/projects"),
        ("BREW", "/v1/projects/missing"),
    ],
)
@pytest.mark.usefixtures("unchanged")
def test_a_wrong_method_gets_405_with_allow_with_or_without_a_token(
    owner: Client, method: str, path: str
) -> None:
    known = most_specific(BY_PATH, path)
    assert known is not None
    for client in (owner, owner.anonymous()):
        answer = client.call(method, path)
        assert answer.kind == (405, "method-not-allowed")
        assert answer.headers["allow"] == BY_PATH[known].allow


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "path",
    [
        "/v1/nowhere",
        "/v1/health/",
        "/v1/projects/",
        "/v1/projects/35e9/",
        "/v1/projects//grid",
        "/v1/projects/35e9/issues/1/2",
        "/v1/projects/35e9/nowhere",
        "/v1/%2F",
        "/v1/{proxy+}",
        "/v1/Projects",
    ],
)
@pytest.mark.usefixtures("unchanged")
def test_an_unknown_path_is_not_found_by_any_method(owner: Client, method: str, path: str) -> None:
    answer = owner.call(method, path)
    assert answer.kind == (404, "not-found")
    assert answer.body["detail"].startswith("The API does not have this path.")
    assert "allow" not in answer.headers


@pytest.mark.parametrize(
    ("path", "status"),
    [("/v1/projects/a%2Fb", 404), ("/v1/projects/a%2Fgrid", 405), ("/v1/projects%2F35e9", 405)],
)
def test_an_encoded_slash_separates_segments_where_nothing_but_the_method_is_wrong(
    owner: Client, path: str, status: int
) -> None:
    """API Gateway passes a decoded path. No id has a slash, so this only affects which refusal is returned."""
    assert owner.call("PUT", path).status == status


def test_the_route_for_every_path_serves_nothing(owner: Client) -> None:
    """Its authorizer and throttle are not those of the endpoint, so it refuses every path and method."""
    for route in ROUTES:
        event = owner.event(route.method, route.path.format(**PARTS))
        event["routeKey"] = f"{route.method} {EVERY_PATH}"
        for name in ("query", "command", "live"):
            assert owner.handlers[name](event, owner.context)["statusCode"] == 404


def test_every_method_of_every_path_is_a_call_or_is_refused(owner: Client) -> None:
    for resource in resources():
        path = resource.path.format(**PARTS)
        allowed = {owner.anonymous().call(method, path).headers["allow"] for method in resource.refused}
        assert allowed == {resource.allow}


@pytest.mark.parametrize(
    "key", ["$default", "", "GET", "GET /v2/projects", "GET  /v1/projects", "/v1/projects"]
)
def test_an_event_of_no_known_path_is_not_found(owner: Client, key: str) -> None:
    for handler in (owner.handlers[name] for name in ("query", "command", "live")):
        result = handler({**owner.event("GET", "/v1/projects"), "routeKey": key}, owner.context)
        assert result["statusCode"] == 404


def test_a_call_that_reaches_the_wrong_function_is_not_answered_by_it(owner: Client) -> None:
    event = owner.event("DELETE", "/v1/projects/35e9")
    result = owner.handlers["query"](event, owner.context)
    assert result["statusCode"] == 404
    assert owner.get("/v1/projects/35e9").status == 200


class Broken:
    """Replaces the table."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        raise self._error


SECRET = "a secret that is in the error"


@pytest.mark.parametrize("route", [route for route in WITH_TOKEN if route.function == "query"], ids=operation)
def test_an_unexpected_error_is_a_problem_without_details(
    owner: Client,
    shared_account: Cloud,
    route: Route,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(shared_account.modules["query"], "table", Broken(RuntimeError(SECRET)))
    answer = make(owner, route)
    assert answer.kind == (500, "internal")
    assert SECRET not in answer.text
    assert "Traceback" not in answer.text
    assert "ServerErrors" in capsys.readouterr().out


@pytest.mark.parametrize(
    "route", [route for route in WITH_TOKEN if route.function == "command"], ids=operation
)
def test_a_table_that_is_busy_is_a_problem_that_says_when_to_come_back(
    owner: Client, shared_account: Cloud, route: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_account.modules["command"], "table", Broken(Overloaded("busy")))
    answer = make(owner, route)
    assert answer.kind == (503, "overloaded")
    assert answer.headers["retry-after"] == "1"
