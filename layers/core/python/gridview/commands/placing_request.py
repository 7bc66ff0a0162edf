"""The request that places rows in a manual order. Pure."""

from typing import Annotated, Any

from pydantic import ConfigDict, ValidationInfo, field_validator, model_validator
from pydantic import Field as ModelField

from gridview.commands.requests import Nums
from gridview.schema.ids import MAX_ISSUE_NUMBER
from gridview.support.validation import RequestModel, omissible

_Anchor = Annotated[int, ModelField(ge=1, le=MAX_ISSUE_NUMBER)] | None


def _one_anchor(schema: dict[str, Any]) -> None:
    schema["oneOf"] = [{"required": ["before"]}, {"required": ["after"]}]


class OrderRequest(RequestModel):
    """POST /v1/projects/{project}/views/{view}/order. Exactly one of `before` and `after`."""

    model_config = ConfigDict(json_schema_extra=_one_anchor)

    nums: Nums = ModelField(description="The issues to place together, in this order.")
    before: _Anchor = omissible(
        description="The issue before which they go; null: after the last row of the order."
    )
    after: _Anchor = omissible(
        description="The issue after which they go; null: before the first row of the order."
    )

    @field_validator("before", "after")
    @classmethod
    def _not_moved_itself(cls, anchor: int | None, known: ValidationInfo) -> int | None:
        if anchor is not None and anchor in known.data.get("nums", ()):
            raise ValueError("must not be one of nums")
        return anchor

    @model_validator(mode="after")
    def _exactly_one(self) -> "OrderRequest":
        if len(self.model_fields_set & {"before", "after"}) != 1:
            raise ValueError("must have exactly one of before, after")
        return self

    @property
    def anchor(self) -> int | None:
        """The issue beside which the rows go; None: at an end of the order."""
        return self.before if "before" in self.model_fields_set else self.after

    @property
    def backward(self) -> bool:
        """Whether the rows go before the anchor, or without one before the first row."""
        return ("before" in self.model_fields_set) == (self.anchor is not None)
