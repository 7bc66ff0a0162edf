"""How an HTTP API of API Gateway routes a request: the most specific of its paths wins. Pure."""

import functools
from typing import NamedTuple
from urllib.parse import unquote

from gridview.api.routes import Route
from infra.routes import REFUSES, Resource, resources


class Match(NamedTuple):
    """The known path of a request, with its parameters. Its method may be one that the path does not have."""

    resource: Resource
    method: str
    parameters: dict[str, str]

    @property
    def route(self) -> Route | None:
        """The call; None if the path does not have the method."""
        return self.resource.calls.get(self.method)

    @property
    def key(self) -> str:
        """The route key in the event."""
        return f"{self.method} {self.resource.path}"

    @property
    def function(self) -> str:
        """The function that answers."""
        return self.route.function if self.route else REFUSES

    @property
    def needs_token(self) -> bool:
        """Whether a token is required."""
        return not self.resource.public if self.route is None else self.route.role is not None


class UnknownPathError(LookupError):
    """The API has no such path."""


def match(method: str, path: str) -> Match:
    """The most specific path that a request fits: a literal segment beats a parameter. UnknownPathError if it fits none.

    Segments are compared as sent and decoded afterwards, so an encoded slash belongs to a parameter and separates nothing.
    """
    segments = path.split("/")
    for resource in _most_specific_first():
        pattern = resource.path.split("/")
        if len(pattern) != len(segments):
            continue
        parameters: dict[str, str] = {}
        for expected, segment in zip(pattern, segments, strict=True):
            if expected.startswith("{") and segment:
                parameters[expected[1:-1]] = unquote(segment)
            elif expected != segment:
                break
        else:
            return Match(resource, method, parameters)
    raise UnknownPathError(path)


@functools.cache
def _most_specific_first() -> tuple[Resource, ...]:
    return tuple(
        sorted(resources(), key=lambda one: [segment.startswith("{") for segment in one.path.split("/")])
    )
