"""The local server's application in this process, over the functions of an account, for client libraries and tools."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from devtools.local import tokens
from devtools.local.server import application
from tests.support.http import Context, Handler

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

_KEY = b"k" * 64


def served(handlers: Mapping[str, Handler]) -> "WSGIApplication":
    """The API as a WSGI application."""

    def invoke(function: str, event: dict[str, Any]) -> Any:
        return handlers[function](event, Context())

    return application(invoke, _KEY)


def token(*, tenant: str = "0807", role: str = "admin", user: str = "ann") -> str:
    """A bearer token that the application accepts."""
    return tokens.issue(_KEY, tenant=tenant, role=role, user=user)
