"""What stands before the API by setting."""

from pathlib import Path
from typing import Any

from infra.settings import Settings
from tests.support.templates import only, resources

DISTRIBUTION = "AWS::CloudFront::Distribution"


def test_nothing_stands_before_the_api_by_itself(template: dict[str, Any]) -> None:
    kinds = {resource["Type"] for resource in template["Resources"].values()}
    assert not {DISTRIBUTION, "AWS::ApiGatewayV2::DomainName", "AWS::ApiGatewayV2::ApiMapping"} & kinds
    assert "DomainTarget" not in template["Outputs"]


def test_cloudfront_passes_everything_on_and_keeps_nothing(chosen_template: dict[str, Any]) -> None:
    config = only(chosen_template, DISTRIBUTION)["DistributionConfig"]
    behavior = config["DefaultCacheBehavior"]
    assert set(behavior["AllowedMethods"]) == {"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"}
    assert behavior["ViewerProtocolPolicy"] == "https-only"
    # AWS's own policies: CachingDisabled, and AllViewerExceptHostHeader.
    assert behavior["CachePolicyId"] == "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
    assert behavior["OriginRequestPolicyId"] == "b689b0a8-53d0-40ab-baf2-68738e2966ac"
    (origin,) = config["Origins"]
    assert origin["CustomOriginConfig"]["OriginProtocolPolicy"] == "https-only"
    (api,) = resources(chosen_template, "AWS::ApiGatewayV2::Api")
    assert {"Fn::GetAtt": [api, "ApiEndpoint"]} == origin["DomainName"]["Fn::Select"][1]["Fn::Split"][1]


def test_cloudfront_has_the_domain_its_certificate_and_the_web_acl(chosen_template: dict[str, Any]) -> None:
    config = only(chosen_template, DISTRIBUTION)["DistributionConfig"]
    assert config["Aliases"] == ["api.example.org"]
    assert config["ViewerCertificate"]["AcmCertificateArn"].startswith("arn:aws:acm:us-east-1:")
    assert config["ViewerCertificate"]["MinimumProtocolVersion"] == "TLSv1.2_2021"
    assert config["WebACLId"].startswith("arn:aws:wafv2:us-east-1:")
    assert chosen_template["Outputs"]["ApiUrl"]["Value"] == "https://api.example.org"
    (distribution,) = resources(chosen_template, DISTRIBUTION)
    assert chosen_template["Outputs"]["DomainTarget"]["Value"] == {"Fn::GetAtt": [distribution, "DomainName"]}


def test_a_domain_without_cloudfront_is_the_apis_own(tmp_path: Path) -> None:
    from aws_cdk import App
    from aws_cdk.assertions import Template

    from infra.stack import GridviewStack

    settings = Settings(
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
    (stage,) = resources(template, "AWS::ApiGatewayV2::Stage")
    (mapping,) = (
        one for one in template["Resources"].values() if one["Type"] == "AWS::ApiGatewayV2::ApiMapping"
    )
    assert mapping["Properties"]["Stage"] == "$default"
    assert stage in mapping["DependsOn"]
    assert template["Outputs"]["ApiUrl"]["Value"] == "https://api.example.org"
    assert resources(template, DISTRIBUTION) == {}
