"""Attributes of a project: creating, changing and deleting them."""

from typing import Any

from pydantic import Field as ModelField
from pydantic import ValidationInfo, field_validator

from gridview import clock, ids, keys, options
from gridview.catalog import INDEXED_BY_DEFAULT, MAX_ATTRIBUTES, Catalog, Field, FieldType
from gridview.catalogs import Catalogs, ProjectItems, raise_epoch, read, settle, to_catalog, to_field
from gridview.errors import Conflict, FieldError, InvalidRequest, NotAvailable, NotFound, Unprocessable
from gridview.identity import Actor
from gridview.options import OptionsInput
from gridview.preconditions import Expected, check
from gridview.storage import ABSENT, Table, delete, put, version_is
from gridview.usage import options_in_use
from gridview.validation import RequestModel, parse
from gridview.values import datetime_json

MAX_NAME_LENGTH = 256
_NO_OPTIONS = "only enum and multi_enum have options"


class AttributeCreate(RequestModel):
    """POST /v1/projects/{project}/attributes."""

    name: str = ModelField(min_length=1, max_length=MAX_NAME_LENGTH)
    type: FieldType = ModelField(strict=False)
    id: str | None = ModelField(default=None, pattern=f"^{ids.ATTRIBUTE.pattern}$")
    options: OptionsInput | None = None
    required: bool = False
    indexed: bool | None = None
    position: int | None = ModelField(default=None, ge=0)

    @field_validator("options")
    @classmethod
    def _only_to_choose_from(cls, given: OptionsInput | None, known: ValidationInfo) -> OptionsInput | None:
        kind = known.data.get("type")  # not there when it is itself not valid
        if given is not None and kind is not None and not kind.has_options:
            raise ValueError(_NO_OPTIONS)
        return given


class AttributePatch(RequestModel):
    """PATCH /v1/projects/{project}/attributes/{attribute}: what is left out stays as it is."""

    name: str = ModelField(default="", min_length=1, max_length=MAX_NAME_LENGTH)
    options: OptionsInput = ModelField(default_factory=list)
    required: bool = False
    indexed: bool = True
    position: int = ModelField(default=0, ge=0)


def attribute_json(field: Field, position: int) -> dict[str, Any]:
    """An attribute as the API answers it; `position` is its place in the display order, from 0."""
    attribute: dict[str, Any] = {
        "id": field.id,
        "name": field.name,
        "type": field.type.value,
        "required": field.required,
        "indexed": field.indexed,
        "position": position,
        "version": field.version,
        "created": datetime_json(field.created),
        "updated": datetime_json(field.updated),
    }
    if field.type.has_options:
        attribute["options"] = options.options_json(field)
    return attribute


def get_attribute(table: Table, actor: Actor, project: str, attribute: str) -> dict[str, Any]:
    """The attribute as the API answers it, strongly consistent; NotFound."""
    catalog = to_catalog(actor.tenant, project, read(table, actor.tenant, project))
    field = _find(catalog, attribute)
    return attribute_json(field, catalog.attributes.index(field))


def create_attribute(
    table: Table, catalogs: Catalogs, actor: Actor, project: str, body: Any
) -> dict[str, Any]:
    """Add an attribute: one transaction of two items. Conflict on a taken or reserved id, Unprocessable beyond 400."""
    request = parse(AttributeCreate, body)
    if request.id in ids.RESERVED_FIELDS:
        raise Conflict("Every issue has a field of this id already.")
    chosen = options.change("options", (), 1, request.options or [])

    def change() -> dict[str, Any]:
        items = read(table, actor.tenant, project)
        order = list(items.catalog["order"])
        taken = {item["id"] for item in items.attributes}
        if len(order) >= MAX_ATTRIBUTES:
            raise Unprocessable(f"A project can have at most {MAX_ATTRIBUTES} attributes.")
        if request.id in taken:
            raise Conflict("The project has an attribute with this id already.")
        place = _place(request.position, len(order))
        now = clock.now()
        item = {
            keys.PK: items.project[keys.PK],
            "id": request.id or ids.attribute_id_from(request.name, taken),
            "key": f"a{items.catalog['next_key']}",
            "name": request.name,
            "type": request.type.value,
            "options": [option.to_item() for option in chosen.options],
            "next_option": chosen.next_option,
            "required": request.required,
            "indexed": len(order) < INDEXED_BY_DEFAULT if request.indexed is None else request.indexed,
            "generation": 1,
            "version": 1,
            "created": now,
            "updated": now,
        }
        item[keys.SK] = keys.attribute(actor.tenant, project, item["id"])
        order.insert(place, item["key"])
        table.transact(
            [put(item, ABSENT), raise_epoch(items, order=order, next_key=items.catalog["next_key"] + 1)]
        )
        return attribute_json(to_field(item), place)

    created = settle(change)
    catalogs.forget(actor.tenant, project)
    return created


