"""The endpoints without a token: the health check and the OpenAPI document."""

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, ok
from gridview.query_api.container import QueryContainer, QueryRequest

endpoints = Endpoints[QueryContainer]("Service", "query")


@endpoints.get("/v1/health", None, "Health check", answer="Health")
def health(_: QueryRequest) -> Response:
    """Return the health check; it does not access the table."""
    return ok({"status": "ok"})


@endpoints.get("/v1/openapi.json", None, "This document")
def openapi(request: QueryRequest) -> Response:
    """Return the OpenAPI document."""
    # API Gateway says https; the local server says nothing.
    scheme = request.header("x-forwarded-proto") or "http"
    server = f"{scheme}://{request.event.request_context.domain_name}"
    return ok(request.container.document.at(server))
