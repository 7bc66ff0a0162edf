"""The errors of requests, and the one table that says how each is answered (RFC 9457)."""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

MAX_ERRORS = 100
"""The most errors that one problem tells of; `more` counts the others."""
MAX_PROBLEM_BYTES = 64 * 1024
"""The largest problem document."""

_MAX_DETAIL = 1_000
_MAX_FIELD = 200
_MAX_MESSAGE = 500
"""Characters that are told of a text. A longer one is cut: it may repeat what the client sent."""
_ENVELOPE_BYTES = 128
"""Room for the request's id and the count of further errors."""


class FieldError(NamedTuple):
    """One thing wrong with one field of a request; `field` is a dotted path such as `fields.start`."""

    field: str
    message: str


class RequestError(Exception):
    """A request that is answered with a problem document. `detail` is for people; `errors` name the fields that are wrong.

    `more` counts further errors. `members` are further members of the problem document, `headers` those that go with it.
    """

    def __init__(
        self,
        detail: str,
        errors: Iterable[FieldError] = (),
        members: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        more: int = 0,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = tuple(errors)
        self.more = more
        self.members = dict(members or {})
        self.headers = dict(headers or {})


class InvalidRequest(RequestError):
    """The request is malformed, or a value in it is not valid."""


class CursorExpired(RequestError):
    """The cursor belongs to an index that has been rebuilt since."""


class Unauthenticated(RequestError):
    """The token is missing or not accepted."""


class Forbidden(RequestError):
    """The token's role is too low."""


class NotFound(RequestError):
    """The resource does not exist, or belongs to another tenant: the answer is the same."""


class MethodNotAllowed(RequestError):
    """The path is known, but it has other methods; the header `Allow` lists them."""


class Conflict(RequestError):
    """The request contradicts the current state."""


class NotReady(Conflict):
    """What the request needs is being built in the background; `members` tell the progress."""


class VersionMismatch(RequestError):
    """The resource has changed since the version that the client names."""


class TooLarge(RequestError):
    """The request, or its answer, is too large."""


class Unprocessable(RequestError):
    """The request is well-formed, but a limit or the project's state forbids it."""


class InProgress(RequestError):
    """A request with the same Idempotency-Key is in progress. A later retry gets its answer."""


class TooManyWrites(RequestError):
    """The tenant writes faster than the deployment allows. The header `Retry-After` says how long to wait."""


class Overloaded(RequestError):
    """DynamoDB, or STS before it, refuses calls for now. The same request may succeed later."""


class ProblemType(NamedTuple):
    """How a kind of error is answered."""

    status: int
    name: str
    title: str


PROBLEMS: dict[type[RequestError], ProblemType] = {
    InvalidRequest: ProblemType(400, "invalid-request", "Invalid request"),
    CursorExpired: ProblemType(400, "cursor-expired", "Cursor expired"),
    Unauthenticated: ProblemType(401, "unauthenticated", "Authentication required"),
    Forbidden: ProblemType(403, "forbidden", "Insufficient role"),
    NotFound: ProblemType(404, "not-found", "Not found"),
    MethodNotAllowed: ProblemType(405, "method-not-allowed", "Method not allowed"),
    Conflict: ProblemType(409, "conflict", "Conflict with the current state"),
    NotReady: ProblemType(409, "not-ready", "Not ready"),
    VersionMismatch: ProblemType(412, "version-mismatch", "Version mismatch"),
    TooLarge: ProblemType(413, "too-large", "Too large"),
    Unprocessable: ProblemType(422, "unprocessable", "Unprocessable request"),
    InProgress: ProblemType(429, "in-progress", "Request in progress"),
    TooManyWrites: ProblemType(429, "too-many-writes", "Too many writes"),
    Overloaded: ProblemType(503, "overloaded", "Service busy"),
}

INTERNAL = ProblemType(500, "internal", "Internal error")


def problem(error: RequestError, room: int = MAX_PROBLEM_BYTES) -> dict[str, object]:
    """The problem document of an error, but for the request's id: `type`, `title`, `status`, `detail` and, if any, `errors`.

    It takes at most `room` bytes as JSON. `more` is how many errors it leaves out.
    """
    document = {**problem_document(problem_type(error), _cut(error.detail, _MAX_DETAIL)), **error.members}
    told: list[dict[str, str]] = []
    left = room - _ENVELOPE_BYTES - _size(document)
    for one in error.errors[:MAX_ERRORS]:
        entry = {"field": _cut(one.field, _MAX_FIELD), "message": _cut(one.message, _MAX_MESSAGE)}
        left -= _size(entry)
        if left < 0:
            break
        told.append(entry)
    if told:
        document["errors"] = told
    more = len(error.errors) - len(told) + error.more
    return {**document, "more": more} if more else document


def _cut(text: str, limit: int) -> str:
    """The text, or its beginning, in characters that UTF-8 can express."""
    shown = text if len(text) <= limit else text[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return shown.encode(errors="replace").decode()


def _size(document: Mapping[str, object]) -> int:
    """Bytes of JSON at most, with a comma. ASCII: no other form is longer."""
    return len(json.dumps(document, default=str)) + 1


def problem_type(error: RequestError) -> ProblemType:
    """How an error is answered: as the table says of its class, or of the nearest above it."""
    return next(PROBLEMS[kind] for kind in type(error).__mro__ if kind in PROBLEMS)


def problem_document(kind: ProblemType, detail: str) -> dict[str, object]:
    """The members that every problem has. The type is the bare name: relative to the document, as RFC 9457 allows."""
    return {"type": kind.name, "title": kind.title, "status": kind.status, "detail": detail}
