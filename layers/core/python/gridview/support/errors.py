"""What can go wrong with a request, and the one table that says how each is answered (RFC 9457)."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class FieldError(NamedTuple):
    """One thing wrong with one field of a request; `field` is a dotted path such as `fields.start`."""

    field: str
    message: str


class RequestError(Exception):
    """A request that is answered with a problem; `detail` is for a person, `errors` name what is wrong with which field.

    `members` are what the problem document holds besides.
    """

    def __init__(
        self, detail: str, errors: Iterable[FieldError] = (), members: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = tuple(errors)
        self.members = dict(members or {})


class InvalidRequest(RequestError):
    """The request is malformed, or a value in it is not valid."""


class CursorExpired(RequestError):
    """The cursor belongs to an index that was rebuilt meanwhile."""


class Unauthenticated(RequestError):
    """There is no token, or none that is accepted here."""


class Forbidden(RequestError):
    """The token's role is too low."""


class NotFound(RequestError):
    """The thing does not exist, or belongs to another tenant: the answer is the same."""


class Conflict(RequestError):
    """The request contradicts what is there."""


class NotReady(Conflict):
    """What the request asks for is being made in the background; `members` tell how far that has come."""


class VersionMismatch(RequestError):
    """The thing was changed since the version that the client names."""


class TooLarge(RequestError):
    """The request is larger than what can be answered or taken."""


class Unprocessable(RequestError):
    """The request is well-formed, but a limit or the project's state forbids it."""


class InProgress(RequestError):
    """The same request, by its Idempotency-Key, is being worked on; asked for again later it will have been answered."""


class Overloaded(RequestError):
    """The table refuses calls for now; the same request may go through later."""


class ProblemType(NamedTuple):
    """How a kind of error is answered."""

    status: int
    name: str
    title: str


PROBLEMS: dict[type[RequestError], ProblemType] = {
    InvalidRequest: ProblemType(400, "invalid-request", "The request is not valid"),
    CursorExpired: ProblemType(400, "cursor-expired", "The cursor has expired"),
    Unauthenticated: ProblemType(401, "unauthenticated", "A valid token is needed"),
    Forbidden: ProblemType(403, "forbidden", "The role does not allow this"),
    NotFound: ProblemType(404, "not-found", "There is no such thing"),
    Conflict: ProblemType(409, "conflict", "The request contradicts what is there"),
    NotReady: ProblemType(409, "not-ready", "It is not ready yet"),
    VersionMismatch: ProblemType(412, "version-mismatch", "It was changed meanwhile"),
    TooLarge: ProblemType(413, "too-large", "Too large"),
    Unprocessable: ProblemType(422, "unprocessable", "This cannot be done"),
    InProgress: ProblemType(429, "in-progress", "The same request is being worked on"),
    Overloaded: ProblemType(503, "overloaded", "Try again later"),
}

INTERNAL = ProblemType(500, "internal", "Something went wrong here")


def problem(error: RequestError) -> dict[str, object]:
    """The problem document of an error, but for the request's id: `type`, `title`, `status`, `detail` and, if any, `errors`."""
    document = problem_document(problem_type(error), error.detail)
    if error.errors:
        document["errors"] = [error._asdict() for error in error.errors]
    return {**document, **error.members}


def problem_type(error: RequestError) -> ProblemType:
    """How an error is answered: as the table says of its class, or of the nearest above it."""
    return next(PROBLEMS[kind] for kind in type(error).__mro__ if kind in PROBLEMS)


def problem_document(kind: ProblemType, detail: str) -> dict[str, object]:
    """The members that every problem has. The type is the bare name: relative to the document, as RFC 9457 allows."""
    return {"type": kind.name, "title": kind.title, "status": kind.status, "detail": detail}
