"""The template for `sam local`, made from the CloudFormation template that `cdk synth` writes. Pure.

SAM's emulator cannot run the deployed template as it is. It drops JWT authorizers, hands over only variables that a
function declares, and leaves some references empty. The template for SAM has the same functions, layers and routes.
It has an entry before each handler (`entry`), and every variable has a value.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from devtools.failure import Failure
from devtools.sam.names import HANDLER, ROUTES_WITH_TOKEN

ENTRY_LAYER: Final = "LocalEntry"
"""The logical id of the layer that holds the entry."""
ENTRY_HANDLER: Final = "devtools.sam.entry.handler"

Template = dict[str, Any]
Variables = Mapping[str, str]

_FUNCTION: Final = "AWS::Lambda::Function"
_LAYER: Final = "AWS::Lambda::LayerVersion"
_ALIAS: Final = "AWS::Lambda::Alias"
_INTEGRATION: Final = "AWS::ApiGatewayV2::Integration"
_ROUTE: Final = "AWS::ApiGatewayV2::Route"

_KEPT: Final = {
    _FUNCTION: ("Architectures", "Description", "Layers", "MemorySize", "Runtime", "Timeout"),
    _LAYER: ("CompatibleArchitectures", "CompatibleRuntimes", "Description"),
    "AWS::ApiGatewayV2::Api": ("Name", "ProtocolType", "CorsConfiguration"),
    "AWS::ApiGatewayV2::Stage": ("ApiId", "StageName"),
    _INTEGRATION: ("ApiId", "IntegrationType", "PayloadFormatVersion"),
    _ROUTE: ("ApiId", "RouteKey", "Target"),
}
"""The types of resources that SAM needs, each with the properties that stay as they are."""


class ForSam(NamedTuple):
    """The input of SAM."""

    template: Template
    variables: dict[str, dict[str, str]]
    """The environment of each function, by its logical id: the content of SAM's `--env-vars`."""


def for_sam(
    template: Template, *, assets: str, entry: str, instead: Mapping[str, Variables], common: Variables
) -> ForSam:
    """The template for SAM. `assets` is the folder of the code, and `entry` the folder of the entry's layer.

    `instead` has the variables that take the place of one whose value only a deployment knows. All functions get those of
    `common` as well. Failure when a variable has neither a value nor a substitute.
    """
    resources: Mapping[str, Any] = template["Resources"]
    routes = json.dumps(sorted(_routes_with_token(resources.values())))
    kept: Template = {ENTRY_LAYER: {"Type": _LAYER, "Properties": {"Content": entry}}}
    variables = {}
    sockets = {name for name, one in resources.items() if _is_for_sockets(one)}
    for name, resource in resources.items():
        kind, properties = resource["Type"], resource["Properties"]
        if kind not in _KEPT or name in sockets or properties.get("ApiId", {}).get("Ref") in sockets:
            continue
        made = {key: properties[key] for key in _KEPT[kind] if key in properties}
        if kind == _LAYER:
            made["Content"] = _asset(assets, resource)
        elif kind == _INTEGRATION:
            made["IntegrationUri"] = {"Fn::GetAtt": [_function_of(resources, name), "Arn"]}
        elif kind == _FUNCTION:
            variables[name] = {
                **_declared(name, properties, instead),
                **common,
                HANDLER: properties["Handler"],
                ROUTES_WITH_TOKEN: routes,
            }
            made["Code"] = _asset(assets, resource)
            made["Handler"] = ENTRY_HANDLER
            made["Layers"] = [{"Ref": ENTRY_LAYER}, *properties.get("Layers", ())]
            # SAM hands over declared variables only, and takes the values from its file of variables.
            made["Environment"] = {"Variables": dict.fromkeys(variables[name], "")}
        kept[name] = {"Type": kind, "Properties": made}
    return ForSam({"Resources": kept}, variables)


def _is_for_sockets(resource: Any) -> bool:
    """Whether it is a WebSocket API: SAM would take it for one of HTTP."""
    return bool(resource.get("Properties", {}).get("ProtocolType") == "WEBSOCKET")


def _routes_with_token(resources: Iterable[Any]) -> list[str]:
    return [
        resource["Properties"]["RouteKey"]
        for resource in resources
        if resource["Type"] == _ROUTE and resource["Properties"].get("AuthorizationType", "NONE") != "NONE"
    ]


def _asset(assets: str, resource: Any) -> str:
    return f"{assets}/{resource['Metadata']['aws:asset:path']}"


def _function_of(resources: Mapping[str, Any], integration: str) -> str:
    """The function that an integration invokes, also through an alias."""
    uri: Any = resources[integration]["Properties"].get("IntegrationUri")
    while True:
        match uri:
            case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), "Arn"]} if name in resources:
                pass
            case _:
                raise Failure(f"{integration} invokes no function of the template, so SAM cannot.")
        if resources[name]["Type"] == _FUNCTION:
            return name
        uri = resources[name]["Properties"].get("FunctionName") if resources[name]["Type"] == _ALIAS else None


def _declared(function: str, properties: Any, instead: Mapping[str, Variables]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in properties.get("Environment", {}).get("Variables", {}).items():
        if name in instead:
            found |= instead[name]
        elif isinstance(value, str):
            found[name] = value
        else:
            raise Failure(
                f"Only a deployment has the variable {name} of {function}; ./dev sam has no substitute."
            )
    return found
