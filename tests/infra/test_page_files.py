"""The page's bucket, and CloudFront's answers from it."""

import json
from typing import Any

import pytest

from gridview.support.version import VERSION
from infra import page
from tests.support.commands import node
from tests.support.templates import of_construct, only, resources

DISTRIBUTION = "AWS::CloudFront::Distribution"


def test_the_bucket_is_private_encrypted_and_requires_tls(template: dict[str, Any]) -> None:
    bucket = of_construct(template, "AWS::S3::Bucket", "FrontPageFiles")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}
    refused, _ = of_construct(template, "AWS::S3::BucketPolicy", "FrontPageFiles")["PolicyDocument"][
        "Statement"
    ]
    assert (refused["Effect"], refused["Action"]) == ("Deny", "s3:*")
    assert refused["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_only_this_distribution_reads_the_bucket_by_signed_requests(template: dict[str, Any]) -> None:
    (distribution,) = resources(template, DISTRIBUTION)
    _, allowed = of_construct(template, "AWS::S3::BucketPolicy", "FrontPageFiles")["PolicyDocument"][
        "Statement"
    ]
    assert set(allowed["Action"]) == {"s3:GetObject", "s3:ListBucket"}
    assert allowed["Principal"] == {"Service": "cloudfront.amazonaws.com"}
    (source,) = allowed["Condition"]["StringEquals"].values()
    assert source["Fn::Join"][1][-1] == {"Ref": distribution}
    access = only(template, "AWS::CloudFront::OriginAccessControl")["OriginAccessControlConfig"]
    assert (access["SigningBehavior"], access["SigningProtocol"]) == ("always", "sigv4")
    origins = only(template, DISTRIBUTION)["DistributionConfig"]["Origins"]
    (named,) = resources(template, "AWS::CloudFront::OriginAccessControl")
    assert [one["OriginAccessControlId"] for one in origins if "S3OriginConfig" in one] == [
        {"Fn::GetAtt": [named, "Id"]}
    ]


def test_answers_have_the_headers_that_the_local_stack_gives_and_demand_tls(template: dict[str, Any]) -> None:
    (policy,) = resources(template, "AWS::CloudFront::ResponseHeadersPolicy")
    config = only(template, DISTRIBUTION)["DistributionConfig"]
    (hashed,) = (one for one in config["CacheBehaviors"] if one["PathPattern"] == "/assets/*")
    for behavior in (hashed, config["DefaultCacheBehavior"]):
        assert behavior["ResponseHeadersPolicyId"] == {"Ref": policy}

    given = only(template, "AWS::CloudFront::ResponseHeadersPolicy")["ResponseHeadersPolicyConfig"]
    security = given["SecurityHeadersConfig"]
    headers = {one["Header"]: one["Value"] for one in given["CustomHeadersConfig"]["Items"]} | {
        "content-security-policy": _text(security["ContentSecurityPolicy"]["ContentSecurityPolicy"]),
        "referrer-policy": security["ReferrerPolicy"]["ReferrerPolicy"],
        "x-content-type-options": "nosniff" if security["ContentTypeOptions"]["Override"] else None,
    }
    assert headers == page.security_headers([_login(template), _sockets(template)])
    assert security["StrictTransportSecurity"]["AccessControlMaxAgeSec"] == 365 * 24 * 60 * 60


def test_the_page_configuration_contains_the_sign_in(template: dict[str, Any]) -> None:
    (client,) = (
        one for one in resources(template, "AWS::Cognito::UserPoolClient") if one.startswith("IdentityPage")
    )
    upload = of_construct(template, "Custom::CDKBucketDeployment", "FrontUploadNamed")
    assert [_text(one) for one in upload["SourceMarkers"][1].values()] == [
        f'"{_login(template)}"',
        f'"<{client}>"',
    ]


def test_tests_of_a_deployment_upload_the_same(local_template: dict[str, Any]) -> None:
    (client,) = (
        one
        for one in resources(local_template, "AWS::Cognito::UserPoolClient")
        if one.startswith("IdentityPage")
    )
    assert json.loads(_text(local_template["Outputs"]["PageConfig"]["Value"])) == {
        "auth": "cognito",
        "version": VERSION,
        "domain": _login(local_template),
        "clientId": f"<{client}>",
        "scopes": ["openid", "email", "profile"],
    }


def test_names_in_cloudfront_are_of_one_stack_in_one_region(template: dict[str, Any]) -> None:
    """The names are shared by an account, in all regions."""
    access = only(template, "AWS::CloudFront::OriginAccessControl")["OriginAccessControlConfig"]["Name"]
    headers = only(template, "AWS::CloudFront::ResponseHeadersPolicy")["ResponseHeadersPolicyConfig"]["Name"]
    function = only(template, "AWS::CloudFront::Function")["Name"]
    for name in (access, headers, function):
        assert {"Ref": "AWS::Region"} in name["Fn::Join"][1]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/callback",
        "/projects",
        "/projects/35e9/issues/3",
        "/projects/a.b",
        "/index.html",
        "/config.json",
        "/favicon.svg",
        "/projectsx",
        "/missing",
        "//projects",
        "/v1",
    ],
)
def test_cloudfront_answers_the_pages_own_paths_with_the_page_and_no_others(
    template: dict[str, Any], path: str
) -> None:
    function = only(template, "AWS::CloudFront::Function")
    config = only(template, DISTRIBUTION)["DistributionConfig"]
    (association,) = config["DefaultCacheBehavior"]["FunctionAssociations"]
    assert association["EventType"] == "viewer-request"
    event = json.dumps({"request": {"uri": path}})
    asked = node(f"{function['FunctionCode']}; process.stdout.write(handler({event}).uri)")
    assert asked == (page.INDEX if page.is_own(path) else path)


def _text(joined: dict[str, Any]) -> str:
    """A text of the template, with `<NAME>` for each reference."""
    parts = joined["Fn::Join"][1]
    return "".join(part if isinstance(part, str) else f"<{part['Ref']}>" for part in parts)


def _sockets(template: dict[str, Any]) -> str:
    (api,) = (name for name in resources(template, "AWS::ApiGatewayV2::Api") if name.startswith("Sockets"))
    return f"wss://<{api}>.execute-api.<AWS::Region>.<AWS::URLSuffix>"


def _login(template: dict[str, Any]) -> str:
    (domain,) = resources(template, "AWS::Cognito::UserPoolDomain")
    return f"https://<{domain}>.auth.<AWS::Region>.amazoncognito.com"
