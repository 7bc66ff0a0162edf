"""Creates, changes and deletes the attributes of a project."""

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any

from gridview.commands.actor import Actor
from gridview.commands.answers import (
    attribute_json,
    build_json,
    find_attribute,
    find_composite,
    has_room,
    require_room,
)
from gridview.commands.formulas import require_unnamed, require_unread, with_another_formula, with_formula
from gridview.commands.idempotency import Transact, at_once
from gridview.commands.option_usage import options_in_use
from gridview.commands.preconditions import Expected, check
from gridview.commands.reads import get_attribute
from gridview.commands.requests import NO_OPTIONS, NO_WORDS, AttributeCreate, AttributePatch
from gridview.dynamodb.expressions import ABSENT, Write, put, version_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema import documents, ids, options, restorable
from gridview.schema.catalog import INDEXED_BY_DEFAULT, MAX_ATTRIBUTES, Catalog, Composite, Definition
from gridview.schema.field_formats import format_errors
from gridview.schema.fields import Deletion, Field, FieldType
from gridview.schema.generations import Indexes
from gridview.schema.items import FIRST_VERSION, ProjectItems, raise_epoch, to_catalog, to_field, to_item
from gridview.schema.jobs import Job, save
from gridview.schema.options import OptionsInput
from gridview.schema.store import Catalogs, read, retry_lost_races
from gridview.support import clock
from gridview.support.concurrency import chunked
from gridview.support.errors import (
    COMPUTED_FIELD,
    Conflict,
    FieldError,
    InvalidRequest,
    LimitExceeded,
    RemovalInProgress,
)
from gridview.support.validation import parse

_AT_ONCE = 50
"""The most definitions that one transaction changes."""
_MOVES = 16
"""The most reorderings of options that may be pending at once."""
_OF_BUILTINS = frozenset(("indexed", "description", "format"))
"""The properties of a built-in field that a project can change."""
_NOT_INDEXED = "requires an index: set indexed to true too"


def create_attribute(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    body: Any,
    *,
    settling: float = 0.0,
    transact: Transact = at_once,
) -> dict[str, Any]:
    """Add an attribute: one transaction of two or three items. Conflict on a taken or reserved id; LimitExceeded beyond
    400, and where an answer could not hold the project.

    The id of a deleted attribute stays taken while that one can be restored, and until everything of it has
    been removed. The index of a formula is built in the background, which begins after `settling` seconds.
    """
    request = parse(AttributeCreate, body)
    if request.id in ids.RESERVED_FIELDS:
        raise Conflict("This id belongs to a built-in field. Choose another id.")
    chosen = options.change("options", (), 1, request.options or [])

    def change() -> dict[str, Any]:
        items = read(table, actor.tenant, project)
        order = list(items.catalog["order"])
        require_count(len(order))
        known = {item["id"]: to_field(item) for item in items.attributes}
        if request.id in known:
            raise _taken(project, items, known[request.id])
        place = _place(request.position, len(order))
        indexed = len(order) < INDEXED_BY_DEFAULT if request.indexed is None else request.indexed
        if request.search and not indexed:
            raise InvalidRequest(
                "The request is not valid. Fix what `errors` lists.", [FieldError("search", _NOT_INDEXED)]
            )
        now = clock.now()
        field = Field(
            id=request.id or ids.attribute_id_from(request.name, known),
            key=f"a{items.catalog['next_key']}",
            name=request.name,
            type=request.type,
            options=chosen.options,
            next_option=chosen.next_option,
            required=request.required,
            indexes=Indexes(),
            version=items.catalog.get(FIRST_VERSION, 1),
            created=now,
            updated=now,
        )
        field = _with_settings(field, request)
        catalog = to_catalog(actor.tenant, project, items)
        if request.formula is not None:
            field = with_formula(catalog, field, request.formula, items.next_epoch)
        if indexed:
            field = replace(field, indexes=_first_index(field, items.next_epoch, words=request.search))
        order.insert(place, field.key)
        epoch = raise_epoch(items, order=order, next_key=items.catalog["next_key"] + 1)
        items.catalog["order"] = order
        require_room(items, [*catalog.attributes, field])
        created = attribute_json(items, field)
        building = [wanted(items, settling)] if field.pending else []
        transact(table, [put(to_item(actor.tenant, project, field), ABSENT), epoch, *building], created)
        return created

    created = retry_lost_races(change)
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
    *,
    settling: float,
) -> dict[str, Any]:
    """Change an attribute, or switch the index of a built-in field: one transaction of two or three items, none if
    nothing changes. Another formula adds an item for each other index that it rebuilds.

    Background work extends the change to existing issues (an index or word search switched on or off, options
    moved, another formula). It begins after `settling` seconds. Conflict if the request would drop an option that
    issues use.
    """
    request = parse(AttributePatch, body)
    given = request.model_fields_set

    def change() -> dict[str, Any]:
        items = read(table, actor.tenant, project)
        catalog = to_catalog(actor.tenant, project, items)
        before = find_attribute(catalog, attribute)
        check(expected, before.version, partial(attribute_json, items, before))
        field = before
        if before.builtin and given - _OF_BUILTINS:
            errors = [
                FieldError(name, "cannot be changed for a built-in field")
                for name in sorted(given - _OF_BUILTINS)
            ]
            raise InvalidRequest("The request is not valid. Fix what `errors` lists.", errors)
        others: list[Definition] = []
        if "formula" in given:
            field, others = with_another_formula(catalog, field, request.formula, items.next_epoch)
        if "options" in given:
            field = _with_options(table, catalog, field, request.options, items.next_epoch)
        if given & {"indexed", "search"}:
            field = replace(field, indexes=_switched(field, request, items.next_epoch))
        field = replace(field, **{name: getattr(request, name) for name in given & {"name", "required"}})
        field = _with_settings(field, request)
        _require_default(field)
        _require_stored(field)
        order = list(items.catalog["order"])
        if "position" in given:
            order.remove(field.key)
            order.insert(_place(request.position, len(order)), field.key)
        if field == before and order == items.catalog["order"]:
            return attribute_json(items, field)
        field = _next_version(field)
        if given & {"name", "options", "description", "default", "formula"}:
            rest = (one for one in catalog.attributes if one.key != field.key)
            require_room(items, rest if field.builtin else [*rest, field])
        rebuilt = [_rebuilt(one, items.next_epoch) for one in others]
        writes = [_put(items, catalog, one) for one in (field, *rebuilt)]
        writes.append(raise_epoch(items, order=order))
        if others or field.pending != before.pending:
            writes.append(wanted(items, settling))
        table.transact(writes)
        items.catalog["order"] = order
        return attribute_json(items, field)

    changed = retry_lost_races(change, partial(get_attribute, table, actor, project, attribute))
    catalogs.forget(actor.tenant, project)
    return changed


