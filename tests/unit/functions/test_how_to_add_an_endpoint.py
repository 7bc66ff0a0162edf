"""The instructions of CONTRIBUTING.md for a new endpoint, carried out as written."""

from typing import Any

import openapi_spec_validator
import pytest

from devtools.local import gateway
from devtools.local.matching import Match
from gridview.api.endpoints import Endpoints
from gridview.api.resolver import handler
from gridview.encoding.json_codec import dumps, loads
from gridview.query_api import attributes
from gridview.query_api.container import QueryContainer
from gridview.query_api.resources import RESOURCES
from infra.openapi import examples, responses
from infra.openapi.document import document
from infra.routes import ROUTES, Declared
from tests.support import recipes, worked_example
from tests.support.cloud import Cloud
from tests.support.http import Client, Context, claims


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Endpoints[QueryContainer]:
    """The endpoint of the page, in a resource beside the others. Its model and its example are in the places that the
    page names.
    """
    endpoint, model, example = recipes.blocks("How to add an endpoint")
    endpoints = Endpoints[QueryContainer]("Attributes", "query")
    exec(endpoint, {**vars(attributes), "endpoints": endpoints})  # noqa: S102  what the page says
    names = {**vars(responses)}
    exec(model, names)  # noqa: S102
    monkeypatch.setattr(responses, "AttributeList", names["AttributeList"], raising=False)
    monkeypatch.setattr(examples, "ANSWERS", dict(examples.ANSWERS))
    exec(example, vars(examples))  # noqa: S102
    return endpoints


def test_the_endpoint_of_the_page_is_stated_and_answers(
    added: Endpoints[QueryContainer], account: Cloud, api: Client
) -> None:
    (route,) = added.served
    path, parameters = worked_example.load(api), {"project": worked_example.PROJECT}
    matched = Match(Declared("GET", route.path, "query", False, route), parameters)
    query: Any = account.modules["query"]
    handle: Any = handler([*RESOURCES, added], query._container, query.logger, query.metrics)

    def asked(**who: str) -> tuple[int, Any]:
        request = gateway.Request("GET", f"{path}/attributes", "", {})
        answer = handle(gateway.event(request, matched, claims(**who)), Context())
        return answer["statusCode"], loads(answer["body"])

    status, found = asked(role="viewer")
    assert (status, [one["name"] for one in found["items"]]) == (
        200,
        ["Start", "End", "Num Items", "Sign Off"],
    )
    responses.named("AttributeList").model_validate_json(dumps(found))
    assert [asked(**who)[0] for who in ({"role": "nobody"}, {"tenant": "9999"})] == [401, 404]


def test_the_endpoint_of_the_page_is_in_the_document(added: Endpoints[QueryContainer]) -> None:
    (route,) = added.served
    before, after = document(), document(routes=(*ROUTES, route))
    openapi_spec_validator.validate(after)
    assert before["paths"][route.path].keys() == {"post"}
    operation = after["paths"][route.path]["get"]
    assert (operation["operationId"], operation["x-role"]) == ("list_attributes", "viewer")
    assert operation["responses"].keys() == {"200", "401", "404", "429", "503"}
    content = operation["responses"]["200"]["content"]["application/json"]
    assert content["schema"] == {"$ref": "#/components/schemas/AttributeList"}
    responses.named("AttributeList").model_validate_json(dumps(content["example"]))
