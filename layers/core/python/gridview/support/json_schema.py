"""JSON Schemas that stand under names of their own in the OpenAPI document."""

from typing import Any

NAME = "x-name"


def component(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with its name; the document has a reference in its place."""
    return {NAME: name, **schema}
