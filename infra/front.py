"""What stands before the HTTP API by setting: a domain of one's own, CloudFront, and AWS WAF."""

from aws_cdk import CfnOutput, Fn
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_certificatemanager as certificates
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins
from constructs import Construct

from infra.checks import acknowledge
from infra.ingress import Ingress
from infra.settings import Settings


class Front(Construct):
    """The address that clients use (`url`). Where it has a domain, the output DomainTarget is what its DNS record points to.

    CloudFront caches nothing: each answer is of one user. It is there for AWS WAF, which HTTP APIs do not take, and for connections
    that begin near the client. Who knows the API's own address can go around it; the API then still asks for tokens.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings, ingress: Ingress) -> None:
        super().__init__(scope, construct_id)
        self.url = f"https://{settings.domain_name}" if settings.domain_name else ingress.url
        if settings.cdn:
            target = self._distribution(settings, ingress).domain_name
            self.url = f"https://{settings.domain_name or target}"
        elif settings.domain_name:
            target = self._domain(settings, ingress)
        else:
            return
        CfnOutput(self, "DomainTarget", value=target).override_logical_id("DomainTarget")

    def _certificate(self, settings: Settings) -> certificates.ICertificate:
        return certificates.Certificate.from_certificate_arn(self, "Certificate", settings.certificate_arn)

    def _domain(self, settings: Settings, ingress: Ingress) -> str:
        domain = apigateway.DomainName(
            self, "Domain", domain_name=settings.domain_name, certificate=self._certificate(settings)
        )
        mapping = apigateway.ApiMapping(
            self, "Mapping", api=ingress.api, domain_name=domain, stage=ingress.stage
        )
        mapping.node.add_dependency(ingress.stage)
        return domain.regional_domain_name

    def _distribution(self, settings: Settings, ingress: Ingress) -> cloudfront.Distribution:
        named = bool(settings.domain_name)
        distribution = cloudfront.Distribution(
            self,
            "Distribution",
            comment=f"gridview: {settings.stack_name}",
            default_behavior=cloudfront.BehaviorOptions(
                origin=origins.HttpOrigin(Fn.select(2, Fn.split("/", ingress.url))),
                allowed_methods=cloudfront.AllowedMethods.ALLOW_ALL,
                cache_policy=cloudfront.CachePolicy.CACHING_DISABLED,
                # All that the client sent, but the host: API Gateway goes by its own.
                origin_request_policy=cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
                viewer_protocol_policy=cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
                # The functions compress: CloudFront does so only for what it caches.
                compress=False,
            ),
            http_version=cloudfront.HttpVersion.HTTP2_AND_3,
            minimum_protocol_version=cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
            domain_names=[settings.domain_name] if named else None,
            certificate=self._certificate(settings) if named else None,
            web_acl_id=settings.web_acl_arn or None,
        )
        accepted = {
            "AwsSolutions-CFR1": "Where users may be is each operator's decision, in the web ACL.",
            "AwsSolutions-CFR3": "API Gateway logs every request that reaches the API.",
        }
        if not settings.web_acl_arn:
            accepted["AwsSolutions-CFR2"] = "A web ACL is by setting: it costs money for each request."
        if not named:
            accepted["AwsSolutions-CFR4"] = (
                "CloudFront's own domain takes CloudFront's own certificate and rules."
            )
        acknowledge(distribution, accepted)
        return distribution
