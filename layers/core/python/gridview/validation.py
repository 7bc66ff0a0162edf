"""Parsing a request with pydantic, and telling all that is wrong with it at once."""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from gridview.errors import FieldError, InvalidRequest

Model = TypeVar("Model", bound=BaseModel)


class RequestModel(BaseModel):
    """A request body: unknown properties are refused, and no value is coerced from another JSON type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def parse(model: type[Model], document: Any) -> Model:
    """The document as a model; InvalidRequest with every error of it."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise InvalidRequest("The request is not valid.", field_errors(error)) from None


def field_errors(error: ValidationError) -> list[FieldError]:
    """Each error with its dotted path; the whole body is called `body`. What the client sent is not repeated."""
    return [
        FieldError(".".join(map(str, one["loc"])) or "body", _message(one))
        for one in error.errors(include_url=False, include_input=False)
    ]


def _message(error: Any) -> str:
    if error["type"] == "extra_forbidden":
        return "is not a known property"
    if error["type"] == "missing":
        return "is required"
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    return str(error["msg"])
