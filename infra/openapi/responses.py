"""The models of answers. The OpenAPI document is made from them, and every answer that a test gets is held to its model. Pure."""

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, WithJsonSchema
from pydantic import Field as ModelField

from gridview.schema import ids
from gridview.schema.fields import Color, FieldType
from gridview.schema.user_jobs import JobKind
from gridview.schema.views import Visibility
from gridview.support.validation import omissible

Count = Annotated[int, ModelField(ge=0)]
Ordinal = Annotated[int, ModelField(ge=1)]
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
"""A number with all its digits."""

Value = str | Number | bool | list[str]
"""A value of a field; its type is the type of the field."""


class AnswerModel(BaseModel):
    """A part of an answer: it has no other property, and no value of another JSON type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Health(AnswerModel):
    """The service is up."""

    status: Literal["ok"]


class User(AnswerModel):
    """A user of the caller's tenant."""

    id: str = ModelField(description="As in `created_by`, and in the values of a user field.")
    name: str


class Caller(User):
    """The caller."""

    tenant: str = ModelField(pattern=f"^{ids.TENANT.pattern}$")
    role: Literal["viewer", "editor", "admin"]


class UserPage(AnswerModel):
    """Users who have opened the page, in name order."""

    items: list[User]
    next: str | None = ModelField(description="The cursor of the next page; null at the end.")


class Build(AnswerModel):
    """The background work on a definition: how many issues are done, and out of how many."""

    state: Literal["building", "rebuilding", "reordering", "removing"]
    done: Count
    total: Count


class Error(AnswerModel):
    """One thing that is wrong with a request, and where: a dotted path such as `fields.start`."""

    field: str
    message: str


class FieldConflict(AnswerModel):
    """A field that others have set to another value since the `base` of a request, or since the change that an undo takes back."""

    field: str
    yours: Value | None = omissible(
        description="The request's value; null: none. Left out where it would be too long."
    )
    theirs: Value | None = omissible(description="The value now, likewise.")
    by: str | None = ModelField(description="Who set it; null where that is not known.")
    version: Ordinal = omissible(description="Of an undo: the version that set it.")


class QueryRemedy(AnswerModel):
    """A call of the API that makes a refused query possible, when the background work that it begins is done."""

    title: str
    method: Literal["PATCH", "POST"]
    path: str = ModelField(pattern="^/v1/")
    body: dict[str, Any]
    role: Literal["admin"] = ModelField(description="Who may make it.")


class OpenJobPath(AnswerModel):
    """An open job, and where it is: a GET shows it, a DELETE cancels it."""

    kind: JobKind
    path: str


