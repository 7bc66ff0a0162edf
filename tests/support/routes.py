"""The routes of the HTTP API, as their tests need them."""

from collections.abc import Mapping

from infra.routes import ROUTES


def route_keys() -> Mapping[str, str]:
    """The route key of each operation: `create_issue` has `POST /v1/projects/{project}/issues`."""
    return {route.operation: route.key for route in ROUTES}
