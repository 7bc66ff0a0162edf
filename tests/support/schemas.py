"""Checks a document against a schema of the OpenAPI document."""

import json
from functools import cache
from typing import Any

import jsonschema_rs

from infra.openapi.document import document


def named(name: str) -> dict[str, Any]:
    """A schema of the OpenAPI document."""
    found: dict[str, Any] = document()["components"]["schemas"][name]
    return found


def violations(schema: dict[str, Any], value: Any) -> list[str]:
    """Every difference of the value from the schema, each with its path."""
    found = _validator(json.dumps(schema)).iter_errors(value)
    return [
        "$" + "".join(f".{part}" for part in error.instance_path) + f": {error.message}" for error in found
    ]


@cache
def _validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    whole = {**json.loads(schema), "components": document()["components"]}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
