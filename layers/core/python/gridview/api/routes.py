"""The statements about an endpoint: the route of API Gateway, and the content of its document. Pure.

`endpoints` has the decorators that make them. `infra.routes` lists the routes of all functions.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from gridview.commands.actor import Role
from gridview.support.errors import RequestError

FunctionName = Literal["query", "command", "live"]
Method = Literal["GET", "POST", "PATCH", "DELETE"]


class Takes(Enum):
    """A header that a request may have. Each write also takes `X-Change-Id`, and each POST that writes
    `Idempotency-Key`.
    """

    VERSIONS = "If-Match"
    TOKENS = "X-Consistency-Token: the answer includes the writes that the tokens name"
    TOKENS_OF_CHANGE = "X-Consistency-Token: the undo includes the writes that the tokens name"


class Gives(Enum):
    """A header that an answer may have, beyond `X-Change-Id` of writes, `Location` of 201 and 202, and `ETag`
    of versions.
    """

    TOKEN_OF_WRITES = "X-Consistency-Token: names the issues that the request wrote"  # noqa: S105  the name of a header
    TOKEN_OF_SHOWN = "X-Consistency-Token: names the issues that the answer shows"  # noqa: S105
    TOKEN_OF_CHANGES = "X-Consistency-Token: names the changes that the answer contains; or Retry-After"  # noqa: S105


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One endpoint.

    - `operation`: its id in the document, the name of its function. `tag` is its group there, `summary` its line.
    - `path`: as in API Gateway, with parameters in braces.
    - `role`: the lowest that may call it; None: no token is required.
    - `status`: of the answer if nothing is wrong.
    - `body`, `parameters` and `answer`: names of models, which only the document needs (`infra.openapi`).
    - `takes` and `gives`: the headers of the request and of the answer that are documented beside those of each route.
    - `problems`: the ones that do not follow from the rest.
    - `job`: the answer may be 202 with a job.
    """

    operation: str
    function: FunctionName
    tag: str
    method: Method
    path: str
    role: Role | None
    summary: str
    status: int = 200
    body: str | None = None
    parameters: str | None = None
    answer: str | None = None
    takes: tuple[Takes, ...] = ()
    gives: tuple[Gives, ...] = ()
    problems: tuple[type[RequestError], ...] = ()
    job: bool = False

    @property
    def key(self) -> str:
        """The route key in API Gateway's notation: `GET /v1/projects/{project}`."""
        return f"{self.method} {self.path}"

    @property
    def writes(self) -> bool:
        """Whether it may change anything."""
        return self.function == "command" and self.method != "GET"

    @property
    def repeatable(self) -> bool:
        """Whether only an Idempotency-Key keeps its writes from being repeated."""
        return self.method == "POST" and self.writes
