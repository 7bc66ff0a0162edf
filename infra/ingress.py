"""The HTTP API: the routes of the endpoints, and for each method a route that refuses every other path (`infra.routes`).

The greedy routes require a token, so no stranger starts a function with a wrong path or method, or learns which paths exist. No
route is for ANY method: preflights would reach its authorizer (decision 0082).
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aws_cdk import ArnFormat, Duration, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_logs as logs
from constructs import Construct

from gridview.api.headers import PREFLIGHT_SECONDS, REQUEST_HEADERS, RESPONSE_HEADERS
from infra.checks import acknowledge
from infra.function import GridFunction
from infra.identity import Identity
from infra.retention import log_group
from infra.routes import DECLARED, METHODS, Declared
from infra.settings import Settings


class Throttle(NamedTuple):
    """How many requests of one route API Gateway lets through; it answers 429 to the others by itself."""

    requests_per_second: int
    burst: int


THROTTLE = Throttle(500, 1000)
"""The throttle of each endpoint that needs a token."""

PUBLIC_THROTTLE = Throttle(10, 20)
"""The throttle of each endpoint that strangers can call: it bounds the concurrency and money that they use up."""

REFUSED_THROTTLE = Throttle(10, 20)
"""The throttle of each route that only refuses. The routes for every path share it between all users with a token."""

PUBLIC_REFUSED_THROTTLE = Throttle(1, 5)
"""The throttle of each wrong method of a path that strangers can call."""

UNCHOSEN_THROTTLE = PUBLIC_REFUSED_THROTTLE
"""The throttle of a route without one of its own. There is no such route; a forgotten one gets the least."""

TOO_MANY = "TooManyRequests"
"""The metric of answers with 429, by stack. API Gateway counts them among its `4xx` only, so it is made from the access log."""

_ACCESS_LOG = {
    "requestId": "$context.requestId",
    "time": "$context.requestTime",
    "ip": "$context.identity.sourceIp",
    "user": "$context.authorizer.claims.sub",
    # The route, not the path: ids are the tenants' own words.
    "route": "$context.routeKey",
    "status": "$context.status",
    "latency": "$context.responseLatency",
    "integrationLatency": "$context.integrationLatency",
    "length": "$context.responseLength",
    "error": "$context.error.message",
    "authorizerError": "$context.authorizer.error",
}


class Ingress(Construct):
    """The API on its `$default` stage, throttled, with access logs.

    Its address exists before its routes. The page's address is made from it, and the routes have to know the page's
    client.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self.api = apigateway.HttpApi(
            self,
            "Api",
            create_default_stage=False,
            cors_preflight=_cors(settings.allowed_origins),
            disable_execute_api_endpoint=None if settings.execute_api else True,
        )
        self.stage = self._add_stage(settings)

    @property
    def url(self) -> str:
        """The API's base URL, without a trailing slash."""
        return self.api.api_endpoint

    def add_routes(self, *, identity: Identity, functions: Mapping[str, GridFunction]) -> None:
        """Answer requests by these functions. Tokens of the pool's clients are verified before one of them runs."""
        authorizer = authorizers.HttpUserPoolAuthorizer(
            "Tokens", identity.pool, user_pool_clients=identity.clients
        )
        targets = {
            name: integrations.HttpLambdaIntegration(
                name.capitalize(), function.live, scope_permission_to_route=False
            )
            for name, function in functions.items()
        }
        for route in DECLARED:
            self._add_route(route, targets[route.function], authorizer)
        _stage_resource(self.stage).route_settings = {
            route.key: {
                "ThrottlingRateLimit": _throttle(route).requests_per_second,
                "ThrottlingBurstLimit": _throttle(route).burst,
            }
            for route in DECLARED
        }

    def _add_route(
        self,
        route: Declared,
        target: apigateway.HttpRouteIntegration,
        authorizer: authorizers.HttpUserPoolAuthorizer,
    ) -> None:
        made = apigateway.HttpRoute(
            self,
            _construct_id(route.call.operation if route.call else f"no_{route.method.lower()}_{route.path}"),
            http_api=self.api,
            route_key=apigateway.HttpRouteKey.with_(route.path, apigateway.HttpMethod[route.method]),
            integration=target,
            authorizer=apigateway.HttpNoneAuthorizer() if route.public else authorizer,
        )
        # NOTE: API Gateway refuses a stage with settings of a route that is not there yet.
        self.stage.node.add_dependency(made)
        if route.public:
            acknowledge(
                made,
                {"AwsSolutions-APIG4": "Public on purpose: the answers contain no tenant data."},
            )

    def _add_stage(self, settings: Settings) -> apigateway.HttpStage:
        group = log_group(self, "AccessLogs", settings)
        stage = apigateway.HttpStage(
            self,
            "Stage",
            http_api=self.api,
            stage_name="$default",
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(
                rate_limit=UNCHOSEN_THROTTLE.requests_per_second, burst_limit=UNCHOSEN_THROTTLE.burst
            ),
        )
        _stage_resource(stage).access_log_settings = apigateway.CfnStage.AccessLogSettingsProperty(
            # Without the `:*` at the end of a log group's own ARN attribute.
            destination_arn=Stack.of(self).format_arn(
                service="logs",
                resource="log-group",
                resource_name=group.log_group_name,
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            ),
            # A metric made from a log takes its dimensions from the log's fields.
            format=json.dumps({**_ACCESS_LOG, "stack": settings.stack_name}),
        )
        if not settings.emulator:  # MiniStack makes no metrics from logs
            logs.MetricFilter(
                self,
                "Refusals",
                log_group=group,
                filter_pattern=logs.FilterPattern.string_value("$.status", "=", "429"),
                metric_namespace="gridview",
                metric_name=TOO_MANY,
                metric_value="1",
                dimensions={"stack": "$.stack"},
            )
        return stage


def _stage_resource(stage: apigateway.HttpStage) -> apigateway.CfnStage:
    resource = stage.node.default_child
    assert isinstance(resource, apigateway.CfnStage)  # noqa: S101  what an HttpStage is made of
    return resource


def _throttle(route: Declared) -> Throttle:
    if route.call is None:
        return PUBLIC_REFUSED_THROTTLE if route.public else REFUSED_THROTTLE
    return PUBLIC_THROTTLE if route.public else THROTTLE


def _construct_id(words: str) -> str:
    return "".join(word.capitalize() for word in re.findall(r"[a-z0-9]+", words))


def _cors(origins: Sequence[str]) -> apigateway.CorsPreflightOptions | None:
    """The CORS answers of API Gateway itself.

    Without origins it gives none: no page of another origin may call the API.
    """
    if not origins:
        return None
    return apigateway.CorsPreflightOptions(
        allow_origins=list(origins),
        allow_methods=[apigateway.CorsHttpMethod[method] for method in METHODS],
        allow_headers=list(REQUEST_HEADERS),
        expose_headers=list(RESPONSE_HEADERS),
        max_age=Duration.seconds(PREFLIGHT_SECONDS),
    )