class Problem(AnswerModel):
    """Why a request was refused (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str = omissible()
    errors: list[Error] = omissible(min_length=1)
    more: Ordinal = omissible(description="How many further errors and conflicts there are.")
    build: Build | None = omissible(description="The background work that the request has to wait for.")
    conflicts: list[FieldConflict] = omissible(
        min_length=1, description="Of a change with a `base`: the fields that stand in its way."
    )
    current: "Current" = omissible(
        description="The resource as it is now, where the request met another version of it. "
        "Left out where the problem would be larger than 64 KB."
    )
    jobs: list[OpenJobPath] = omissible(
        min_length=1, description="Of one job too many: the caller's open jobs that use up the limit."
    )
    remedies: list[QueryRemedy] = omissible(
        description="Of a query: calls that together make it possible; empty where none do."
    )


class EnumOption(AnswerModel):
    """An option of an enum or multi_enum, or a state."""

    id: str
    value: str
    color: Color | None = ModelField(description="Null if nobody has chosen one.")


class Attribute(AnswerModel):
    """An attribute, or a field that every issue has."""

    id: str = ModelField(pattern=f"^{ids.ATTRIBUTE.pattern}$")
    name: str
    type: FieldType = ModelField(strict=False)
    options: list[EnumOption] = omissible(description="In display order; of enum and multi_enum only.")
    required: bool
    indexed: bool
    search: bool = ModelField(description="Whether the words of a text are indexed.")
    build: Build | None = ModelField(description="Null if there is no background work on it.")
    position: Count | None = ModelField(description="Place in the display order; null for a built-in field.")
    version: Ordinal
    created: AwareDatetime
    updated: AwareDatetime


class DeletedAttribute(Attribute):
    """A deleted attribute, as it was. `position` is the place that it had."""

    deleted: AwareDatetime
    deleted_by: str
    expires: AwareDatetime = ModelField(description="Until when it can be restored.")


class DeletedAttributeList(AnswerModel):
    """The attributes that can be restored, the last deleted first, all of them."""

    items: list[DeletedAttribute]
    next: None


class _Written(AnswerModel):
    version: Ordinal
    created: AwareDatetime
    updated: AwareDatetime
    created_by: str
    updated_by: str


class HistoryKept(AnswerModel):
    """How a project keeps its history."""

    enabled: bool = ModelField(description="Whether changes are listed by time and can be taken back.")
    days: Annotated[int, ModelField(ge=1, le=3650)]


class Project(_Written):
    """A project."""

    id: str = ModelField(pattern=f"^{ids.PROJECT.pattern}$")
    name: str
    states: list[EnumOption] = ModelField(min_length=1, description="The states of its issues in order.")
    issues: Count | None = ModelField(description="Issue count as of the index; null in a list of projects.")
    history: HistoryKept
    attributes: list[Attribute] = omissible(description="In display order; not in a list of projects.")


class ProjectPage(AnswerModel):
    """Projects in name order."""

    items: list[Project]
    next: str | None = ModelField(description="The cursor of the next page; null at the end.")


class DeletedProject(Project):
    """A deleted project, as it was."""

    deleted: AwareDatetime
    deleted_by: str
    expires: AwareDatetime = ModelField(description="Until when it can be restored.")


class DeletedProjectPage(AnswerModel):
    """The projects that can be restored, the last deleted first. A page may be short; only `"next": null` ends the list."""

    items: list[DeletedProject]
    next: str | None = ModelField(description="The cursor of the next page; null at the end.")


class IndexKey(AnswerModel):
    """One key of a composite index."""

    field: str
    direction: Literal["asc", "desc"]
    nulls: Literal["first", "last"]


class CompositeIndex(AnswerModel):
    """A composite index."""

    id: str = ModelField(pattern=f"^{ids.COMPOSITE.pattern}$")
    sort: list[IndexKey]
    state: Literal["building", "ready"] = ModelField(description="Whether it is served.")
    build: Build | None = ModelField(description="Null if there is no background work on it.")
    version: Ordinal
    created: AwareDatetime


class IndexList(AnswerModel):
    """The composite indexes in creation order, all of them."""

    items: list[CompositeIndex]
    next: None


class Issue(_Written):
    """An issue with all its values."""

    num: Ordinal
    name: str
    state: str
    fields: dict[str, Value] = ModelField(
        description="Values by attribute id; attributes without a value are omitted."
    )


class TrashedIssue(Issue):
    """A deleted issue, as it was."""

    deleted: AwareDatetime
    deleted_by: str
    expires: AwareDatetime = ModelField(description="Until when it can be restored.")


class TrashPage(AnswerModel):
    """Deleted issues, newest first. A page may be short; only `"next": null` ends the list."""

    items: list[TrashedIssue]
    next: str | None = ModelField(description="The cursor of the next page; null at the end.")


Merged = Annotated[
    list[str],
    ModelField(
        description="Where the request named a `base`: the fields that others have changed since, which stay."
    ),
]


class UpdatedIssue(Issue):
    """An issue after a change."""

    merged: Merged = omissible()


class Result(AnswerModel):
    """The outcome of one operation of a batch."""

    status: int
    issue: Issue = omissible()
    num: Ordinal = omissible(description="Of a new issue, where the answer is minimal.")
    version: Ordinal = omissible(description="Of the issue, where the answer is minimal.")
    merged: Merged = omissible()
    problem: Problem = omissible()


class BatchAnswer(AnswerModel):
    """The results in the order of the operations."""

    results: list[Result]


class GridRow(AnswerModel):
    """An issue of a result page; `columns` limits its fields."""

    num: Ordinal
    version: Ordinal
    name: str = omissible()
    state: str = omissible()
    created: AwareDatetime = omissible()
    updated: AwareDatetime = omissible()
    created_by: str = omissible()
    updated_by: str = omissible()
    fields: dict[str, Value] = ModelField(
        description="Values by attribute id; attributes without a value are omitted."
    )
    key: str = omissible(
        description="Where the row stands: the order of keys, by bytes or UTF-16 units, is that of the rows. For `keys`."
    )


class PlanEstimate(AnswerModel):
    """The expected cost of a node of the plan."""

    read_units: float
    directories: Literal["before", "after"] = ModelField(
        description="Whether the estimate was made before or after the directories were read."
    )


class PlanNode(AnswerModel):
    """A node of the executed plan."""

    node: str = ModelField(description="The node's kind, such as `bucket scan`.")
    sentence: str = ModelField(description="What the node did, in plain words.")
    estimated: PlanEstimate = omissible()
    read_units: float = ModelField(description="Read units of the node, with its share of shared calls.")
    rounds: list[Ordinal] = ModelField(description="The rounds in which the node read.")
    children: list["PlanNode"] = omissible()


class TableCall(AnswerModel):
    """A call of DynamoDB."""

    operation: str
    target: str
    round: Ordinal = ModelField(description="Calls of one round run in parallel.")
    items_read: Count
    read_units: float


class Explanation(AnswerModel):
    """The plan of a query, and its cost."""

    plan: list[str] = ModelField(description="What was done, in words.")
    tree: PlanNode
    calls: list[TableCall]
    sequential_calls: Count
    items_read: Count
    read_units: float


class IndexLag(AnswerModel):
    """How late the index is that an answer was read from."""

    lag_ms: Count | None = ModelField(
        description="Milliseconds that the index is behind; null where nobody can tell yet."
    )
    pending: Count = ModelField(
        description="Issues whose changes are known, and which the index may not have where they belong yet."
    )


class IssuePage(AnswerModel):
    """A page of issues."""

    rows: list[GridRow]
    next: str | None = ModelField(description="The cursor of the next page; null at the end.")
    prev: str | None = ModelField(description="The cursor of the page before; null at the beginning.")
    offset: Count | None = ModelField(description="Rows before the page; null after a cursor.")
    total: Count = omissible(description="Issues of the project, as of the index.")
    matched: Count = omissible(description="Issues that pass the filter.")
    changes_cursor: str | None = ModelField(
        description="The cursor for `since` of the changes: exactly what precedes it is counted. Null where nobody can tell."
    )
    index: IndexLag
    explain: Explanation = omissible()


class AggregateValue(AnswerModel):
    """An aggregate of a group."""

    field: str
    function: Literal["sum", "min", "max", "avg"]
    value: Number | None


class IssueGroup(AnswerModel):
    """Issues that have the same values."""

    values: list[Value | None] = ModelField(description="One for each group field; null: no value.")
    count: Ordinal
    filter: Any = ModelField(
        description="What the grid takes as its filter to show exactly these issues; null where that would pass its limits."
    )
    aggregates: list[AggregateValue] = omissible()


class IssueGroups(AnswerModel):
    """Groups in the order of the fields."""

    groups: list[IssueGroup]
    more: bool = ModelField(description="Whether more groups follow.")
    next: str | None = ModelField(description="The cursor of the next page; null at the end.")
    changes_cursor: str | None = ModelField(
        description="The cursor for `since` of the changes: exactly what precedes it is counted. Null where nobody can tell."
    )
    index: IndexLag
    explain: Explanation = omissible()


class FieldAggregates(AnswerModel):
    """The functions asked for of one field."""

    field: str
    count: Count = omissible(description="Matched issues with a value.")
    empty: Count = omissible(description="Matched issues without a value.")
    distinct: Count = omissible(
        description="Number of distinct values; for a multi_enum, of distinct options."
    )
    min: Value | None = omissible(description="The first value in the field's order; null if there is none.")
    max: Value | None = omissible(description="The last value in the field's order; null if there is none.")
    sum: Number | None = omissible()
    avg: Number | None = omissible()


class IssueSummary(AnswerModel):
    """Aggregates of fields over the issues that pass the filter."""

    matched: Count = ModelField(description="Issues that pass the filter.")
    summaries: list[FieldAggregates]
    changes_cursor: str | None = ModelField(
        description="The cursor for `since` of the changes: exactly what precedes it is counted. Null where nobody can tell."
    )
    index: IndexLag
    explain: Explanation = omissible()


class FieldEdit(AnswerModel):
    """A field's value before and after a change; null: no value."""

    old: Value | None
    new: Value | None