def update_attribute(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    attribute: str,
    body: Any,
    expected: Expected,
) -> dict[str, Any]:
    """Change an attribute: one transaction of two items.

    Conflict when an option would be dropped that issues use. NotAvailable for what would need the issues to be indexed anew.
    """
    request = parse(AttributePatch, body)
    given = request.model_fields_set

    def change() -> dict[str, Any]:
        items = read(table, actor.tenant, project)
        catalog = to_catalog(actor.tenant, project, items)
        field = _find(catalog, attribute)
        check(expected, field.version)
        item = dict(_stored(items, field))
        if "options" in given:
            item |= _changed_options(table, catalog, field, request.options)
        if "indexed" in given and request.indexed != field.indexed:
            raise NotAvailable(
                "An existing attribute's index cannot be switched on or off yet. Create an attribute with `indexed` as needed."
            )
        item |= {name: getattr(request, name) for name in given & {"name", "required"}}
        item |= {"version": field.version + 1, "updated": clock.now()}
        order = list(items.catalog["order"])
        if "position" in given:
            order.remove(field.key)
            order.insert(_place(request.position, len(order)), field.key)
        table.transact([put(item, version_is(field.version)), raise_epoch(items, order=order)])
        return attribute_json(to_field(item), order.index(field.key))

    changed = settle(change)
    catalogs.forget(actor.tenant, project)
    return changed


def delete_attribute(
    table: Table, catalogs: Catalogs, actor: Actor, project: str, attribute: str, expected: Expected
) -> None:
    """Delete an attribute: one transaction of two items.

    Its internal id is never used again, so the values that documents still hold under it are out of reach at once; a document
    loses them with its next edit, and with them its sort entry.
    """

    def change() -> None:
        items = read(table, actor.tenant, project)
        field = _find(to_catalog(actor.tenant, project, items), attribute)
        check(expected, field.version)
        stored = _stored(items, field)
        order = [key for key in items.catalog["order"] if key != field.key]
        table.transact(
            [
                delete(stored[keys.PK], stored[keys.SK], version_is(field.version)),
                raise_epoch(items, order=order),
            ]
        )

    settle(change)
    catalogs.forget(actor.tenant, project)


def changed_options(
    table: Table, catalog: Catalog, field: Field, name: str, requested: OptionsInput, next_option: int
) -> options.OptionChange:
    """What a request makes of a field's options; Conflict or NotAvailable when issues stand against it."""
    change = options.change(name, field.options, next_option, requested)
    if options_in_use(table, catalog, field, change.dropped):
        raise Conflict("An issue uses an option that would be dropped.")
    if options_in_use(table, catalog, field, change.moved):
        raise NotAvailable(
            "An option that issues use cannot be moved yet: their order would have to be derived anew."
        )
    return change


def _changed_options(table: Table, catalog: Catalog, field: Field, requested: OptionsInput) -> dict[str, Any]:
    if not field.type.has_options:
        raise InvalidRequest("The request is not valid.", [FieldError("options", _NO_OPTIONS)])
    change = changed_options(table, catalog, field, "options", requested, field.next_option)
    return {"options": [option.to_item() for option in change.options], "next_option": change.next_option}


def _find(catalog: Catalog, attribute: str) -> Field:
    field = catalog.get(attribute)
    if field is None or field.builtin:
        raise NotFound("There is no such attribute.")
    return field


def _stored(items: ProjectItems, field: Field) -> dict[str, Any]:
    return next(item for item in items.attributes if item["key"] == field.key)


def _place(position: int | None, count: int) -> int:
    if position is not None and position > count:
        raise InvalidRequest(
            "The request is not valid.", [FieldError("position", f"must be at most {count}")]
        )
    return count if position is None else position