def delete_attribute(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    attribute: str,
    expected: Expected,
) -> None:
    """Delete an attribute: one transaction of three items.

    It is hidden at once, and can be restored for seven days (`deleted_attributes`); background work removes
    it after that. Its id stays taken. Conflict if a composite index sorts by it; FieldInUse if a formula reads
    it; LimitExceeded if too much was deleted in the last seven days.
    """

    def change() -> None:
        items = read(table, actor.tenant, project)
        catalog = to_catalog(actor.tenant, project, items)
        field = find_attribute(catalog, attribute)
        if field.builtin:
            raise Conflict("A built-in field cannot be deleted.")
        check(expected, field.version, partial(attribute_json, items, field))
        if over := [one.id for one in catalog.composites_over(field.key)]:
            raise Conflict(
                f"The composite index{'es' if len(over) > 1 else ''} {', '.join(over)} "
                f"sort{'' if len(over) > 1 else 's'} by this attribute. Delete {'them' if len(over) > 1 else 'it'} "
                f"first: DELETE /v1/projects/{project}/indexes/{over[0]}."
            )
        require_unread(catalog, field)
        now, order = clock.now(), items.catalog["order"]
        deleted = field.changed(now, deletion=Deletion(actor.user, now, order.index(field.key)))
        hidden = [*catalog.hidden, deleted]
        if len(hidden) > MAX_ATTRIBUTES or not has_room(items, hidden):
            raise LimitExceeded(
                "Too many attributes were deleted in the last seven days. Permanently delete one of them first: "
                f"DELETE /v1/projects/{project}/deleted-attributes/{hidden[0].id}."
            )
        left = [key for key in order if key != field.key]
        table.transact(
            [
                _put(items, catalog, deleted),
                raise_epoch(items, order=left),
                _looking(items, restorable.expires(now)),
            ]
        )

    retry_lost_races(change, partial(get_attribute, table, actor, project, attribute))
    catalogs.forget(actor.tenant, project)


