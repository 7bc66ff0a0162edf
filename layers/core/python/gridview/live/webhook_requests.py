"""Models of the request bodies about webhooks. The OpenAPI document is made from them. Pure."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field as ModelField
from pydantic import ValidationInfo, WithJsonSchema, field_validator

from gridview.live.targets import MAX_URL, URL_PATTERN, target_of
from gridview.live.webhook import EVENTS, MOVES
from gridview.schema import ids
from gridview.support.errors import FieldError, InvalidRequest
from gridview.support.validation import RequestModel, omissible

LOCALHOST = "localhost"
"""What the context of a validation is called that says whether servers of this machine are taken."""

_Kind = Literal["create", "update", "delete", "restore", "enter", "leave", "change"]
_Events = Annotated[list[_Kind], ModelField(min_length=1, max_length=len(EVENTS))]
_URL = WithJsonSchema(
    {
        "type": "string",
        "pattern": URL_PATTERN,
        "maxLength": MAX_URL,
        "description": "Of a receiver: https, a host with a name, port 443.",
    }
)


def _checked_url(url: str, info: ValidationInfo) -> str:
    target_of(url, localhost=bool((info.context or {}).get(LOCALHOST)))
    return url


def _checked_events(events: list[_Kind]) -> list[_Kind]:
    if len(set(events)) < len(events):
        raise ValueError("must not name an event twice")
    return sorted(events, key=(*EVENTS, *MOVES).index)


def check_events(events: Sequence[str], *, of_view: bool) -> None:
    """InvalidRequest if these are no events of a project, or of a view."""
    known = MOVES if of_view else EVENTS
    if not {*events} <= {*known}:
        told = f"must be among {', '.join(known)}"
        raise InvalidRequest("The request is not valid.", [FieldError("events", told)])


class WebhookCreate(RequestModel):
    """POST /v1/projects/{project}/webhooks. Without `events` it gets all of them."""

    url: Annotated[str, _URL]
    view: Annotated[str, ModelField(pattern=f"^{ids.VIEW.pattern}$")] | None = ModelField(
        default=None,
        description="A saved view that everybody sees: its rows are followed, and `events` are `enter`, `leave` and `change`.",
    )
    events: _Events = omissible()
    enabled: bool = True

    _url = field_validator("url")(_checked_url)
    _named_once = field_validator("events")(_checked_events)


class WebhookPatch(RequestModel):
    """PATCH /v1/projects/{project}/webhooks/{webhook}. Omitted properties stay unchanged."""

    url: Annotated[str, _URL] = omissible()
    events: _Events = omissible()
    enabled: bool = omissible()

    _url = field_validator("url")(_checked_url)
    _named_once = field_validator("events")(_checked_events)
