import json
import re
from typing import Any

from gridview.api.headers import REQUEST_HEADERS, RESPONSE_HEADERS
from gridview.api.paths import EVERY_PATH
from infra.paths import ROOT
from infra.routes import BY_KEY, BY_PATH, DECLARED, METHODS, REFUSES
from tests.support.templates import of_construct, only, resources

SETTINGS = (ROOT / "docs" / "settings.md").read_text("utf-8")
INSTALL = (ROOT / "docs" / "install.md").read_text("utf-8")

ROUTE_QUOTA = 300
"""API Gateway: routes of an API."""

RESOURCE_QUOTA = 500
"""CloudFormation: resources of a stack."""

MORE_PATHS = 60
"""The number of further paths for which there must be room."""


def test_api_gateway_has_the_declared_routes_and_nothing_else(template: dict[str, Any]) -> None:
    """None for ANY method, OPTIONS or `$default`: preflights reach no authorizer."""
    assert set(_routes(template)) == {route.key for route in DECLARED}
    assert {key.partition(" ")[0] for key in _routes(template)} == set(METHODS)


def test_there_is_room_for_more_paths(template: dict[str, Any]) -> None:
    """Each with as many methods as the fullest path has now. A route adds exactly one resource to the stack."""
    methods = max(len(resource.calls) for resource in BY_PATH.values())
    assert methods >= 3
    assert len(_routes(template)) + MORE_PATHS * methods <= ROUTE_QUOTA
    assert len(template["Resources"]) + MORE_PATHS * methods <= RESOURCE_QUOTA


def test_the_page_of_settings_names_the_numbers_of_routes_and_resources(template: dict[str, Any]) -> None:
    rows = dict(re.findall(r"^\| ([^|]+) \| [^|]+ \| ([^|]+) \|$", SETTINGS, re.MULTILINE))
    assert rows["routes of an API"].startswith(f"{len(_routes(template))}, ")
    (about,) = re.findall(r"about (\d+)", rows["resources of a stack"])
    assert abs(int(about) - len(template["Resources"])) <= 10


def test_a_token_is_asked_for_wherever_a_role_is(template: dict[str, Any]) -> None:
    """A wrong path and a wrong method require one too, unless the path is public."""
    (authorizer_id,) = resources(template, "AWS::ApiGatewayV2::Authorizer")
    for key, declared in _routes(template).items():
        if _public(key):
            assert declared["AuthorizationType"] == "NONE"
            assert "AuthorizerId" not in declared
        else:
            assert declared["AuthorizationType"] == "JWT"
            assert declared["AuthorizerId"] == {"Ref": authorizer_id}


def test_every_route_has_a_throttle_that_was_chosen_for_it(template: dict[str, Any]) -> None:
    """Strangers neither exhaust a tenant's throttle nor cost much, and nor do pointless requests."""
    stage = of_construct(template, "AWS::ApiGatewayV2::Stage", "Ingress")
    chosen = {
        key: (one["ThrottlingRateLimit"], one["ThrottlingBurstLimit"])
        for key, one in stage["RouteSettings"].items()
    }
    assert chosen == {
        key: ((10, 20) if _public(key) else (500, 1000))
        if key in BY_KEY
        else ((1, 5) if _public(key) else (10, 20))
        for key in _routes(template)
    }


def test_a_route_without_its_own_throttle_gets_the_lowest(template: dict[str, Any]) -> None:
    stage = of_construct(template, "AWS::ApiGatewayV2::Stage", "Ingress")
    assert stage["DefaultRouteSettings"] == {"ThrottlingRateLimit": 1, "ThrottlingBurstLimit": 5}


def test_the_page_names_the_rates_of_public_and_wrong_paths(template: dict[str, Any]) -> None:
    settings = of_construct(template, "AWS::ApiGatewayV2::Stage", "Ingress")["RouteSettings"]
    of_strangers = sum(one["ThrottlingRateLimit"] for key, one in settings.items() if _public(key))
    wrong = sum(one["ThrottlingRateLimit"] for key, one in settings.items() if key.endswith(EVERY_PATH))
    assert f"strangers start at most {of_strangers} invocations a second" in " ".join(INSTALL.split())
    assert f"All wrong paths and methods share {wrong} requests a second" in " ".join(INSTALL.split())


def test_the_stage_waits_for_the_routes_that_it_has_settings_of(template: dict[str, Any]) -> None:
    """API Gateway refuses settings of a missing route."""
    (stage,) = (
        one
        for name, one in template["Resources"].items()
        if one["Type"] == "AWS::ApiGatewayV2::Stage" and name.startswith("Ingress")
    )
    routes = {name for name in resources(template, "AWS::ApiGatewayV2::Route") if name.startswith("Ingress")}
    assert routes <= set(stage["DependsOn"])


