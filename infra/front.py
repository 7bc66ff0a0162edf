"""The public addresses of the deployment: page and API on one origin, a domain, AWS WAF."""

from collections.abc import Sequence
from typing import Any

from aws_cdk import CfnOutput, Fn, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_certificatemanager as certificates
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins
from constructs import Construct

from gridview.support.version import VERSION
from infra import page
from infra.checks import acknowledge
from infra.identity import SCOPES, Identity
from infra.ingress import Ingress
from infra.page_files import PageFiles
from infra.page_upload import PageUpload
from infra.settings import Settings


class Front(Construct):
    """The address that programs use (`api_url`).

    With a page, a distribution of CloudFront has page and API on one origin.

    With a domain or a distribution, the output DomainTarget is the target of a DNS record. CloudFront keeps no answer
    of the API: each is for one user. It is also there for AWS WAF, which HTTP APIs do not take, and for connections
    that begin near the client. A client that knows the API's own address can go around CloudFront, unless
    `execute-api=false` disables that address. The API then still requires tokens.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        ingress: Ingress,
        identity: Identity,
        connect: Sequence[str] = (),
    ) -> None:
        """`connect`: the origins that the page connects to, in addition to its own and the login."""
        super().__init__(scope, construct_id)
        target: str | None = None
        self.distribution_id: str | None = None
        """The distribution of CloudFront, if there is one."""
        self.upload: PageUpload | None = None
        """The page's files, if they are deployed."""
        if settings.page:
            login = identity.add_login(settings)
            files = PageFiles(self, "Page", settings=settings, connect=[login, *connect])
            target = self._distribution(
                settings,
                default_behavior=files.fresh,
                additional_behaviors={"/v1/*": self._api(settings, ingress), f"{page.HASHED}*": files.hashed},
                default_root_object=page.INDEX.removeprefix("/"),
            )
            url = f"https://{settings.domain_name or target}"
            client = identity.add_page(url, settings)
            config = {
                "auth": "cognito",
                "version": VERSION,
                "domain": login,
                "clientId": client.user_pool_client_id,
                "scopes": list(SCOPES),
            }
            self._output("PageUrl", url)
            self._output("PageBucket", files.bucket.bucket_name)
            if settings.emulator:
                # Emulators do not run CDK's function, so the tests upload.
                self._output("PageConfig", Stack.of(self).to_json_string(config))
            else:
                self.upload = PageUpload(
                    self, "Upload", settings=settings, bucket=files.bucket, config=config
                )
        elif settings.cdn:
            target = self._distribution(settings, default_behavior=self._api(settings, ingress))
        elif settings.domain_name:
            target = self._domain(settings, ingress, settings.certificate_arn)
        named = settings.domain_name or (target if settings.cdn else None)
        self.api_url = f"https://{named}" if named else ingress.url
        if target:
            self._output("DomainTarget", target)

    def _output(self, name: str, value: str) -> None:
        CfnOutput(self, name, value=value).override_logical_id(name)

    def _certificate(self, settings: Settings) -> certificates.ICertificate:
        return certificates.Certificate.from_certificate_arn(self, "Certificate", settings.certificate_arn)

    def _domain(self, settings: Settings, ingress: Ingress, certificate_arn: str) -> str:
        """Make the domain at API Gateway itself.

        Returns its regional name, which answers only as the domain's DNS target.
        """
        certificate = certificates.Certificate.from_certificate_arn(
            self, "DomainCertificate", certificate_arn
        )
        domain = apigateway.DomainName(
            self, "Domain", domain_name=settings.domain_name, certificate=certificate
        )
        mapping = apigateway.ApiMapping(
            self, "Mapping", api=ingress.api, domain_name=domain, stage=ingress.stage
        )
        mapping.node.add_dependency(ingress.stage)
        return domain.regional_domain_name

    def _distribution(self, settings: Settings, **behaviors: Any) -> str:
        """A distribution with these behaviours; returns its own domain."""
        named = bool(settings.domain_name)
        distribution = cloudfront.Distribution(
            self,
            "Distribution",
            comment=f"gridview: {settings.stack_name}",
            http_version=cloudfront.HttpVersion.HTTP2_AND_3,
            # CloudFront's own certificate comes with CloudFront's own rules.
            minimum_protocol_version=cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021 if named else None,
            domain_names=[settings.domain_name] if named else None,
            certificate=self._certificate(settings) if named else None,
            web_acl_id=settings.web_acl_arn or None,
            **behaviors,
        )
        accepted = {
            "AwsSolutions-CFR1": "Each operator decides in the web ACL which countries have access.",
            "AwsSolutions-CFR3": "API Gateway logs every request that reaches the API, and the page's files are public.",
        }
        if settings.page:
            accepted["Annotation::@aws-cdk/aws-cloudfront-origins:listBucketSecurityRisk"] = (
                "There is a root object: a function rewrites `/` to it before the request to S3."
            )
        if not settings.web_acl_arn:
            accepted["AwsSolutions-CFR2"] = (
                "A web ACL is optional (`web-acl-arn`), because it costs money for each request."
            )
        if not named:
            accepted["AwsSolutions-CFR4"] = (
                "CloudFront's own domain has CloudFront's own certificate and rules."
            )
        acknowledge(distribution, accepted)
        self.distribution_id = distribution.distribution_id
        return distribution.domain_name

    def _api(self, settings: Settings, ingress: Ingress) -> cloudfront.BehaviorOptions:
        """How CloudFront hands requests to the API: all of each, and never an answer that another one got."""
        if settings.execute_api:
            host = Fn.select(2, Fn.split("/", ingress.url))
            # All that the client sent, but the host: API Gateway goes by its own.
            passed_on = cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER
        else:
            host = self._domain(settings, ingress, settings.regional_certificate_arn)
            # The host too: API Gateway knows the API by its domain only.
            passed_on = cloudfront.OriginRequestPolicy.ALL_VIEWER
        return cloudfront.BehaviorOptions(
            origin=origins.HttpOrigin(host),
            allowed_methods=cloudfront.AllowedMethods.ALLOW_ALL,
            cache_policy=cloudfront.CachePolicy.CACHING_DISABLED,
            origin_request_policy=passed_on,
            viewer_protocol_policy=cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
            # The functions compress: CloudFront compresses only cached answers.
            compress=False,
        )
