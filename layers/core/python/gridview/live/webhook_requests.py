"""Models of the request bodies about webhooks. The OpenAPI document is made from them. Pure."""

from typing import Annotated, Literal

from pydantic import Field as ModelField
from pydantic import ValidationInfo, WithJsonSchema, field_validator

from gridview.live.targets import MAX_URL, URL_PATTERN, target_of
from gridview.live.webhook import EVENTS
from gridview.support.validation import RequestModel, omissible

LOCALHOST = "localhost"
"""What the context of a validation is called that says whether servers of this machine are taken."""

_Kind = Literal["create", "update", "delete", "restore"]
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
    return sorted(events, key=EVENTS.index)


class WebhookCreate(RequestModel):
    """POST /v1/projects/{project}/webhooks. Without `events` it gets all of them."""

    url: Annotated[str, _URL]
    events: _Events = ModelField(default=list(EVENTS))
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
