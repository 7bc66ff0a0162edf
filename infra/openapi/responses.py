"""The models of answers. The OpenAPI document is made from them, and every answer that a test gets is held to its model. Pure."""

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, WithJsonSchema
from pydantic import Field as ModelField

from gridview.formulas.numbers import Unavailable as FormulaFault
from gridview.query.number_functions import Function
from gridview.query.rules import RuleFilter
from gridview.schema import ids
from gridview.schema.field_formats import FormatName
from gridview.schema.fields import Color, FieldType
from gridview.schema.user_jobs import JobKind
from gridview.schema.views import ViewKind, Visibility
from gridview.support.validation import omissible

Count = Annotated[int, ModelField(ge=0)]
Ordinal = Annotated[int, ModelField(ge=1)]
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
ChangesCursor = Annotated[
    str | None,
    ModelField(
        description="The cursor for `since` of the changes. The answer includes exactly the changes before it. Null if unknown."
    ),
]
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

    id: str = ModelField(description="The id that `created_by` and the values of user fields contain.")
    name: str


class Caller(User):
    """The caller."""

    tenant: str = ModelField(pattern=f"^{ids.TENANT.pattern}$")
    role: Literal["viewer", "editor", "admin"]


class UserPage(AnswerModel):
    """Users who have opened the web page, in name order."""

    items: list[User]
    next: str | None = ModelField(description="The cursor of the next result page; null at the end.")


class Build(AnswerModel):
    """The background work on a definition: how many issues are done, and out of how many."""

    state: Literal["building", "rebuilding", "reordering", "removing"]
    done: Count
    total: Count


class Error(AnswerModel):
    """One error of a request. `field` is a dotted path such as `fields.start`."""

    field: str
    message: str


class FieldConflict(AnswerModel):
    """A field that others set to another value since the `base` of a request, or since the change to undo."""

    field: str
    yours: Value | None = omissible(
        description="The value in the request; null for no value. Omitted if it is too long."
    )
    theirs: Value | None = omissible(description="The present value, likewise.")
    by: str | None = ModelField(description="The user who set it; null if unknown.")
    version: Ordinal = omissible(description="For an undo: the version that set it.")


class QueryRemedy(AnswerModel):
    """A call that makes a refused query possible, once the background work that it starts is done."""

    title: str
    method: Literal["PATCH", "POST"]
    path: str = ModelField(pattern="^/v1/")
    body: dict[str, Any]
    role: Literal["admin"] = ModelField(description="The role that may make the call.")


class OpenJobPath(AnswerModel):
    """An open job and its path: GET returns it, DELETE cancels it."""

    kind: JobKind
    path: str


