"""The front of the API: CloudFront with the page, unless a setting says otherwise; optionally a
domain and a web ACL.
"""

from pathlib import Path
from typing import Any

import pytest

from infra.settings import Settings
from tests.support import templates
from tests.support.templates import functions_of, only, resources

DISTRIBUTION = "AWS::CloudFront::Distribution"
DOMAINS = {"AWS::ApiGatewayV2::DomainName", "AWS::ApiGatewayV2::ApiMapping"}

CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
CACHING_OPTIMIZED = "658327ea-f89d-4fab-a63d-7e88639e58f6"
ALL_VIEWER_EXCEPT_HOST_HEADER = "b689b0a8-53d0-40ab-baf2-68738e2966ac"
ALL_VIEWER = "216adef6-5c7f-47e4-b989-5492eafa07d3"
"""The ids of AWS's own policies."""


@pytest.fixture(scope="module")
def config(template: dict[str, Any]) -> dict[str, Any]:
    """The distribution of a deployment with the default settings."""
    found: dict[str, Any] = only(template, DISTRIBUTION)["DistributionConfig"]
    return found


@pytest.fixture(scope="module")
def cdn_template() -> dict[str, Any]:
    """The template of a deployment of the API only, with CloudFront before it."""
    return templates.synthesized(page=False, cdn=True)


