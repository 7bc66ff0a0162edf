"""The HTTP API: a route for each method of each known path (`infra.routes`).

A known path with a method that it does not have reaches the function that answers 405. There is no catch-all: API Gateway itself
answers 404 to an unknown path, so that no stranger starts a function with one. No route is for ANY method: preflights would reach
its authorizer.
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
from infra.routes import METHODS, REFUSES, Resource, resources
from infra.settings import Settings


class Throttle(NamedTuple):
    """How many requests of one route API Gateway lets through; it answers 429 to the others by itself."""

    requests_per_second: int
    burst: int


THROTTLE = Throttle(500, 1000)
"""Of each call that needs a token."""

PUBLIC_THROTTLE = Throttle(10, 20)
"""Of each call that strangers can make: what they use up of our concurrency and money."""

REFUSED_THROTTLE = Throttle(10, 20)
"""Of each method that a path does not have, for users with a token."""

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

    Its address is there before its routes: the page lies at an address made from it, and a client of the page has to be known to
    the routes.
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
        self._throttles: dict[str, Throttle] = {}

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
        for resource in resources():
            for method in METHODS:
                self._add_route(resource, method, targets, authorizer)
        _stage_resource(self.stage).route_settings = {
            key: {"ThrottlingRateLimit": limits.requests_per_second, "ThrottlingBurstLimit": limits.burst}
            for key, limits in self._throttles.items()
        }

    def _add_route(
        self,
        resource: Resource,
        method: str,
        targets: Mapping[str, apigateway.HttpRouteIntegration],
        authorizer: authorizers.HttpUserPoolAuthorizer,
    ) -> None:
        call = resource.calls.get(method)
        public = resource.public if call is None else call.role is None
        declared = apigateway.HttpRoute(
            self,
            _construct_id(call.operation if call else f"no_{method.lower()}_{resource.path}"),
            http_api=self.api,
            route_key=apigateway.HttpRouteKey.with_(resource.path, apigateway.HttpMethod[method]),
            integration=targets[REFUSES if call is None else call.function],
            authorizer=apigateway.HttpNoneAuthorizer() if public else authorizer,
        )
        if call is None or public:
            self._throttles[f"{method} {resource.path}"] = PUBLIC_THROTTLE if public else REFUSED_THROTTLE
        # NOTE: API Gateway refuses a stage with settings of a route that is not there yet.
        self.stage.node.add_dependency(declared)
        if public:
            acknowledge(
                declared,
                {"AwsSolutions-APIG4": "Public by contract: the answer contains no tenant data."},
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
                rate_limit=THROTTLE.requests_per_second, burst_limit=THROTTLE.burst
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


def _construct_id(words: str) -> str:
    return "".join(word.capitalize() for word in re.findall(r"[a-z0-9]+", words))


def _cors(origins: Sequence[str]) -> apigateway.CorsPreflightOptions | None:
    """What API Gateway answers to browsers by itself. Without origins it answers nothing: no page of another origin may call us."""
    if not origins:
        return None
    return apigateway.CorsPreflightOptions(
        allow_origins=list(origins),
        allow_methods=[apigateway.CorsHttpMethod[method] for method in METHODS],
        allow_headers=list(REQUEST_HEADERS),
        expose_headers=list(RESPONSE_HEADERS),
        max_age=Duration.seconds(PREFLIGHT_SECONDS),
    )
