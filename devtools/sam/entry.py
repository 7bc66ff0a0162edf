"""The entry before each handler under `sam local`. It does the work of API Gateway that SAM's emulator leaves out.

SAM hands over header names as the client wrote them, and checks no token. The entry writes the names in lower case.
It checks the token of a route that requires one as `./dev up` does, and puts its claims where an authorizer puts
them. Events that are no HTTP requests pass through, and so do events that carry claims already: no client can send
one over HTTP.

It runs in SAM's container, from a layer that is never deployed. Everything that it imports is in that layer
(`layer`), in the core layer or in the standard library.
"""

import importlib
import json
import os
from collections.abc import Callable
from typing import Any

from devtools.local import gateway, tokens
from devtools.sam.names import HANDLER, ROUTES_WITH_TOKEN, TOKEN_KEY

Event = dict[str, Any]
Handler = Callable[[Event, Any], Any]


def before(handler: Handler, *, key: bytes, routes_with_token: frozenset[str]) -> Handler:
    """A handler that checks tokens before it calls `handler`. `key` signs good tokens."""

    def entry(event: Event, context: Any) -> Any:
        if "http" not in event.get("requestContext", {}):
            return handler(event, context)
        event["headers"] = {name.lower(): value for name, value in event.get("headers", {}).items()}
        request = event["requestContext"]
        if event["routeKey"] in routes_with_token and "authorizer" not in request:
            try:
                claims = tokens.claims_in(key, event["headers"].get("authorization", ""))
            except tokens.InvalidTokenError:
                return _result(gateway.unauthenticated(request["requestId"]))
            request["authorizer"] = {"jwt": {"claims": claims, "scopes": None}}
        return handler(event, context)

    return entry


def _result(response: gateway.Response) -> Event:
    return {
        "statusCode": response.status,
        "headers": dict(response.headers),
        "body": response.body.decode(),
        "isBase64Encoded": False,
    }


def _handler(name: str) -> Handler:
    module, _, attribute = name.rpartition(".")
    handler: Handler = getattr(importlib.import_module(module), attribute)
    return handler


if HANDLER in os.environ:
    handler = before(
        _handler(os.environ[HANDLER]),
        key=os.environ[TOKEN_KEY].encode(),
        routes_with_token=frozenset(json.loads(os.environ[ROUTES_WITH_TOKEN])),
    )
