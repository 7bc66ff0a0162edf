"""The messages of a client over a socket, and the messages to it. Pure."""

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field as ModelField
from pydantic import field_validator

from gridview.encoding.json_codec import dumps, loads
from gridview.live.sockets import Bye
from gridview.query.request_filters import FilterDocument, not_with_a_view
from gridview.schema import ids
from gridview.schema.history import RESET
from gridview.support.errors import FieldError, InvalidRequest, RequestError, TooLarge, problem
from gridview.support.validation import RequestModel, parse

MAX_FRAME_BYTES: Final = 32_000
"""Bytes of a message in either direction: API Gateway counts each begun 32 KB, and refuses more from a
client.
"""

MAX_ITEMS_BYTES: Final = 24_000
"""Bytes of the events of one message: cursors and token go with them."""

_MAX_ROWS_BYTES: Final = 16_000
_MAX_PROBLEM_BYTES: Final = 8_000
_SUBSCRIPTION_ID = r"^[A-Za-z0-9_-]{1,32}$"


class Subscribe(RequestModel):
    """Subscribe to the changes after a cursor, and all that follow."""

    do: Literal["subscribe"]
    id: Annotated[str, ModelField(pattern=_SUBSCRIPTION_ID)]
    since: str | None = None
    view: Annotated[str, ModelField(pattern=f"^{ids.VIEW.pattern}$")] | None = None
    sort: list[Any] = ModelField(default_factory=list, max_length=32)
    filter: FilterDocument = None

    _alone = field_validator("sort", "filter")(not_with_a_view)

    @property
    def rows(self) -> dict[str, Any]:
        """Return the request for rows, to be judged by the current definitions."""
        asked = {"view": self.view, "sort": self.sort, "filter": self.filter}
        return {name: value for name, value in asked.items() if value not in (None, [])}


class Unsubscribe(RequestModel):
    """End a subscription."""

    do: Literal["unsubscribe"]
    id: Annotated[str, ModelField(pattern=_SUBSCRIPTION_ID)]


class LookAt(RequestModel):
    """Say at which row the user looks (null: at none), and receive who looks at which."""

    do: Literal["look"]
    num: Annotated[int, ModelField(ge=1, le=ids.MAX_ISSUE_NUMBER)] | None = None


class Renew(RequestModel):
    """Keep the socket open for as long as the token that bought this ticket is valid."""

    do: Literal["renew"]
    ticket: str


Message = Subscribe | Unsubscribe | LookAt | Renew

_MESSAGES: Final[Mapping[str, type[Message]]] = {
    "subscribe": Subscribe,
    "unsubscribe": Unsubscribe,
    "look": LookAt,
    "renew": Renew,
}


def message_in(body: str, *, is_base64: bool = False) -> Message:
    """Parse a client's message. InvalidRequest, TooLarge; `said_id` returns the id to send with the error."""
    document = _document(body, is_base64)
    if not isinstance(document, dict):
        raise InvalidRequest("A message must be a JSON object.", [FieldError("body", "must be an object")])
    wanted = document.get("do")
    if not isinstance(wanted, str) or wanted not in _MESSAGES:
        allowed = f"must be one of {', '.join(_MESSAGES)}"
        raise InvalidRequest(f"`do` {allowed}.", [FieldError("do", allowed)])
    message = parse(_MESSAGES[wanted], document)
    if isinstance(message, Subscribe) and len(dumps(message.rows)) > _MAX_ROWS_BYTES:
        raise TooLarge(
            f"A sort and a filter can have {_MAX_ROWS_BYTES:,} bytes. Save a view, which can have more, and subscribe "
            "to it."
        )
    return message


def said_id(body: str) -> str | None:
    """Return the subscription that a message is about, if it names one; for the answer to a message that is
    no good.
    """
    try:
        document = _document(body, is_base64=False)
        return Unsubscribe(do="unsubscribe", id=document["id"]).id
    except (RequestError, ValueError, TypeError, KeyError):
        return None


def _document(body: str, is_base64: bool) -> Any:
    if len(body.encode(errors="surrogatepass")) > MAX_FRAME_BYTES * (4 / 3 if is_base64 else 1):
        raise TooLarge(f"A message can have {MAX_FRAME_BYTES:,} bytes.")
    if not is_base64:
        return loads(body)
    try:
        return loads(base64.b64decode(body, validate=True))
    except (binascii.Error, UnicodeDecodeError):
        raise InvalidRequest(
            "A message must be a JSON object in UTF-8.", [FieldError("body", "is not UTF-8")]
        ) from None


def changes_frame(
    subscription: str,
    since: str | None,
    items: Iterable[Mapping[str, Any]],
    cursor: str,
    token: str | None,
) -> bytes:
    """Return a message with the changes after the cursor `since`, and the cursor after them. A change that is
    too large becomes a reset.
    """
    content: dict[str, Any] = {"id": subscription, "since": since, "items": list(items), "next": cursor}
    frame = dumps(content if token is None else {**content, "token": token})
    return frame if len(frame) <= MAX_FRAME_BYTES else dumps({**content, "items": [RESET]})


def error_frame(error: RequestError, subscription: str | None = None) -> bytes:
    """Return a message that says that something was refused."""
    content: dict[str, Any] = {"error": problem(error, _MAX_PROBLEM_BYTES)}
    return dumps(content if subscription is None else {"id": subscription, **content})


def bye_frame(why: Bye) -> bytes:
    """Return the last message to a client."""
    return dumps({"bye": why})
