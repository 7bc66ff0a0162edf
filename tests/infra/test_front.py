"""What stands before the API: CloudFront with the page, unless a setting says otherwise; a domain and a web ACL by setting."""

from pathlib import Path
from typing import Any

import pytest

from infra.settings import Settings
from tests.support import templates
from tests.support.templates import only, resources

DISTRIBUTION = "AWS::CloudFront::Distribution"
DOMAINS = {"AWS::ApiGatewayV2::DomainName", "AWS::ApiGatewayV2::ApiMapping"}

CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
CACHING_OPTIMIZED = "658327ea-f89d-4fab-a63d-7e88639e58f6"
ALL_VIEWER_EXCEPT_HOST_HEADER = "b689b0a8-53d0-40ab-baf2-68738e2966ac"
"""The ids of AWS's own policies."""


@pytest.fixture(scope="module")
def config(template: dict[str, Any]) -> dict[str, Any]:
    """The distribution of a deployment with the default settings."""
    found: dict[str, Any] = only(template, DISTRIBUTION)["DistributionConfig"]
    return found


@pytest.fixture(scope="module")
def cdn_template() -> dict[str, Any]:
    """What a deployment of the API alone declares that has CloudFront before it."""
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
    """A custom error response counts for all paths: a 404 of the API would come as the page."""
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


def test_without_the_page_nothing_stands_before_the_api(api_template: dict[str, Any]) -> None:
    kinds = {resource["Type"] for resource in api_template["Resources"].values()}
    assert not {one for one in kinds if one.startswith("AWS::CloudFront::")} | (DOMAINS & kinds)
    assert not {"DomainTarget", "PageUrl", "PageBucket", "PageConfig"} & set(api_template["Outputs"])


def test_cloudfront_stands_before_the_api_alone_by_setting(cdn_template: dict[str, Any]) -> None:
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
