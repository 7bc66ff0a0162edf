"""The page beside the API on this machine: its files, its session, and refused callers. The functions only record."""

import gzip
import json
import os
import time
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest

from devtools.local import sessions, tokens
from devtools.local.server import application
from devtools.local.sessions import Sessions
from devtools.local.site import Site
from gridview.support.version import VERSION
from infra import page
from tests.unit.devtools.local.test_server import Client, bearer

HOST = "127.0.0.1:8420"
PAGES = "http://localhost:5173"
PERSON = {"tenant": "0807", "user": "ada", "role": "editor"}
NOBODY = dict.fromkeys(PERSON)

Answered = tuple[int, dict[str, str], bytes]


class Browser(Client):
    """A browser at a stack. It keeps its cookies."""

    def __init__(self, data: Path, dist: Path) -> None:
        super().__init__()
        self.data = data
        self.cookie: str | None = None
        key = tokens.key_in(data)
        self._app = application(self._invoke, key, [PAGES], Site(dist, Sessions(data, 8420), [PAGES]))

    def ask(self, method: str, target: str, body: Any = None, **headers: str) -> Answered:
        given = {f"HTTP_{name.upper()}": value for name, value in {"host": HOST, **headers}.items()}
        if self.cookie:
            given.setdefault("HTTP_COOKIE", f"theme=dark; {self.cookie}; broken")
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        answered = self.call(method, target, body=content, CONTENT_TYPE="application/json", **given)
        if "set-cookie" in answered[1]:
            self.cookie = answered[1]["set-cookie"].partition(";")[0]
        return answered

    def session(self) -> Any:
        status, _, body = self.ask("GET", sessions.PATH)
        return json.loads(body) if status == 200 else status

    def open(self) -> None:
        assert self.ask("POST", sessions.PATH, {"key": sessions.new_key(self.data)})[0] == 204

    def claims(self) -> dict[str, str]:
        """The claims of the last function call."""
        found: dict[str, str] = self.events[-1][1]["requestContext"]["authorizer"]["jwt"]["claims"]
        return found


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    dist, data = tmp_path / "dist", tmp_path / "data"
    (dist / "assets").mkdir(parents=True)
    data.mkdir()
    (dist / "index.html").write_text("<!doctype html>")
    (dist / "favicon.svg").write_text("<svg/>")
    (dist / "assets" / "index-1f.js").write_text("1")
    (tmp_path / "secret.txt").write_text("secret")
    return Browser(data, dist)


@pytest.mark.parametrize(
    ("target", "kind", "cached"),
    [
        ("/", "text/html; charset=utf-8", page.ASK_AGAIN),
        ("/projects/35e9?sort=-due", "text/html; charset=utf-8", page.ASK_AGAIN),
        ("/callback?code=1", "text/html; charset=utf-8", page.ASK_AGAIN),
        ("/favicon.svg", "image/svg+xml", page.ASK_AGAIN),
        ("/assets/index-1f.js", "text/javascript; charset=utf-8", page.KEEP),
        ("/config.json", "application/json", page.ASK_AGAIN),
    ],
)
def test_the_page_is_served_with_its_type_and_the_headers_that_protect_it(
    browser: Browser, target: str, kind: str, cached: str
) -> None:
    status, headers, body = browser.ask("GET", target)
    assert (status, headers["content-type"], headers["cache-control"]) == (200, kind, cached)
    assert page.security_headers().items() <= headers.items()
    assert int(headers["content-length"]) == len(body) > 0
    assert browser.ask("HEAD", target)[2] == b""
    refused, headers_of_refusal, _ = browser.ask("POST", target, {})
    assert (refused, headers_of_refusal["allow"]) == (405, "GET, HEAD")
    assert browser.events == []


def test_a_file_is_compressed_for_browsers_that_take_it(browser: Browser, tmp_path: Path) -> None:
    script = b"const row = 1;\n" * 1000
    (tmp_path / "dist" / "assets" / "index-2f.js").write_bytes(script)
    _, headers, body = browser.ask("GET", "/assets/index-2f.js", accept_encoding="gzip, br")
    assert (headers["content-encoding"], headers["vary"]) == ("gzip", "accept-encoding")
    assert gzip.decompress(body) == script
    assert int(headers["content-length"]) == len(body) < len(script)
    _, headers, body = browser.ask("GET", "/assets/index-2f.js", accept_encoding="br")
    assert (headers.get("content-encoding"), body) == (None, script)
    assert "content-encoding" not in browser.ask("GET", "/favicon.svg", accept_encoding="gzip")[1]


def test_the_configuration_names_the_sign_in(browser: Browser) -> None:
    assert json.loads(browser.ask("GET", "/config.json")[2]) == {"auth": "local", "version": VERSION}


