"""Models of the request bodies of all writes. The OpenAPI document is made from them. Pure."""

from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    ConfigDict,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic import Field as ModelField

from gridview.commands.changes import PATTERN as CHANGE_PATTERN
from gridview.encoding.values import USER_LIMIT
from gridview.formulas.lexer import MAX_FORMULA_LENGTH
from gridview.formulas.tree import RESULTS, ValueType
from gridview.schema import ids
from gridview.schema.catalog import MAX_KEYS
from gridview.schema.field_formats import FormatInput
from gridview.schema.fields import MAX_OPTIONS, FieldType
from gridview.schema.options import OptionInput, OptionsInput
from gridview.support.validation import RequestModel, omissible

MAX_PROJECT_NAME_LENGTH = 1_024
"""Characters of the name of a project: as many as those of an issue."""

MAX_HISTORY_DAYS = 3_650

DEFAULT_STATES: OptionsInput = [OptionInput(value="open"), OptionInput(value="closed")]


class HistoryInput(RequestModel):
    """A project's setting of the history. Omitted properties stay unchanged."""

    enabled: bool = omissible(
        description="Whether changes are listed by time and can be undone. Costs two write units for each change."
    )
    days: int = omissible(ge=1, le=MAX_HISTORY_DAYS, description="Days for which changes are kept.")


class ProjectCreate(RequestModel):
    """POST /v1/projects."""

    name: str = ModelField(min_length=1, max_length=MAX_PROJECT_NAME_LENGTH)
    id: str | None = ModelField(default=None, pattern=f"^{ids.PROJECT.pattern}$")
    states: OptionsInput = ModelField(default=DEFAULT_STATES, min_length=1)
    history: HistoryInput = omissible()


class ProjectPatch(RequestModel):
    """PATCH /v1/projects/{project}. Omitted properties stay unchanged. `states` are matched by id where
    given, else by value.
    """

    name: str = omissible(min_length=1, max_length=MAX_PROJECT_NAME_LENGTH)
    states: OptionsInput = omissible(min_length=1)
    history: HistoryInput = omissible()


MAX_NAME_LENGTH = 256
"""Characters of the name of an attribute."""


MAX_DESCRIPTION_LENGTH = 1_000


NO_OPTIONS = "only attributes of the types enum and multi_enum have options"


NO_WORDS = "only attributes of the type text can be searched for words"


NO_RESULT = "only attributes of the types text, number, date, datetime and bool have formulas"


_Description = Annotated[str, ModelField(max_length=MAX_DESCRIPTION_LENGTH)]

_Default = Annotated[
    Any,
    WithJsonSchema(
        {
            "description": "The value of new issues whose creator omits the field. Null means none. A creator who gives null "
            "gets an issue without a value.",
            "anyOf": [
                {"type": "string"},
                {"type": "number"},
                {"type": "boolean"},
                {"type": "array", "items": {"type": "string"}, "maxItems": MAX_OPTIONS},
                {"type": "null"},
            ],
        }
    ),
]


_Formula = Annotated[
    str,
    ModelField(
        min_length=1,
        max_length=MAX_FORMULA_LENGTH,
        description="The formula that computes the values, with fields in braces: `ROUND({cost} * {qty}, 2)`.",
    ),
]
_OF_STORED = "only attributes whose values are stored have that"


class AttributeCreate(RequestModel):
    """POST /v1/projects/{project}/attributes."""

    name: str = ModelField(min_length=1, max_length=MAX_NAME_LENGTH)
    type: FieldType = ModelField(strict=False)
    id: str | None = ModelField(default=None, pattern=f"^{ids.ATTRIBUTE.pattern}$")
    options: OptionsInput | None = None
    required: bool = False
    indexed: bool | None = None
    search: bool = False
    position: int | None = ModelField(default=None, ge=0)
    description: _Description | None = None
    format: FormatInput | None = None
    default: _Default = None
    formula: _Formula | None = None

    @field_validator("formula")
    @classmethod
    def _only_computed(cls, formula: str | None, known: ValidationInfo) -> str | None:
        kind = known.data.get("type")
        if formula is None:
            return None
        if kind is not None and kind not in RESULTS:
            raise ValueError(NO_RESULT)
        if known.data.get("required"):
            raise ValueError(f"cannot be combined with required: {_OF_STORED}")
        if known.data.get("default") is not None:
            raise ValueError(f"cannot be combined with default: {_OF_STORED}")
        return formula

    @field_validator("options")
    @classmethod
    def _only_to_choose_from(cls, given: OptionsInput | None, known: ValidationInfo) -> OptionsInput | None:
        kind = known.data.get("type")  # absent if it is invalid itself
        if given is not None and kind is not None and not kind.has_options:
            raise ValueError(NO_OPTIONS)
        return given

    @field_validator("search")
    @classmethod
    def _only_words(cls, search: bool, known: ValidationInfo) -> bool:
        kind = known.data.get("type")
        if search and kind not in (None, FieldType.TEXT):
            raise ValueError(NO_WORDS)
        return search