def rebuild(
    table: Table,
    catalogs: Catalogs,
    tenant: str,
    project: str,
    attributes: Collection[str] | None,
    composites: Collection[str] | None = None,
    *,
    rate: int,
    settling: float,
) -> list[str]:
    """Rebuild indexes in the background, of the `attributes` and the `composites`, or all if neither is
    given.

    Deleted attributes that can be restored are included.

    Returns the ids of their fields and composite indexes. The present indexes are served meanwhile. `rate` is
    the maximum of issues per second; 0 means no limit. NotFound if an id is unknown.
    """

    catalog = catalogs.reload(table, tenant, project)
    chosen: list[Definition] = (
        [
            *catalog.builtins,
            *catalog.attributes,
            *catalog.hidden,
            *catalog.manual_orders,
            *catalog.living_composites,
        ]
        if attributes is None and composites is None
        else [_find(catalog, one) for one in attributes or ()]
        + [find_composite(catalog, one) for one in composites or ()]
    )
    indexed = [one for one in chosen if one.indexes.written]

    def change(some: Collection[Definition]) -> None:
        items = read(table, tenant, project)
        current = to_catalog(tenant, project, items)
        found = [now for one in some if (now := _current(current, one)) is not None]
        writes = [_put(items, current, _rebuilt(one, items.next_epoch)) for one in found]
        table.transact([*writes, raise_epoch(items), wanted(items, settling, rate)])

    for some in chunked(indexed, _AT_ONCE):
        retry_lost_races(partial(change, some))
    catalogs.forget(tenant, project)
    return [one.id for one in indexed]


def wanted(items: ProjectItems, settling: float, rate: int = 0) -> Write:
    """Return the write that requests a pass to apply a change of definitions to all issues; part of the
    change's transaction.
    """
    due = clock.after(settling)
    job = Job(items.next_epoch, due, rate=rate)
    if items.job is not None:
        job = items.job.wanted(items.next_epoch, due, rate)
    return save(items.project[keys.PK], items.job, job)


def _looking(items: ProjectItems, due: str) -> Write:
    """Return the write after which the background work checks, at `due`, for deletions that can no longer be
    restored.

    It is made even if there is such work already. A worker that is about to find nothing to wait for then
    loses its race, and looks again.
    """
    job = items.job or Job(items.next_epoch, due, rests=True)
    return save(items.project[keys.PK], items.job, job)


def require_count(attributes: int) -> None:
    """Raise LimitExceeded if a project with so many attributes can have no other."""
    if attributes >= MAX_ATTRIBUTES:
        raise LimitExceeded(f"A project can have at most {MAX_ATTRIBUTES} attributes. Delete one first.")


def changed_options(
    table: Table, catalog: Catalog, field: Field, name: str, requested: OptionsInput, epoch: int
) -> options.OptionChange:
    """Return the effect of a request on a field's options at `epoch`. Conflict if it would drop an option
    that issues or formulas use.
    """
    moved_at = epoch if field.indexed or catalog.composites_over(field.key) else None
    change = options.change(name, field.options, field.next_option, requested, moved_at=moved_at)
    if change.moved and len(field.former) >= _MOVES:
        raise Conflict(
            f"{_MOVES} reorderings of these options are pending, the most allowed. Try again later."
        )
    require_unnamed(catalog, field, map(field.option, change.dropped))
    if options_in_use(table, catalog, field, change.dropped):
        raise Conflict(
            "The request would drop an option that issues use. Rename the option, or clear it in the issues first."
        )
    return change


def _current(catalog: Catalog, definition: Definition) -> Definition | None:
    if isinstance(definition, Composite):
        return catalog.composite(definition.id)
    found = catalog.known(definition.key)
    return None if found is None or found.deleted else found


def _find(catalog: Catalog, attribute: str) -> Field:
    hidden = next((one for one in catalog.hidden if one.id == attribute), None)
    return hidden or find_attribute(catalog, attribute)


def _with_options(table: Table, catalog: Catalog, field: Field, requested: OptionsInput, epoch: int) -> Field:
    """Return the field with the options of a request. InvalidRequest if it has none; Conflict as for `changed_options`."""
    if not field.type.has_options:
        raise InvalidRequest(
            "The request is not valid. Fix what `errors` lists.", [FieldError("options", NO_OPTIONS)]
        )
    changed = changed_options(table, catalog, field, "options", requested, epoch)
    return replace(field, options=changed.options, next_option=changed.next_option)


