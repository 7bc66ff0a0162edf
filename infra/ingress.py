"""The HTTP API: a route for each entry of `gridview.api.routes.ROUTES`, and a default route for all other paths."""

import json

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from constructs import Construct

from gridview.api.routes import ROUTES, Route
from infra.checks import acknowledge
from infra.function import GridFunction
from infra.identity import Identity
from infra.retention import log_group
from infra.settings import Settings

REQUESTS_PER_SECOND = 500
BURST = 1000

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
    """The API on its `$default` stage, throttled, with access logs. The user pool's tokens are verified before a function runs."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        identity: Identity,
        query: GridFunction,
        command: GridFunction,
    ) -> None:
        super().__init__(scope, construct_id)
        self.api = apigateway.HttpApi(self, "Api", create_default_stage=False)
        self.stage = self._add_stage(settings)
        authorizer = authorizers.HttpUserPoolAuthorizer(
            "Tokens", identity.pool, user_pool_clients=[identity.client]
        )
        targets = {
            "query": integrations.HttpLambdaIntegration("Query", query.live, scope_permission_to_route=False),
            "command": integrations.HttpLambdaIntegration(
                "Command", command.live, scope_permission_to_route=False
            ),
        }
        for route in ROUTES:
            self._add_route(route, targets[route.function], authorizer)
        self._add_default_route(query)

    @property
    def url(self) -> str:
        """The API's base URL, without a trailing slash."""
        return self.api.api_endpoint

    def _add_route(
        self,
        route: Route,
        target: apigateway.HttpRouteIntegration,
        authorizer: authorizers.HttpUserPoolAuthorizer,
    ) -> None:
        declared = apigateway.HttpRoute(
            self,
            "".join(word.capitalize() for word in route.operation.split("_")),
            http_api=self.api,
            route_key=apigateway.HttpRouteKey.with_(route.path, apigateway.HttpMethod[route.method]),
            integration=target,
            authorizer=apigateway.HttpNoneAuthorizer() if route.role is None else authorizer,
        )
        if route.role is None:
            acknowledge(
                declared,
                {"AwsSolutions-APIG4": "Public by contract: the answer contains no tenant data."},
            )

    def _add_default_route(self, query: GridFunction) -> None:
        # NOTE: the permission of an integration for the whole API is `<api>/*/*/*`. A call of the default route has no method and
        # no path, so that permission does not cover it. An integration with a permission for its own route covers its own.
        declared = apigateway.HttpRoute(
            self,
            "AnythingElse",
            http_api=self.api,
            route_key=apigateway.HttpRouteKey.DEFAULT,
            integration=integrations.HttpLambdaIntegration("AnythingElse", query.live),
            authorizer=apigateway.HttpNoneAuthorizer(),
        )
        acknowledge(
            declared,
            {"AwsSolutions-APIG4": "It answers every unknown path with a 404 problem document."},
        )

    def _add_stage(self, settings: Settings) -> apigateway.HttpStage:
        group = log_group(self, "AccessLogs", settings)
        stage = apigateway.HttpStage(
            self,
            "Stage",
            http_api=self.api,
            stage_name="$default",
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(rate_limit=REQUESTS_PER_SECOND, burst_limit=BURST),
            detailed_metrics_enabled=True,
        )
        resource = stage.node.default_child
        assert isinstance(resource, apigateway.CfnStage)  # noqa: S101  what an HttpStage is made of
        resource.access_log_settings = apigateway.CfnStage.AccessLogSettingsProperty(
            # Without the `:*` at the end of a log group's own ARN attribute.
            destination_arn=Stack.of(self).format_arn(
                service="logs",
                resource="log-group",
                resource_name=group.log_group_name,
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            ),
            format=json.dumps(_ACCESS_LOG),
        )
        return stage
