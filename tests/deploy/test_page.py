"""The page for a browser: from CloudFront, on one origin with the API, signed in by Cognito's managed login."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from html import unescape
from typing import Any

import httpx
import pytest

from infra import page, page_build
from tests.deploy.conftest import PASSWORD, PATIENCE, Deployment, Users
from tests.support import page_sign_in
from tests.support.page_sign_in import Loaded


class _ToEngine(httpx.HTTPTransport):
    """Sends each request to the engine, which distinguishes CloudFront and Cognito by the requested host."""

    def __init__(self, engine: str) -> None:
        super().__init__()
        self._engine = httpx.URL(engine)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.headers["x-forwarded-proto"] = request.url.scheme
        request.url = request.url.copy_with(
            scheme=self._engine.scheme, host=self._engine.host, port=self._engine.port
        )
        return super().handle_request(request)


@pytest.fixture(scope="module")
def browser(deployment: Deployment) -> Iterator[httpx.Client]:
    """A browser on the page's origin."""
    _lead_to_the_api(deployment)
    with httpx.Client(
        base_url=deployment.outputs["PageUrl"], transport=_ToEngine(deployment.engine.url), timeout=PATIENCE
    ) as client:
        yield client


def _lead_to_the_api(deployment: Deployment) -> None:
    """Give CloudFront a reachable name of the API, since the deployed one leads nowhere here. All else stays as
    deployed.
    """
    cloudfront, api = deployment.client("cloudfront"), httpx.URL(deployment.api_url)
    (distribution,) = cloudfront.list_distributions()["DistributionList"]["Items"]
    found = cloudfront.get_distribution_config(Id=distribution["Id"])
    config = found["DistributionConfig"]
    (origin,) = (one for one in config["Origins"]["Items"] if "CustomOriginConfig" in one)
    origin |= {"DomainName": api.host, "OriginPath": api.path}
    origin["CustomOriginConfig"] |= {
        "OriginProtocolPolicy": "http-only",
        "HTTPPort": api.port,
        "HTTPSPort": 443,
    }
    cloudfront.update_distribution(Id=distribution["Id"], IfMatch=found["ETag"], DistributionConfig=config)


@pytest.fixture(scope="module")
def config(browser: httpx.Client) -> Any:
    """The page's configuration of the managed login."""
    return browser.get(page.CONFIG).raise_for_status().json()


def test_each_file_comes_as_it_was_built_with_the_headers_that_the_local_stack_gives(
    deployment: Deployment, browser: httpx.Client, config: Any
) -> None:
    sockets = deployment.outputs["SocketUrl"].removesuffix("/live")
    headers = page.security_headers([config["domain"], sockets])
    files = [file for file in page_build.DIST.rglob("[!.]*") if file.is_file()]
    assert any(file.parent.name == "assets" for file in files)
    for file in files:
        path = f"/{file.relative_to(page_build.DIST).as_posix()}"
        answer = browser.get(path)
        assert (answer.status_code, answer.content) == (200, file.read_bytes()), path
        given = {"cache-control": page.cache_control(path), "content-type": page.content_type(path)}
        assert {**headers, **given}.items() <= dict(answer.headers).items(), path


@pytest.mark.parametrize("path", ["/", "/callback?code=k&state=s", "/projects/demo/issues/3?sort=-due"])
def test_a_path_of_the_page_answers_the_page_which_is_asked_for_again(
    browser: httpx.Client, path: str
) -> None:
    answer = browser.get(path)
    assert answer.content == (page_build.DIST / "index.html").read_bytes()
    assert answer.headers["cache-control"] == page.ASK_AGAIN


@pytest.mark.parametrize("path", ["/missing", "/assets/missing.js", "/projectsx"])
def test_no_other_path_does(browser: httpx.Client, path: str) -> None:
    """S3 answers 404 to callers who may list. The engine answers 403."""
    answer = browser.get(path)
    assert answer.status_code in {403, 404}
    assert answer.headers["content-type"] == "application/xml"


def test_the_bucket_answers_only_cloudfront(deployment: Deployment, browser: httpx.Client) -> None:
    bucket = f"{deployment.engine.url}/{deployment.outputs['PageBucket']}"
    assert browser.get(page.INDEX).status_code == 200
    assert [httpx.get(f"{bucket}{path}").status_code for path in (page.INDEX, "/")] == [403, 403]


