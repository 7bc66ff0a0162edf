"""The WebSocket API: clients connect with a ticket, and one function answers whatever they do."""

from typing import Final

from aws_cdk import ArnFormat, Aws, CfnOutput, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_certificatemanager as certificates
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.checks import acknowledge
from infra.function import GridFunction
from infra.ingress import Throttle
from infra.settings import Settings

_STAGE: Final = "live"

CONNECT_THROTTLE: Final = Throttle(500, 1000)
"""The throttle of attempts to connect, shared by everyone: a lower one would let a stranger's junk tickets keep all
users out.

Each attempt starts the function, which refuses a forged ticket in 2 ms and reads nothing. Its reserved concurrency
bounds the use by strangers.
"""

MESSAGE_THROTTLE: Final = Throttle(2000, 4000)
"""The throttle of all messages of all clients. It cannot count by connection.

API Gateway drops messages above it, of any sender. So it is well above what the buckets of honest sockets let
through.
"""


class SocketApi(Construct):
    """The WebSocket API on its stage.

    Its address exists before its routes, since functions have to know it. It keeps no access log: API Gateway would
    write one for WebSocket APIs only with a role that is set for the whole account. The function logs its refusals.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self._emulator = settings.emulator
        self._domain_name = settings.socket_domain_name
        self.api = apigateway.WebSocketApi(
            self,
            "Api",
            description="gridview: live changes",
            # There is one route for all: the function names the error in a message.
            route_selection_expression="$request.body.do",
        )
        self.stage = apigateway.WebSocketStage(
            self,
            "Stage",
            web_socket_api=self.api,
            stage_name=_STAGE,
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(
                rate_limit=MESSAGE_THROTTLE.requests_per_second, burst_limit=MESSAGE_THROTTLE.burst
            ),
        )
        if not settings.execute_api:
            self._resource.disable_execute_api_endpoint = True
        if self._domain_name:
            self._add_domain(settings)
        acknowledge(
            self.stage,
            {"AwsSolutions-APIG1": "API Gateway writes such a log only with a role for the whole account."},
        )

    @property
    def origin(self) -> str:
        """Scheme and host, as a content security policy names them. A local engine's page is never opened."""
        if self._emulator:
            return "ws://localhost"
        return f"wss://{self._domain_name or self._host}"

    @property
    def url(self) -> str:
        """The address to which clients connect."""
        return f"{self.origin}{self._path}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables that a function needs to send to connections. A local engine sets its own address."""
        if self._emulator:
            return {}
        return {
            "AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI": f"https://{self._domain_name or self._host}{self._path}"
        }

    def add_routes(self, socket: GridFunction) -> None:
        """Have the function answer whatever clients do."""
        for name in ("$connect", "$disconnect", "$default"):
            # "Default" by itself would be no name: the CDK leaves it out.
            label = f"On{name.removeprefix('$').capitalize()}"
            route = apigateway.WebSocketRoute(
                self,
                label,
                web_socket_api=self.api,
                route_key=name,
                integration=integrations.WebSocketLambdaIntegration(label, socket.live),
            )
            # NOTE: API Gateway deploys a WebSocket API only with routes.
            self.stage.node.add_dependency(route)
            acknowledge(
                route,
                {
                    "AwsSolutions-APIG4": "The function refuses connections without a ticket. A user's token gets a ticket, "
                    "which is valid once."
                },
            )
        stage = self.stage.node.default_child
        assert isinstance(stage, apigateway.CfnStage)  # noqa: S101  what a WebSocketStage is made of
        stage.route_settings = {
            "$connect": {
                "ThrottlingRateLimit": CONNECT_THROTTLE.requests_per_second,
                "ThrottlingBurstLimit": CONNECT_THROTTLE.burst,
            }
        }

    def grant_connections(self, role: iam.Role) -> None:
        """Allow sending to connections, and closing them."""
        stack = Stack.of(self)
        connections = [
            stack.format_arn(
                service="execute-api",
                resource=self.api.api_id,
                resource_name=f"{_STAGE}/{method}/@connections/*",
                arn_format=ArnFormat.SLASH_RESOURCE_NAME,
            )
            for method in ("POST", "DELETE")
        ]
        # A separate policy, so that the acknowledgement here covers no other statement.
        sending = iam.Policy(
            self,
            "Sending",
            roles=[role],
            statements=[
                iam.PolicyStatement(actions=["execute-api:ManageConnections"], resources=connections)
            ],
        )
        logical_id = stack.get_logical_id(self._resource)
        place = f"arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<{logical_id}>/{_STAGE}"
        acknowledge(
            sending,
            {
                f"AwsSolutions-IAM5[Resource::{place}/{method}/@connections/*]": "API Gateway names the connections."
                for method in ("POST", "DELETE")
            },
        )

    @property
    def _path(self) -> str:
        """A domain is mapped to the stage; API Gateway's own address names it."""
        return "" if self._domain_name else f"/{_STAGE}"

    @property
    def _resource(self) -> apigateway.CfnApi:
        resource = self.api.node.default_child
        assert isinstance(resource, apigateway.CfnApi)  # noqa: S101  what a WebSocketApi is made of
        return resource

    def _add_domain(self, settings: Settings) -> None:
        certificate = certificates.Certificate.from_certificate_arn(
            self, "Certificate", settings.regional_certificate_arn
        )
        domain = apigateway.DomainName(
            self, "Domain", domain_name=settings.socket_domain_name, certificate=certificate
        )
        mapping = apigateway.ApiMapping(self, "Mapping", api=self.api, domain_name=domain, stage=self.stage)
        mapping.node.add_dependency(self.stage)
        CfnOutput(self, "DomainTarget", value=domain.regional_domain_name).override_logical_id(
            "SocketDomainTarget"
        )

    @property
    def _host(self) -> str:
        return f"{self.api.api_id}.execute-api.{Aws.REGION}.{Aws.URL_SUFFIX}"