class Problem(AnswerModel):
    """A problem document (RFC 9457): the error of a request."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str = omissible()
    errors: list[Error] = omissible(min_length=1)
    more: Ordinal = omissible(description="The number of further errors and conflicts.")
    build: Build | None = omissible(description="The background work that the request must wait for.")
    position: Count = omissible(
        description="For a formula: the place of the error in its text, in characters from 0."
    )
    dependents: list[str] = omissible(
        min_length=1, description="The ids of the attributes whose formulas use the field or the option."
    )
    conflicts: list[FieldConflict] = omissible(
        min_length=1, description="For a change with a `base`, and for an undo: the fields that prevent it."
    )
    current: "Current" = omissible(
        description="The present resource, if its version is not the one in the request. Omitted if the problem would be "
        "larger than 64 KB."
    )
    jobs: list[OpenJobPath] = omissible(
        min_length=1,
        description="If there are too many jobs: the caller's open jobs that count towards the limit.",
    )
    remedies: list[QueryRemedy] = omissible(
        description="For a query: calls that together make it possible; empty if none do."
    )


class EnumOption(AnswerModel):
    """An option of an enum or multi_enum, or a state."""

    id: str
    value: str
    color: Color | None = ModelField(description="Null if none was chosen.")


class FieldFormat(AnswerModel):
    """How a page shows the values of a field."""

    as_: FormatName = ModelField(alias="as")
    decimals: Count = omissible()
    thousands: bool = omissible()
    currency: str = omissible()
    unit: str = omissible()
    max: Ordinal = omissible()


class Attribute(AnswerModel):
    """An attribute, or a field that every issue has."""

    id: str = ModelField(pattern=f"^{ids.ATTRIBUTE.pattern}$")
    name: str
    type: FieldType = ModelField(strict=False)
    options: list[EnumOption] = omissible(
        description="In display order; only for the types enum and multi_enum."
    )
    formula: str = omissible(
        description="Only if a formula computes the values: its text with present names."
    )
    uses: list[str] = omissible(description="Only with a formula: the ids of the fields that it reads.")
    required: bool
    indexed: bool
    search: bool = ModelField(description="Whether the words of a text are indexed.")
    description: str | None
    format: FieldFormat | None
    default: Value | None = ModelField(description="The value of new issues whose creator omits the field.")
    build: Build | None = ModelField(description="Null if there is no background work on it.")
    position: Count | None = ModelField(description="Place in the display order; null for a built-in field.")
    version: Ordinal
    created: AwareDatetime
    updated: AwareDatetime


class FormulaValue(AnswerModel):
    """The value of a formula for one issue."""

    num: Ordinal
    value: Value | None
    unavailable: FormulaFault = omissible(description="Why the value cannot be computed.")


class CheckedFormula(AnswerModel):
    """A formula that is not saved. `formula` is its text with present names; `uses` the ids of the fields that it reads."""

    type: Literal["text", "number", "date", "datetime", "bool"]
    formula: str
    uses: list[str]
    values: list[FormulaValue]


class DeletedAttribute(Attribute):
    """A deleted attribute, as it was. `position` is the place that it had."""

    deleted: AwareDatetime
    deleted_by: str
    expires: AwareDatetime = ModelField(description="The instant until which it can be restored.")


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
    """A project's setting of the history."""

    enabled: bool = ModelField(description="Whether changes are listed by time and can be undone.")
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
    next: str | None = ModelField(description="The cursor of the next result page; null at the end.")


class DeletedProject(Project):
    """A deleted project, as it was."""

    deleted: AwareDatetime
    deleted_by: str
    expires: AwareDatetime = ModelField(description="The instant until which it can be restored.")


class DeletedProjectPage(AnswerModel):
    """The projects that can be restored, the last deleted first. A result page may be short; only `"next": null` ends the list."""

    items: list[DeletedProject]
    next: str | None = ModelField(description="The cursor of the next result page; null at the end.")


class IndexKey(AnswerModel):
    """One key of a composite index."""

    field: str
    direction: Literal["asc", "desc"]
    nulls: Literal["first", "last"]


class CompositeIndex(AnswerModel):
    """A composite index."""

    id: str = ModelField(pattern=f"^{ids.COMPOSITE.pattern}$")
    sort: list[IndexKey]
    state: Literal["building", "ready"] = ModelField(description="`ready`: queries can use it.")
    build: Build | None = ModelField(description="Null if there is no background work on it.")
    version: Ordinal
    created: AwareDatetime


class IndexList(AnswerModel):
    """The composite indexes in creation order, all of them."""

    items: list[CompositeIndex]
    next: None


Unavailable = Annotated[
    dict[str, FormulaFault],
    ModelField(description="Why formulas have no value, by attribute id; omitted if all can be computed."),
]


class Issue(_Written):
    """An issue with all its values."""

    num: Ordinal
    name: str
    state: str
    fields: dict[str, Value] = ModelField(
        description="Values by attribute id; attributes without a value are omitted."
    )
    unavailable: Unavailable = omissible(min_length=1)


class TrashedIssue(Issue):
    """A deleted issue, as it was."""

    deleted: AwareDatetime
    deleted_by: str
    expires: AwareDatetime = ModelField(description="The instant until which it can be restored.")


class TrashPage(AnswerModel):
    """Deleted issues, newest first. A result page may be short; only `"next": null` ends the list."""

    items: list[TrashedIssue]
    next: str | None = ModelField(description="The cursor of the next result page; null at the end.")


Merged = Annotated[
    list[str],
    ModelField(
        description="If the request has a `base`: other fields that others changed since, which keep their values."
    ),
]


class UpdatedIssue(Issue):
    """An issue after a change."""

    merged: Merged = omissible()


