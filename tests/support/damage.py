"""A project in memory with a correct index, and every kind of damage to the data derived from one of its issues."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, NamedTuple

from devtools.local.built_chains import built_chain, built_column
from devtools.local.derived_items import derived_items
from devtools.proof.faults.memory_table import MemoryTable
from gridview.chains.column_totals import ColumnTotal, total_of
from gridview.commands import attributes, projects
from gridview.commands.actor import Actor, Role
from gridview.derive.families import column_families, derived_strings, keys_of
from gridview.derive.ledger import NUMBER, Ledger
from gridview.dynamodb.expressions import PRESENT, Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.sort_strings import sort_string
from gridview.fsck.issue_diff import DifferenceKind
from gridview.journal.items import Totals
from gridview.journal.log import Log
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Changes
from gridview.schema.store import Catalogs

TENANT, PROJECT = "acme", "bridge"
ADMIN = Actor(TENANT, "ada", Role.ADMIN)
NOW = "2024-01-01T00:00:00.000000Z"

Damage = Callable[[Table, str], None]


class Planted(NamedTuple):
    """Damage to an issue, and its findings: kind and place of each difference."""

    name: str
    inflict: Damage
    found: frozenset[tuple[DifferenceKind, str]]
    remains: bool = False
    """It is no derived data, so no repair changes it."""


def catalog_of(table: Table, project: str = PROJECT, tenant: str = TENANT) -> Catalog:
    return Catalogs().reload(table, tenant, project)


def make_project(table: Table, project: str = PROJECT, tenant: str = TENANT) -> None:
    """A project with a few attributes."""
    admin = Actor(tenant, "ada", Role.ADMIN)
    projects.create_project(table, admin, {"name": project, "id": project})
    for body in (
        {"name": "Start", "type": "date"},
        {"name": "Kind", "type": "enum", "options": ["a", "b", "c"]},
        {"name": "Size", "type": "number"},
        {"name": "Note", "type": "text", "indexed": False},
    ):
        attributes.create_attribute(table, Catalogs(), admin, project, body)


def document(
    table: Table, num: int, project: str = PROJECT, tenant: str = TENANT, version: int = 1, **fields: Any
) -> Item:
    """An issue with these values in stored form, not stored."""
    catalog = catalog_of(table, project, tenant)
    by_id = {field.id: field.key for field in catalog.attributes}
    changes = Changes({"name": f"issue {num}"}, {by_id[name]: value for name, value in fields.items()})
    made = documents.new_document(catalog, num, changes, user="ann", now=NOW)
    return {**made, "version": version}


def some_fields(num: int) -> dict[str, Any]:
    """Values of an issue; every third has no size."""
    fields: dict[str, Any] = {"start": f"2024-03-{num % 28 + 1:02d}", "kind": f"o{num % 3 + 1}", "note": "n"}
    return fields if num % 3 == 0 else {**fields, "size": num}


def add_issues(table: Table, count: int, project: str = PROJECT, tenant: str = TENANT) -> None:
    """Issues 1 to `count` with all that is derived from them, blocks included."""
    catalog = catalog_of(table, project, tenant)
    table.add(keys.project(tenant, project), keys.COUNTER, "last", count, PRESENT)
    places: dict[str, set[str]] = defaultdict(set)
    for num in range(1, count + 1):
        made = document(table, num, project, tenant, **some_fields(num))
        for item in (made, *derived_items(catalog, made)):
            table.put(item)
        for family, derived in derived_strings(catalog, made).items():
            places[family] |= keys_of(family, derived)
    for family, found in places.items():
        for block in built_chain(family, sorted(found)):
            table.put(block.to_item(tenant, project))
    log = Log(table, tenant, project)
    totals: dict[str, ColumnTotal | None] = {}
    for family in column_families(catalog):
        pages = built_column(family, places[family])
        for page in pages:
            table.put(page.to_item(tenant, project))
        totals[family] = total_of(page.slices for page in pages)
    log.put_totals(Totals(0, totals), log.totals())


def key_of(num: int, project: str = PROJECT, tenant: str = TENANT) -> str:
    return keys.issue(tenant, project, num)


def collection(table: Table, key: str) -> list[Item]:
    return list(table.query_all(key, consistent=True))


def everything(table: MemoryTable) -> dict[tuple[str, str], Item]:
    return table.items


def order_key(order_id: str, project: str = PROJECT, tenant: str = TENANT) -> str:
    return derived_keys.order(tenant, project, order_id)


def change(table: Table, key: str, sort_key: str, changes: Mapping[str, Any], *without: str) -> None:
    """Change an item by hand."""
    item = table.get(key, sort_key, consistent=True) or {keys.PK: key, keys.SK: sort_key}
    table.put({**{name: value for name, value in item.items() if name not in without}, **changes})


def drop(sort_key: str) -> Damage:
    return lambda table, key: table.delete(key, sort_key)


def damaged(sort_key: str, changes: Mapping[str, Any], *without: str) -> Damage:
    return lambda table, key: change(table, key, sort_key, changes, *without)


def _drop_document(table: Table, key: str) -> None:
    table.delete(key, keys.project(TENANT, PROJECT))


def _age_document(table: Table, key: str) -> None:
    change(table, key, keys.project(TENANT, PROJECT), {"version": 1})


def _drop_ledger_and_entry(table: Table, key: str) -> None:
    table.delete(key, derived_keys.LEDGER)
    table.delete(key, order_key("a1.1"))


def _claims(table: Table, key: str) -> dict[str, str]:
    """The claims of a ledger, if the item is one."""
    stored = table.get(key, derived_keys.LEDGER, consistent=True) or {}
    if not isinstance(stored.get("applied"), dict):
        return {}
    return dict(applied(table, key)) if NUMBER in stored else dict(stored["applied"])


def claim(table: Table, key: str, claims: Mapping[str, str]) -> None:
    """Let a ledger claim this. One that names a number then no longer intends anything else."""
    intent: Item = (
        {"intent": {}} if NUMBER in (table.get(key, derived_keys.LEDGER, consistent=True) or {}) else {}
    )
    change(table, key, derived_keys.LEDGER, {"applied": claims, **intent})


def _forget(family: str) -> Damage:
    def forget(table: Table, key: str) -> None:
        claim(table, key, {name: one for name, one in _claims(table, key).items() if name != family})

    return forget


def _claim(family: str) -> Damage:
    def add(table: Table, key: str) -> None:
        claim(table, key, {**_claims(table, key), family: sort_string("x", keys.parse_issue(key).num)})

    return add


START, KIND, SIZE = "a1.1", "a2.1b", "a3.1"
LEDGER = derived_keys.LEDGER
_ORDERS = ("created.1", "name.1", "updated.1", START, SIZE)
_PLACES = ("num", "name.1.has", "state.1b", "created_by.1b", "updated_by.1b", KIND)
_UNFINISHED = {START: {"to": "x", "left": ["y"]}, "a9.1": {"left": ["z"]}}


def _found(*found: tuple[DifferenceKind, str]) -> frozenset[tuple[DifferenceKind, str]]:
    return frozenset(found)


PLANTED = (
    Planted(
        "entry gone",
        drop(order_key(START)),
        _found((DifferenceKind.MISSING, START), (DifferenceKind.LEDGER, START)),
    ),
    Planted(
        "entry under another sort string",
        damaged(order_key(SIZE), {keys.SORT: "zz"}),
        _found((DifferenceKind.WRONG, SIZE), (DifferenceKind.LEDGER, SIZE)),
    ),
    Planted(
        "entry cleared",
        damaged(order_key(SIZE), {keys.TTL_ATTRIBUTE: 9}, keys.SORT),
        _found((DifferenceKind.MISSING, SIZE), (DifferenceKind.LEDGER, SIZE)),
    ),
    Planted(
        "entry of an order that never was",
        damaged(order_key("a77.3"), {keys.SORT: "x", "version": 1, "revision": 1}),
        _found((DifferenceKind.EXTRA, "a77.3"), (DifferenceKind.LEDGER, "a77.3")),
    ),
    Planted(
        "entry of an attribute without index",
        damaged(order_key("a4.1"), {keys.SORT: "x", "version": 1, "revision": 1}),
        _found((DifferenceKind.EXTRA, "a4.1"), (DifferenceKind.LEDGER, "a4.1")),
    ),
    Planted(
        "entry of an order that has none",
        damaged(order_key(KIND), {keys.SORT: "x", "version": 1, "revision": 1}),
        _found((DifferenceKind.EXTRA, order_key(KIND))),
    ),
    Planted(
        "tombstone in an order that has none",
        damaged(order_key("state.1b"), {"version": 1, "revision": 1, keys.TTL_ATTRIBUTE: 9}),
        _found((DifferenceKind.EXTRA, order_key("state.1b"))),
    ),
    Planted(
        "entry of another project",
        damaged(order_key(START, "other"), {keys.SORT: "x", "version": 1, "revision": 1}),
        _found((DifferenceKind.EXTRA, order_key(START, "other"))),
    ),
    Planted(
        "entry that expires",
        damaged(order_key(START), {keys.TTL_ATTRIBUTE: 9}),
        _found((DifferenceKind.EXPIRY, START)),
    ),
    Planted(
        "entry of a later revision",
        damaged(order_key(START), {"revision": 50}),
        _found((DifferenceKind.LEDGER, LEDGER)),
    ),
    Planted(
        "entry without a revision",
        damaged(order_key(START), {}, "revision"),
        _found((DifferenceKind.MALFORMED, START)),
    ),
    Planted(
        "tombstone without a revision",
        damaged(order_key("a5.1"), {"version": 1, keys.TTL_ATTRIBUTE: 9}),
        _found((DifferenceKind.MALFORMED, "a5.1")),
    ),
    Planted(
        "tombstone that does not expire",
        damaged(order_key("a5.1"), {"version": 1, "revision": 1}),
        _found((DifferenceKind.EXPIRY, "a5.1")),
    ),
    Planted(
        "ledger gone",
        drop(LEDGER),
        _found(
            (DifferenceKind.LEDGER, LEDGER), *((DifferenceKind.LEDGER, one) for one in (*_ORDERS, *_PLACES))
        ),
    ),
    Planted(
        "ledger and entry gone",
        _drop_ledger_and_entry,
        _found(
            (DifferenceKind.MISSING, START),
            (DifferenceKind.LEDGER, LEDGER),
            *((DifferenceKind.LEDGER, one) for one in (*_ORDERS, *_PLACES) if one != START),
        ),
    ),
    Planted(
        "ledger that claims what is not there",
        damaged(LEDGER, {"applied": {"a77.3": "x"}}),
        _found(
            (DifferenceKind.LEDGER, "a77.3"), *((DifferenceKind.LEDGER, one) for one in (*_ORDERS, *_PLACES))
        ),
    ),
    Planted(
        "ledger with an unfinished intent",
        damaged(LEDGER, {"intent": _UNFINISHED, "revision": 2}),
        _found((DifferenceKind.LEDGER, LEDGER)),
    ),
    Planted("ledger that misses a family", _forget("num"), _found((DifferenceKind.LEDGER, "num"))),
    Planted(
        "ledger that misses tokens", _forget("name.1.has"), _found((DifferenceKind.LEDGER, "name.1.has"))
    ),
    Planted(
        "ledger that misses an order without entries", _forget(KIND), _found((DifferenceKind.LEDGER, KIND))
    ),
    Planted("ledger with another state", _claim("state.1b"), _found((DifferenceKind.LEDGER, "state.1b"))),
    Planted("ledger with a family too many", _claim("a1.1.has"), _found((DifferenceKind.LEDGER, "a1.1.has"))),
    Planted(
        "ledger that expires",
        damaged(LEDGER, {keys.TTL_ATTRIBUTE: 9}),
        _found((DifferenceKind.EXPIRY, LEDGER)),
    ),
    Planted(
        "ledger of a later epoch", damaged(LEDGER, {"epoch": 1_000}), _found((DifferenceKind.LEDGER, LEDGER))
    ),
    Planted(
        "ledger of a later version",
        damaged(LEDGER, {"version": 1_000}),
        _found((DifferenceKind.LEDGER, LEDGER)),
    ),
    Planted(
        "ledger of a removed issue",
        damaged(LEDGER, {"removed": True, keys.TTL_ATTRIBUTE: 9}),
        _found((DifferenceKind.LEDGER, LEDGER)),
    ),
    Planted(
        "ledger without a revision",
        damaged(LEDGER, {}, "revision"),
        _found((DifferenceKind.MALFORMED, LEDGER)),
    ),
    Planted(
        "ledger that is none", damaged(LEDGER, {"applied": 7}), _found((DifferenceKind.MALFORMED, LEDGER))
    ),
    Planted(
        "document gone",
        _drop_document,
        _found(
            (DifferenceKind.LEDGER, LEDGER),
            *((DifferenceKind.EXTRA, one) for one in _ORDERS),
            *((DifferenceKind.LEDGER, one) for one in _PLACES),
        ),
    ),
    Planted(
        "item of an unknown kind",
        damaged("something", {"text": "x"}),
        _found((DifferenceKind.UNKNOWN, "something")),
        remains=True,
    ),
)
"""Each may be done to an issue with a size and correct items."""


def inflict_at_random(random: Random, table: Table, key: str) -> list[str]:
    """Inflict several of them at once. Returns their names."""
    chosen = random.sample([one for one in PLANTED if not one.remains], random.randint(1, 5))
    for planted in chosen:
        planted.inflict(table, key)
    return [planted.name for planted in chosen]


def applied(table: Table, key: str) -> Mapping[str, str]:
    """The applied state according to a committed ledger."""
    ledger = Ledger.from_item(table.get(key, derived_keys.LEDGER, consistent=True))
    return ledger.committed().applied if ledger.number else ledger.applied
