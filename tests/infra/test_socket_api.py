"""The WebSocket API: its one function, its throttle, and the connections to which it may send."""

from typing import Any

from infra.functions import FUNCTIONS
from tests.support.templates import functions_of, of_construct, resources


def test_every_message_goes_to_the_socket_function(template: dict[str, Any]) -> None:
    api = of_construct(template, "AWS::ApiGatewayV2::Api", "Sockets")
    assert api["ProtocolType"] == "WEBSOCKET"
    routes = {
        one["RouteKey"]: one
        for name, one in resources(template, "AWS::ApiGatewayV2::Route").items()
        if name.startswith("Sockets")
    }
    assert set(routes) == {"$connect", "$disconnect", "$default"}
    for route in routes.values():
        integration = route["Target"]["Fn::Join"][1][1]["Ref"]
        uri = resources(template, "AWS::ApiGatewayV2::Integration")[integration]["IntegrationUri"]
        assert {"Fn::GetAtt": ["SocketFunction", "Arn"]} in uri["Fn::Join"][1]
    assert FUNCTIONS["socket"].timeout_seconds <= 29, "API Gateway waits no longer"


def test_the_stage_is_throttled_above_what_honest_clients_need(template: dict[str, Any]) -> None:
    """All users of the account share these limits. The function itself counts each user's use."""
    stage = of_construct(template, "AWS::ApiGatewayV2::Stage", "Sockets")
    assert (stage["StageName"], stage["AutoDeploy"]) == ("live", True)
    assert stage["DefaultRouteSettings"]["ThrottlingRateLimit"] == 2000
    assert stage["RouteSettings"]["$connect"] == {"ThrottlingRateLimit": 500, "ThrottlingBurstLimit": 1000}
    (whole,) = (
        one
        for name, one in template["Resources"].items()
        if one["Type"] == "AWS::ApiGatewayV2::Stage" and name.startswith("Sockets")
    )
    routes = {name for name in resources(template, "AWS::ApiGatewayV2::Route") if name.startswith("Sockets")}
    assert routes <= set(whole["DependsOn"])


def test_clients_get_the_address_of_the_output(template: dict[str, Any]) -> None:
    functions = functions_of(template)
    url = functions["LiveFunction"]["Environment"]["Variables"]["SOCKET_URL"]
    assert template["Outputs"]["SocketUrl"]["Value"] == url
    parts = url["Fn::Join"][1]
    assert (parts[0], parts[-1]) == ("wss://", "/live")
    sends = functions["SocketFunction"]["Environment"]["Variables"][
        "AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI"
    ]
    assert sends["Fn::Join"][1] == ["https://", *parts[1:]]


def test_sockets_that_are_due_are_ended_each_minute(template: dict[str, Any]) -> None:
    rule = of_construct(template, "AWS::Events::Rule", "Sockets")
    (target,) = rule["Targets"]
    assert rule["ScheduleExpression"] == "rate(1 minute)"
    assert target["Arn"] == {"Fn::GetAtt": ["SocketFunction", "Arn"]}
    assert target["Input"] == '{"task":"end"}'
