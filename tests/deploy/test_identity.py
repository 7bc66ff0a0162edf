"""Authentication: the users and tokens that are accepted and refused."""

from collections.abc import Mapping
from typing import Any

import httpx
import jwt
import pytest

from devtools.failure import Failure
from devtools.importer.session import Session
from gridview.api.routes import Route
from infra.routes import METHODS, ROUTES
from tests.deploy.conftest import PASSWORD, Deployment, Users
from tests.deploy.waiting import until

WITH_TOKEN = [route for route in ROUTES if route.role is not None]
WITHOUT_TOKEN = [route for route in ROUTES if route.role is None]


def _path(route: Route) -> str:
    values = {"project": "p1", "attribute": "a1", "num": 1, "index": "c1", "comment": 1, "view": "v1"}
    return route.path.format(**values, webhook="w3k9q2m7x1c0z", delivery="57_1", job="0" * 20)


@pytest.mark.parametrize("route", WITHOUT_TOKEN, ids=lambda route: route.operation)
def test_some_calls_need_no_token(deployment: Deployment, route: Route) -> None:
    with deployment.api() as api:
        assert api.request(route.method, _path(route)).status_code == 200


@pytest.mark.parametrize("route", WITH_TOKEN, ids=lambda route: route.operation)
def test_all_others_do(deployment: Deployment, route: Route) -> None:
    with deployment.api() as api:
        assert api.request(route.method, _path(route)).status_code == 401


def test_a_path_outside_the_api_is_answered_by_the_gateway_itself(deployment: Deployment) -> None:
    with deployment.api() as api:
        answer = api.get("/v2/projects")
    assert (answer.status_code, answer.json()) == (404, {"message": "Not Found"})


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/v1/projects", "GET, POST"),
        ("POST", "/v1/projects/missing", "DELETE, GET, PATCH"),
        ("PUT", "/v1/projects/missing/issues/batch", "POST"),
        ("GET", "/v1/projects/missing/issues/batch", "POST"),
        ("PATCH", "/v1/projects/missing/issues/update-matching", "POST"),
        ("DELETE", "/v1/health", "GET"),
    ],
)
def test_a_wrong_method_gets_405_with_allow(
    deployment: Deployment, users: Users, method: str, path: str, allow: str
) -> None:
    with users.api("0807", "viewer") as api:
        answer = api.request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allow)
    with deployment.api() as api:
        assert api.request(method, path).status_code == (405 if path == "/v1/health" else 401)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("path", ["/v1/nowhere", "/v1/health/", "/v1/projects/missing/nowhere"])
def test_an_unknown_path_of_the_api_is_a_problem_with_a_token_only(
    deployment: Deployment, users: Users, method: str, path: str
) -> None:
    with users.api("0807", "viewer") as api:
        answer = api.request(method, path)
    assert (answer.status_code, answer.json()["type"]) == (404, "not-found")
    with deployment.api() as api:
        assert api.request(method, path).status_code == 401


