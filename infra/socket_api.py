"""The WebSocket API: clients connect with a ticket, and one function answers whatever they do."""

from typing import Final

from aws_cdk import ArnFormat, Aws, Duration, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.checks import acknowledge
from infra.function import GridFunction
from infra.ingress import Throttle
from infra.settings import Settings

_STAGE: Final = "live"

CONNECT_THROTTLE: Final = Throttle(20, 40)
"""Of attempts to connect: strangers can make them, and each starts the function."""

MESSAGE_THROTTLE: Final = Throttle(500, 1000)
"""Of what all clients say together. API Gateway drops what is more."""

ENDS_EACH: Final = Duration.minutes(1)


class SocketApi(Construct):
    """The WebSocket API on its stage.

    Its address is there before its routes, since functions have to know it. It keeps no access log: API Gateway would write one for
    WebSocket APIs only with a role that is set for the whole account. The function logs what it refuses.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self._emulator = settings.emulator
        self.api = apigateway.WebSocketApi(
            self,
            "Api",
            description="gridview: live changes",
            # There is one route for all: the function says what is wrong with a message.
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
        acknowledge(
            self.stage,
            {
                "AwsSolutions-APIG1": "API Gateway writes such a log only with a role that is set for the whole account."
            },
        )

    @property
    def origin(self) -> str:
        """Scheme and host, as a content security policy names them. Nobody opens the page of a local engine."""
        if self._emulator:
            return "ws://localhost"
        return f"wss://{self._host}"

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"{self.origin}/{_STAGE}"

    @property
    def environment(self) -> dict[str, str]:
        """What a function has to know to send to connections. A local engine says itself where it is."""
        if self._emulator:
            return {}
        return {"AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI": f"https://{self._host}/{_STAGE}"}

    def add_routes(self, socket: GridFunction) -> None:
        """Have the function answer, send to connections and close them, and end each minute those that are due."""
        for name in ("$connect", "$disconnect", "$default"):
            # "Default" alone would be no name: the CDK leaves it out.
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
                    "AwsSolutions-APIG4": "The function itself lets nobody connect without a ticket, which a user's token "
                    "buys and which is good once."
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
        self._allow_sending(socket.role)
        self._end_due(socket)

    @property
    def _host(self) -> str:
        return f"{self.api.api_id}.execute-api.{Aws.REGION}.{Aws.URL_SUFFIX}"

    def _allow_sending(self, role: iam.Role) -> None:
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
        resource = self.api.node.default_child
        assert isinstance(resource, apigateway.CfnApi)  # noqa: S101  what a WebSocketApi is made of
        logical_id = stack.get_logical_id(resource)
        place = f"arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<{logical_id}>/{_STAGE}"
        acknowledge(
            sending,
            {
                f"AwsSolutions-IAM5[Resource::{place}/{method}/@connections/*]": "API Gateway names the connections."
                for method in ("POST", "DELETE")
            },
        )

    def _end_due(self, socket: GridFunction) -> None:
        socket.function.configure_async_invoke(retry_attempts=0, max_event_age=ENDS_EACH)
        events.Rule(
            self,
            "End",
            description="gridview: ends the sockets that are due",
            schedule=events.Schedule.rate(ENDS_EACH),
            targets=[
                targets.LambdaFunction(
                    socket.live,
                    event=events.RuleTargetInput.from_object({"task": "end"}),
                    retry_attempts=0,
                    max_event_age=ENDS_EACH,
                )
            ],
        )
