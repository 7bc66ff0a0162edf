"""The stored items of a project, and the catalog built from them. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from gridview.dynamodb.expressions import Condition, Write, put
from gridview.encoding import keys
from gridview.schema.catalog import Catalog, Composite, Definition, HistorySetting, Part
from gridview.schema.computations import FormulaVersion
from gridview.schema.computed_fields import with_computations
from gridview.schema.fields import BUILTINS, Deletion, Field, FieldType, Option
from gridview.schema.generations import Indexes
from gridview.schema.jobs import Job
from gridview.schema.manual_orders import ManualOrder
from gridview.schema.numbering import Numbering
from gridview.schema.restorable import ProjectDeletion, deletion_of

FIRST_VERSION = "first_version"
"""The attribute of a catalog item with the version of new things in the project: 1 unless the table was
restored.
"""


class ProjectItems(NamedTuple):
    """A project as stored: its own item, its catalog item, its definitions in any order, its counter, and its
    job with slices.
    """

    project: dict[str, Any]
    catalog: dict[str, Any]
    attributes: tuple[dict[str, Any], ...]
    composites: tuple[dict[str, Any], ...]
    numbers: int
    job: Job | None
    slices: tuple[Job, ...]
    numbering: Numbering

    @property
    def next_epoch(self) -> int:
        """The epoch of a change that is based on these items."""
        return int(self.catalog["epoch"]) + 1

    @property
    def deletion(self) -> ProjectDeletion | None:
        """The project's deletion, while that can be taken back."""
        return deletion_of(self.project)

    @property
    def next_composite(self) -> int:
        """The number in the id of the next composite index; no number is used twice."""
        return int(self.catalog.get("next_composite", 1))


def to_catalog(tenant: str, project: str, items: ProjectItems) -> Catalog:
    """Build the catalog from the stored items."""
    by_key = with_computations({item["key"]: to_field(item) for item in items.attributes})
    listed = frozenset(items.catalog["order"])
    return Catalog(
        tenant=tenant,
        project=project,
        epoch=items.catalog["epoch"],
        states=tuple(Option.from_item(option) for option in items.project["states"]),
        attributes=tuple(by_key[key] for key in items.catalog["order"]),
        next_key=items.catalog["next_key"],
        own_builtins={key: field for key, field in by_key.items() if field.builtin},
        # Items are read one after the other. A field outside the order that was read may also have come back
        # since: it is kept too.
        hidden=tuple(
            field
            for field in by_key.values()
            if not (field.builtin or field.deleted or field.key in listed or isinstance(field, ManualOrder))
        ),
        deleting=tuple(field for field in by_key.values() if field.deleted),
        composites=tuple(sorted(map(to_composite, items.composites), key=lambda one: int(one.key[1:]))),
        manual_orders=tuple(
            field for field in by_key.values() if isinstance(field, ManualOrder) and not field.deleted
        ),
        history=to_history(items.project),
        closed=items.deletion is not None,
        first_version=items.catalog.get(FIRST_VERSION, 1),
    )


def to_history(project: Mapping[str, Any]) -> HistorySetting:
    """Return the setting of the history in a project's own item; on if the item has none."""
    return HistorySetting(**project.get("history", {}))


def to_field(item: Mapping[str, Any]) -> Field:
    """Return the attribute, built-in field or manual order that a stored item defines."""
    kind = partial(ManualOrder, view=item["view"]) if "view" in item else Field
    return kind(
        id=item["id"],
        key=item["key"],
        name=item["name"],
        type=FieldType(item["type"]),
        options=tuple(Option.from_item(option) for option in item["options"]),
        required=item["required"],
        indexes=Indexes.from_item(item),
        builtin=item["key"] in BUILTINS,
        version=item["version"],
        created=item["created"],
        updated=item["updated"],
        next_option=item["next_option"],
        description=item.get("description"),
        format=item.get("format"),
        default=item.get("default"),
        deletion=Deletion(*item["deletion"]) if "deletion" in item else None,
        deleted=item.get("deleted", 0),
        formulas=tuple(map(FormulaVersion.from_item, item.get("formulas", ()))),
    )


def to_composite(item: Mapping[str, Any]) -> Composite:
    """Return the composite index that a stored item defines."""
    return Composite(
        key=item["key"],
        sort=tuple(Part(*part) for part in item["keys"]),
        indexes=Indexes.from_item(item),
        version=item["version"],
        created=item["created"],
        deleted=item.get("deleted", 0),
    )


def orders_in(items: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the orders that may have entries in the index, by the stored items of a project, deleted or not."""
    fields = {**BUILTINS}
    composites = []
    for item in items:
        if keys.is_attribute(item[keys.SK]):
            fields[item["key"]] = to_field(item)
        elif keys.is_composite(item[keys.SK]):
            composites.append(to_composite(item))
    definitions: list[Definition] = [*fields.values(), *composites]
    return {one.order_id_of(index) for one in definitions for index in one.indexes.generations}


def sort_key(tenant: str, project: str, definition: Definition) -> str:
    """Sort key of the item that defines a field or composite index."""
    if isinstance(definition, Composite):
        return keys.composite(tenant, project, definition.id)
    # A view may get another order while the one before is being removed.
    stored_as = f".{definition.key}" if isinstance(definition, ManualOrder) else definition.id
    return keys.attribute(tenant, project, stored_as)


def to_item(tenant: str, project: str, definition: Definition) -> dict[str, Any]:
    """Return the stored item that defines a field or composite index."""
    item = {
        keys.PK: keys.project(tenant, project),
        keys.SK: sort_key(tenant, project, definition),
        **_defined(definition),
        **definition.indexes.to_items(),
        "version": definition.version,
        "created": definition.created,
    }
    return {**item, "deleted": definition.deleted} if definition.deleted else item


def _defined(definition: Definition) -> dict[str, Any]:
    if isinstance(definition, Composite):
        return {"key": definition.key, "keys": [list(part) for part in definition.sort]}
    field = definition
    hidden = {"deletion": list(field.deletion)} if field.deletion else {}
    optional = {"description": field.description, "format": field.format, "default": field.default}
    return {
        **hidden,
        **({"view": field.view} if isinstance(field, ManualOrder) else {}),
        **{name: value for name, value in optional.items() if value is not None},
        **({"formulas": [one.to_item() for one in field.formulas]} if field.formulas else {}),
        "id": field.id,
        "key": field.key,
        "name": field.name,
        "type": field.type.value,
        # The options of `state` are in the project's own item.
        "options": [] if field.builtin else [option.to_item() for option in field.options],
        "next_option": field.next_option,
        "required": field.required,
        "updated": field.updated,
    }


def raise_epoch(
    items: ProjectItems,
    *,
    order: Sequence[str] | None = None,
    next_key: int | None = None,
    next_composite: int | None = None,
) -> Write:
    """Return the write that publishes a change of definitions; part of every transaction that makes one.

    Its condition is the epoch that was read, so changes of one project are serialized.
    """
    changed = {
        **items.catalog,
        "epoch": items.next_epoch,
        "order": list(items.catalog["order"] if order is None else order),
        "next_key": items.catalog["next_key"] if next_key is None else next_key,
        "next_composite": items.next_composite if next_composite is None else next_composite,
    }
    return put(changed, Condition("epoch = :epoch", values={":epoch": items.catalog["epoch"]}))