def test_the_api_answers_on_the_pages_origin_in_its_own_words(browser: httpx.Client, users: Users) -> None:
    token = {"authorization": f"Bearer {users.tokens('paged', 'admin')['IdToken']}"}
    assert browser.get("/v1/projects").status_code == 401
    made = browser.post("/v1/projects", json={"id": "one", "name": "One"}, headers=token)
    assert (made.status_code, made.headers["location"]) == (201, "/v1/projects/one")
    found = browser.get("/v1/projects", params={"limit": 1}, headers=token)
    assert [one["id"] for one in found.json()["items"]] == ["one"]
    missing = browser.get("/v1/projects/two", headers=token)
    assert (missing.status_code, missing.headers["content-type"]) == (404, "application/problem+json")
    assert browser.get("/v1/two").json() == {"message": "Unauthorized"}
    unknown = browser.get("/v1/two", headers=token)
    assert (unknown.status_code, unknown.headers["content-type"]) == (404, "application/problem+json")


REFUSED = {
    "kind": "failed",
    "reason": "The login service rejected the sign-in code. Sign in again.",
}
"""The state of a page whose code bought no token."""

Load = Callable[[str, Mapping[str, str]], Loaded]


@pytest.fixture(scope="module")
def load(deployment: Deployment, config: Any) -> Load:
    """A function that loads the page at an address, with the stored data of its browser."""
    return partial(page_sign_in.load, config=config, engine=deployment.engine.url)


@pytest.fixture(scope="module")
def left(deployment: Deployment, load: Load) -> Loaded:
    """The page, opened at one of its addresses, after it left for the login."""
    return load(f"{deployment.outputs['PageUrl']}/projects/demo?sort=-due", {})


@pytest.fixture
def callback(browser: httpx.Client, users: Users, left: Loaded) -> str:
    """The address to which the login returns after the right password: the page, with a new code."""
    form = browser.get(left.left_for).raise_for_status().text
    hidden = re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', form)
    filled_in = {name: unescape(value) for name, value in hidden}
    filled_in |= {"username": users.email("paged", "editor"), "password": PASSWORD}
    answer = browser.post(httpx.URL(left.left_for).join("/login"), data=filled_in)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


def test_a_user_who_signs_in_returns_with_a_token_that_the_api_accepts(
    browser: httpx.Client, left: Loaded, callback: str, load: Load
) -> None:
    assert browser.get(callback).content == browser.get("/").content
    back = load(callback, left.storage)
    me = browser.get("/v1/me", headers=back.headers).raise_for_status().json()
    assert (me["tenant"], me["role"]) == ("paged", "editor")
    user = {"tenant": me["tenant"], "user": me["id"], "role": me["role"]}
    assert back.state == {"kind": "signedIn", "user": user}
    assert load(callback, left.storage).state == REFUSED, "a code is good once"


def test_a_code_is_worth_nothing_without_its_verifier(left: Loaded, callback: str, load: Load) -> None:
    ((key, kept),) = left.storage.items()
    others = json.dumps(json.loads(kept) | {"verifier": "A" * 43})
    assert load(callback, {key: others}).state == REFUSED


def test_the_login_asks_for_no_password_on_behalf_of_others(
    deployment: Deployment, browser: httpx.Client, left: Loaded
) -> None:
    """Other return addresses, other clients, other rights."""
    asked = httpx.URL(left.left_for)
    assert "password" in browser.get(asked).text
    for name, value in {
        "redirect_uri": "https://elsewhere.example/callback",
        "client_id": deployment.outputs["UserPoolClientId"],
        "scope": "openid aws.cognito.signin.user.admin",
    }.items():
        answer = browser.get(asked.copy_set_param(name, value))
        assert answer.status_code in {302, 400}, name
        assert "password" not in answer.text, name
        assert "code=" not in answer.headers.get("location", ""), name


def test_the_pages_client_takes_no_password(deployment: Deployment, users: Users, config: Any) -> None:
    cognito = deployment.client("cognito-idp")
    with pytest.raises(cognito.exceptions.InvalidParameterException):
        cognito.initiate_auth(
            ClientId=config["clientId"],
            AuthFlow="USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": users.email("paged", "editor"), "PASSWORD": PASSWORD},
        )