@pytest.mark.parametrize(
    "target",
    [
        "/nowhere",
        "/v1",
        "/assets/",
        "/assets/none.js",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "//secret.txt",
        "/a%00",
        "*",
    ],
)
def test_any_other_path_is_not_found(browser: Browser, target: str) -> None:
    status, headers, body = browser.ask("GET", target)
    assert (status, json.loads(body)["type"]) == (404, "not-found")
    assert headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("target", "kind"), [("/v1/", (404, "not-found")), ("/v1/nowhere", (401, "unauthenticated"))]
)
def test_unknown_paths_of_the_api_are_refused_by_the_api(
    browser: Browser, target: str, kind: tuple[int, str]
) -> None:
    status, headers, body = browser.ask("GET", target, authorization=bearer())
    assert (status, json.loads(body)["type"]) == kind
    assert "content-security-policy" not in headers


def test_without_a_built_page_the_answer_says_so(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "dist" / "index.html").unlink()
    status, _, body = browser.ask("GET", "/")
    assert status == 404
    assert "not built" in json.loads(body)["detail"]
    assert browser.ask("GET", "/config.json")[0] == 200


def test_a_key_buys_one_cookie_that_no_script_and_no_other_site_gets(browser: Browser) -> None:
    key = sessions.new_key(browser.data)
    assert browser.session() == 401
    status, headers, _ = browser.ask("POST", sessions.PATH, {"key": key})
    assert status == 204
    (cookie,) = SimpleCookie(headers["set-cookie"]).values()
    assert (cookie.key, cookie["path"], cookie["httponly"], cookie["samesite"]) == (
        "gridview-8420",
        "/",
        True,
        "Strict",
    )
    assert int(cookie["max-age"]) == tokens.LIFETIME_SECONDS
    assert browser.session() == NOBODY
    browser.cookie = None
    assert browser.ask("POST", sessions.PATH, {"key": key})[0] == 401
    assert browser.session() == 401


def test_a_key_that_is_late_is_none(browser: Browser) -> None:
    key = sessions.new_key(browser.data)
    (kept,) = (browser.data / "page-keys").iterdir()
    assert key not in kept.name
    then = time.time() - tokens.LIFETIME_SECONDS - 1
    os.utime(kept, (then, then))
    assert browser.ask("POST", sessions.PATH, {"key": key})[0] == 401
    sessions.new_key(browser.data)
    (kept,) = (browser.data / "page-keys").iterdir()
    os.utime(kept, (then, then))
    sessions.new_key(browser.data)
    assert not kept.exists(), "it was not used"


@pytest.mark.parametrize("body", [b"", b"{", {}, {"key": 5}, {"key": "a", "more": 1}, []])
def test_a_body_that_is_no_key_is_a_bad_request(browser: Browser, body: Any) -> None:
    assert browser.ask("POST", sessions.PATH, body)[0] == 400


@pytest.mark.parametrize("key", ["", "wrong", "../token.key", "\0"])
def test_a_wrong_key_buys_nothing(browser: Browser, key: str) -> None:
    sessions.new_key(browser.data)
    status, headers, _ = browser.ask("POST", sessions.PATH, {"key": key})
    assert status == 401
    assert "set-cookie" not in headers


def test_the_api_is_called_as_the_user_who_is_signed_in(browser: Browser) -> None:
    browser.open()
    assert browser.ask("GET", "/v1/projects")[0] == 401, "no user is signed in"
    assert browser.ask("PUT", sessions.PATH, PERSON)[0] == 204
    assert browser.session() == PERSON
    assert browser.ask("GET", "/v1/projects")[0] == 200
    claims = browser.claims()
    assert (claims["custom:tenant"], claims["sub"], claims["custom:role"]) == tuple(PERSON.values())
    event = browser.events[-1][1]
    assert "cookies" not in event
    assert "cookie" not in event["headers"]
    assert browser.ask("DELETE", sessions.PATH)[0] == 204
    assert browser.session() == NOBODY
    assert browser.ask("GET", "/v1/projects")[0] == 401


def test_a_token_of_the_request_counts_before_the_cookie(browser: Browser) -> None:
    browser.open()
    browser.ask("PUT", sessions.PATH, PERSON)
    browser.ask(
        "GET",
        "/v1/projects",
        authorization=f"Bearer {tokens.issue(tokens.key_in(browser.data), tenant='0808', role='viewer')}",
    )
    assert browser.claims()["custom:tenant"] == "0808"
    assert browser.ask("GET", "/v1/projects", authorization="Bearer x")[0] == 401


