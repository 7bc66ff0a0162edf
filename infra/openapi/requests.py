"""The models of bodies and query parameters, by the names that endpoints state.

All but two are the models that the functions parse requests with. Only the project knows what an issue may contain,
so the functions check that without a model.
"""

from typing import Annotated, Final

from pydantic import BaseModel
from pydantic import Field as ModelField

from gridview.commands.comment_requests import CommentCreate, CommentPatch
from gridview.commands.parameters import ListParameters, UsersParameters
from gridview.commands.placing_request import OrderRequest
from gridview.commands.requests import (
    AttributeCreate,
    AttributePatch,
    BatchRequest,
    CompositeCreate,
    FormulaCheck,
    ProjectCreate,
    ProjectPatch,
    UndoRequest,
)
from gridview.encoding.values import TEXT_LIMIT
from gridview.live.change_requests import ChangesRequest
from gridview.live.webhook_requests import WebhookCreate, WebhookPatch
from gridview.maintenance.bulk_request import DeleteMatching, UpdateMatching
from gridview.maintenance.export_request import ExportRequest
from gridview.query.change_request import ActivityParameters, HistoryParameters
from gridview.query.grid_request import GridRequest, RowNumberRequest
from gridview.query.group_request import GroupsRequest
from gridview.query.summary_request import SummaryRequest
from gridview.query.view_request import ViewCreate, ViewPatch
from gridview.schema.catalog import MAX_ATTRIBUTES
from gridview.schema.fields import MAX_OPTIONS
from gridview.support.validation import RequestModel, omissible
from infra.openapi.responses import Number

_FieldInput = str | Number | bool | Annotated[list[str], ModelField(max_length=MAX_OPTIONS)] | None


class IssueCreate(RequestModel):
    """POST /v1/projects/{project}/issues. The project's attributes determine the possible fields."""

    name: str = ModelField(min_length=1, max_length=TEXT_LIMIT)
    state: str | None = ModelField(
        default=None, description="One of the project's states. By default the first."
    )
    fields: dict[str, _FieldInput] = omissible(
        max_length=MAX_ATTRIBUTES, description="Values by attribute id; null for no value."
    )


class IssuePatch(RequestModel):
    """PATCH /v1/projects/{project}/issues/{num}, a merge patch (RFC 7396)."""

    name: str = omissible(min_length=1, max_length=TEXT_LIMIT)
    state: str = omissible(min_length=1, description="One of the project's states.")
    fields: Annotated[dict[str, _FieldInput], ModelField(max_length=MAX_ATTRIBUTES)] | None = omissible(
        description="Values by attribute id; null clears a field, and null for all of them clears every field."
    )
    base: int = omissible(
        ge=1,
        description="The version that the client saw, instead of If-Match. Other fields that others changed since keep their "
        "values. Only fields that both set to different values are a conflict.",
    )


REQUESTS: Final[dict[str, type[BaseModel]]] = {
    model.__name__: model
    for model in (
        ActivityParameters,
        AttributeCreate,
        AttributePatch,
        BatchRequest,
        ChangesRequest,
        CommentCreate,
        CommentPatch,
        CompositeCreate,
        DeleteMatching,
        ExportRequest,
        FormulaCheck,
        GridRequest,
        GroupsRequest,
        HistoryParameters,
        IssueCreate,
        IssuePatch,
        ListParameters,
        OrderRequest,
        RowNumberRequest,
        ProjectCreate,
        ProjectPatch,
        SummaryRequest,
        UndoRequest,
        UpdateMatching,
        UsersParameters,
        ViewCreate,
        ViewPatch,
        WebhookCreate,
        WebhookPatch,
    )
}
"""The models by their names."""
