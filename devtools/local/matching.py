"""How an HTTP API of API Gateway routes a request: the most specific route of its method, else the greedy one. Pure."""

from typing import Final, NamedTuple
from urllib.parse import unquote

from gridview.api.paths import EVERY_PATH, most_specific
from gridview.api.routes import Route
from infra.routes import BY_PATH, DECLARED, METHODS, REFUSES, Declared

_BEFORE_GREEDY: Final = EVERY_PATH.partition("{")[0]
_BY_KEY: Final = {one.key: one for one in DECLARED}
_PATHS: Final = {
    method: [one.path for one in DECLARED if one.method == method and one.path != EVERY_PATH]
    for method in METHODS
}


class Match(NamedTuple):
    """The route of a request, with the parameters of its path."""

    declared: Declared
    parameters: dict[str, str]

    @property
    def route(self) -> Route | None:
        """The endpoint's; None if the request is refused."""
        return self.declared.call

    @property
    def key(self) -> str:
        """The route key in the event."""
        return self.declared.key

    @property
    def function(self) -> str:
        """The function that answers."""
        return self.declared.function

    @property
    def needs_token(self) -> bool:
        """Whether a token is required."""
        return not self.declared.public


class UnknownPathError(LookupError):
    """No route fits: API Gateway itself answers 404."""


def match(method: str, path: str) -> Match:
    """The route of a request. UnknownPathError if none fits.

    Segments are compared as sent and decoded afterwards, so an encoded slash belongs to a parameter and separates nothing. API
    Gateway has no route for HEAD, OPTIONS or an unknown method. Here a known path refuses them, so that each method has a 405.
    """
    found = most_specific(_PATHS.get(method, BY_PATH), path)
    if found is not None:
        declared = _BY_KEY.get(f"{method} {found}")
        refused = Declared(method, found, REFUSES, BY_PATH[found].public)
        return Match(declared or refused, _parameters(found, path))
    greedy = _BY_KEY.get(f"{method} {EVERY_PATH}")
    rest = path.removeprefix(_BEFORE_GREEDY)
    if greedy is None or rest in ("", path):
        raise UnknownPathError(path)
    return Match(greedy, {"proxy": unquote(rest)})


def _parameters(known: str, path: str) -> dict[str, str]:
    return {
        name[1:-1]: unquote(segment)
        for name, segment in zip(known.split("/"), path.split("/"), strict=True)
        if name.startswith("{")
    }
