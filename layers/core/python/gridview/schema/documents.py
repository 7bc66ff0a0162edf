"""Issue documents: parsed from requests, merged, validated, and converted to the API's JSON. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Annotated, Any, ClassVar, NamedTuple
from uuid import UUID

from pydantic import BaseModel, PlainValidator, create_model
from pydantic import Field as ModelField

from gridview.encoding import keys, sort_strings, values
from gridview.encoding.attribute_values import item_size
from gridview.schema.catalog import MAX_ATTRIBUTES, Catalog
from gridview.schema.computations import Computation
from gridview.schema.fields import MAX_OPTIONS, Field, FieldType
from gridview.schema.formats import FORMATTERS, value_json
from gridview.schema.manual_orders import PLACED_AT, PLACED_BY, PLACED_UNDER, is_rank
from gridview.schema.trash import SET_BY_A_DELETE
from gridview.support.errors import COMPUTED_FIELD, FieldError, InvalidRequest, LimitExceeded
from gridview.support.validation import RequestModel, omissible, parse

MAX_DOCUMENT_BYTES = 400 * 1024 - 512
"""The largest item that DynamoDB stores, less the attributes that a delete adds (`schema.trash`)."""

CHANGED = "changed"
"""The attribute of a document with the version that last changed each field, by its internal key. Without one
it is version 1.
"""
LOST = "lost"
"""The attribute of a document with the versions that restores of the table skipped. Pairs of the last version
before a restore and the first after it, oldest first. Both have the same content. Versions between them were
lost, if there were any.
"""

_OF_ONE_VERSION = ("change", PLACED_AT, PLACED_BY, PLACED_UNDER)
"""The attributes that the next version does not take over."""

Document = dict[str, Any]


class Changes(NamedTuple):
    """The values that a request sets, in stored form: internal field key -> value, or None to clear the field.

    `base`: the version that the client saw, if it says so.
    """

    builtins: Mapping[str, Any]
    fields: Mapping[str, Any]
    replaces_fields: bool = False
    base: int | None = None


class _Values(RequestModel):
    """The values of an issue by attribute id."""

    max_properties: ClassVar[int] = MAX_ATTRIBUTES


class _Models(NamedTuple):
    create: type[BaseModel]
    patch: type[BaseModel]


def parse_create(catalog: Catalog, body: Any) -> Changes:
    """Return the values of a new issue, with the defaults of omitted fields. InvalidRequest names all errors at once."""
    changes = _changes(parse(_models(catalog).create, body))
    return changes._replace(fields={**catalog.defaults, **changes.fields})


def parse_patch(catalog: Catalog, body: Any) -> Changes:
    """Return the values of a merge patch (RFC 7396). InvalidRequest names all errors at once."""
    return _changes(parse(_models(catalog).patch, body))


def _changes(request: BaseModel) -> Changes:
    given = {name: getattr(request, name) for name in request.model_fields_set}
    base = given.pop("base", None)
    fields = given.pop("fields", {})
    if fields is None:
        return Changes(given, {}, replaces_fields=True, base=base)
    return Changes(
        given, {key: getattr(fields, key) for key in fields.model_fields_set} if fields else {}, base=base
    )


def new_document(
    catalog: Catalog, num: int, changes: Changes, *, user: str, now: str, change: UUID | None = None
) -> Document:
    """Return version 1 of an issue; `now` is a stored instant (`values.parse_datetime`).

    `change`: the change that the version is part of (`commands.changes`). Versions that tools load are part
    of none.
    """
    return _complete(
        catalog,
        {
            keys.PK: keys.issue(catalog.tenant, catalog.project, num),
            keys.SK: keys.project(catalog.tenant, catalog.project),
            keys.SORT: sort_strings.issue_number(num),
            "num": num,
            "state": catalog.state.live_options[0].id,
            **_without_nulls(changes.builtins),
            "fields": _without_nulls(changes.fields),
            "created": now,
            "created_by": user,
            **_version(1, user, now, change),
        },
    )


def merged(
    catalog: Catalog,
    document: Document,
    changes: Changes,
    *,
    user: str,
    now: str,
    change: UUID | None = None,
) -> Document:
    """Return the next version of an issue, validated as a whole; the document itself if the changes change
    nothing.
    """
    held = {key: value for key, value in document["fields"].items() if not catalog.removed(key)}
    hidden = {key: value for key, value in held.items() if catalog.deleted(key) or is_rank(key)}
    fields = _without_nulls({**(hidden if changes.replaces_fields else held), **changes.fields})
    changed = _changed(
        values_of({**document, "fields": held}), values_of({**document, **changes.builtins, "fields": fields})
    )
    if not changed:
        return document
    version = document["version"] + 1
    return _complete(
        catalog,
        {
            **{name: value for name, value in document.items() if name not in _OF_ONE_VERSION},
            **changes.builtins,
            "fields": fields,
            CHANGED: {**_known_changes(catalog, document), **dict.fromkeys(changed, version)},
            **_version(version, user, now, change),
        },
    )


def amended(document: Document, fields: Mapping[str, Any], *, user: str, now: str) -> Document:
    """Return the next version with these values, of stored form, in the place of present ones. Part of no
    change, and not validated.
    """
    version = document["version"] + 1
    return {
        **{name: value for name, value in document.items() if name not in ("mark", *_OF_ONE_VERSION)},
        "fields": {**document["fields"], **fields},
        CHANGED: {**document.get(CHANGED, {}), **dict.fromkeys(fields, version)},
        **_version(version, user, now, None),
    }


def placed(
    document: Document, key: str, rank: str, *, user: str, now: str, change: UUID | None = None
) -> Document:
    """Return the next version with a rank in the manual order with this internal id. LimitExceeded.

    Nothing else changes, `updated` and `updated_by` included: the fields that a user sees are the same.
    """
    version = document["version"] + 1
    return _small_enough(
        {
            **{name: value for name, value in document.items() if name not in ("mark", *_OF_ONE_VERSION)},
            "fields": {**document["fields"], key: rank},
            CHANGED: {**document.get(CHANGED, {}), key: version},
            "version": version,
            PLACED_AT: now,
            PLACED_BY: user,
            **({} if change is None else {PLACED_UNDER: change.bytes}),
        }
    )


def restored(
    catalog: Catalog, document: Document, *, user: str, now: str, change: UUID | None = None
) -> Document:
    """Return the version of a deleted issue that brings it back.

    Leaves out values that can no longer be chosen: of permanently deleted attributes, and options that were
    dropped. An issue in a state that was dropped comes back in the first one. A value that is required by now
    may be missing; the next edit asks for it. UnknownOption: the catalog is older than the document.
    """
    held = {key: value for key, value in document["fields"].items() if not catalog.removed(key)}
    fields = _without_nulls({key: _choosable(catalog.known(key), value) for key, value in held.items()})
    state = _choosable(catalog.state, document["state"]) or catalog.state.live_options[0].id
    changed = _changed(
        values_of({**document, "fields": held}), values_of({**document, "state": state, "fields": fields})
    )
    version = document["version"] + 1
    gone = (*SET_BY_A_DELETE, "mark", *_OF_ONE_VERSION)
    return {
        **{name: value for name, value in document.items() if name not in gone},
        keys.SORT: sort_strings.issue_number(document["num"]),
        "state": state,
        "fields": fields,
        CHANGED: {**_known_changes(catalog, document), **dict.fromkeys(changed, version)},
        **_version(version, user, now, change),
    }


def _choosable(field: Field | None, value: Any) -> Any:
    """Return the part of a value that a new issue could have; None for nothing. All of it if the field is
    newer than the catalog. UnknownOption.
    """
    if field is None or not field.type.has_options:
        return value
    if isinstance(value, list):
        return [one for one in value if not field.option(one).retired] or None
    return None if field.option(value).retired else value


def _version(number: int, user: str, now: str, change: UUID | None) -> Document:
    """Return the attributes of a document's version: all that the history of an issue needs beside its
    values.
    """
    version = {"version": number, "updated": now, "updated_by": user}
    return version if change is None else {**version, "change": change.bytes}


def values_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that a request can set of an issue, in stored form by internal field key."""
    return {"name": document["name"], "state": document["state"], **document["fields"]}