class ChangeEvent(AnswerModel):
    """The changes of one version of an issue."""

    id: str = ModelField(description="`<num>.<version>`: the same wherever the change is told.")
    num: Ordinal
    version: Ordinal
    kind: Literal["create", "update", "delete", "restore"]
    by: str | None = ModelField(description="The user; null where nobody can tell.")
    at: AwareDatetime
    change: str | None = ModelField(
        description="The change that the version is part of; null if it is part of none."
    )
    fields: dict[str, FieldEdit] = ModelField(
        description="By field id; fields that are gone, and options, are left out."
    )
    move: Literal["enter", "leave", "update"] = omissible(
        description="What the change does to the rows that are followed."
    )
    key: str | None = omissible(
        description="The key of the row, whose order is that of the rows; null if it has left."
    )
    previous_key: str | None = omissible(
        description="The row's key before the change; null if it has entered."
    )


class ResetEvent(AnswerModel):
    """A sign to read everything again: definitions have changed, or a change is no longer known."""

    kind: Literal["reset"]


class ChangePage(AnswerModel):
    """The changes after a cursor, each exactly once; those of an issue are in the order of its versions."""

    items: list[ChangeEvent | ResetEvent]
    next: str = ModelField(description="What to ask with as `since` next: there is always a next time.")


