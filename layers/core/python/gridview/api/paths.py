"""The known path that a request names, with any method. Pure.

API Gateway chooses a route by method and path together. A request whose method and path match no route of
their own reaches the route of its method for every path. The function of that route then compares the path
with the paths of the endpoints.
"""

from collections.abc import Iterable
from typing import Final

EVERY_PATH: Final = "/v1/{proxy+}"
"""The path of the routes that refuse a request: 405 if its path is known, and 404 if not. API Gateway prefers
any other route.

The variable has the name that AWS uses; MiniStack takes no other for a greedy one.
"""


def most_specific(paths: Iterable[str], path: str) -> str | None:
    """Return the one of these paths that a request's path fits; None if it fits none.

    If several fit, a literal segment counts more than a parameter, from the left on, as in API Gateway:
    `.../issues/batch` is not `.../issues/{num}`. A trailing slash is one more segment, and an empty segment
    fits no parameter.
    """
    fitting = [one for one in paths if fits(one, path)]
    return min(fitting, key=_parameters, default=None)


def fits(known: str, path: str) -> bool:
    """Return whether a path has the literal segments of a known one, and something in the place of each
    parameter.
    """
    return known.count("/") == path.count("/") and all(
        segment == expected or (expected.startswith("{") and segment != "")
        for expected, segment in zip(known.split("/"), path.split("/"), strict=True)
    )


def _parameters(known: str) -> list[bool]:
    return [segment.startswith("{") for segment in known.split("/")]