def changed_at(document: Mapping[str, Any], key: str) -> int:
    """Return the version that last changed a field."""
    version: int = document.get(CHANGED, {}).get(key, 1)
    return version


def is_lost(document: Mapping[str, Any], version: int) -> bool:
    """Return whether a version is one that a restore of the table took back: the document does not come from
    it.
    """
    return any(last < version < first for last, first in document.get(LOST, ()))


def versions_between(document: Mapping[str, Any], after: int, before: int) -> Iterator[int]:
    """Return the versions after one and before another that changes of the issue made, in order; none that a
    restore skipped.
    """
    begin = after + 1
    for last, first in document.get(LOST, ()):
        yield from range(begin, min(last + 1, before))
        begin = max(begin, first + 1)
    yield from range(begin, before)


def _known_changes(catalog: Catalog, document: Mapping[str, Any]) -> dict[str, int]:
    """Return the versions that changed its fields, without permanently deleted attributes."""
    return {key: at for key, at in document.get(CHANGED, {}).items() if not catalog.removed(key)}


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return [key for key in {**before, **after} if not same_value(before.get(key), after.get(key))]


def same_value(one: Any, other: Any) -> bool:
    """Return whether stored values are the same. The order in which options were given makes no difference:
    they are a set.
    """
    if isinstance(one, list) and isinstance(other, list):
        return set(one) == set(other)
    return bool(one == other)