def _behaviors(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The behaviours of a distribution by their paths, that of all other paths by `*`."""
    named = {one["PathPattern"]: one for one in config.get("CacheBehaviors", [])}
    return {**named, "*": config["DefaultCacheBehavior"]}


def _origin(config: dict[str, Any], behavior: dict[str, Any]) -> dict[str, Any]:
    (found,) = (one for one in config["Origins"] if one["Id"] == behavior["TargetOriginId"])
    assert isinstance(found, dict)
    return found


def test_each_path_goes_to_the_page_or_to_the_api(config: dict[str, Any]) -> None:
    behaviors = _behaviors(config)
    assert set(behaviors) == {"/v1/*", "/assets/*", "*"}
    page = _origin(config, behaviors["*"])
    assert _origin(config, behaviors["/assets/*"]) == page
    assert "S3OriginConfig" in page
    assert "CustomOriginConfig" in _origin(config, behaviors["/v1/*"])


def test_no_answer_of_the_api_is_replaced(config: dict[str, Any]) -> None:
    """A custom error response applies to all paths: a 404 of the API would become the page."""
    assert "CustomErrorResponses" not in config


def _assert_everything_passes(template: dict[str, Any], behavior: dict[str, Any]) -> None:
    assert set(behavior["AllowedMethods"]) == {"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"}
    assert behavior["ViewerProtocolPolicy"] == "https-only"
    assert behavior["CachePolicyId"] == CACHING_DISABLED
    assert behavior["OriginRequestPolicyId"] == ALL_VIEWER_EXCEPT_HOST_HEADER
    assert behavior["Compress"] is False
    assert not {"FunctionAssociations", "ResponseHeadersPolicyId"} & set(behavior)
    origin = _origin(only(template, DISTRIBUTION)["DistributionConfig"], behavior)
    assert origin["CustomOriginConfig"]["OriginProtocolPolicy"] == "https-only"
    assert origin["CustomOriginConfig"]["OriginSSLProtocols"] == ["TLSv1.2"]
    api = _http_api(template)
    assert {"Fn::GetAtt": [api, "ApiEndpoint"]} == origin["DomainName"]["Fn::Select"][1]["Fn::Split"][1]


def test_cloudfront_passes_everything_on_to_the_api_and_keeps_nothing(
    template: dict[str, Any], config: dict[str, Any]
) -> None:
    _assert_everything_passes(template, _behaviors(config)["/v1/*"])


def test_hashed_files_are_kept_and_compressed_and_no_others(config: dict[str, Any]) -> None:
    hashed, fresh = _behaviors(config)["/assets/*"], _behaviors(config)["*"]
    assert (hashed["CachePolicyId"], hashed["Compress"]) == (CACHING_OPTIMIZED, True)
    assert fresh["CachePolicyId"] == CACHING_DISABLED
    for behavior in (hashed, fresh):
        assert set(behavior["AllowedMethods"]) == {"GET", "HEAD"}
        assert behavior["ViewerProtocolPolicy"] == "redirect-to-https"


def test_programs_call_the_api_directly_unless_a_setting_says_otherwise(template: dict[str, Any]) -> None:
    (distribution,), api = resources(template, DISTRIBUTION), _http_api(template)
    host = {"Fn::GetAtt": [distribution, "DomainName"]}
    outputs = template["Outputs"]
    assert outputs["PageUrl"]["Value"] == {"Fn::Join": ["", ["https://", host]]}
    assert outputs["DomainTarget"]["Value"] == host
    assert outputs["ApiUrl"]["Value"] == {"Fn::GetAtt": [api, "ApiEndpoint"]}


def test_the_distribution_has_the_domain_its_certificate_and_the_web_acl(
    chosen_template: dict[str, Any],
) -> None:
    config = only(chosen_template, DISTRIBUTION)["DistributionConfig"]
    assert config["Aliases"] == ["grid.example.org"]
    assert config["ViewerCertificate"]["AcmCertificateArn"].startswith("arn:aws:acm:us-east-1:")
    assert config["ViewerCertificate"]["MinimumProtocolVersion"] == "TLSv1.2_2021"
    assert config["WebACLId"].startswith("arn:aws:wafv2:us-east-1:")
    outputs = chosen_template["Outputs"]
    assert outputs["ApiUrl"]["Value"] == outputs["PageUrl"]["Value"] == "https://grid.example.org"
    (distribution,) = resources(chosen_template, DISTRIBUTION)
    assert outputs["DomainTarget"]["Value"] == {"Fn::GetAtt": [distribution, "DomainName"]}


def test_without_a_web_acl_there_is_none(config: dict[str, Any]) -> None:
    assert "WebACLId" not in config


def test_without_the_page_the_api_has_no_distribution_or_domain(api_template: dict[str, Any]) -> None:
    kinds = {resource["Type"] for resource in api_template["Resources"].values()}
    assert not {one for one in kinds if one.startswith("AWS::CloudFront::")} | (DOMAINS & kinds)
    assert not {"DomainTarget", "PageUrl", "PageBucket", "PageConfig"} & set(api_template["Outputs"])


def test_cloudfront_can_front_the_api_without_the_page(cdn_template: dict[str, Any]) -> None:
    config = only(cdn_template, DISTRIBUTION)["DistributionConfig"]
    assert set(_behaviors(config)) == {"*"}
    _assert_everything_passes(cdn_template, config["DefaultCacheBehavior"])
    (distribution,) = resources(cdn_template, DISTRIBUTION)
    host = {"Fn::GetAtt": [distribution, "DomainName"]}
    assert cdn_template["Outputs"]["ApiUrl"]["Value"] == {"Fn::Join": ["", ["https://", host]]}


def test_a_domain_without_cloudfront_is_the_apis_own(tmp_path: Path) -> None:
    from aws_cdk import App
    from aws_cdk.assertions import Template

    from infra.stack import GridviewStack

    settings = Settings(
        page=False,
        domain_name="api.example.org",
        certificate_arn="arn:aws:acm:eu-west-1:123456789012:certificate/0f1e",
    )
    app = App(outdir=str(tmp_path), context={"aws:cdk:bundling-stacks": []})
    template = Template.from_stack(GridviewStack(app, settings=settings)).to_json()
    domain = only(template, "AWS::ApiGatewayV2::DomainName")
    (configuration,) = domain["DomainNameConfigurations"]
    assert domain["DomainName"] == "api.example.org"
    assert (configuration["EndpointType"], configuration["CertificateArn"]) == (
        "REGIONAL",
        settings.certificate_arn,
    )
    (stage,) = (
        name for name in resources(template, "AWS::ApiGatewayV2::Stage") if name.startswith("Ingress")
    )
    (mapping,) = (
        one for one in template["Resources"].values() if one["Type"] == "AWS::ApiGatewayV2::ApiMapping"
    )
    assert mapping["Properties"]["Stage"] == "$default"
    assert stage in mapping["DependsOn"]
    assert template["Outputs"]["ApiUrl"]["Value"] == "https://api.example.org"
    assert resources(template, DISTRIBUTION) == {}


def _http_api(template: dict[str, Any]) -> str:
    (api,) = (name for name in resources(template, "AWS::ApiGatewayV2::Api") if name.startswith("Ingress"))
    return api


# Without API Gateway's own addresses

OWN_DOMAINS = {
    "execute_api": False,
    "domain_name": "grid.example.org",
    "socket_domain_name": "live.grid.example.org",
    "regional_certificate_arn": "arn:aws:acm:eu-west-2:123456789012:certificate/0f2e",
}


def _closed(**settings: Any) -> dict[str, Any]:
    return templates.synthesized(**OWN_DOMAINS, **settings)


@pytest.mark.parametrize("page", [True, False])
def test_the_own_addresses_of_both_apis_are_disabled_where_a_setting_says_so(page: bool) -> None:
    region = "us-east-1" if page else "eu-west-2"
    closed = _closed(page=page, certificate_arn=f"arn:aws:acm:{region}:123456789012:certificate/0f1e")
    apis = resources(closed, "AWS::ApiGatewayV2::Api")
    assert {api["ProtocolType"]: api.get("DisableExecuteApiEndpoint") for api in apis.values()} == {
        "HTTP": True,
        "WEBSOCKET": True,
    }
    domains = {one["DomainName"]: one for one in resources(closed, "AWS::ApiGatewayV2::DomainName").values()}
    assert set(domains) == {"grid.example.org", "live.grid.example.org"}
    mapped = {one["ApiId"]["Ref"] for one in resources(closed, "AWS::ApiGatewayV2::ApiMapping").values()}
    assert mapped == set(apis)
    outputs = closed["Outputs"]
    assert outputs["ApiUrl"]["Value"] == "https://grid.example.org"
    assert outputs["SocketUrl"]["Value"] == "wss://live.grid.example.org"
    functions = functions_of(closed)
    assert (
        functions["LiveFunction"]["Environment"]["Variables"]["SOCKET_URL"] == "wss://live.grid.example.org"
    )
    sends = functions["SocketFunction"]["Environment"]["Variables"][
        "AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI"
    ]
    assert sends == "https://live.grid.example.org", "the address that is disabled sends nothing either"
    (socket_domain,) = (
        name
        for name, one in resources(closed, "AWS::ApiGatewayV2::DomainName").items()
        if one["DomainName"] == "live.grid.example.org"
    )
    assert outputs["SocketDomainTarget"]["Value"] == {"Fn::GetAtt": [socket_domain, "RegionalDomainName"]}
    for one in domains.values():
        (configuration,) = one["DomainNameConfigurations"]
        assert configuration["CertificateArn"].startswith("arn:aws:acm:eu-west-2:")


def test_cloudfront_then_asks_the_api_under_its_domain() -> None:
    closed = _closed(certificate_arn="arn:aws:acm:us-east-1:123456789012:certificate/0f1e")
    config = only(closed, DISTRIBUTION)["DistributionConfig"]
    behavior = _behaviors(config)["/v1/*"]
    assert behavior["OriginRequestPolicyId"] == ALL_VIEWER
    (domain,) = (
        name
        for name, one in resources(closed, "AWS::ApiGatewayV2::DomainName").items()
        if one["DomainName"] == "grid.example.org"
    )
    assert _origin(config, behavior)["DomainName"] == {"Fn::GetAtt": [domain, "RegionalDomainName"]}


def test_the_page_may_connect_to_the_domain_of_sockets() -> None:
    closed = _closed(certificate_arn="arn:aws:acm:us-east-1:123456789012:certificate/0f1e")
    policies = [
        one for one in closed["Resources"].values() if one["Type"] == "AWS::CloudFront::ResponseHeadersPolicy"
    ]
    assert "wss://live.grid.example.org" in str(policies)


def test_the_own_addresses_answer_by_default(
    template: dict[str, Any], chosen_template: dict[str, Any]
) -> None:
    for one in (template, chosen_template):
        apis = resources(one, "AWS::ApiGatewayV2::Api").values()
        assert not any(api.get("DisableExecuteApiEndpoint") for api in apis)


def test_sockets_may_have_a_domain_while_the_own_addresses_answer() -> None:
    both = templates.synthesized(**{**OWN_DOMAINS, "execute_api": True, "domain_name": ""}, page=False)
    assert both["Outputs"]["SocketUrl"]["Value"] == "wss://live.grid.example.org"
    assert not any(
        api.get("DisableExecuteApiEndpoint") for api in resources(both, "AWS::ApiGatewayV2::Api").values()
    )