def _switched(field: Field, request: AttributePatch, epoch: int) -> Indexes:
    """Return the indexes after a request. InvalidRequest if `search` does not fit the attribute.

    `search` requires the index; switching the index off switches search off.
    """
    given = request.model_fields_set
    search = request.search if "search" in given else None
    indexed = request.indexed if "indexed" in given else field.indexed
    if search and (field.type is not FieldType.TEXT or not indexed):
        wrong = _NOT_INDEXED if field.type is FieldType.TEXT else NO_WORDS
        raise InvalidRequest(
            "The request is not valid. Fix what `errors` lists.", [FieldError("search", wrong)]
        )
    if not indexed:
        return field.indexes.off(epoch)
    indexes = field.indexes.on(epoch, words=bool(search), entries=field.gets_entries)
    return indexes if search is None else indexes.searched(epoch, words=search)


def _with_settings(field: Field, request: AttributeCreate | AttributePatch) -> Field:
    """Return the field with the description, the format and the default that a request gives. InvalidRequest if its
    type has no such format or value.
    """
    given, settings, errors = request.model_fields_set, dict[str, Any](), list[FieldError]()
    if "description" in given:
        settings["description"] = request.description or None
    if "format" in given:
        settings["format"] = request.format and request.format.to_json()
        errors += format_errors(field.type, request.format) if request.format else ()
    if "default" in given:
        try:
            settings["default"] = documents.parse_value(replace(field, required=False), request.default)
        except ValueError as error:
            errors.append(FieldError("default", str(error)))
    if errors:
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", errors)
    return replace(field, **settings)


def _require_default(field: Field) -> None:
    """Raise Conflict if the default of a field is an option that was dropped."""
    if not field.type.has_options or field.default is None:
        return
    chosen = [field.default] if isinstance(field.default, str) else field.default
    if dropped := [one.value for one in map(field.option, chosen) if one.retired]:
        raise Conflict(
            f"The option {dropped[0]!r} is the default of the attribute. Change the default first, or with the options."
        )


def _require_stored(field: Field) -> None:
    """Raise InvalidRequest if a computed field has a setting that only makes sense for values that users write."""
    wrong = {"required": field.required, "default": field.default is not None}
    if field.computed and any(wrong.values()):
        errors = [FieldError(name, COMPUTED_FIELD) for name, given in wrong.items() if given]
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", errors)


def _first_index(field: Field, epoch: int, *, words: bool) -> Indexes:
    """Return the indexes of a new field. Issues have no stored values of it yet, but computed ones."""
    if field.computed:
        return Indexes().on(epoch, words=words, entries=field.gets_entries)
    return Indexes.complete(words=words, entries=field.gets_entries)


def _next_version(field: Field) -> Field:
    return field.changed(clock.now())


def _rebuilt(definition: Definition, epoch: int) -> Definition:
    if isinstance(definition, Composite):
        indexes = definition.indexes.rebuilt(epoch)
        return replace(definition, indexes=indexes, version=definition.version + 1)
    indexes = definition.indexes.rebuilt(epoch, entries=definition.gets_entries)
    return _next_version(replace(definition, indexes=indexes))


def _put(items: ProjectItems, catalog: Catalog, definition: Definition) -> Write:
    """Return the write of a changed definition, on condition that it is unchanged since it was read."""
    stored = any(item["key"] == definition.key for item in (*items.attributes, *items.composites))
    condition = version_is(definition.version - 1) if stored else ABSENT
    return put(to_item(catalog.tenant, catalog.project, definition), condition)


def _taken(project: str, items: ProjectItems, field: Field) -> Conflict:
    if field.deletion:
        deleted = f"/v1/projects/{project}/deleted-attributes/{field.id}"
        return Conflict(
            "The attribute with this id was deleted and can still be restored. Restore it (POST "
            f"{deleted}/restore), or permanently delete it first (DELETE {deleted})."
        )
    build = build_json(items, field, moving=field.moving)
    if not field.deleted or build is None:
        return Conflict("The project already has an attribute with this id. Choose another id.")
    return RemovalInProgress(
        f"The deleted attribute with this id is still being removed: {build['done']:,} of {build['total']:,} issues "
        "are done. Try again later.",
        members={"build": build},
    )


def _place(position: int | None, count: int) -> int:
    if position is not None and position > count:
        raise InvalidRequest(
            "The request is not valid. Fix what `errors` lists.",
            [FieldError("position", f"must be at most {count}")],
        )
    return count if position is None else position