@pytest.mark.parametrize(
    ("changed", "field"),
    [({"tenant": "A"}, "tenant"), ({"user": ""}, "user"), ({"role": "owner"}, "role"), ({"x": 1}, "x")],
)
def test_an_impossible_user_is_refused(browser: Browser, changed: dict[str, Any], field: str) -> None:
    browser.open()
    status, _, body = browser.ask("PUT", sessions.PATH, {**PERSON, **changed})
    assert (status, [one["field"] for one in json.loads(body)["errors"]]) == (400, [field])
    assert browser.session() == NOBODY


def test_without_a_valid_cookie_no_sign_in_works(browser: Browser) -> None:
    for method in ("GET", "PUT", "DELETE"):
        assert browser.ask(method, sessions.PATH, PERSON)[0] == 401
    browser.open()
    good = browser.cookie or ""
    token = tokens.issue(tokens.key_in(browser.data), tenant="0807", role="admin")
    for bad in (good[:-2], good.replace("8420", "8421"), f"gridview-8420={token}", "gridview-8420="):
        browser.cookie = bad
        assert browser.session() == 401, bad
    browser.cookie = good
    late = tokens.signed(tokens.key_in(browser.data), "gridview-local-page", NOBODY, -1)
    browser.cookie = f"gridview-8420={late}"
    assert browser.session() == 401


def test_a_cookie_is_no_bearer_token(browser: Browser) -> None:
    browser.open()
    browser.ask("PUT", sessions.PATH, PERSON)
    value = (browser.cookie or "").partition("=")[2]
    browser.cookie = None
    assert browser.ask("GET", "/v1/projects", authorization=f"Bearer {value}")[0] == 401


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8420",
        "127.0.0.1.evil.example",
        "127.0.0.1:8420@evil.example",
        "localhost@evil.example",
        "127.0.0.1:8420,evil.example",
        "127.0.0.1:x",
        "",
        "localhost.",
        "[::1]:8420",
    ],
)
@pytest.mark.parametrize("target", ["/", "/config.json", "/v1/health", "/v1/projects", sessions.PATH])
def test_another_host_is_refused(browser: Browser, host: str, target: str) -> None:
    status, _, body = browser.ask("GET", target, host=host, authorization=bearer())
    assert (status, json.loads(body)["type"]) == (403, "forbidden")
    assert browser.events == []


@pytest.mark.parametrize("host", ["127.0.0.1:8420", "localhost:8420", "localhost", "LOCALHOST:9000"])
def test_this_machine_has_these_names(browser: Browser, host: str) -> None:
    browser.open()
    assert browser.ask("PUT", sessions.PATH, PERSON, host=host, origin=f"http://{host.lower()}")[0] == 204


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://127.0.0.1:9999", f"https://{HOST}", "null"]
)
@pytest.mark.parametrize("target", ["/", "/v1/projects", sessions.PATH])
def test_a_page_of_another_origin_is_refused(browser: Browser, origin: str, target: str) -> None:
    browser.open()
    browser.ask("PUT", sessions.PATH, PERSON)
    for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
        assert browser.ask(method, target, {}, origin=origin)[0] == 403
    assert browser.events == []
    assert browser.session() == PERSON


def test_an_allowed_page_needs_its_own_token(browser: Browser) -> None:
    browser.open()
    browser.ask("PUT", sessions.PATH, PERSON)
    assert browser.ask("GET", "/v1/projects", origin=PAGES)[0] == 401
    token = tokens.issue(tokens.key_in(browser.data), tenant="0807", role="viewer")
    status, headers, _ = browser.ask("GET", "/v1/projects", origin=PAGES, authorization=f"Bearer {token}")
    assert (status, headers["access-control-allow-origin"]) == (200, PAGES)
    preflight = browser.ask("OPTIONS", "/v1/projects", origin=PAGES, access_control_request_method="PATCH")
    assert (preflight[0], preflight[1]["access-control-allow-origin"]) == (204, PAGES)
    for target in ("/", "/config.json", sessions.PATH):
        assert browser.ask("GET", target, origin=PAGES)[0] == 403


@pytest.mark.parametrize(
    ("site", "status"), [("same-origin", 200), ("none", 200), ("same-site", 401), ("cross-site", 401)]
)
def test_the_cookie_counts_only_for_the_page(browser: Browser, site: str, status: int) -> None:
    browser.open()
    browser.ask("PUT", sessions.PATH, PERSON)
    assert browser.ask("GET", "/v1/projects", sec_fetch_site=site)[0] == status


def test_a_link_from_elsewhere_shows_the_page(browser: Browser) -> None:
    assert browser.ask("GET", "/", sec_fetch_site="cross-site")[0] == 200


def test_the_session_has_no_other_method(browser: Browser) -> None:
    browser.open()
    status, headers, _ = browser.ask("PATCH", sessions.PATH, {})
    assert (status, headers["allow"]) == (405, "DELETE, GET, POST, PUT")