def test_a_long_answer_comes_compressed_to_whom_accepts_it(deployment: Deployment) -> None:
    with deployment.api() as api:
        packed = api.get("/v1/openapi.json", headers={"accept-encoding": "gzip"})
        plain = api.get("/v1/openapi.json", headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.json() == plain.json()


def test_a_forged_token_is_refused(deployment: Deployment, users: Users) -> None:
    head, claims, signature = users.tokens("acme", "viewer")["IdToken"].split(".")
    _, others, _ = users.tokens("acme", "admin")["IdToken"].split(".")
    for token in (f"{head}.{others}.{signature}", f"{head}.{claims}.", "nonsense"):
        with deployment.api(token) as api:
            assert api.get("/v1/projects").status_code == 401


def test_a_token_for_another_client_is_refused(deployment: Deployment, users: Users) -> None:
    users.tokens("acme", "viewer")
    cognito, pool = deployment.client("cognito-idp"), deployment.outputs["UserPoolId"]
    other = cognito.create_user_pool_client(
        UserPoolId=pool, ClientName="other", ExplicitAuthFlows=["ALLOW_USER_PASSWORD_AUTH"]
    )["UserPoolClient"]["ClientId"]
    (user, *_) = cognito.list_users(UserPoolId=pool)["Users"]
    signed_in = cognito.initiate_auth(
        ClientId=other,
        AuthFlow="USER_PASSWORD_AUTH",
        AuthParameters={"USERNAME": user["Username"], "PASSWORD": PASSWORD},
    )
    with deployment.api(signed_in["AuthenticationResult"]["IdToken"]) as api:
        assert api.get("/v1/projects").status_code == 401
    cognito.delete_user_pool_client(UserPoolId=pool, ClientId=other)


def test_an_access_token_is_refused_where_an_id_token_is_taken(deployment: Deployment, users: Users) -> None:
    """The authorizer takes both; the function checks `token_use`."""
    tokens = users.tokens("acme", "viewer")
    with deployment.api(tokens["IdToken"]) as api:
        assert api.get("/v1/projects").status_code == 200
    with deployment.api(tokens["AccessToken"]) as api:
        answer = api.get("/v1/projects")
    assert answer.status_code == 401
    assert answer.headers["content-type"].startswith("application/problem+json")


@pytest.mark.parametrize(
    ("tenant", "role"), [("Not A Tenant", "admin"), ("acme.p1", "admin"), ("acme", "superuser")]
)
def test_claims_that_are_no_tenant_or_role_are_refused(users: Users, tenant: str, role: str) -> None:
    with users.api(tenant, role) as api:
        assert api.get("/v1/projects").status_code == 401


def test_a_role_may_do_what_it_may_and_no_more(users: Users) -> None:
    project = {"id": "roles", "name": "Roles"}
    with users.api("acme", "viewer") as viewer, users.api("acme", "editor") as editor:
        assert viewer.post("/v1/projects", json=project).status_code == 403
        assert editor.post("/v1/projects", json=project).status_code == 403
    with users.api("acme", "admin") as admin:
        assert admin.post("/v1/projects", json=project).status_code == 201
    with users.api("acme", "viewer") as viewer, users.api("acme", "editor") as editor:
        assert viewer.post("/v1/projects/roles/issues", json={"name": "One"}).status_code == 403
        assert editor.post("/v1/projects/roles/issues", json={"name": "One"}).status_code == 201
        assert viewer.get("/v1/projects/roles/issues/1").json()["name"] == "One"
        assert viewer.delete("/v1/projects/roles/issues/1").status_code == 403
        assert editor.patch("/v1/projects/roles", json={"name": "Mine"}).status_code == 403


def test_tenants_do_not_see_each_other(users: Users) -> None:
    with users.api("acme", "admin") as acme, users.api("bigmedia", "admin") as big_media:
        assert acme.post("/v1/projects", json={"id": "secret", "name": "Secret"}).status_code == 201
        assert acme.post("/v1/projects/secret/issues", json={"name": "Hidden"}).status_code == 201
        assert "secret" in [project["id"] for project in acme.get("/v1/projects").json()["items"]]
        assert big_media.get("/v1/projects").json() == {"items": [], "next": None}

        for call in ("/v1/projects/{}", "/v1/projects/{}/issues/1", "/v1/projects/{}/grid"):
            theirs, nobodys = big_media.get(call.format("secret")), big_media.get(call.format("nothing"))
            assert theirs.status_code == nobodys.status_code == 404
            assert _said(theirs.json()) == _said(nobodys.json())
        refused = big_media.patch("/v1/projects/secret/issues/1", json={"name": "Seen"})
        assert refused.status_code == 404

        # The same id in another tenant means another project.
        assert big_media.post("/v1/projects", json={"id": "secret", "name": "Ours"}).status_code == 201
        assert big_media.get("/v1/projects/secret/issues/1").status_code == 404
        assert acme.get("/v1/projects/secret/issues/1").json()["name"] == "Hidden"


def _said(problem: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in problem.items() if name != "request_id"}


def test_the_deployed_client_writes_neither_tenant_nor_role(deployment: Deployment) -> None:
    """Cognito refuses `UpdateUserAttributes` by these two settings; MiniStack stores them, but allows everything."""
    cognito, pool = deployment.client("cognito-idp"), deployment.outputs["UserPoolId"]
    client = cognito.describe_user_pool_client(
        UserPoolId=pool, ClientId=deployment.outputs["UserPoolClientId"]
    )["UserPoolClient"]
    assert set(client["WriteAttributes"]) == {"email", "name"}
    schema = cognito.describe_user_pool(UserPoolId=pool)["UserPool"]["SchemaAttributes"]
    mutable = {one["Name"]: one["Mutable"] for one in schema}
    assert (mutable["custom:tenant"], mutable["custom:role"]) == (False, True)


def test_a_demoted_user_keeps_the_role_until_the_token_is_renewed(
    deployment: Deployment, users: Users, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = _session(deployment, users.tokens("demoted", "admin"), monkeypatch)
    before = session.token()
    user = _user_of(before)
    deployment.client("cognito-idp").admin_update_user_attributes(
        UserPoolId=deployment.outputs["UserPoolId"],
        Username=user,
        UserAttributes=[{"Name": "custom:role", "Value": "viewer"}],
    )
    with deployment.api(before) as api:
        assert api.post("/v1/projects", json={"id": "still", "name": "Still"}).status_code == 201
    with deployment.api(session.token()) as api:
        assert api.get("/v1/projects").status_code == 200
        assert api.post("/v1/projects", json={"id": "never", "name": "Never"}).status_code == 403


def test_a_disabled_user_renews_nothing_and_signs_in_no_more(
    deployment: Deployment, users: Users, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = _session(deployment, users.tokens("disabled", "editor"), monkeypatch)
    before = session.token()
    user = _user_of(before)
    cognito, pool = deployment.client("cognito-idp"), deployment.outputs["UserPoolId"]
    cognito.admin_disable_user(UserPoolId=pool, Username=user)
    with deployment.api(before) as api:
        assert api.get("/v1/projects").status_code == 200
    with pytest.raises(Failure, match="cannot be renewed"):
        session.token()
    with pytest.raises(cognito.exceptions.NotAuthorizedException):
        cognito.initiate_auth(
            ClientId=deployment.outputs["UserPoolClientId"],
            AuthFlow="USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": user, "PASSWORD": PASSWORD},
        )


def test_a_job_asks_the_user_pool_for_the_rights_of_its_user(deployment: Deployment, users: Users) -> None:
    """With the role of `upkeep` and the pool's own answers: a job of a user who was disabled writes nothing."""
    everything = {"filter": {"field": "name", "op": "eq", "value": "One"}, "set": {"name": "Two"}}
    path = "/v1/projects/rights"
    with users.api("rights", "admin") as admin, users.api("rights", "editor") as editor:
        admin.post("/v1/projects", json={"id": "rights", "name": "Rights"}).raise_for_status()
        admin.post(f"{path}/issues", json={"name": "One"}).raise_for_status()
        done = _job(editor, path, everything)
        assert (done["state"], done["done"]) == ("done", 1)
        assert admin.get(f"{path}/issues/1").json()["name"] == "Two"
        admin.patch(f"{path}/issues/1", json={"name": "One"}).raise_for_status()
        deployment.client("cognito-idp").admin_disable_user(
            UserPoolId=deployment.outputs["UserPoolId"], Username=users.email("rights", "editor")
        )
        failed = _job(editor, path, everything)
        assert (failed["state"], failed["problem"]["type"]) == ("failed", "forbidden")
        assert "removed or disabled" in failed["problem"]["detail"]
        assert admin.get(f"{path}/issues/1").json()["name"] == "One"


def _job(api: httpx.Client, path: str, asked: Mapping[str, object]) -> dict[str, Any]:
    """A change of all that match, once it has ended."""
    started = api.post(f"{path}/issues/update-matching", json=asked)
    assert started.status_code == 202, started.text
    job = started.json()["id"]
    ended: dict[str, Any] = until(
        lambda: api.get(f"{path}/jobs/{job}").json(), lambda one: one["state"] in ("done", "failed")
    )
    return ended


def _session(deployment: Deployment, tokens: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Session:
    """A command's session for a user who signed in."""
    for name, value in deployment.environment.items():
        monkeypatch.setenv(name, value)
    return Session(tokens["IdToken"], tokens["RefreshToken"])


def _user_of(token: str) -> str:
    user: str = jwt.decode(token, options={"verify_signature": False})["cognito:username"]
    return user