class IssuedTicket(AnswerModel):
    """A ticket that opens a socket at `url` or keeps an open one open longer: once, and within 30 seconds."""

    ticket: str
    url: str = ModelField(description="Where to connect: with the query parameter `ticket`.")
    token_expires: AwareDatetime = ModelField(
        description="When the access token that bought the ticket expires. The socket ends then, unless another ticket renews it."
    )


class RowNumber(AnswerModel):
    """The row number of an issue in an order."""

    row_number: Count | None = ModelField(
        description="Rows before the issue; null if it does not pass the filter."
    )
    index: IndexLag
    explain: Explanation = omissible()


class SavedQuery(AnswerModel):
    """The order and the filter of a view, as the grid takes them."""

    sort: list[IndexKey]
    filter: Any = ModelField(description="Null: all issues.")


class SavedColumn(AnswerModel):
    """A column of a view; its width in pixels."""

    field: str
    width: Ordinal
    frozen: bool


class SavedGroup(AnswerModel):
    """A field by which a view groups."""

    field: str
    unit: Literal["day", "month", "year"] | None
    timezone: str | None


class SavedFooter(AnswerModel):
    """The function that a view shows below a column."""

    field: str
    function: Literal["count", "empty", "distinct", "min", "max", "sum", "avg"]


class MissingPart(AnswerModel):
    """A field or an option that a view named when it was written and that no longer exists.

    The view is used without it.
    """

    part: Literal["sort", "filter", "columns", "groups", "footers", "color_by"]
    field: str = omissible(description="Its id; left out where a filter has grown too large to be told.")
    value: str = omissible(description="Of an option that was removed.")


