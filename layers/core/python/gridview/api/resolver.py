"""The Lambda handler of a function that answers requests: a resolver of Powertools with the routers of its
resources.
"""

from collections.abc import Callable, Iterable
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler import Response as HttpResponse
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from aws_lambda_powertools.utilities.typing import LambdaContext

from gridview.api.endpoints import Endpoints
from gridview.api.http import Container
from gridview.api.invocation import Endpoint, Invocation, invoked, running
from gridview.api.routes import Route
from gridview.support.errors import NotFound, RequestError

Handler = Callable[[dict[str, Any], LambdaContext], dict[str, Any]]


def _not_found(_: str, __: str) -> RequestError:
    return NotFound("Route not found.")


def handler(
    resources: Iterable[Endpoints[Container]],
    container: Callable[[], Container],
    logger: Logger,
    metrics: Metrics,
    refuse: Callable[[str, str], RequestError] = _not_found,
) -> Handler:
    """Return the Lambda handler that serves these endpoints.

    `container` makes each request's access to the objects of the function. `refuse` makes the error for a
    route key that it does not serve, and the path of the request.
    """
    app = _Resolver()
    served: dict[str, tuple[Route, Endpoint]] = {}
    for endpoints in resources:
        app.include_router(endpoints.router)
        served |= {route.key: (route, endpoint) for route, endpoint in endpoints.served.items()}

    @app.not_found
    def unmatched(_: Exception) -> HttpResponse[str]:
        return running().answer_by_key()

    @logger.inject_lambda_context(clear_state=True)
    @metrics.log_metrics
    def handle(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        proxy_event = APIGatewayProxyEventV2(event)
        invocation = Invocation(proxy_event, context, container(), served, refuse, logger)
        logger.append_keys(route=event.get("routeKey"), request_id=invocation.request_id)
        with invoked(invocation):
            answer = app.resolve(event, context)
        metrics.add_metric(name="Requests", unit=MetricUnit.Count, value=1)
        if answer["statusCode"] >= 500:
            metrics.add_metric(name="ServerErrors", unit=MetricUnit.Count, value=1)
        return answer

    return handle


class _Resolver(APIGatewayHttpResolver):
    """Powertools' resolver, with the state of the current invocation in the place of state on classes.

    Its validation, document, compression and CORS stay off (decision 0072).
    """

    @property
    def current_event(self) -> APIGatewayProxyEventV2:  # type: ignore[override]
        """Return the event of the current invocation."""
        return running().event

    @property
    def lambda_context(self) -> LambdaContext:  # type: ignore[override]
        """Return Lambda's context of the current invocation."""
        return running().lambda_context

    @property
    def context(self) -> dict[str, Any]:
        """Return Powertools' state of the current invocation. While routers are included there is none, and
        nothing to keep.
        """
        try:
            return running().routing
        except LookupError:
            return {}

    @context.setter
    def context(self, value: dict[str, Any]) -> None:
        """Powertools sets an empty one while it is made."""
