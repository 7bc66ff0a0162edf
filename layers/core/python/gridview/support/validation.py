"""Parses a request with pydantic, and reports all its errors at once."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic import Field as ModelField

from gridview.support.errors import FieldError, invalid

Model = TypeVar("Model", bound=BaseModel)

_INTEGER = re.compile(r"-?[0-9]{1,18}")


class RequestModel(BaseModel):
    """A request body: unknown properties are refused, and no value is coerced from another JSON type.

    An object with more than `max_properties` is refused as such, before any of them is looked at.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    max_properties: ClassVar[int] = 32

    @model_validator(mode="before")
    @classmethod
    def _bounded(cls, given: Any) -> Any:
        if isinstance(given, dict) and len(given) > cls.max_properties:
            raise ValueError(f"must have at most {cls.max_properties} properties")
        return given


def omissible(**constraints: Any) -> Any:
    """Return a property that may be left out, but is not null unless its type says so.

    An omitted property is not in `model_fields_set`. The JSON Schema states no default, because there is
    none.
    """
    return ModelField(default=None, json_schema_extra=_without_default, **constraints)


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


def parse(model: type[Model], document: Any, context: Any = None) -> Model:
    """Parse the document as a model; InvalidRequest with every error of it. `context`: further inputs of its
    validators.
    """
    try:
        return model.model_validate(document, context=context)
    except ValidationError as error:
        raise invalid("The request is not valid. Fix what `errors` lists.", field_errors(error)) from None


def field_errors(error: ValidationError) -> list[FieldError]:
    """Return each error with its dotted path; the whole body is called `body`. The client's input is not
    repeated.
    """
    return [
        FieldError(".".join(map(str, one["loc"])) or "body", _message(one))
        for one in error.errors(include_url=False, include_input=False)
    ]


_MESSAGES = {
    "dict_type": "must be an object",
    "extra_forbidden": "is not a known property",
    "list_type": "must be an array",
    "missing": "is required",
    "model_type": "must be an object",
}


def _message(error: Any) -> str:
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    return _MESSAGES.get(error["type"], str(error["msg"]))


def as_integers(parameters: Mapping[str, str], *names: str) -> dict[str, int]:
    """Return these query parameters as numbers, where they are numbers; where not, validation says so of the
    text.
    """
    given = {name: parameters.get(name, "") for name in names}
    return {name: int(text) for name, text in given.items() if _INTEGER.fullmatch(text)}