def _without_nulls(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _complete(catalog: Catalog, document: Document) -> Document:
    missing = [
        FieldError(f"fields.{field.id}", "is required")
        for field in catalog.attributes
        if field.required and field.key not in document["fields"]
    ]
    if missing:
        raise InvalidRequest("The issue lacks required values. Fix what `errors` lists.", missing)
    return _small_enough(document)


def _small_enough(document: Document) -> Document:
    if item_size(document) > MAX_DOCUMENT_BYTES:
        raise LimitExceeded("The issue would be larger than 400 KB. Shorten its texts.")
    return document


def to_json(
    catalog: Catalog, document: Mapping[str, Any], columns: frozenset[str] | None = None
) -> dict[str, Any]:
    """Return the issue as the API returns it. `columns` (field ids), if given, limits the fields; number and
    version are always included.

    UnknownOption if the catalog is older than the document.
    """
    form = _form(catalog, columns)
    issue: dict[str, Any] = {"num": document["num"], "version": document["version"]}
    for field_id, key, formatter in form.builtins:
        issue[field_id] = formatter(document[key])
    held = document.get("fields", {})
    issue["fields"] = {
        field_id: formatter(held[key]) for field_id, key, formatter in form.attributes if key in held
    }
    if form.computed:
        _add_computed(issue, form.computed, document)
    return issue


def _add_computed(
    issue: dict[str, Any], computed: Iterable[tuple[Field, Computation]], document: Mapping[str, Any]
) -> None:
    """Add the values of computed fields to an issue, and the reasons for values that cannot be computed."""
    unavailable: dict[str, str] = {}
    for field, computation in computed:
        value, reason = computation.evaluate(document)
        if value is not None:
            issue["fields"][field.id] = value_json(field, value)
        elif reason is not None:
            unavailable[field.id] = str(reason)
    if unavailable:
        issue["unavailable"] = unavailable


class _Form(NamedTuple):
    """The fields of a row, in display order: API id, internal key and formatter of each."""

    builtins: tuple[tuple[str, str, Callable[[Any], Any]], ...]
    attributes: tuple[tuple[str, str, Callable[[Any], Any]], ...]
    computed: tuple[tuple[Field, Computation], ...]


@lru_cache(maxsize=256)
def _form(catalog: Catalog, columns: frozenset[str] | None) -> _Form:
    """Return the form of a row, computed once and kept for all rows of this page and the next pages."""

    def shown(fields: Iterable[Field]) -> tuple[tuple[str, str, Callable[[Any], Any]], ...]:
        return tuple(
            (field.id, field.key, partial(FORMATTERS[field.type], field))
            for field in fields
            if columns is None or field.id in columns
        )

    stored = [field for field in catalog.attributes if not field.computed]
    computed = tuple(
        (field, field.computation)
        for field in catalog.attributes
        if field.computation is not None and (columns is None or field.id in columns)
    )
    return _Form(shown(catalog.builtins), shown(stored), computed)


def _parse_option(field: Field, value: Any) -> str:
    option = field.option_by_value.get(value) if isinstance(value, str) else None
    if option is None:
        raise ValueError("must be one of the field's options")
    return option.id


def _parse_options(field: Field, value: Any) -> list[str]:
    if not isinstance(value, list):
        raise ValueError("must be a list of the field's options")
    if len(value) > MAX_OPTIONS:
        raise ValueError(f"must have at most {MAX_OPTIONS} options")
    chosen = [_parse_option(field, one) for one in value]
    if len(set(chosen)) < len(chosen):
        raise ValueError("must not name an option twice")
    return chosen


_PARSERS: dict[FieldType, Callable[[Field, Any], Any]] = {
    FieldType.TEXT: lambda _, value: values.parse_text(value),
    FieldType.NUMBER: lambda _, value: values.parse_number(value),
    FieldType.DATE: lambda _, value: values.parse_date(value),
    FieldType.DATETIME: lambda _, value: values.parse_datetime(value),
    FieldType.BOOL: lambda _, value: values.parse_bool(value),
    FieldType.ENUM: _parse_option,
    FieldType.MULTI_ENUM: _parse_options,
    FieldType.USER: lambda _, value: values.parse_user(value),
}


def parse_value(field: Field, value: Any) -> Any:
    """Return a request's value in stored form, or None for no value. ValueError says why it is refused."""
    if value is None or value in ("", []):
        if field.required:
            raise ValueError("is required")
        return None
    return _PARSERS[field.type](field, value)


def _parse_written(field: Field, value: Any) -> Any:
    """Return the value of an issue in a request, like `parse_value`. ValueError for every value of a computed field."""
    if field.computed:
        raise ValueError(COMPUTED_FIELD)
    return parse_value(field, value)


@lru_cache(maxsize=64)
def _models(catalog: Catalog) -> _Models:
    """Return the request models of a project, made from its fields and kept until the catalog changes."""

    def slot(field: Field, *, optional: bool) -> Any:
        value = Annotated[Any, PlainValidator(partial(_parse_written, field))]
        may_miss = optional or not field.required or field.default is not None
        return value, ModelField(default=None if may_miss else ..., alias=field.id)

    def fields_model(name: str, *, optional: bool) -> Any:
        slots = {field.key: slot(field, optional=optional) for field in catalog.attributes}
        return create_model(name, __base__=_Values, **slots)

    name, state, *_ = catalog.builtins
    create_fields: Any = fields_model("Fields", optional=False)
    patch_fields: Any = fields_model("FieldsPatch", optional=True) | None
    return _Models(
        create=create_model(
            "IssueCreate",
            __base__=RequestModel,
            name=slot(name, optional=False),
            state=slot(replace(state, required=False), optional=True),
            # A missing object is validated as an empty one, so that each missing required field is an error of its own.
            fields=(create_fields, ModelField(default_factory=dict, validate_default=True)),
        ),
        patch=create_model(
            "IssuePatch",
            __base__=RequestModel,
            name=slot(name, optional=True),
            state=slot(state, optional=True),
            fields=(patch_fields, None),
            base=(int, omissible(ge=1)),
        ),
    )
