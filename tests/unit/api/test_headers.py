"""The headers that a page of another origin may send and read, compared with the OpenAPI document."""

from gridview.api.headers import REQUEST_HEADERS, RESPONSE_HEADERS
from infra.openapi.document import document


def test_every_header_of_the_api_is_allowed_or_exposed() -> None:
    sent = {"authorization", "content-type"}
    shown = set()
    for methods in document()["paths"].values():
        for operation in methods.values():
            if not isinstance(operation, dict):
                continue
            sent |= {
                one["name"].lower() for one in operation.get("parameters", []) if one.get("in") == "header"
            }
            for answer in operation["responses"].values():
                shown |= {name.lower() for name in answer.get("headers", {})}
    assert sent == set(REQUEST_HEADERS)
    assert shown <= set(RESPONSE_HEADERS)