class AttributePatch(RequestModel):
    """PATCH /v1/projects/{project}/attributes/{attribute}. Omitted properties stay unchanged."""

    name: str = omissible(min_length=1, max_length=MAX_NAME_LENGTH)
    options: OptionsInput = omissible()
    required: bool = omissible()
    indexed: bool = omissible()
    search: bool = omissible()
    position: int = omissible(ge=0)
    description: _Description | None = omissible()
    format: FormatInput | None = omissible()
    default: _Default = omissible()
    formula: _Formula = omissible()


MAX_CHECKED = 20


class FormulaCheck(RequestModel):
    """POST /v1/projects/{project}/formulas/check."""

    formula: _Formula
    type: FieldType | None = ModelField(
        default=None,
        strict=False,
        description="The type that the formula must have; null: that of the `attribute`, or any without one.",
    )
    attribute: Annotated[str, WithJsonSchema(ids.FIELD_ID_SCHEMA)] | None = ModelField(
        default=None,
        description="The computed attribute that would get the formula. Cycles and limits are checked as in its PATCH.",
    )
    nums: list[Annotated[int, ModelField(ge=1, le=ids.MAX_ISSUE_NUMBER)]] = ModelField(
        default_factory=list,
        max_length=MAX_CHECKED,
        description="The issues for which to return the value. Missing ones are left out of the answer.",
    )

    @field_validator("nums")
    @classmethod
    def _each_once(cls, nums: list[int]) -> list[int]:
        return _all_distinct(nums)

    @field_validator("type")
    @classmethod
    def _a_result(cls, kind: FieldType | None) -> FieldType | None:
        if kind is not None and ValueType(kind.value) not in RESULTS:
            raise ValueError(NO_RESULT)
        return kind


class CompositeKey(RequestModel):
    """One key of a composite index."""

    field: Annotated[str, WithJsonSchema(ids.FIELD_ID_SCHEMA)]
    direction: Literal["asc", "desc"] = "asc"
    nulls: Literal["first", "last"] = "last"


class CompositeCreate(RequestModel):
    """POST /v1/projects/{project}/indexes."""

    sort: list[CompositeKey] = ModelField(min_length=2, max_length=MAX_KEYS)


MAX_OPERATIONS = 500


class UpdateOperation(RequestModel):
    """The body of `PATCH .../issues/{num}` with the number; `version` acts like If-Match."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"maxProperties": RequestModel.max_properties})

    num: int = ModelField(ge=1)
    version: int | None = ModelField(default=None, ge=1)


class DeleteOperation(RequestModel):
    """The number of an issue; `version` acts like If-Match."""

    num: int = ModelField(ge=1)
    version: int | None = ModelField(default=None, ge=1)


class Operation(RequestModel):
    """Exactly one of create, update and delete."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    create: dict[str, Any] = omissible(
        max_length=RequestModel.max_properties, description="The body of `POST .../issues`."
    )
    update: UpdateOperation = omissible()
    delete: DeleteOperation = omissible()

    @model_validator(mode="after")
    def _exactly_one(self) -> "Operation":
        if len(self.model_fields_set) != 1:
            raise ValueError("must be one of create, update, delete")
        return self


class BatchRequest(RequestModel):
    """POST /v1/projects/{project}/issues/batch."""

    operations: list[Operation] = ModelField(min_length=1, max_length=MAX_OPERATIONS)
    returning: Literal["representation", "minimal"] = ModelField(
        default="representation",
        alias="return",
        description="Whether results contain whole issues, or only versions and the numbers of new issues.",
    )


def _all_distinct(nums: list[int]) -> list[int]:
    repeated = sorted({num for num, count in Counter(nums).items() if count > 1})
    if repeated:
        more = ", …" if len(repeated) > _NAMED else ""
        raise ValueError(f"must not name an issue twice: {', '.join(map(str, repeated[:_NAMED]))}{more}")
    return nums


_NAMED = 10
"""Issues that an error names."""

Nums = Annotated[
    list[Annotated[int, ModelField(ge=1, le=ids.MAX_ISSUE_NUMBER)]],
    ModelField(min_length=1, max_length=MAX_OPERATIONS),
    AfterValidator(_all_distinct),
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": ids.MAX_ISSUE_NUMBER},
            "minItems": 1,
            "maxItems": MAX_OPERATIONS,
            "uniqueItems": True,
        }
    ),
]
"""Up to 500 issues, each named once."""


class UndoRequest(RequestModel):
    """POST /v1/projects/{project}/undo."""

    change: Annotated[
        str,
        ModelField(
            pattern=f"^{CHANGE_PATTERN.pattern}$",
            description="The `X-Change-Id` of the change to undo.",
        ),
        WithJsonSchema({"type": "string", "format": "uuid", "pattern": f"^{CHANGE_PATTERN.pattern}$"}),
    ]
    by: Annotated[str, ModelField(min_length=1, max_length=USER_LIMIT)] | None = ModelField(
        default=None,
        description="The user who made the change. By default the caller, otherwise the only user who wrote under the id. Only "
        "an administrator can name another user.",
    )
    nums: Nums = omissible(
        description="The issues in which to undo the change. The change must have touched each of them. By default all issues "
        "that it touched."
    )
    dry_run: bool = ModelField(
        default=False,
        description="Write nothing, and return in `issues` how many issues the undo would affect.",
    )
