"""The API's JSON for projects, attributes and composite indexes. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from orjson import Fragment

from gridview.encoding.attribute_values import item_size
from gridview.encoding.json_codec import dumps, size_in_response
from gridview.encoding.values import datetime_json
from gridview.schema import options
from gridview.schema.catalog import Catalog, Composite, Definition
from gridview.schema.computed_fields import scope_of
from gridview.schema.fields import BUILTINS, Field, Option
from gridview.schema.formats import value_json
from gridview.schema.items import ProjectItems, to_field, to_history
from gridview.schema.jobs import Progress
from gridview.support.errors import LimitExceeded, NotFound

if TYPE_CHECKING:
    from gridview.formulas.scope import FormulaScope

MAX_PROJECT_BYTES = 5_000_000
"""The largest project with its attributes, as an answer contains it. Lambda limits an answer to 6 MB."""


def project_json(project_id: str, item: Mapping[str, Any], issues: int | None = None) -> dict[str, Any]:
    """Return a project as the API returns it. `issues` is null in a list, where counting would cost too much."""
    return {
        "id": project_id,
        "name": item["name"],
        "states": options.options_json(map(Option.from_item, item["states"])),
        "issues": issues,
        "history": to_history(item)._asdict(),
        "version": item["version"],
        "created": datetime_json(item["created"]),
        "updated": datetime_json(item["updated"]),
        "created_by": item["created_by"],
        "updated_by": item["updated_by"],
    }


def fitting(projects: Iterable[Mapping[str, Any]]) -> list[Fragment]:
    """Return the first of these projects, as JSON: as many as an answer can hold, and one at least."""
    shown: list[Fragment] = []
    size = 0
    for project in projects:
        encoded = dumps(project)
        size += size_in_response(encoded)
        if shown and size > MAX_PROJECT_BYTES:
            break
        shown.append(Fragment(encoded))
    return shown


def formula_scope(items: ProjectItems, changed: Iterable[Field] = ()) -> "FormulaScope":
    """Return the names that the formulas of a project have for its fields. `changed`: fields as they are to be."""
    known = {key: one for key, one in BUILTINS.items() if key != "state"}
    states = tuple(map(Option.from_item, items.project["states"]))
    known["state"] = replace(BUILTINS["state"], options=states)
    stored = (one for one in map(to_field, items.attributes) if not one.deleted)
    own = {one.key: one for one in chain(stored, changed) if not one.builtin}
    return scope_of((*known.values(), *own.values()))


def attribute_json(items: ProjectItems, field: Field, scope: "FormulaScope | None" = None) -> dict[str, Any]:
    """Return an attribute or built-in field as the API returns it. `scope`: of formulas, if it is at hand.

    `position` is its place in the display order, from 0 (null for a built-in field; the former place of a deleted one).
    `search` is whether its words are indexed or will be. `build` shows the background work on it.
    """
    attribute: dict[str, Any] = {
        "id": field.id,
        "name": field.name,
        "type": field.type.value,
        "required": field.required,
        "indexed": field.indexed,
        "search": field.searched,
        "description": field.description,
        "format": field.format,
        "default": None if field.default is None else value_json(field, field.default),
        "build": build_json(items, field, moving=field.moving),
        "position": _position(field, items.catalog["order"]),
        "version": field.version,
        "created": datetime_json(field.created or items.project["created"]),
        "updated": datetime_json(field.updated or items.project["created"]),
    }
    if field.type.has_options:
        attribute["options"] = options.options_json(field.options)
    if field.computed:
        from gridview.formulas.printing import printed

        formula, known = field.formulas[-1].formula, scope or formula_scope(items)
        attribute["formula"] = printed(formula.tree, known)
        attribute["uses"] = known.ids(formula.uses)
    return attribute


def attributes_json(items: ProjectItems, fields: Iterable[Field]) -> list[dict[str, Any]]:
    """Return attributes as the API returns them. They may differ from the stored ones, or be new."""
    shown = list(fields)
    scope = formula_scope(items, shown) if any(field.computed for field in shown) else None
    return [attribute_json(items, field, scope) for field in shown]


def _position(field: Field, order: Sequence[str]) -> int | None:
    if field.builtin:
        return None
    return field.deletion.position if field.deletion else order.index(field.key)


def require_room(items: ProjectItems, fields: Iterable[Field]) -> None:
    """Raise LimitExceeded if the project with these attributes would be larger than an answer can be (`has_room`)."""
    if not has_room(items, fields):
        raise LimitExceeded(
            f"The project with its attributes and options would be larger than {MAX_PROJECT_BYTES // 1_000_000} MB. "
            "Dropped options count too: rename options instead of replacing them, or delete attributes first."
        )


def has_room(items: ProjectItems, fields: Iterable[Field]) -> bool:
    """Return whether an answer could hold the project with these attributes, even with their dropped options.

    No answer has those, but every container reads them with the definitions.
    """
    shown = list(fields)
    parts = [project_json("", items.project), *attributes_json(items, shown)]
    known = chain(map(Option.from_item, items.project["states"]), *(field.options for field in shown))
    dropped = [option.to_item() for option in known if option.retired]
    return size_in_response(dumps(parts)) + item_size(dropped) <= MAX_PROJECT_BYTES


def build_json(items: ProjectItems, definition: Definition, *, moving: int) -> dict[str, Any] | None:
    """Return the state and progress of the background work on a definition; None if there is none.

    A field in state `building` cannot be sorted by yet. During `rebuilding` and `reordering` the present
    order is served. `removing` deletes the rest of an index or a deleted attribute. `moving`: the epoch of a
    move of options in progress, else 0.
    """
    indexes = definition.indexes
    if definition.deleted:
        state, since = "removing", definition.deleted
    elif indexes.building is not None:
        state, since = "building" if indexes.ready is None else "rebuilding", indexes.building.since
    elif moving:
        state, since = "reordering", moving
    elif indexes.leaving:
        state, since = "removing", indexes.pending
    else:
        return None
    progress = Progress(0, items.numbers)
    if items.job is not None:
        progress = items.job.progress_of(since, items.numbers, items.slices)
    return {"state": state, **progress._asdict()}


def composite_json(items: ProjectItems, catalog: Catalog, composite: Composite) -> dict[str, Any]:
    """Return a composite index as the API returns it; `build` is as for an attribute."""
    return {
        "id": composite.id,
        "sort": [
            {
                "field": catalog.field_of(part.field).id,
                "direction": "desc" if part.descending else "asc",
                "nulls": "first" if part.nulls_first else "last",
            }
            for part in composite.sort
        ],
        "state": "building" if composite.indexes.ready is None else "ready",
        "build": build_json(items, composite, moving=_moving(catalog, composite)),
        "version": composite.version,
        "created": datetime_json(composite.created),
    }


def _moving(catalog: Catalog, composite: Composite) -> int:
    """Return the epoch of the last move of its fields' options that the issues may not have followed yet; 0
    if there is none.
    """
    return max(catalog.field_of(part.field).moving for part in composite.sort)


def find_attribute(catalog: Catalog, attribute: str) -> Field:
    """Return the attribute or built-in field with this id. NotFound if there is none."""
    field = catalog.get(attribute)
    if field is None:
        raise NotFound("Attribute not found.")
    return field


def find_composite(catalog: Catalog, index: str) -> Composite:
    """Return the composite index with this id. NotFound if there is none."""
    composite = catalog.composite(index)
    if composite is None:
        raise NotFound("Index not found.")
    return composite
