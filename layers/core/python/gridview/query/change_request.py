"""Requests for lists of changes: the history of an issue, and the activity of a project. Pure."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, WithJsonSchema
from pydantic import Field as ModelField

from gridview.encoding.values import USER_LIMIT, parse_datetime, parse_user
from gridview.query.grid_request import MAX_LIMIT, FieldId
from gridview.schema.catalog import Catalog
from gridview.schema.fields import NUM
from gridview.support.errors import FieldError, InvalidRequest
from gridview.support.validation import RequestModel, as_integers, parse

_NEVER_CHANGED = frozenset({NUM, "created", "updated", "created_by", "updated_by"})


def _changed_by_people(field_id: str) -> str:
    if field_id in _NEVER_CHANGED:
        raise ValueError("must be a field that users can change")
    return field_id


_Limit = Annotated[int, ModelField(ge=1, le=MAX_LIMIT)]
_Instant = Annotated[
    str, AfterValidator(parse_datetime), WithJsonSchema({"type": "string", "format": "date-time"})
]
_UserId = Annotated[str, ModelField(min_length=1, max_length=USER_LIMIT), AfterValidator(parse_user)]
_ChangedField = Annotated[FieldId, AfterValidator(_changed_by_people)]


class HistoryParameters(RequestModel):
    """GET /v1/projects/{project}/issues/{num}/history."""

    limit: _Limit = 100
    cursor: str | None = None


class ActivityParameters(HistoryParameters):
    """GET /v1/projects/{project}/activity."""

    by: _UserId | None = ModelField(
        default=None, description="The id of a user: their changes, and comments that mention them."
    )
    field: _ChangedField | None = ModelField(default=None, description="Only changes of this field.")
    mentions: _UserId | None = ModelField(
        default=None, description="Only comments that mention the user with this id."
    )
    since: _Instant | None = ModelField(
        default=None, alias="from", description="Only changes at this instant or later."
    )
    to: _Instant | None = ModelField(default=None, description="Only changes before this instant.")

    def shows(self, catalog: Catalog, entry: Mapping[str, Any]) -> bool:
        """Whether the request selects an entry of the activity, whatever its time."""
        field = None if self.field is None else catalog.get(self.field)
        return (
            (self.by is None or self.by == entry["by"] or self.by in entry.get("mentions", ()))
            and (field is None or field.key in entry.get("keys", ()))
            and (self.mentions is None or self.mentions in entry.get("mentions", ()))
        )


def of_an_issue(parameters: Mapping[str, str]) -> HistoryParameters:
    """Return the request for an issue's history. Raises InvalidRequest."""
    return parse(HistoryParameters, {**parameters, **as_integers(parameters, "limit")})


def of_a_project(catalog: Catalog, parameters: Mapping[str, str]) -> ActivityParameters:
    """Return the request for a project's activity. Raises InvalidRequest."""
    given = {**parameters, **as_integers(parameters, "limit")}
    request = parse(ActivityParameters, given, context=catalog)
    if request.since is not None and request.to is not None and request.since >= request.to:
        raise InvalidRequest(
            "The range of time is empty. Send a `to` that is later than `from`.",
            [FieldError("to", "must be later than from")],
        )
    return request
