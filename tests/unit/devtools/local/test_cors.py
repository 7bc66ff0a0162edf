"""Cross-origin requests at the local server, as API Gateway answers them."""

from typing import Any

import pytest

from devtools.local.server import application
from gridview.api.headers import REQUEST_HEADERS, RESPONSE_HEADERS
from tests.unit.devtools.local.test_server import KEY, Client, bearer

ORIGIN = "http://localhost:5173"


@pytest.fixture
def client() -> Client:
    """A server that pages of one origin may call."""
    client = Client()
    client._app = application(client._invoke, KEY, [ORIGIN])
    return client


def ask(client: Client, origin: str = ORIGIN) -> tuple[int, dict[str, str], bytes]:
    headers: dict[str, Any] = {"HTTP_ORIGIN": origin, "HTTP_ACCESS_CONTROL_REQUEST_METHOD": "PATCH"}
    return client.call("OPTIONS", "/v1/projects/demo", **headers)


def test_a_preflight_is_answered_without_a_token_and_without_a_function(client: Client) -> None:
    status, headers, body = ask(client)
    assert (status, body, client.events) == (204, b"", [])
    assert headers["access-control-allow-origin"] == ORIGIN
    assert set(headers["access-control-allow-methods"].split(",")) == {
        "GET",
        "POST",
        "PUT",
        "PATCH",
        "DELETE",
    }
    assert headers["access-control-allow-headers"].split(",") == list(REQUEST_HEADERS)


def test_an_answer_may_be_read_with_its_headers(client: Client) -> None:
    _, headers, _ = client.call("GET", "/v1/projects", token=bearer(), HTTP_ORIGIN=ORIGIN)
    assert headers["access-control-allow-origin"] == ORIGIN
    assert headers["access-control-expose-headers"].split(",") == list(RESPONSE_HEADERS)


def test_a_refusal_has_the_origin_too(client: Client) -> None:
    status, headers, _ = client.call("GET", "/v1/projects", HTTP_ORIGIN=ORIGIN)
    assert (status, headers["access-control-allow-origin"]) == (401, ORIGIN)


@pytest.mark.parametrize("origin", ["https://evil.example", "http://localhost:5174", "null"])
def test_a_page_of_another_origin_may_nothing(client: Client, origin: str) -> None:
    for status, headers, _ in (
        ask(client, origin),
        client.call("GET", "/v1/projects", token=bearer(), HTTP_ORIGIN=origin),
    ):
        assert status in {200, 204}
        assert not [name for name in headers if name.startswith("access-control-")]


def test_without_origins_a_preflight_is_a_wrong_method() -> None:
    status, headers, _ = ask(Client())
    assert status >= 400
    assert "access-control-allow-origin" not in headers
