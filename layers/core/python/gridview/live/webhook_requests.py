"""Models of the request bodies about webhooks. The OpenAPI document is made from them. Pure."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field as ModelField
from pydantic import ValidationInfo, WithJsonSchema, field_validator

from gridview.live.targets import MAX_URL, URL_PATTERN, target_of
from gridview.live.webhook import EVENTS, MOVES
from gridview.query.grid_request import MAX_COLUMNS
from gridview.query.predicates import NUMBER
from gridview.schema import ids
from gridview.schema.catalog import Catalog
from gridview.schema.fields import NUM
from gridview.support.errors import FieldError, InvalidRequest
from gridview.support.validation import RequestModel, omissible

LOCALHOST = "localhost"
"""The key in a validation's context that says whether servers of this machine are accepted."""

_FieldId = Annotated[str, WithJsonSchema(ids.FIELD_ID_SCHEMA)]
_Kind = Literal["create", "update", "delete", "restore", "enter", "leave"]
_Events = Annotated[list[_Kind], ModelField(min_length=1, max_length=len(EVENTS))]
_URL = WithJsonSchema(
    {
        "type": "string",
        "pattern": URL_PATTERN,
        "maxLength": MAX_URL,
        "description": "The URL of the receiver: https, a host name instead of an IP address, port 443.",
    }
)


def _checked_url(url: str, info: ValidationInfo) -> str:
    target_of(url, localhost=bool((info.context or {}).get(LOCALHOST)))
    return url


def _checked_events(events: list[_Kind]) -> list[_Kind]:
    if len(set(events)) < len(events):
        raise ValueError("must not name an event twice")
    return events


def keys_of_columns(catalog: Catalog, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the internal ids of fields. InvalidRequest lists names that are no fields of the project, or
    occur twice.
    """
    found = [NUMBER if one == NUM else catalog.get(one) for one in columns]
    wrong = [
        FieldError(
            f"columns.{at}",
            "is not a field of the project" if found[at] is None else "must not be named twice",
        )
        for at, one in enumerate(columns)
        if found[at] is None or one in columns[:at]
    ]
    if wrong:
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", wrong)
    return tuple(one.key for one in found if one is not None)


def check_events(events: Sequence[str], *, of_view: bool) -> None:
    """Raise InvalidRequest if these are no events of a project, or of a view."""
    known = MOVES if of_view else EVENTS
    if not {*events} <= {*known}:
        message = f"must be among {', '.join(known)}"
        raise InvalidRequest(
            "The request is not valid. Fix what `errors` lists.", [FieldError("events", message)]
        )


_View = Annotated[str, ModelField(pattern=f"^{ids.VIEW.pattern}$")] | None
_SentColumns = (
    Annotated[list[_FieldId], ModelField(max_length=MAX_COLUMNS, json_schema_extra={"uniqueItems": True})]
    | None
)


class WebhookCreate(RequestModel):
    """POST /v1/projects/{project}/webhooks. By default the webhook gets all events."""

    url: Annotated[str, _URL]
    view: _View = ModelField(
        default=None,
        description="A shared view. The webhook follows its rows, by its present filter; `events` are then `enter`, `leave` "
        "and `update`.",
    )
    columns: _SentColumns = omissible(
        description="The only fields whose values are sent; null for all. By default the columns of the view, or all."
    )
    events: _Events = omissible()
    enabled: bool = True

    _url = field_validator("url")(_checked_url)
    _named_once = field_validator("events")(_checked_events)


class WebhookPatch(RequestModel):
    """PATCH /v1/projects/{project}/webhooks/{webhook}. Omitted properties stay unchanged."""

    url: Annotated[str, _URL] = omissible()
    view: _View = omissible(
        description="A shared view, by its present filter, even if it is the same view; null for all issues. Unless given, "
        "`events` become all, and `columns` those of the view."
    )
    columns: _SentColumns = omissible(description="The only fields whose values are sent; null for all.")
    events: _Events = omissible()
    enabled: bool = omissible()
    warning: None = omissible(description="null confirms the webhook as it is, and clears the warning.")

    _url = field_validator("url")(_checked_url)
    _named_once = field_validator("events")(_checked_events)
