"""Cross-origin requests, answered as an HTTP API of API Gateway with a CORS configuration answers them. Pure."""

from collections.abc import Sequence

from devtools.local.gateway import Request, Response
from gridview.api.headers import PREFLIGHT_SECONDS, REQUEST_HEADERS, RESPONSE_HEADERS
from infra.routes import METHODS

ORIGINS = "GRIDVIEW_ALLOWED_ORIGINS"
"""The environment variable with the origins, separated by blanks, whose pages may call the API from a browser."""


def is_preflight(request: Request) -> bool:
    """Whether a browser asks what a page may do. It sends no token then, so no authorizer sees the request."""
    return request.method == "OPTIONS" and {"origin", "access-control-request-method"} <= set(request.headers)


def preflight(request: Request, origins: Sequence[str]) -> Response:
    """The answer to a preflight. A page of another origin than these gets no permission."""
    headers = _origin(request, origins)
    if headers:
        headers += [
            ("access-control-allow-methods", ",".join(METHODS)),
            ("access-control-allow-headers", ",".join(REQUEST_HEADERS)),
            ("access-control-max-age", str(PREFLIGHT_SECONDS)),
        ]
    return Response(204, headers, b"")


def shared(request: Request, origins: Sequence[str], answer: Response) -> Response:
    """An answer that a page of these origins may read."""
    headers = _origin(request, origins)
    if not headers:
        return answer
    exposed = ("access-control-expose-headers", ",".join(RESPONSE_HEADERS))
    return answer._replace(headers=[*answer.headers, *headers, exposed])


def _origin(request: Request, origins: Sequence[str]) -> list[tuple[str, str]]:
    origin = request.headers.get("origin")
    if origin is None or not {origin, "*"} & set(origins):
        return []
    return [("access-control-allow-origin", "*" if "*" in origins else origin)]