def test_metrics_that_nothing_reads_are_not_paid_for(template: dict[str, Any]) -> None:
    assert (
        "DetailedMetricsEnabled"
        not in of_construct(template, "AWS::ApiGatewayV2::Stage", "Ingress")["DefaultRouteSettings"]
    )


def test_browsers_are_answered_for_the_chosen_origins_and_else_for_none(
    template: dict[str, Any], chosen_template: dict[str, Any]
) -> None:
    assert "CorsConfiguration" not in of_construct(template, "AWS::ApiGatewayV2::Api", "Ingress")
    cors = of_construct(chosen_template, "AWS::ApiGatewayV2::Api", "Ingress")["CorsConfiguration"]
    assert cors == {
        "AllowOrigins": ["https://app.example.org", "http://localhost:5173"],
        "AllowMethods": list(METHODS),
        "AllowHeaders": list(REQUEST_HEADERS),
        "ExposeHeaders": list(RESPONSE_HEADERS),
        "MaxAge": 7200,
    }
    assert not [key for key in _routes(chosen_template) if key.startswith(("OPTIONS", "ANY", "$"))]


def test_tokens_are_those_of_the_user_pool_for_its_clients(template: dict[str, Any]) -> None:
    authorizer = only(template, "AWS::ApiGatewayV2::Authorizer")
    (pool,) = resources(template, "AWS::Cognito::UserPool")
    clients = resources(template, "AWS::Cognito::UserPoolClient")
    assert authorizer["AuthorizerType"] == "JWT"
    assert authorizer["IdentitySource"] == ["$request.header.Authorization"]
    assert authorizer["JwtConfiguration"]["Audience"] == [{"Ref": client} for client in clients]
    assert authorizer["JwtConfiguration"]["Issuer"]["Fn::Join"][1] == [
        "https://cognito-idp.",
        {"Ref": "AWS::Region"},
        ".amazonaws.com/",
        {"Ref": pool},
    ]


def test_each_route_goes_to_its_function(template: dict[str, Any]) -> None:
    for key, declared in _routes(template).items():
        function = BY_KEY[key].function if key in BY_KEY else REFUSES
        assert _function_of(template, declared) == f"{function.capitalize()}Function", key


def test_the_api_may_call_each_function_for_each_route(template: dict[str, Any]) -> None:
    """`<api>/*/*/*` covers every route with a method and a path."""
    allowed: dict[str, set[str]] = {}
    for permission in resources(template, "AWS::Lambda::Permission").values():
        if permission["Principal"] == "events.amazonaws.com":
            continue  # the schedules'
        assert permission["Principal"] == "apigateway.amazonaws.com"
        assert permission["Action"] == "lambda:InvokeFunction"
        calls = permission["SourceArn"]["Fn::Join"][1][-1]
        allowed.setdefault(_function(template, permission["FunctionName"]), set()).add(calls)
    of_sockets = {"/*$connect", "/*$disconnect", "/*$default"}
    assert allowed == {
        **{f"{name}Function": {"/*/*/*"} for name in ("Query", "Command", "Live")},
        "SocketFunction": of_sockets,
    }


def test_the_stage_is_logged_without_what_users_typed(template: dict[str, Any]) -> None:
    stage = of_construct(template, "AWS::ApiGatewayV2::Stage", "Ingress")
    assert stage["StageName"] == "$default"
    assert stage["AutoDeploy"] is True
    line = json.loads(stage["AccessLogSettings"]["Format"])
    assert "$context.path" not in line.values()
    assert {"$context.requestId", "$context.routeKey", "$context.status"} <= set(line.values())
    group = stage["AccessLogSettings"]["DestinationArn"]["Fn::Join"][1][-1]
    assert group["Ref"] in resources(template, "AWS::Logs::LogGroup")


def _routes(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The declared routes by their keys."""
    declared = resources(template, "AWS::ApiGatewayV2::Route").items()
    return {route["RouteKey"]: route for name, route in declared if name.startswith("Ingress")}


def _public(key: str) -> bool:
    path = key.partition(" ")[2]
    return path in BY_PATH and BY_PATH[path].public


def _function_of(template: dict[str, Any], route: dict[str, Any]) -> str:
    integration_id = route["Target"]["Fn::Join"][1][1]["Ref"]
    integration = resources(template, "AWS::ApiGatewayV2::Integration")[integration_id]
    assert integration["IntegrationType"] == "AWS_PROXY"
    assert integration["PayloadFormatVersion"] == "2.0"
    return _function(template, integration["IntegrationUri"])


def _function(template: dict[str, Any], reference: dict[str, Any]) -> str:
    """The function that is called through its alias, or directly if it has none."""
    if "Fn::GetAtt" in reference:
        name, _ = reference["Fn::GetAtt"]
    else:
        name = resources(template, "AWS::Lambda::Alias")[reference["Ref"]]["FunctionName"]["Ref"]
    function: str = name
    return function
