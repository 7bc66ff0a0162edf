"""The schemas of the request bodies of writes."""

from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from gridview.commands.requests import AttributeCreate


@pytest.mark.parametrize(
    ("default", "valid"),
    [("a", True), (1.5, True), (False, True), (["a", "b"], True), (None, True), ([1], False), ({}, False)],
)
def test_the_schema_of_an_attribute_takes_a_value_of_any_type_as_default(default: Any, valid: bool) -> None:
    body = {"name": "Kind", "type": "text", "search": True, "default": default}
    assert AttributeCreate.model_validate(body).default == default, "the type decides later"
    assert Draft202012Validator(AttributeCreate.model_json_schema()).is_valid(body) == valid
