"""The OpenAPI document for the clients of one project, with its fields, states, values and parts of paths.

The document of the API leaves open the parts that depend on a project. The API accepts everything that this one allows.
It nests a filter once: `and`, `or` and `not` contain few conditions of each kind.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gridview.encoding.consistency import CONSISTENCY_TOKEN
from gridview.schema.fields import FieldType
from infra.openapi.document import document

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "pattern": "^[A-Za-z][A-Za-z ]{0,39}$"}
_NUMBER: Schema = {
    "anyOf": [
        {"type": "integer", "minimum": -(10**37), "maximum": 10**37},
        {"type": "string", "pattern": r"^-?[1-9][0-9]{0,9}(\.[0-9]{1,9})?$"},
    ]
}
_DATETIME: Schema = {
    "type": "string",
    "pattern": "^20[0-9]{2}-0[1-9]-[12][0-9]T1[0-9]:[0-5][0-9]:[0-5][0-9]Z$",
}
_VALUES: dict[FieldType, Schema] = {
    FieldType.TEXT: _TEXT,
    FieldType.NUMBER: _NUMBER,
    FieldType.DATE: {"type": "string", "pattern": "^20[0-9]{2}-0[1-9]-[12][0-8]$"},
    FieldType.DATETIME: _DATETIME,
    FieldType.BOOL: {"type": "boolean"},
    FieldType.USER: _TEXT,
}


class Project(NamedTuple):
    """The parts of a project: field types, values of fields with options, parts of paths, tokens of writes."""

    id: str
    fields: Mapping[str, FieldType]
    options: Mapping[str, Sequence[str]]
    attributes: Sequence[str]
    issues: Sequence[int]
    indexes: Sequence[str]
    views: Sequence[str]
    webhooks: Sequence[str]
    deliveries: Sequence[str]
    comments: Sequence[int]
    jobs: Sequence[str]
    tokens: Sequence[str]

    def of_type(self, *kinds: FieldType) -> Schema:
        """The schema of the ids of fields of these types."""
        return {"type": "string", "enum": [name for name, kind in self.fields.items() if kind in kinds]}

    def value(self, field: str) -> Schema:
        """The schema of a field's values."""
        kind = self.fields[field]
        if kind not in (FieldType.ENUM, FieldType.MULTI_ENUM):
            return _VALUES[kind]
        option = {"type": "string", "enum": [*self.options[field]]}
        if kind is FieldType.ENUM:
            return option
        return {"type": "array", "items": option, "minItems": 1, "uniqueItems": True}


def addressed_to(project: Project) -> Schema:
    """The document with the project's own parts of paths, and with filters that nest once."""
    made: Schema = json.loads(json.dumps(document()))
    _flatten_filters(made["components"]["schemas"])
    parts: dict[str, Sequence[Any]] = {
        "project": [project.id],
        "attribute": project.attributes,
        "num": project.issues,
        "index": project.indexes,
        "view": project.views,
        "webhook": project.webhooks,
        "delivery": project.deliveries,
        "comment": project.comments,
        "job": project.jobs,
    }
    for parameter in _parameters(made):
        if parameter["name"] in parts:
            parameter["schema"]["enum"] = [*parts[parameter["name"]]]
    return made


def constrained_to(project: Project) -> Schema:
    """The same with its fields, values and states, so that the API accepts every valid request; without examples of
    another project.
    """
    made = addressed_to(project)
    _forget_examples(made["paths"])
    schemas = made["components"]["schemas"]
    schemas["FieldId"] = project.of_type(*FieldType)
    schemas["Aggregate"]["properties"]["field"] = project.of_type(FieldType.NUMBER)
    _restrict_conditions(schemas, project)
    _restrict_issues(schemas, project)
    field = f"({'|'.join(project.fields)})"
    patterns = {"columns": f"^{field}(,{field})*$", "sort": f"^-?{field}$"}
    for parameter in _parameters(made):
        if parameter["name"] in patterns:
            parameter["schema"]["pattern"] = patterns[parameter["name"]]
        if parameter["name"] == CONSISTENCY_TOKEN:
            parameter["schema"]["enum"] = [*project.tokens]
    return made


def _parameters(document: Schema) -> Iterator[Schema]:
    return (
        parameter
        for path in document["paths"].values()
        for operation in path.values()
        for parameter in operation["parameters"]
    )


def _forget_examples(node: Any) -> None:
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    if isinstance(node, dict):
        node.pop("example", None)
    for one in inner:
        _forget_examples(one)


def _flatten_filters(schemas: Schema) -> None:
    few = [{"$ref": f"#/components/schemas/{name}"} for name in ("ValueCondition", "TextCondition")]
    for name, key in (("AndFilter", "and"), ("OrFilter", "or")):
        schemas[name]["properties"][key]["items"] = {"anyOf": few}
    schemas["NotFilter"]["properties"]["not"] = {"anyOf": few}
    for name in ("GroupsRequest", "SummaryRequest", "ViewQuery", "UpdateMatching", "DeleteMatching"):
        schemas[name]["properties"]["filter"] = {"anyOf": [*few, {"type": "null"}]}
    schemas["GridRequest"]["properties"]["rules"]["items"] = {"anyOf": few}
    schemas["ViewRule"]["properties"]["filter"] = {"anyOf": few}
    schemas["SavedRule"]["properties"]["filter"] = {"type": "object"}
    # Requests and answers differ: a group may have any filter, and so may a view.
    for name in ("IssueGroup", "SavedQuery"):
        schemas[name]["properties"]["filter"] = {"type": ["object", "null"]}


def _restrict_conditions(schemas: Schema, project: Project) -> None:
    several = project.of_type(FieldType.MULTI_ENUM)
    (several_of,) = several["enum"]
    text, dates = project.of_type(FieldType.TEXT), project.of_type(FieldType.DATE)
    for name, fields, change in (
        ("ValueCondition", project.of_type(FieldType.NUMBER), _instead(_NUMBER)),
        ("ListCondition", dates, _items(_VALUES[FieldType.DATE])),
        ("RangeCondition", project.of_type(FieldType.DATETIME), _items(_DATETIME)),
        ("TextCondition", text, _instead(_TEXT)),
        ("WordsCondition", text, _instead(_TEXT)),
        ("OptionsCondition", several, _instead(project.value(several_of))),
    ):
        properties = schemas[name]["properties"]
        properties["field"], properties["value"] = fields, change(properties["value"])


def _instead(schema: Schema) -> Callable[[Schema], Schema]:
    return lambda _: schema


def _items(schema: Schema) -> Callable[[Schema], Schema]:
    return lambda value: {**value, "items": schema}


def _restrict_issues(schemas: Schema, project: Project) -> None:
    values = {name: {"anyOf": [project.value(name), {"type": "null"}]} for name in project.attributes}
    fields = {"type": "object", "properties": values, "additionalProperties": False}
    create, patch = schemas["IssueCreate"]["properties"], schemas["IssuePatch"]["properties"]
    patch["state"] = project.value("state")
    # A schema cannot know the versions of an issue, or whether If-Match is present too.
    del patch["base"]
    create["state"] = {"anyOf": [patch["state"], {"type": "null"}]}
    create["fields"], patch["fields"] = fields, {"anyOf": [fields, {"type": "null"}]}
    schemas["UpdateMatching"]["properties"]["set"] = {**schemas["IssuePatch"], "minProperties": 1}