class SavedView(_Written):
    """A saved view, as far as the fields that it names are still there."""

    id: str = ModelField(pattern=f"^{ids.VIEW.pattern}$")
    name: str
    visibility: Visibility = ModelField(
        description="`private`: its owner's alone; `shared`: everybody's; `default`: what the project opens with."
    )
    query: SavedQuery
    columns: list[SavedColumn] | None = ModelField(
        description="In the order of the screen; null: all fields as the project has them."
    )
    groups: list[SavedGroup]
    footers: list[SavedFooter]
    color_by: str | None = ModelField(description="The field with options whose colors the rows have.")
    row_height: Ordinal = ModelField(description="In pixels.")
    missing: list[MissingPart] = ModelField(description="The first 100 of its parts that no longer exist.")
    remedies: list[QueryRemedy] = ModelField(
        description="Calls that together make its order possible, where no index gives it."
    )


class SavedViewPage(AnswerModel):
    """Shared views, then the caller's own, each in creation order."""

    items: list[SavedView]
    next: str | None = ModelField(description="The cursor of the next page; null at the end.")


class WebhookWarning(AnswerModel):
    """The reason why an administrator should look at a webhook."""

    at: AwareDatetime
    reason: str


class ChosenView(AnswerModel):
    """A saved view as it was when an administrator chose it for a webhook."""

    name: str
    at: AwareDatetime
    by: str
    query: SavedQuery


class WebhookAnswer(_Written):
    """A webhook: where changes are sent, and which of them."""

    id: str = ModelField(pattern=f"^{ids.WEBHOOK.pattern}$")
    url: str
    view: str | None = ModelField(description="The saved view whose rows it follows; null: all issues.")
    frozen: ChosenView | None = ModelField(
        description="What the view was when an administrator chose it. The webhook follows these rows; null without a view."
    )
    columns: list[str] | None = ModelField(
        description="The only fields whose values are sent; null: all. A deleted field is not sent."
    )
    missing: list[MissingPart] = ModelField(
        description="The first 100 deleted fields and options of the filter, the order and the columns."
    )
    events: list[Literal["create", "update", "delete", "restore", "enter", "leave"]]
    enabled: bool
    warning: WebhookWarning | None = ModelField(
        description="Why it was disabled by itself, or that its view is deleted or private while it goes on. "
        "Choosing rows, enabling it or `warning: null` clears it."
    )
    previous_secret_expires: AwareDatetime | None = ModelField(
        description="Until when a secret that was replaced signs too; null if none does."
    )


class WebhookWithSecret(WebhookAnswer):
    """A webhook with its new secret, which is never shown again."""

    secret: str = ModelField(pattern="^whsec_[A-Za-z0-9+/]+=*$")


class WebhookList(AnswerModel):
    """The webhooks in creation order, all of them."""

    items: list[WebhookAnswer]
    next: None


class ChangedIssue(AnswerModel):
    """An issue and the version that the change made."""

    num: Ordinal
    version: Ordinal


class WebhookDelivery(AnswerModel):
    """The delivery of a change to a webhook, with its attempts and outcome."""

    id: str = ModelField(pattern=f"^{ids.DELIVERY.pattern}$")
    message_id: str = ModelField(description="The header `webhook-id` of its message.")
    event: Literal["create", "update", "delete", "restore", "enter", "leave", "reset"]
    issue: ChangedIssue | None = ModelField(description="The issue that changed; null for a reset.")
    at: AwareDatetime = ModelField(description="When the change was made.")
    status: Literal["pending", "delivered", "failed"] = ModelField(
        description="`pending`: it will be tried again; `failed`: it was given up."
    )
    attempts: int = ModelField(ge=0, description="Since it was first tried, or replayed.")
    last_attempt: AwareDatetime | None
    next_attempt: AwareDatetime | None
    response_status: int | None = ModelField(
        description="The HTTP status of the receiver's response; null without one."
    )
    response_body: str = ModelField(description="The beginning of the response's body.")
    failure: str | None = ModelField(description="Why the last attempt failed; null if it did not.")


class DeliveryPage(AnswerModel):
    """A page of the deliveries of a webhook, the last change first."""

    items: list[WebhookDelivery]
    next: str | None


class IssueComment(_Written):
    """A comment on an issue."""

    id: Ordinal
    num: Ordinal = ModelField(description="Of the issue.")
    text: str
    mentions: list[str] = ModelField(description="Ids of users.")


