"""The HTTP API on this machine, and the page beside it. It does what API Gateway does between a socket and the Lambda functions."""

import argparse
import json
import logging
import os
import socket
from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import waitress  # type: ignore[import-untyped]

from devtools.failure import FunctionError
from devtools.local import cors, gateway, matching, tokens
from devtools.local.containers import BusyError, Pool
from devtools.local.gateway import Request, Response
from devtools.local.sessions import Sessions
from devtools.local.site import Site
from gridview.support.errors import INTERNAL, PROBLEMS, NotFound, Overloaded, TooLarge
from infra.functions import FUNCTIONS
from infra.openapi import file as openapi_file
from infra.page_build import DIST
from infra.routes import REFUSES, ROUTES

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_ENVIRONMENTS = 4
_WAITING_ENVIRONMENTS = 12
"""Environments of the function in which requests wait for changes.

One tenant may wait in 4 (`stack.POLLS_PER_TENANT`).

It may have 8 for a second, so a third stays for others.
"""
_QUEUE = 64
"""Events that wait for an environment of a function."""
_WAITING_QUEUE = 8
"""The same where an event waits for as long as 20 seconds: its client does better to try again."""
_FILE_THREADS = 16
_MAX_READ_BYTES = 64 * 1024 * 1024
"""The largest body that is read and refused with a problem. The web server itself refuses a larger one."""

Invoke = Callable[[str, dict[str, Any]], Any]
"""Calls the named function with an event and returns its result. Raises FunctionError."""

_log = logging.getLogger("gridview.server")


def application(
    invoke: Invoke, key: bytes, origins: Sequence[str] = (), site: Site | None = None
) -> "WSGIApplication":
    """The API as a WSGI application, with a site in front if there is one.

    `key` is the signing key of good tokens; pages of `origins` may call the API from a browser.
    """

    def api(request: Request) -> Response:
        if origins and cors.is_preflight(request):
            return cors.preflight(request, origins)
        return cors.shared(request, origins, _answer(request, invoke, key))

    def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        request = _request(environ)
        answer = api(request) if site is None else site.answer(request, api)
        status = f"{answer.status} {_phrase(answer.status)}"
        headers = [*answer.headers, ("apigw-requestid", request.id)]
        if answer.status not in {204, 304}:
            headers.append(("content-length", str(len(answer.body))))
        start_response(status, headers)
        return [b"" if request.method == "HEAD" else answer.body]

    return app


def _answer(request: Request, invoke: Invoke, key: bytes) -> Response:
    try:
        matched = matching.match(request.method, request.path)
    except matching.UnknownPathError:
        return gateway.problem(PROBLEMS[NotFound], "There is no such path.", request.id)
    claims = None
    if matched.needs_token:
        try:
            claims = tokens.claims_in(key, request.headers.get("authorization", ""))
        except tokens.InvalidTokenError:
            return gateway.unauthenticated(request.id)
    event = gateway.event(request, matched, claims)
    if len(request.body) > gateway.MAX_PAYLOAD_BYTES or len(json.dumps(event)) > gateway.MAX_PAYLOAD_BYTES:
        return gateway.problem(PROBLEMS[TooLarge], "A request may have at most 6 MB.", request.id)
    try:
        return gateway.response(invoke(matched.function, event))
    except BusyError:
        busy = Overloaded("The function is busy; try again.", headers={"Retry-After": "1"})
        return gateway.refusal(busy, request.id)
    except (FunctionError, gateway.BadResponseError):
        _log.exception("The function failed.", extra={"request_id": request.id})
        return gateway.problem(INTERNAL, "The request failed; it may have had an effect.", request.id)


def _request(environ: "WSGIEnvironment") -> Request:
    # The target as sent: the web server decodes PATH_INFO. A target may also be a whole address.
    target = environ.get("REQUEST_URI", "")
    path = (
        target.partition("?")[0]
        if target.startswith("/")
        else quote(environ["PATH_INFO"], encoding="latin-1")
    )
    headers = {
        name.removeprefix("HTTP_").replace("_", "-").lower(): _utf8(value)
        for name, value in environ.items()
        if name.startswith("HTTP_") or (name in {"CONTENT_TYPE", "CONTENT_LENGTH"} and value)
    }
    return Request(
        method=environ["REQUEST_METHOD"],
        path=path,
        query=environ["QUERY_STRING"],
        headers=headers,
        body=environ["wsgi.input"].read(),
        source_ip=environ.get("REMOTE_ADDR", "127.0.0.1"),
        protocol=environ["SERVER_PROTOCOL"],
    )


def _utf8(value: str) -> str:
    """A header's value, which WSGI gives as Latin-1."""
    return value.encode("latin-1").decode("utf-8", errors="replace")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def _socket_origins() -> list[str]:
    """The address of the page's sockets, as a content security policy names it."""
    address = urlsplit(os.environ["SOCKET_URL"])
    return [f"{address.scheme}://{address.netloc}"]


def web_server(app: "WSGIApplication", listener: socket.socket, threads: int) -> Any:
    """A web server that serves the application on a socket when it is `run`."""
    return waitress.create_server(
        app,
        sockets=[listener],
        threads=threads,
        ident=None,
        max_request_body_size=_MAX_READ_BYTES,
    )


def environments(function: str) -> int:
    """How many environments a function has."""
    return _WAITING_ENVIRONMENTS if function == "live" else _ENVIRONMENTS


def queue(function: str) -> int:
    """How many events may wait for an environment of a function."""
    return _WAITING_QUEUE if function == "live" else _QUEUE


def main() -> None:
    """`python -m devtools.local.server`, started by the supervisor in the functions' environment."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--listen", type=int, required=True, help="file descriptor of the bound socket")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    openapi_file.write()
    functions = sorted({route.function for route in ROUTES} | {REFUSES})
    pools: dict[str, Pool] = {
        function: Pool(
            function,
            env=os.environ | {"POWERTOOLS_SERVICE_NAME": function},
            size=environments(function),
            timeout=FUNCTIONS[function].timeout_seconds,
            waiting=queue(function),
        )
        for function in functions
    }
    listener = socket.socket(fileno=arguments.listen)
    origins = os.environ.get(cors.ORIGINS, "").split()
    app = application(
        lambda function, event: pools[function].invoke(event),
        tokens.key_in(arguments.data),
        origins,
        Site(DIST, Sessions(arguments.data, listener.getsockname()[1]), origins, _socket_origins()),
    )
    # Each function's events have threads of their own, and the page's files have some.
    threads = sum(environments(one) + queue(one) for one in functions) + _FILE_THREADS
    web_server(app, listener, threads).run()


if __name__ == "__main__":
    main()
