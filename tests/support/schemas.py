"""Whether a document has the form that a schema of the OpenAPI document gives it: the part of JSON Schema that ours use."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from gridview.api.openapi import document as openapi_document

_TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "boolean": bool,
    "number": (int, float, Decimal),
    "null": type(None),
}
_KNOWN = frozenset(
    {
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "default",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "pattern",
        "properties",
        "required",
        "title",
        "type",
    }
)


def named(name: str) -> dict[str, Any]:
    """A schema of the OpenAPI document."""
    found: dict[str, Any] = openapi_document()["components"]["schemas"][name]
    return found


def violations(schema: Mapping[str, Any], value: Any, path: str = "$") -> list[str]:
    """Everything in which the value is not what the schema says, each with its path."""
    assert schema.keys() <= _KNOWN, f"{path}: a schema keyword that nothing here checks"
    if "$ref" in schema:
        return violations(named(schema["$ref"].rpartition("/")[2]), value, path)
    found = []
    if "anyOf" in schema and all(violations(choice, value, path) for choice in schema["anyOf"]):
        found.append(f"{path}: is none of the choices")
    if "const" in schema and value != schema["const"]:
        found.append(f"{path}: is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{path}: is not one of {schema['enum']}")
    if "type" in schema and not _has_type(schema["type"], value):
        return [*found, f"{path}: is not of type {schema['type']}"]
    return found + _size_violations(schema, value, path) + _inner_violations(schema, value, path)


def _has_type(wanted: str | list[str], value: Any) -> bool:
    names = [wanted] if isinstance(wanted, str) else wanted
    return any(
        isinstance(value, _TYPES[name]) and (isinstance(value, bool) <= (name == "boolean")) for name in names
    )


def _size_violations(schema: Mapping[str, Any], value: Any, path: str) -> list[str]:
    found = []
    if isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            found.append(f"{path}: does not match {schema['pattern']}")
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
            found.append(f"{path}: is too short or too long")
    if isinstance(value, list) and not schema.get("minItems", 0) <= len(value) <= schema.get(
        "maxItems", len(value)
    ):
        found.append(f"{path}: has too few or too many items")
    if isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        found.append(f"{path}: is too small or too large")
    return found


def _inner_violations(schema: Mapping[str, Any], value: Any, path: str) -> list[str]:
    found: list[str] = []
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        found += [f"{path}: lacks {name}" for name in schema.get("required", ()) if name not in value]
        if schema.get("additionalProperties", True) is False:
            found += [f"{path}: has {name} too" for name in value if name not in properties]
        for name, inner in properties.items():
            if name in value:
                found += violations(inner, value[name], f"{path}.{name}")
    if isinstance(value, list) and "items" in schema:
        for place, item in enumerate(value):
            found += violations(schema["items"], item, f"{path}.{place}")
    return found
