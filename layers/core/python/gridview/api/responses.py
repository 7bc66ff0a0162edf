"""The models of answers. The OpenAPI document is made from them, and every answer that a test gets is held to its model. Pure.

No function imports them to answer: only the document needs them.
"""

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, WithJsonSchema
from pydantic import Field as ModelField

from gridview.schema import ids
from gridview.schema.catalog import Color, FieldType
from gridview.support.validation import omissible

Count = Annotated[int, ModelField(ge=0)]
Ordinal = Annotated[int, ModelField(ge=1)]
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
"""A number, told with all its digits."""

Value = str | Number | bool | list[str]
"""A value of a field: the type of the field tells which."""


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
    """Who makes the call."""

    tenant: str = ModelField(pattern=f"^{ids.TENANT.pattern}$")
    role: Literal["viewer", "editor", "admin"]


class UserPage(AnswerModel):
    """Users in name order: those who have opened the page."""

    items: list[User]
    next: str | None = ModelField(description="The cursor of the next page; null at the end.")


class Build(AnswerModel):
    """The background work on a definition: how many issues are done, and out of how many."""

    state: Literal["building", "rebuilding", "reordering", "removing"]
    done: Count
    of: Count


class Error(AnswerModel):
    """One thing that is wrong with a request, and where: a dotted path such as `fields.start`."""

    field: str
    message: str


class QueryRemedy(AnswerModel):
    """A call of the API that makes a refused query possible, when the background work that it begins is done."""

    title: str
    method: Literal["PATCH", "POST"]
    path: str = ModelField(pattern="^/v1/")
    body: dict[str, Any]
    role: Literal["admin"] = ModelField(description="Who may make it.")


class Problem(AnswerModel):
    """Why a request was refused (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str = omissible()
    errors: list[Error] = omissible(min_length=1)
    more: Ordinal = omissible(description="How many further errors there are.")
    build: Build | None = omissible(description="The background work that the request has to wait for.")
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


class _Written(AnswerModel):
    version: Ordinal
    created: AwareDatetime
    updated: AwareDatetime
    created_by: str
    updated_by: str


class Project(_Written):
    """A project."""

    id: str = ModelField(pattern=f"^{ids.PROJECT.pattern}$")
    name: str
    states: list[EnumOption] = ModelField(min_length=1, description="The states of its issues in order.")
    issues: Count | None = ModelField(description="Issue count as of the index; null in a list of projects.")
    attributes: list[Attribute] = omissible(description="In display order; not in a list of projects.")


class ProjectPage(AnswerModel):
    """Projects in name order."""

    items: list[Project]
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


class Result(AnswerModel):
    """What became of one operation of a batch."""

    status: int
    issue: Issue = omissible()
    num: Ordinal = omissible(description="Of a new issue, where the answer is minimal.")
    version: Ordinal = omissible(description="Of the issue, where the answer is minimal.")
    problem: Problem = omissible()


class BatchAnswer(AnswerModel):
    """The results in the order of the operations."""

    results: list[Result]


class GridRow(AnswerModel):
    """An issue on a page; `columns` limits what is told of it."""

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


class PlanEstimate(AnswerModel):
    """What a node of the plan was expected to take."""

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
    """How a query was answered, and what it cost."""

    plan: list[str] = ModelField(description="What was done, in words.")
    tree: PlanNode
    calls: list[TableCall]
    sequential_calls: Count
    items_read: Count
    read_units: float


class IndexAge(AnswerModel):
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
    index: IndexAge
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
    index: IndexAge
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
    index: IndexAge
    explain: Explanation = omissible()


class Position(AnswerModel):
    """The place of an issue in an order."""

    position: Count | None = ModelField(
        description="Rows before the issue; null if it does not pass the filter."
    )
    index: IndexAge
    explain: Explanation = omissible()