class Result(AnswerModel):
    """The outcome of one operation of a batch."""

    status: int
    issue: Issue = omissible()
    num: Ordinal = omissible(description="For a new issue, if the answer is minimal.")
    version: Ordinal = omissible(description="The issue's version, if the answer is minimal.")
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
    unavailable: Unavailable = omissible(min_length=1)
    key: str = omissible(
        description="With `keys`: the sort key of the row. The order of the keys, by bytes or UTF-16 units, is that of the "
        "rows."
    )
    matches: list[Count] = omissible(
        description="With `rules`: the places of the rules that the row passes, from 0."
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
    sentence: str = ModelField(description="The work of the node, in words.")
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

    plan: list[str] = ModelField(description="The sentences of all nodes, in order.")
    tree: PlanNode
    calls: list[TableCall]
    sequential_calls: Count
    items_read: Count
    read_units: float


class IndexLag(AnswerModel):
    """The lag of the index from which an answer was read."""

    lag_ms: Count | None = ModelField(
        description="The lag of the index in milliseconds; null if not known yet."
    )
    pending: Count = ModelField(
        description="The number of issues with known changes that the index may not show yet."
    )


class IssuePage(AnswerModel):
    """A result page of issues."""

    rows: list[GridRow]
    next: str | None = ModelField(description="The cursor of the next result page; null at the end.")
    prev: str | None = ModelField(
        description="The cursor of the previous result page; null at the beginning."
    )
    offset: Count | None = ModelField(
        description="The number of rows before the result page; null after a cursor."
    )
    total: Count = omissible(description="The number of issues of the project, as of the index.")
    matched: Count = omissible(description="The number of issues that match the filter.")
    changes_cursor: ChangesCursor
    index: IndexLag
    explain: Explanation = omissible()


class AggregateValue(AnswerModel):
    """An aggregate of a group."""

    field: str
    function: Function
    value: Number | None


class NumberRange(AnswerModel):
    """The numbers from one on, less than another."""

    from_: Number | None = ModelField(alias="from", description="The least number; null if there is none.")
    to: Number | None = ModelField(description="All numbers are less; null if there is no bound.")


class IssueGroup(AnswerModel):
    """Issues that have the same values."""

    values: list[Value | NumberRange | None] = ModelField(
        description="One for each group field; null for no value. With `bins` or a `width`, the range."
    )
    count: Ordinal
    filter: Any = ModelField(
        description="The grid's filter that shows exactly these issues; null if it would exceed the limits of a filter."
    )
    aggregates: list[AggregateValue] = omissible()


class IssueGroups(AnswerModel):
    """Groups in the requested order; by default in that of the fields."""

    groups: list[IssueGroup]
    more: bool = ModelField(description="Whether more groups follow.")
    next: str | None = ModelField(description="The cursor of the next result page; null at the end.")
    changes_cursor: ChangesCursor
    index: IndexLag
    explain: Explanation = omissible()


class FieldAggregates(AnswerModel):
    """The values of the requested functions of one field."""

    field: str
    count: Count = omissible(description="The number of matching issues with a value.")
    empty: Count = omissible(description="The number of matching issues without a value.")
    distinct: Count = omissible(
        description="The number of distinct values; for a multi_enum, of distinct options."
    )
    min: Value | None = omissible(description="The first value in the field's order; null if there is none.")
    max: Value | None = omissible(description="The last value in the field's order; null if there is none.")
    median: Number | None = omissible(
        description="The number in the middle, or the mean of the two; null if there is none."
    )
    sum: Number | None = omissible()
    avg: Number | None = omissible()


class IssueSummary(AnswerModel):
    """Aggregates of fields over the issues that pass the filter."""

    matched: Count = ModelField(description="The number of issues that match the filter.")
    summaries: list[FieldAggregates]
    changes_cursor: ChangesCursor
    index: IndexLag
    explain: Explanation = omissible()


class FieldEdit(AnswerModel):
    """A field's value before and after a change; null: no value."""

    old: Value | None
    new: Value | None


class ChangeEvent(AnswerModel):
    """The changes of one version of an issue."""

    id: str = ModelField(description="`<num>.<version>`, the same in every answer with this change.")
    num: Ordinal
    version: Ordinal
    kind: Literal["create", "update", "delete", "restore"]
    by: str | None = ModelField(description="The user; null if unknown.")
    at: AwareDatetime
    change: str | None = ModelField(
        description="The change that the version is part of; null if it is part of none."
    )
    fields: dict[str, FieldEdit] = ModelField(
        description="The edits by field id. Deleted fields and options are omitted."
    )
    move: Literal["enter", "leave", "update"] = omissible(
        description="The effect of the change on the rows that the request or webhook follows."
    )
    key: str | None = omissible(description="The sort key of the row; null if it has left.")
    previous_key: str | None = omissible(
        description="The sort key of the row before the change; null if it has entered."
    )


class ResetEvent(AnswerModel):
    """Definitions have changed, or a change is no longer known: read everything again."""

    kind: Literal["reset"]


class ChangePage(AnswerModel):
    """The changes after a cursor, each exactly once; those of an issue are in the order of its versions."""

    items: list[ChangeEvent | ResetEvent]
    next: str = ModelField(description="The value of `since` in the next request; never null.")


class IssuedTicket(AnswerModel):
    """A ticket that opens a socket at `url`, or extends an open one. It is valid once, within 30 seconds."""

    ticket: str
    url: str = ModelField(description="The URL to connect to, with the query parameter `ticket`.")
    token_expires: AwareDatetime = ModelField(
        description="When the bearer token that requested the ticket expires. The socket then closes unless renewed."
    )


class RowNumber(AnswerModel):
    """The row number of an issue in an order."""

    row_number: Count | None = ModelField(
        description="The number of rows before the issue; null if it does not match the filter."
    )
    before: Count = ModelField(
        description="The number of matching rows before the issue, also where the issue does not match."
    )
    index: IndexLag
    explain: Explanation = omissible()


class ManualOrderKey(AnswerModel):
    """The view's own order, as its only key."""

    manual: str = ModelField(pattern=f"^{ids.VIEW.pattern}$")


class SavedQuery(AnswerModel):
    """The order and the filter of a view, as the grid takes them."""

    sort: list[IndexKey] | Annotated[list[ManualOrderKey], ModelField(min_length=1, max_length=1)]
    filter: Any = ModelField(description="Null for all issues.")


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
    bins: list[Number] | None
    width: Number | None


class SavedGroupOrder(AnswerModel):
    """The order of a view's groups: by a function of a number field, or by the groups' counts without a field."""

    field: str | None
    function: Function
    direction: Literal["asc", "desc"]


class SavedFooter(AnswerModel):
    """The function that a view shows below a column."""

    field: str
    function: Function


class MissingPart(AnswerModel):
    """A field or an option that a view named when it was written and that no longer exists.

    The view is used without it.
    """

    part: Literal[
        "sort", "filter", "columns", "groups", "group_order", "footers", "color_by", "rules", "board"
    ]
    field: str = omissible(description="The field's id; omitted if the filter is too large to be returned.")
    value: str = omissible(description="The value of an option that was removed.")


class SavedRule(AnswerModel):
    """A color of the rows that a filter matches, or of one cell of them."""

    filter: RuleFilter
    color: Color
    field: str | None = ModelField(description="The field whose cell has the color; null for the whole row.")


class SavedBoardColumn(AnswerModel):
    """A column of a board: the cards with one value, or with none (null)."""

    value: str | bool | None
    hidden: bool
    limit: int | None = ModelField(description="The number of cards that the column should not pass.")


class SavedBoard(AnswerModel):
    """A view as a board, without fields and options that no longer exist."""

    by: str = ModelField(description="The field whose values are the columns.")
    columns: list[SavedBoardColumn] = ModelField(
        description="The first columns, in their order. Those of other values come after them."
    )
    card: list[str] = ModelField(description="The fields that a card shows below its name.")
    aggregate: SavedFooter | None = ModelField(
        description="The function of a number field that each column shows beside its count."
    )


class SavedView(_Written):
    """A saved view, without fields and options that no longer exist."""

    id: str = ModelField(pattern=f"^{ids.VIEW.pattern}$")
    name: str
    visibility: Visibility = ModelField(
        description="`private`: only its owner sees it. `shared`: all users see it. `default`: shared, and the project opens "
        "with it."
    )
    query: SavedQuery
    columns: list[SavedColumn] | None = ModelField(
        description="The columns in their order on the screen; null for all fields in the project's order."
    )
    groups: list[SavedGroup]
    group_order: SavedGroupOrder | None = ModelField(
        description="The order of the groups; null for that of their fields."
    )
    footers: list[SavedFooter]
    color_by: str | None = ModelField(description="The field with options that gives the rows their colors.")
    rules: list[SavedRule] = ModelField(
        description="The first that matches a row or a cell gives it its color."
    )
    row_height: Ordinal = ModelField(description="The height of a row, in pixels.")
    kind: ViewKind = ModelField(description="`grid` also if the field of its board no longer exists.")
    board: SavedBoard | None = ModelField(
        description="How the view looks as a board; null if it has never been one."
    )
    place: Count = ModelField(
        description="Its place among the views of the project that everyone sees, or among the caller's private ones; "
        "0 is the first."
    )
    missing: list[MissingPart] = ModelField(
        description="The first 100 fields and options of the view that no longer exist."
    )
    remedies: list[QueryRemedy] = ModelField(
        description="Calls that together make its order possible, if no index serves it."
    )
    manual_order: Literal["building", "ready"] | None = ModelField(
        description="The state of its manual order, whether the view is sorted by it or not; null if it has none."
    )


class PlacedRow(AnswerModel):
    """A row that was placed."""

    num: Ordinal
    key: str = ModelField(description="The sort key of the row in this order.")
    version: Ordinal = ModelField(
        description="The version of the issue. `updated` and `updated_by` stay as they were."
    )


class PlacedRows(AnswerModel):
    """The rows as they are now, in the order of the request, without issues that do not exist."""

    items: list[PlacedRow]


class SavedViewPage(AnswerModel):
    """Shared views with the default, then the caller's own, each sorted by `place`."""

    items: list[SavedView]
    next: str | None = ModelField(description="The cursor of the next result page; null at the end.")


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
    """A webhook: the receiver, and the changes that it gets."""

    id: str = ModelField(pattern=f"^{ids.WEBHOOK.pattern}$")
    url: str
    view: str | None = ModelField(description="The saved view whose rows it follows; null for all issues.")
    frozen: ChosenView | None = ModelField(
        description="The view as it was when an administrator chose it, whose rows the webhook follows; null without a view."
    )
    columns: list[str] | None = ModelField(
        description="The only fields whose values are sent; null for all. Deleted fields are not sent."
    )
    missing: list[MissingPart] = ModelField(
        description="The first 100 deleted fields and options of the filter, the order and the columns."
    )
    events: list[Literal["create", "update", "delete", "restore", "enter", "leave"]]
    enabled: bool
    warning: WebhookWarning | None = ModelField(
        description="The reason why the webhook was disabled automatically, or why its view is no longer shared. Choosing "
        "rows, enabling it or `warning: null` clears it."
    )
    previous_secret_expires: AwareDatetime | None = ModelField(
        description="The instant until which the previous secret also signs; null if only the present one does."
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
    at: AwareDatetime = ModelField(description="The instant of the change.")
    status: Literal["pending", "delivered", "failed"] = ModelField(
        description="`pending`: it will be tried again. `failed`: it was given up."
    )
    attempts: int = ModelField(
        ge=0, description="The number of attempts, since the last replay if there was one."
    )
    last_attempt: AwareDatetime | None
    next_attempt: AwareDatetime | None
    response_status: int | None = ModelField(
        description="The HTTP status of the receiver's answer; null without an answer."
    )
    response_body: str = ModelField(description="The beginning of the receiver's answer.")
    failure: str | None = ModelField(
        description="The reason why the last attempt failed; null if it succeeded or there was none."
    )


class DeliveryPage(AnswerModel):
    """A result page of the deliveries of a webhook, newest change first."""

    items: list[WebhookDelivery]
    next: str | None


class IssueComment(_Written):
    """A comment on an issue."""

    id: Ordinal
    num: Ordinal = ModelField(description="The issue's number.")
    text: str
    mentions: list[str] = ModelField(description="Ids of users.")


class CommentPage(AnswerModel):
    """The comments on an issue in creation order."""

    items: list[IssueComment]
    next: str | None = ModelField(description="The cursor of the next result page; null at the end.")


class PreviewedValue(AnswerModel):
    """A value of an issue that a job would change."""

    num: Ordinal
    field: str
    old: Value | None
    new: Value | None


class BackgroundJob(AnswerModel):
    """A job: work that goes on in the background."""

    id: str = ModelField(pattern=f"^{ids.JOB.pattern}$")
    kind: Literal["update", "delete", "undo", "export"]
    state: Literal["waiting", "running", "done", "failed", "cancelled"] = ModelField(
        description="`done`, `failed` and `cancelled` are final."
    )
    done: Count = ModelField(
        description="The number of issues that have the job's values; for an export, of rows written."
    )
    total: Count | None = ModelField(
        description="The number of issues or rows of the job; null until they are counted."
    )
    refused: Count = ModelField(description="The number of issues that could not be changed or exported.")
    change: str | None = ModelField(
        description="The change that all writes of the job are part of; null for a job that writes nothing."
    )
    url: str | None = ModelField(
        description="For a finished export, a link to its file that is valid for five minutes. Only `GET .../jobs/{job}` "
        "returns it."
    )
    created: AwareDatetime
    created_by: str
    ended: AwareDatetime | None
    problem: Problem | None = ModelField(description="The reason why the job failed.")
    changed: Count | None = ModelField(
        description="For a job that writes nothing, the number of issues that would change so far; else null."
    )
    examples: list[PreviewedValue] | None = ModelField(
        description="For a job that writes nothing, up to ten of the new values; else null."
    )


class BackgroundJobPage(AnswerModel):
    """Jobs, newest first. They are kept for 30 days."""

    items: list[BackgroundJob]
    next: str | None = ModelField(description="The cursor of the next result page; null at the end.")


class RefusedIssue(AnswerModel):
    """An issue that a job could not change."""

    num: Ordinal
    problem: Problem


class RefusedPage(AnswerModel):
    """The issues that a job could not change, in the order of the job."""

    items: list[RefusedIssue]
    next: str | None = ModelField(description="The cursor of the next result page; null at the end.")


class UndoneIssue(AnswerModel):
    """An issue in which an undo reverted all or some of a change, or nothing was left to revert."""

    num: Ordinal
    version: Ordinal = ModelField(
        description="The present version; for a deleted issue, the version of the delete."
    )


class UndoAnswer(AnswerModel):
    """The outcome of an undo. An issue that was undone in part is in both lists."""

    undone: list[UndoneIssue]
    change: str | None = ModelField(
        description="The change of the undo's writes: its undo is a redo. Null if nothing was written."
    )
    refused: list[RefusedIssue] = ModelField(
        description="The issues that were not undone. Others have changed the fields in `conflicts` since."
    )
    issues: Ordinal | None = omissible(
        description="For a dry run, the number of issues that the undo would affect; null for more than 500, which need a job."
    )


class CommentEvent(AnswerModel):
    """A comment on an issue, without its text. Read the comment for the text."""

    id: str = ModelField(pattern="^[1-9][0-9]*[.]comment[.][1-9][0-9]*$")
    num: Ordinal
    kind: Literal["comment"]
    by: str
    at: AwareDatetime
    comment: Ordinal = ModelField(description="The comment's id.")
    mentions: list[str] = ModelField(description="Ids of users.")


class HistoryPage(AnswerModel):
    """Changes of an issue and comments on it, newest first. A result page before the end may be shorter than `limit`."""

    items: list[ChangeEvent | CommentEvent]
    next: str | None = ModelField(description="The cursor of the next result page; null at the end.")


class ActivityPage(AnswerModel):
    """Changes of a project, newest first. A result page before the end may be shorter than `limit`, even empty."""

    items: list[ChangeEvent | CommentEvent]
    next: str | None = ModelField(description="The cursor of the next result page; null at the end.")


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
        raise LookupError(f"There is no model of answers with the name {name}.")
    return found