class CommentPage(AnswerModel):
    """The comments on an issue in creation order."""

    items: list[IssueComment]
    next: str | None = ModelField(description="The cursor of the next page; null at the end.")


class BackgroundJob(AnswerModel):
    """A job: work that goes on in the background."""

    id: str = ModelField(pattern=f"^{ids.JOB.pattern}$")
    kind: Literal["update", "delete", "undo", "export"]
    state: Literal["waiting", "running", "done", "failed", "cancelled"] = ModelField(
        description="The last three are final."
    )
    done: Count = ModelField(description="Issues that are as the job wants them; of an export, rows written.")
    total: Count | None = ModelField(description="Issues that the job is about; null until they are counted.")
    refused: Count = ModelField(description="Issues that could not be changed, or written.")
    change: str = ModelField(description="The change that all writes of the job are part of.")
    url: str | None = ModelField(
        description="Of an export that is done, a link to its file: good for five minutes, told by `GET .../jobs/{job}` alone."
    )
    created: AwareDatetime
    created_by: str
    ended: AwareDatetime | None
    problem: Problem | None = ModelField(description="Why the job failed.")


class BackgroundJobPage(AnswerModel):
    """Jobs, the last first. They are kept for 30 days."""

    items: list[BackgroundJob]
    next: str | None = ModelField(description="The cursor of the next page; null at the end.")


class RefusedIssue(AnswerModel):
    """An issue that a job could not change."""

    num: Ordinal
    problem: Problem


class RefusedPage(AnswerModel):
    """The issues that a job could not change, in the order in which it came to them."""

    items: list[RefusedIssue]
    next: str | None = ModelField(description="The cursor of the next page; null at the end.")


class UndoneIssue(AnswerModel):
    """An issue of which an undo took back all or some of a change, or nothing was left to take back."""

    num: Ordinal
    version: Ordinal = ModelField(
        description="Its version now; of one that was deleted, the version of that."
    )


class UndoAnswer(AnswerModel):
    """The outcome of an undo. An issue of which a part stays is in both lists."""

    undone: list[UndoneIssue]
    change: str | None = ModelField(
        description="The change that the writes of the undo are part of: its undo is a redo. Null if it wrote nothing."
    )
    refused: list[RefusedIssue] = ModelField(
        description="Of a problem with `conflicts`, others have changed these fields since."
    )
    issues: Ordinal | None = omissible(
        description="Of a dry run: how many issues the undo is about; null for more than 500, which a job takes back."
    )


class CommentEvent(AnswerModel):
    """A comment on an issue, without its text: the comment itself has that."""

    id: str = ModelField(pattern="^[1-9][0-9]*[.]comment[.][1-9][0-9]*$")
    num: Ordinal
    kind: Literal["comment"]
    by: str
    at: AwareDatetime
    comment: Ordinal = ModelField(description="The comment's id.")
    mentions: list[str] = ModelField(description="Ids of users.")


class HistoryPage(AnswerModel):
    """Changes of an issue and comments on it, newest first. A page may be shorter than asked for before the end."""

    items: list[ChangeEvent | CommentEvent]
    next: str | None = ModelField(description="The cursor of the next page; null at the end.")


class ActivityPage(AnswerModel):
    """Changes of a project, newest first. A page may be shorter than asked for, even empty, before the end."""

    items: list[ChangeEvent | CommentEvent]
    next: str | None = ModelField(description="The cursor of the next page; null at the end.")


Current = (
    DeletedProject
    | Project
    | DeletedAttribute
    | Attribute
    | CompositeIndex
    | TrashedIssue
    | Issue
    | SavedView
    | WebhookAnswer
    | IssueComment
)
"""The resources of which a request may have met another version."""


def named(name: str) -> type[AnswerModel]:
    """The model of this name, as an endpoint states it. LookupError: there is none."""
    found = globals().get(name)
    if not (isinstance(found, type) and issubclass(found, AnswerModel)):
        raise LookupError(f"There is no model of answers called {name}.")
    return found
