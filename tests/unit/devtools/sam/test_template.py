"""The template for SAM, made from small templates of every relevant form."""

import json
from typing import Any

import pytest

from devtools.failure import Failure
from devtools.sam.names import HANDLER, ROUTES_WITH_TOKEN
from devtools.sam.template import ENTRY_HANDLER, ENTRY_LAYER, ForSam, for_sam

ASSET = {"aws:asset:path": "asset.1", "aws:cdk:path": "Stack/F"}


def function(**variables: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "Code": {"S3Bucket": "bucket", "S3Key": "1.zip"},
            "Environment": {"Variables": variables},
            "Handler": "handler.handler",
            "Layers": [{"Ref": "Core"}],
            "MemorySize": 1769,
            "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            "Runtime": "python3.13",
        },
        "DependsOn": ["Role"],
        "Metadata": ASSET,
    }


def route(key: str, **properties: Any) -> dict[str, Any]:
    target = {"Fn::Join": ["", ["integrations/", {"Ref": "Integration"}]]}
    return {
        "Type": "AWS::ApiGatewayV2::Route",
        "Properties": {"ApiId": {"Ref": "Api"}, "RouteKey": key, "Target": target, **properties},
    }


def integration(uri: Any) -> dict[str, Any]:
    properties = {"ApiId": {"Ref": "Api"}, "IntegrationType": "AWS_PROXY", "IntegrationUri": uri}
    return {"Type": "AWS::ApiGatewayV2::Integration", "Properties": properties}


def made(**resources: Any) -> ForSam:
    return for_sam(
        {"Resources": resources},
        assets="/out",
        entry="/entry",
        instead={"TABLE_NAME": {"TABLE_NAME": "local"}, "SECRET_ARN": {"SECRET": "s", "OTHER": "o"}},
        common={"AWS_REGION": "nowhere"},
    )


def test_the_entry_precedes_the_handler_and_its_layer_the_others() -> None:
    template, variables = made(F=function())
    properties = template["Resources"]["F"]["Properties"]
    assert properties["Handler"] == ENTRY_HANDLER
    assert properties["Layers"] == [{"Ref": ENTRY_LAYER}, {"Ref": "Core"}]
    assert template["Resources"][ENTRY_LAYER]["Properties"]["Content"] == "/entry"
    assert variables["F"][HANDLER] == "handler.handler"


def test_code_and_content_are_the_folders_of_the_assets() -> None:
    layer = {"Type": "AWS::Lambda::LayerVersion", "Properties": {"Content": {}}, "Metadata": ASSET}
    resources = made(F=function(), Core=layer).template["Resources"]
    assert resources["F"]["Properties"]["Code"] == "/out/asset.1"
    assert resources["Core"]["Properties"]["Content"] == "/out/asset.1"


def test_properties_that_sam_does_not_use_are_left_out() -> None:
    role = {"Type": "AWS::IAM::Role", "Properties": {}}
    resources = made(F=function(), Role=role).template["Resources"]
    assert resources.keys() == {"F", ENTRY_LAYER}
    assert resources["F"].keys() == {"Type", "Properties"}
    assert resources["F"]["Properties"].keys().isdisjoint({"Role", "LoggingConfig"})
    assert resources["F"]["Properties"]["MemorySize"] == 1769


def test_every_variable_is_declared_and_has_a_local_value() -> None:
    arn = {"Fn::GetAtt": ["Secret", "Id"]}
    template, variables = made(
        F=function(LEVEL="INFO", TABLE_NAME={"Ref": "Table"}, SECRET_ARN=arn), G=function()
    )
    assert variables["F"] == {
        "LEVEL": "INFO",
        "TABLE_NAME": "local",
        "SECRET": "s",
        "OTHER": "o",
        "AWS_REGION": "nowhere",
        HANDLER: "handler.handler",
        ROUTES_WITH_TOKEN: "[]",
    }
    assert variables["G"].keys() == {"AWS_REGION", HANDLER, ROUTES_WITH_TOKEN}
    for name, values in variables.items():
        declared = template["Resources"][name]["Properties"]["Environment"]["Variables"]
        assert declared.keys() == values.keys()
        assert set(declared.values()) == {""}, "the values are SAM's to fill in, secrets among them"


def test_a_variable_without_a_local_value_is_one_sentence() -> None:
    with pytest.raises(Failure, match="BUCKET of F"):
        made(F=function(BUCKET={"Ref": "Bucket"}))


ALIAS = {"Type": "AWS::Lambda::Alias", "Properties": {"FunctionName": {"Ref": "F"}, "Name": "live"}}


@pytest.mark.parametrize("uri", [{"Ref": "Live"}, {"Ref": "F"}, {"Fn::GetAtt": ["F", "Arn"]}])
def test_an_integration_invokes_the_function_itself(uri: Any) -> None:
    resources = made(F=function(), Live=ALIAS, Integration=integration(uri)).template["Resources"]
    assert resources["Integration"]["Properties"]["IntegrationUri"] == {"Fn::GetAtt": ["F", "Arn"]}
    assert "Live" not in resources


@pytest.mark.parametrize(
    "uri", ["https://example.org", None, {"Ref": "Api"}, {"Ref": "Nothing"}, {"Fn::GetAtt": ["F", "Name"]}]
)
def test_an_integration_with_anything_else_is_one_sentence(uri: Any) -> None:
    api = {"Type": "AWS::ApiGatewayV2::Api", "Properties": {"Name": "Api"}}
    with pytest.raises(Failure, match="Integration invokes no function"):
        made(F=function(), Api=api, Integration=integration(uri))


def test_routes_keep_their_keys_and_every_function_learns_which_require_a_token() -> None:
    template, variables = made(
        F=function(),
        Open=route("GET /open", AuthorizationType="NONE"),
        Unsaid=route("$default"),
        Closed=route("PUT /closed/{id}", AuthorizationType="JWT", AuthorizerId={"Ref": "Tokens"}),
        Tokens={"Type": "AWS::ApiGatewayV2::Authorizer", "Properties": {}},
    )
    assert json.loads(variables["F"][ROUTES_WITH_TOKEN]) == ["PUT /closed/{id}"]
    assert "Tokens" not in template["Resources"]
    closed = template["Resources"]["Closed"]["Properties"]
    assert closed.keys() == {"ApiId", "RouteKey", "Target"}
    assert closed["RouteKey"] == "PUT /closed/{id}"
