"""The errors of requests, and the one table that says how each is answered (RFC 9457)."""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

MAX_ERRORS = 100
"""The most errors that one problem lists; `more` counts the others."""
MAX_PROBLEM_BYTES = 64 * 1024
"""The largest problem document."""

_MAX_DETAIL = 1_000
_MAX_FIELD = 200
_MAX_MESSAGE = 500
"""The most characters of a text in a problem. A longer one is cut: it may repeat the client's input."""
_ENVELOPE_BYTES = 128
"""Room for the request's id and the count of further errors."""


class FieldError(NamedTuple):
    """One thing wrong with one field of a request; `field` is a dotted path such as `fields.start`."""

    field: str
    message: str


class RequestError(Exception):
    """A request that is answered with a problem document. `detail` is for people; `errors` name the fields
    that are wrong.

    - `more`: the number of further errors.
    - `members`: further members of the problem document. `headers`: headers that go with it.
    - `conflicts`: each with `field`, `by`, the values `yours` and `theirs`, and `version` if it is known.
    - `current`: the present resource.

    The document contains conflicts and the resource as far as they fit.
    """

    def __init__(
        self,
        detail: str,
        errors: Iterable[FieldError] = (),
        members: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        more: int = 0,
        conflicts: Iterable[Mapping[str, object]] = (),
        current: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = tuple(errors)
        self.more = more
        self.members = dict(members or {})
        self.headers = dict(headers or {})
        self.conflicts = tuple(conflicts)
        self.current = current


class InvalidRequest(RequestError):
    """The request is malformed, or a value in it is not valid."""


class ComputedFieldWrite(InvalidRequest):
    """The request sets a value that a formula computes."""


COMPUTED_FIELD = "is computed by a formula: change the fields that the formula reads"
"""The message about a field that cannot be written because its values are computed."""


def invalid(detail: str, errors: Iterable[FieldError]) -> InvalidRequest:
    """Return the error of a request with these errors. A value of a computed field among them decides its kind."""
    found = tuple(errors)
    kind = ComputedFieldWrite if any(one.message == COMPUTED_FIELD for one in found) else InvalidRequest
    return kind(detail, found)


class CursorExpired(RequestError):
    """The index of the cursor was rebuilt, or the changes after the cursor are no longer kept."""


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


class FieldInUse(Conflict):
    """Formulas read the field, or name its option; `members` have their `dependents`."""


class IndexBuilding(Conflict):
    """The request needs an index that is being built in the background; `members` have the progress."""


class RemovalInProgress(Conflict):
    """The id belongs to a deleted attribute whose data are being removed; `members` have the progress."""


class HistoryDisabled(Conflict):
    """The project keeps no history of its changes."""


class HistoryNotReady(Conflict):
    """The stream consumer has not recorded all of a change yet. The header `Retry-After` says how long to
    wait.
    """


class HistoryExpired(RequestError):
    """The change is so old that it is not remembered any more, or perhaps not all of it."""


class EditConflict(Conflict):
    """Others have set the same fields to other values since the version that the client names; `conflicts`
    lists them.
    """


class AnchorGone(Conflict):
    """The issue beside which rows are to be placed does not exist any more."""


class VersionMismatch(RequestError):
    """The resource has changed since the version that the client names."""


class TooLarge(RequestError):
    """The request, or its answer, is too large."""


class QueryTooExpensive(RequestError):
    """A query would read more than it may, or needs an index. `members` have the remedies."""


class UnfollowableFilter(RequestError):
    """The rows of a filter cannot be followed, because they change all the time."""


class LimitExceeded(RequestError):
    """The request would exceed a limit of a project, of a request or of a definition."""


class RequestInProgress(RequestError):
    """A request with the same Idempotency-Key is in progress. A later retry gets its answer."""


class TooManyWrites(RequestError):
    """The tenant writes faster than the deployment allows. The header `Retry-After` says how long to wait."""


class TooManyJobs(RequestError):
    """The project has as many open jobs as it may have. One that ends makes room."""


class TooManyPolls(RequestError):
    """The user sends requests that wait faster than earlier ones end. The header `Retry-After` says how long
    to wait.
    """


class TooManyLongQueries(RequestError):
    """The long queries of a user or a tenant take more than their share. The header `Retry-After` says how
    long to wait.
    """


class TooManySockets(RequestError):
    """The tenant has as many sockets open as it may have. One that ends makes room."""


class TooManySubscriptions(RequestError):
    """The user opens sockets and subscriptions faster than they may."""


class TooManyMessages(RequestError):
    """A socket says something more often than it may."""


class Overloaded(RequestError):
    """DynamoDB, or STS before it, refuses calls for now. The same request may succeed later."""


class Internal(RequestError):
    """The service failed for a reason that the request does not cause."""


class ProblemType(NamedTuple):
    """The answer to a kind of error."""

    status: int
    name: str
    title: str


PROBLEMS: dict[type[RequestError], ProblemType] = {
    InvalidRequest: ProblemType(400, "invalid-request", "Invalid request"),
    ComputedFieldWrite: ProblemType(400, "computed-field", "Computed field"),
    CursorExpired: ProblemType(410, "cursor-expired", "Cursor expired"),
    Unauthenticated: ProblemType(401, "unauthenticated", "Authentication required"),
    Forbidden: ProblemType(403, "forbidden", "Insufficient role"),
    NotFound: ProblemType(404, "not-found", "Not found"),
    MethodNotAllowed: ProblemType(405, "method-not-allowed", "Method not allowed"),
    Conflict: ProblemType(409, "conflict", "Conflict with the current state"),
    FieldInUse: ProblemType(409, "field-in-use", "Field in use"),
    IndexBuilding: ProblemType(409, "index-building", "Index is being built"),
    RemovalInProgress: ProblemType(409, "removal-in-progress", "Removal in progress"),
    HistoryDisabled: ProblemType(409, "history-disabled", "History disabled"),
    HistoryNotReady: ProblemType(409, "history-not-ready", "History not ready"),
    HistoryExpired: ProblemType(410, "history-expired", "History expired"),
    EditConflict: ProblemType(409, "edit-conflict", "Edit conflict"),
    AnchorGone: ProblemType(409, "anchor-gone", "Anchor gone"),
    VersionMismatch: ProblemType(412, "version-mismatch", "Version mismatch"),
    TooLarge: ProblemType(413, "too-large", "Too large"),
    QueryTooExpensive: ProblemType(422, "query-too-expensive", "Query too expensive"),
    UnfollowableFilter: ProblemType(422, "unfollowable-filter", "Filter cannot be followed"),
    LimitExceeded: ProblemType(422, "limit-exceeded", "Limit exceeded"),
    RequestInProgress: ProblemType(429, "request-in-progress", "Request in progress"),
    TooManyWrites: ProblemType(429, "too-many-writes", "Too many writes"),
    TooManyJobs: ProblemType(429, "too-many-jobs", "Too many jobs"),
    TooManyPolls: ProblemType(429, "too-many-polls", "Too many polls"),
    TooManyLongQueries: ProblemType(429, "too-many-long-queries", "Too many long queries"),
    TooManySockets: ProblemType(429, "too-many-sockets", "Too many sockets"),
    TooManySubscriptions: ProblemType(429, "too-many-subscriptions", "Too many subscriptions"),
    TooManyMessages: ProblemType(429, "too-many-messages", "Too many messages"),
    Overloaded: ProblemType(503, "overloaded", "Service busy"),
    Internal: ProblemType(500, "internal", "Internal error"),
}

INTERNAL = PROBLEMS[Internal]


def problem(error: RequestError, room: int = MAX_PROBLEM_BYTES) -> dict[str, object]:
    """Return the problem document of an error without the request's id: `type`, `title`, `status`, `detail`
    and, if any, `errors`.

    It takes at most `room` bytes as JSON. `more` is how many errors and conflicts it leaves out. If a
    conflict does not fit, its values are left out first; `current` is left out if it does not fit.
    """
    document = {**problem_document(problem_type(error), _cut(error.detail, _MAX_DETAIL)), **error.members}
    left = _Room(room - _ENVELOPE_BYTES - _size(document))
    listed: list[Mapping[str, object]] = []
    for one in error.errors[:MAX_ERRORS]:
        entry = {"field": _cut(one.field, _MAX_FIELD), "message": _cut(one.message, _MAX_MESSAGE)}
        if not left.takes(entry):
            break
        listed.append(entry)
    if listed:
        document["errors"] = listed
    # All are named before the values of any are included.
    named = [one for one in error.conflicts if left.takes(_named(one))]
    conflicts = [one if left.takes(_values(one)) else _named(one) for one in named]
    if conflicts:
        document["conflicts"] = conflicts
    if error.current is not None and left.takes({"current": error.current}):
        document["current"] = error.current
    more = len(error.errors) - len(listed) + len(error.conflicts) - len(conflicts) + error.more
    return {**document, "more": more} if more else document


class _Room:
    """The bytes that are left in a problem document."""

    def __init__(self, left: int) -> None:
        self._left = left

    def takes(self, part: Mapping[str, object]) -> bool:
        """Return whether a part fits. If so, its bytes are taken."""
        size = _size(part)
        if size > self._left:
            return False
        self._left -= size
        return True


def _named(conflict: Mapping[str, object]) -> Mapping[str, object]:
    return {name: conflict[name] for name in ("field", "by", "version") if name in conflict}


def _values(conflict: Mapping[str, object]) -> Mapping[str, object]:
    return {name: conflict[name] for name in ("yours", "theirs")}


def _cut(text: str, limit: int) -> str:
    """Return the text, or its beginning, in characters that UTF-8 can express."""
    shown = text if len(text) <= limit else text[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return shown.encode(errors="replace").decode()


def _size(document: Mapping[str, object]) -> int:
    """Bytes of JSON at most, with a comma. ASCII: no other form is longer."""
    return len(json.dumps(document, default=str)) + 1


def problem_type(error: RequestError) -> ProblemType:
    """Return the answer to an error: as the table says of its class, or of the nearest above it."""
    return next(PROBLEMS[kind] for kind in type(error).__mro__ if kind in PROBLEMS)


def problem_document(kind: ProblemType, detail: str) -> dict[str, object]:
    """Return the members that every problem has. The type is the bare name: relative to the document, as RFC
    9457 allows.
    """
    return {"type": kind.name, "title": kind.title, "status": kind.status, "detail": detail}
