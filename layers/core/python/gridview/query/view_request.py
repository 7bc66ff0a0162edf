"""The requests that write saved views. Pure."""

from typing import Annotated, Literal

from pydantic import Field as ModelField

from gridview.query.grid_request import MAX_COLUMNS, FieldId, SortKeys
from gridview.query.group_request import MAX_FIELDS as MAX_GROUP_KEYS
from gridview.query.group_request import Aggregate, GroupInput
from gridview.query.number_functions import Function
from gridview.query.request_filters import FilterDocument
from gridview.query.rules import MAX_RULES, RuleFilter
from gridview.query.summary_request import MAX_FIELDS as MAX_FOOTERS
from gridview.schema.fields import Color
from gridview.schema.views import ViewKind, Visibility
from gridview.support.validation import RequestModel, omissible

MAX_NAME_LENGTH = 256
MIN_COLUMN_WIDTH = 16
MAX_COLUMN_WIDTH = 2_000
MIN_ROW_HEIGHT = 16
MAX_ROW_HEIGHT = 400
MAX_BOARD_COLUMNS = 100
"""Columns of a board that a view places, hides or limits. Other values come after them."""
MAX_CARD_FIELDS = 20
MAX_CARDS = 1_000_000
"""The highest limit of the cards in a column: the issues of a project."""


class ViewQuery(RequestModel):
    """The order and the filter of a view, as in a grid query."""

    sort: SortKeys = ModelField(default_factory=list)
    filter: FilterDocument = None


class ViewColumn(RequestModel):
    """A column of a view; `width` in pixels. Frozen columns stay when the others scroll."""

    field: FieldId
    width: int = ModelField(ge=MIN_COLUMN_WIDTH, le=MAX_COLUMN_WIDTH)
    frozen: bool = False


class ViewFooter(RequestModel):
    """The value below a column, as in a summary."""

    field: FieldId
    function: Function


class ViewGroupOrder(RequestModel):
    """The order of a view's groups: by a function of a number field, or by the groups' counts without a field."""

    field: FieldId | None = None
    function: Function
    direction: Literal["asc", "desc"] = "asc"


class ViewRule(RequestModel):
    """Rows that the filter matches have a color: one cell of them, or without `field` the whole row."""

    filter: RuleFilter
    color: Color
    field: FieldId | None = None


class BoardColumn(RequestModel):
    """A column of a board: the cards with one value, or with none (null). Its limit is shown, and never enforced."""

    value: str | bool | None
    hidden: bool = False
    limit: int | None = ModelField(default=None, ge=1, le=MAX_CARDS)


class Board(RequestModel):
    """A view as a board: its issues in columns by the values of one field.

    The columns of values that `columns` does not name come after the others, in the order of the groups.
    """

    by: FieldId
    columns: list[BoardColumn] = ModelField(default_factory=list, max_length=MAX_BOARD_COLUMNS)
    card: list[FieldId] = ModelField(
        default_factory=list,
        max_length=MAX_CARD_FIELDS,
        description="The fields that a card shows below its name.",
    )
    aggregate: Aggregate | None = ModelField(
        default=None, description="The function of a number field that each column shows beside its count."
    )


_Name = Annotated[str, ModelField(min_length=1, max_length=MAX_NAME_LENGTH)]
_Columns = Annotated[list[ViewColumn], ModelField(max_length=MAX_COLUMNS)] | None
_Groups = Annotated[list[GroupInput], ModelField(max_length=MAX_GROUP_KEYS)]
_Footers = Annotated[list[ViewFooter], ModelField(max_length=MAX_FOOTERS)]
_Rules = Annotated[
    list[ViewRule],
    ModelField(
        max_length=MAX_RULES,
        description="The first that matches a row or a cell gives it its color. The filters have 50 conditions together.",
    ),
]
_PLACE = "The place among the views of the project that everyone sees, or among the caller's private ones; 0 is the first."
_Height = Annotated[
    int, ModelField(ge=MIN_ROW_HEIGHT, le=MAX_ROW_HEIGHT, description="The height of a row, in pixels.")
]

_COLUMNS = "The columns in their order on the screen; null for all fields in the project's order."
_GROUP_ORDER = "The order of the groups; null for that of their fields."
_COLOR = "The field with options that gives the rows their colors."
_BOARD = "How the view looks as a board; required for the kind `board`, and kept when the kind is `grid`."


class ViewCreate(RequestModel):
    """POST /v1/projects/{project}/views."""

    name: _Name
    visibility: Visibility = "private"
    kind: ViewKind = "grid"
    query: ViewQuery = ModelField(default_factory=ViewQuery)
    columns: _Columns = ModelField(default=None, description=_COLUMNS)
    groups: _Groups = ModelField(default_factory=list)
    group_order: ViewGroupOrder | None = ModelField(default=None, description=_GROUP_ORDER)
    footers: _Footers = ModelField(default_factory=list)
    color_by: FieldId | None = ModelField(default=None, description=_COLOR)
    rules: _Rules = ModelField(default_factory=list)
    row_height: _Height = 32
    board: Board | None = ModelField(default=None, description=_BOARD)


class ViewPatch(RequestModel):
    """PATCH /v1/projects/{project}/views/{view}. Omitted properties stay unchanged; each given one is replaced as a whole."""

    name: _Name = omissible()
    visibility: Visibility = omissible()
    kind: ViewKind = omissible()
    query: ViewQuery = omissible()
    columns: _Columns = omissible(description=_COLUMNS)
    groups: _Groups = omissible()
    group_order: ViewGroupOrder | None = omissible(description=_GROUP_ORDER)
    footers: _Footers = omissible()
    color_by: FieldId | None = omissible(description=_COLOR)
    rules: _Rules = omissible()
    row_height: _Height = omissible()
    board: Board | None = omissible(description=_BOARD)
    place: int = omissible(ge=0, description=_PLACE)
