import json
from typing import Any

from gridview.api.routes import BY_KEY
from tests.support.templates import only, resources


def test_routes_are_the_table_of_routes_and_one_for_all_the_rest(template: dict[str, Any]) -> None:
    declared = {route["RouteKey"] for route in resources(template, "AWS::ApiGatewayV2::Route").values()}
    assert declared == {*BY_KEY, "$default"}


def test_a_token_is_asked_for_wherever_a_role_is(template: dict[str, Any]) -> None:
    (authorizer_id,) = resources(template, "AWS::ApiGatewayV2::Authorizer")
    for declared in resources(template, "AWS::ApiGatewayV2::Route").values():
        route = BY_KEY.get(declared["RouteKey"])
        if route is None or route.role is None:
            assert declared["AuthorizationType"] == "NONE"
            assert "AuthorizerId" not in declared
        else:
            assert declared["AuthorizationType"] == "JWT"
            assert declared["AuthorizerId"] == {"Ref": authorizer_id}


def test_tokens_are_those_of_the_user_pool_for_its_client(template: dict[str, Any]) -> None:
    authorizer = only(template, "AWS::ApiGatewayV2::Authorizer")
    (pool,) = resources(template, "AWS::Cognito::UserPool")
    (client,) = resources(template, "AWS::Cognito::UserPoolClient")
    assert authorizer["AuthorizerType"] == "JWT"
    assert authorizer["IdentitySource"] == ["$request.header.Authorization"]
    assert authorizer["JwtConfiguration"]["Audience"] == [{"Ref": client}]
    assert authorizer["JwtConfiguration"]["Issuer"]["Fn::Join"][1] == [
        "https://cognito-idp.",
        {"Ref": "AWS::Region"},
        ".amazonaws.com/",
        {"Ref": pool},
    ]


def test_each_route_goes_to_its_function(template: dict[str, Any]) -> None:
    for declared in resources(template, "AWS::ApiGatewayV2::Route").values():
        route = BY_KEY.get(declared["RouteKey"])
        expected = "QueryFunction" if route is None else f"{route.function.capitalize()}Function"
        assert _function_behind(template, declared) == expected, declared["RouteKey"]


def test_the_api_may_call_each_function_for_each_route(template: dict[str, Any]) -> None:
    """`<api>/*/*/*` covers every route with a method and a path; the default route has neither."""
    allowed: dict[str, set[str]] = {}
    for permission in resources(template, "AWS::Lambda::Permission").values():
        if permission["Principal"] == "events.amazonaws.com":
            continue  # the schedules'
        assert permission["Principal"] == "apigateway.amazonaws.com"
        assert permission["Action"] == "lambda:InvokeFunction"
        alias = resources(template, "AWS::Lambda::Alias")[permission["FunctionName"]["Ref"]]
        calls = permission["SourceArn"]["Fn::Join"][1][-1]
        allowed.setdefault(alias["FunctionName"]["Ref"], set()).add(calls)
    assert allowed == {"QueryFunction": {"/*/*/*", "/*/*"}, "CommandFunction": {"/*/*/*"}}


def test_the_stage_is_throttled_and_logged_without_what_users_typed(template: dict[str, Any]) -> None:
    stage = only(template, "AWS::ApiGatewayV2::Stage")
    assert stage["StageName"] == "$default"
    assert stage["AutoDeploy"] is True
    assert stage["DefaultRouteSettings"]["ThrottlingRateLimit"] > 0
    assert stage["DefaultRouteSettings"]["ThrottlingBurstLimit"] > 0
    line = json.loads(stage["AccessLogSettings"]["Format"])
    assert "$context.path" not in line.values()
    assert {"$context.requestId", "$context.routeKey", "$context.status"} <= set(line.values())
    group = stage["AccessLogSettings"]["DestinationArn"]["Fn::Join"][1][-1]
    assert group["Ref"] in resources(template, "AWS::Logs::LogGroup")


def _function_behind(template: dict[str, Any], route: dict[str, Any]) -> str:
    integration_id = route["Target"]["Fn::Join"][1][1]["Ref"]
    integration = resources(template, "AWS::ApiGatewayV2::Integration")[integration_id]
    assert integration["IntegrationType"] == "AWS_PROXY"
    assert integration["PayloadFormatVersion"] == "2.0"
    alias = resources(template, "AWS::Lambda::Alias")[integration["IntegrationUri"]["Ref"]]
    function: str = alias["FunctionName"]["Ref"]
    return function
