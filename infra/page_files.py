"""The page in the cloud: a bucket that only CloudFront reads, and how CloudFront answers with its files."""

import json
from collections.abc import Sequence
from functools import partial

from aws_cdk import Aws, Duration
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins
from constructs import Construct

from infra import page
from infra.bucket import private_bucket
from infra.settings import Settings

_OWN_PATHS = f"""\
const own = {json.dumps(sorted(page.OWN_SEGMENTS))};

function handler(event) {{
    const request = event.request;
    if (request.uri === '/' || own.includes(request.uri.split('/')[1])) request.uri = '{page.INDEX}';
    return request;
}}
"""
"""`page.is_own` for CloudFront, as a rule for requests. A rule for errors would answer the API's 404 with the page."""


class PageFiles(Construct):
    """The bucket, which `PageUpload` fills, and CloudFront's behaviours for it. `connect`: see `page.security_headers`."""

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, connect: Sequence[str]
    ) -> None:
        super().__init__(scope, construct_id)
        # CloudFront knows no regions: its names are one account's.
        name = f"{settings.short_name}-{Aws.REGION}"
        self.bucket = private_bucket(
            self,
            "Files",
            settings,
            why_no_logs="The files are public, and only CloudFront reads them, for all users.",
        )
        origin = origins.S3BucketOrigin.with_origin_access_control(
            self.bucket,
            origin_access_control=cloudfront.S3OriginAccessControl(
                self, "Access", origin_access_control_name=name
            ),
            # Callers who may list get 404 for a missing file, others 403. No viewer can ask for a list: `/` is
            # rewritten.
            origin_access_levels=[cloudfront.AccessLevel.READ, cloudfront.AccessLevel.LIST],
        )
        headers = self._headers(name, connect)
        own_paths = cloudfront.Function(
            self,
            "OwnPaths",
            code=cloudfront.FunctionCode.from_inline(_OWN_PATHS),
            runtime=cloudfront.FunctionRuntime.JS_2_0,
        )
        behavior = partial(
            cloudfront.BehaviorOptions,
            origin=origin,
            allowed_methods=cloudfront.AllowedMethods.ALLOW_GET_HEAD,
            response_headers_policy=headers,
            viewer_protocol_policy=cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
        )
        self.fresh = behavior(
            cache_policy=cloudfront.CachePolicy.CACHING_DISABLED,
            function_associations=[
                cloudfront.FunctionAssociation(
                    function=own_paths, event_type=cloudfront.FunctionEventType.VIEWER_REQUEST
                )
            ],
        )
        """`index.html`, `config.json` and other files that keep their names: always as the bucket has them."""
        self.hashed = behavior(
            cache_policy=cloudfront.CachePolicy.CACHING_OPTIMIZED,
            compress=True,
        )
        """Files below `page.HASHED`: kept as long as their `Cache-Control` says, and compressed."""

    def _headers(self, name: str, connect: Sequence[str]) -> cloudfront.ResponseHeadersPolicy:
        headers = page.security_headers(connect)
        # CloudFront takes these three in their own places only.
        policy = headers.pop("content-security-policy")
        del headers["referrer-policy"], headers["x-content-type-options"]
        return cloudfront.ResponseHeadersPolicy(
            self,
            "Headers",
            response_headers_policy_name=name,
            security_headers_behavior=cloudfront.ResponseSecurityHeadersBehavior(
                content_security_policy=cloudfront.ResponseHeadersContentSecurityPolicy(
                    content_security_policy=policy, override=True
                ),
                content_type_options=cloudfront.ResponseHeadersContentTypeOptions(override=True),
                referrer_policy=cloudfront.ResponseHeadersReferrerPolicy(
                    referrer_policy=cloudfront.HeadersReferrerPolicy.NO_REFERRER, override=True
                ),
                strict_transport_security=cloudfront.ResponseHeadersStrictTransportSecurity(
                    access_control_max_age=Duration.days(365), override=True
                ),
            ),
            custom_headers_behavior=cloudfront.ResponseCustomHeadersBehavior(
                custom_headers=[
                    cloudfront.ResponseCustomHeader(header=name, value=value, override=True)
                    for name, value in headers.items()
                ]
            ),
        )
