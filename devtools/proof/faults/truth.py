"""Properties that must hold: of every page that a reader sees, and of everything derived once all is quiet.

Derived items are compared with the documents; no ledger is believed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from devtools.proof.faults import chains_truth, columns_truth, journal_truth
from devtools.proof.faults.lambdas import Used, read_json
from devtools.proof.faults.world import Difference, World, is_document
from gridview.derive.families import derived_strings, with_entries
from gridview.derive.ledger import Ledger
from gridview.derive.sort_entries import sort_strings_of
from gridview.dynamodb.expressions import Item
from gridview.encoding import derived_keys, keys
from gridview.encoding.json_codec import dumps
from gridview.fsck.issue_diff import differences
from gridview.fsck.repair import repair_issue
from gridview.schema.catalog import Catalog
from gridview.schema.documents import to_json
from gridview.schema.fields import NUM, Field, FieldType
from gridview.schema.store import Catalogs

if TYPE_CHECKING:
    from collections.abc import Iterable


def epoch_of(world: World) -> float:
    """The epoch of the definitions as they are now: beyond all of them when there are none any more."""
    stored = world.engine.get(keys.project(world.tenant, world.project), keys.CATALOG, consistent=True)
    return float("inf") if stored is None else float(stored["epoch"])


def assert_current(used: Catalog, epoch: float) -> None:
    """A request that began in this epoch was answered by its definitions, or by later ones."""
    if used.epoch < epoch:
        raise Difference(
            f"the definitions of epoch {used.epoch} were used, though epoch {epoch} had begun before"
        )


def assert_page(world: World, catalog: Catalog, asked: Mapping[str, Any], page: Mapping[str, Any]) -> None:
    """No issue twice, every row some version that its issue really had, and the rows in order."""
    _assert_in_order(catalog, asked, [had[0] for had in assert_rows(world, catalog, asked, page)])


def assert_rows(
    world: World, catalog: Catalog, asked: Mapping[str, Any], page: Mapping[str, Any]
) -> list[list[Item]]:
    """No issue twice, and every row some version that its issue really had. The documents that each row may show."""
    rows: list[dict[str, Any]] = page["rows"]
    twice = [num for num, count in Counter(row["num"] for row in rows).items() if count > 1]
    if twice:
        raise Difference(f"a page shows {twice} twice: {asked}")
    columns = frozenset(asked["columns"]) if asked.get("columns") is not None else None
    documents = []
    for row in rows:
        key = keys.issue(world.tenant, world.project, row["num"])
        had = world.history.get(key, {}).get(row["version"], [])
        alike = [document for document in had if shown(catalog, document, columns) == row]
        if not alike:
            raise Difference(f"a page shows {row}, which issue {row['num']} never was: {asked}")
        documents.append(alike)
    return documents


def _assert_in_order(catalog: Catalog, asked: Mapping[str, Any], documents: Sequence[Item]) -> None:
    """The rows of a page are in the order of their shown values, unless options are being moved."""
    (sort,) = asked["sort"]
    field = catalog.get(sort["field"])
    if field is not None and field.moving:
        return
    nums = [document["num"] for document in documents]
    descending, nulls_first = sort["direction"] == "desc", sort["nulls"] == "first"
    if nums != _in_order(catalog, documents, sort["field"], descending, nulls_first):
        raise Difference(f"a page shows {nums}, which is not in order: {asked}")


def shown(catalog: Catalog, document: Mapping[str, Any], columns: frozenset[str] | None) -> Any:
    """A document as a row shows it."""
    return read_json(dumps(to_json(catalog, document, columns)))


def derivable(catalog: Catalog, document: Item) -> bool:
    """Whether sort strings can be made of a document."""
    try:
        sort_strings_of(catalog, document)
    except Exception:
        return False
    return True


def watch(world: World, before: Item | None, item: Mapping[str, Any]) -> None:
    """A ledger or a sort entry has just been written: check the properties that hold at any time.

    The ledger names every string that an entry may hold. It never goes back: not to an older image, epoch or
    revision.
    """
    key = item[keys.PK]
    if item[keys.SK] == derived_keys.LEDGER:
        old, new = Ledger.from_item(before), Ledger.from_item(item)
        if new.order < old.order or new.epoch < old.epoch or new.revision < old.revision:
            raise Difference(f"{key}: the ledger goes back from {old} to {new}")
    elif keys.SORT in item:
        ledger = Ledger.from_item(world.engine.get(key, derived_keys.LEDGER, consistent=True))
        order = item[keys.SK].removeprefix(derived_keys.order(world.tenant, world.project, ""))
        if item[keys.SORT] not in ledger.present.get(order, ()):
            raise Difference(f"{key}: {order} is now {item[keys.SORT]!r}, which is not in the ledger")


def assert_derived(world: World, *, but_for: frozenset[str] = frozenset()) -> None:
    """Every derived item of every issue that ever was matches its document.

    `but_for`: issues that cannot be derived.
    """
    catalog = world.catalog()
    head = world.head
    journal_truth.assert_folded(world)
    for key in sorted({*world.history, *world.orders} - but_for):
        document = world.documents.get(key)
        items = {item[keys.SK]: item for item in world.engine.query_all(key, consistent=True)}
        found = differences(key, items.values(), catalog, head=head)
        stored = items.pop(keys.project(world.tenant, world.project), None)
        if stored != (document or world.trashed.get(key)):
            raise Difference(f"{key}: the document is not the one that was written last")
        _assert_issue(world, key, items, {} if document is None else derived_strings(catalog, document))
        if found:
            raise Difference(f"{key}: the check finds {found}, and everything is right")
    chains_truth.assert_blocks(world, catalog, but_for)
    columns_truth.assert_columns(world, catalog, but_for)
    assert_trash(world)


def assert_trash(world: World) -> None:
    """The trash shows every deleted issue that is still there, newest first, and no other.

    Spoilt documents cannot be shown.
    """
    catalog = world.catalog()
    try:
        for document in world.trashed.values():
            to_json(catalog, document)
    except (LookupError, TypeError, ValueError):
        return
    answer = world.functions(world.engine, Catalogs()).request(world.admin, "GET", f"{world.path}/trash")
    newest = sorted(
        world.trashed.values(), key=lambda document: (document["deleted_at"], document["num"]), reverse=True
    )
    shown = [(one["num"], one["version"], one["deleted_by"]) for one in answer.body["items"]]
    if shown != [(one["num"], one["version"], one["deleted_by"]) for one in newest] or answer.body["next"]:
        raise Difference(f"the trash shows {shown}, and deleted are {[one['num'] for one in newest]}")
    world.totals["deleted issues shown"] += len(shown)


def assert_found_and_repaired(world: World) -> None:
    """The check finds an item that was spoilt by hand, and a repair makes it right."""
    catalog = world.catalog()
    key = world.random.choice(sorted(world.orders))
    items = list(world.engine.query_all(key, consistent=True))
    derived = [item for item in items if not is_document((key, item[keys.SK]))]
    if not derived:
        return
    item = world.random.choice(derived)
    entry = item[keys.SK] != derived_keys.LEDGER
    if entry and keys.SORT not in item:
        spoilt = {**item, keys.SORT: "somewhere else"}
    elif world.chance(0.5) and (entry or keys.TTL_ATTRIBUTE not in item):
        spoilt = None
    else:
        spoilt = {**item, keys.SORT: "x"} if entry else {**item, "applied": {**item["applied"], "a99.1": "x"}}
    world.note("by hand: {} {} becomes {}", key[-3:], item[keys.SK], spoilt)
    if spoilt is None:
        world.engine.delete(key, item[keys.SK])
    else:
        world.engine.put(spoilt)
    if not differences(key, world.engine.query_all(key, consistent=True), catalog, head=world.head):
        raise Difference(f"{key}: the check does not find what was done to {item[keys.SK]}")
    repair_issue(world.table, Catalogs(), key)
    world.fold_all()
    world.totals["spoilt by hand"] += 1


def _assert_issue(world: World, key: str, items: dict[str, Item], expected: dict[str, str]) -> None:
    version, removed = world.orders[key]
    found_ledger = items.pop(derived_keys.LEDGER, None)
    ledger = journal_truth.finished(world, Ledger.from_item(found_ledger))
    prefix = derived_keys.order(world.tenant, world.project, "")
    unknown = [sk for sk in items if not sk.startswith(prefix)]
    if unknown:
        raise Difference(f"{key}: unknown items {unknown}")
    entries = {sk.removeprefix(prefix): item for sk, item in items.items()}
    found = {order: item[keys.SORT] for order, item in entries.items() if keys.SORT in item}
    expected_entries = with_entries(expected)
    if found != expected_entries:
        raise Difference(f"{key}: in the index {_differing(found, expected_entries)}")
    if found_ledger is None and removed:
        return  # nothing was ever derived from it: it came and went in one batch
    if ledger.intent is not None:
        raise Difference(f"{key}: the ledger is unfinished")
    if dict(ledger.applied) != expected:
        raise Difference(f"{key}: in the ledger {_differing(ledger.applied, expected)}")
    if ledger.removed is not removed or ledger.version > version or (removed and ledger.version != version):
        raise Difference(f"{key}: the ledger is of {tuple(ledger.order)}, the issue {version, removed}")
    if (keys.TTL_ATTRIBUTE in (found_ledger or {})) is not removed:
        raise Difference(f"{key}: a ledger expires when its issue is removed, and only then")
    for order, item in entries.items():
        _assert_entry(key, order, item, ledger)


def _assert_entry(key: str, order: str, item: Item, ledger: Ledger) -> None:
    if (keys.TTL_ATTRIBUTE in item) is (keys.SORT in item):
        raise Difference(f"{key}: {order} expires when it is cleared, and only then")
    if item["revision"] > ledger.revision:
        raise Difference(f"{key}: {order} is of a revision that no ledger had")


def _differing(found: Mapping[str, str], expected: Mapping[str, str]) -> str:
    return "; ".join(
        f"{order}: {found.get(order)!r} instead of {expected.get(order)!r}"
        for order in sorted({*found, *expected})
        if found.get(order) != expected.get(order)
    )


def assert_no_work_left(world: World) -> None:
    """Every change of definitions is true of all issues, and no document holds a value of a permanently deleted
    attribute.
    """
    catalog = world.catalog()
    if pending := [field.id for field in catalog.pending()]:
        raise Difference(f"no job is left, and these definitions are still pending: {pending}")
    for key, document in {**world.documents, **world.trashed}.items():
        if dead := [name for name in document.get("fields", {}) if catalog.removed(name)]:
            raise Difference(f"{key}: values of deleted attributes {dead} are left")


def assert_removed(world: World) -> None:
    """Only items that expire are left of a deleted project."""
    if left := {**world.documents, **world.trashed}:
        raise Difference(f"documents of a deleted project are left: {sorted(left)}")
    for key in sorted(world.orders):
        items = {item[keys.SK]: item for item in world.engine.query_all(key, consistent=True)}
        _assert_issue(world, key, items, {})
    chains_truth.assert_blocks(world, None)
    columns_truth.assert_columns(world, None)
    partition = keys.project(world.tenant, world.project)
    for item in world.engine.query_all(partition, consistent=True):
        if keys.TTL_ATTRIBUTE not in item or keys.SORT in item:
            raise Difference(f"of a deleted project there is left {item[keys.SK]}")
    for item in world.engine.query_all(derived_keys.journal(*world.home), consistent=True):
        if keys.TTL_ATTRIBUTE not in item:
            raise Difference(f"of a deleted project's journal there is left {item[keys.SK]}")


def assert_walk(
    world: World,
    field_id: str,
    *,
    descending: bool,
    nulls_first: bool,
    limit: int,
    catalog: Catalog | None = None,
) -> None:
    """Result page after result page, the grid shows each issue once, in the order of the values.

    While options are being moved an issue may be at its old place, but it is somewhere. An issue that is just being
    moved may be missing, or on two result pages.
    """
    if catalog is None:
        catalog = world.catalog()
    sort = {
        "field": field_id,
        "direction": "desc" if descending else "asc",
        "nulls": "first" if nulls_first else "last",
    }
    asked: dict[str, Any] = {"sort": [sort], "limit": limit}
    seen: list[int] = []
    cursor = None
    functions = world.functions(world.engine, Used(Catalogs(), catalog))
    expected = _in_order(catalog, world.documents.values(), field_id, descending, nulls_first)
    while True:
        page = functions.grid(
            world.tenant, world.path, asked if cursor is None else {**asked, "cursor": cursor}
        ).body
        assert_page(world, catalog, asked, page)
        seen += [row["num"] for row in page["rows"]]
        cursor = page["next"]
        if cursor is None:
            break
        if len(seen) > len(expected):
            break
    field = catalog.get(field_id)
    if field is not None and field.moving:
        underway = _underway(world, field)
        if any(seen.count(num) > 2 for num in underway):
            raise Difference(f"a walk by {sort} shows {seen}: no issue is at three places")
        seen = sorted(num for num in seen if num not in underway)
        expected = sorted(num for num in expected if num not in underway)
    if seen != expected:
        raise Difference(f"a walk by {sort} shows {seen} instead of {expected}")


def _underway(world: World, field: Field) -> set[int]:
    """The issues that are just being moved in the order of a field: their place is written in part."""
    served = field.served
    found = set()
    for document in world.documents.values():
        stored = world.engine.get(document[keys.PK], derived_keys.LEDGER, consistent=True)
        ledger = journal_truth.finished(world, Ledger.from_item(stored))
        if served is not None and served.order_id in (ledger.intent or {}):
            found.add(document["num"])
    return found


def _in_order(
    catalog: Catalog, documents: "Iterable[Item]", field_id: str, descending: bool, nulls_first: bool
) -> list[int]:
    """The numbers of the issues as the values themselves order them: no sort string has a part in this."""
    field = catalog.get(field_id)
    valued: list[tuple[Any, int]] = []
    without: list[int] = []
    for document in documents:
        value = document["num"] if field is None else field.value_in(document)
        if value is None:
            without.append(document["num"])
        else:
            valued.append((_comparable(field, value), document["num"]))
    valued.sort(reverse=descending)
    without.sort(reverse=descending)
    numbers = [num for _, num in valued]
    return without + numbers if nulls_first and field_id != NUM else numbers + without


def _comparable(field: Field | None, value: Any) -> Any:
    if field is None:
        return value
    match field.type:
        case FieldType.NUMBER:
            return Decimal(value)
        case FieldType.ENUM:
            return _places(field).index(value)
        case FieldType.MULTI_ENUM:
            return sorted(map(_places(field).index, value))
        case FieldType.TEXT:
            return "".join({"É": "e", "é": "e"}.get(one, one) for one in value).casefold()[:240]
        case FieldType.USER:
            return value.casefold()
    return value


def _places(field: Field) -> Sequence[str]:
    """The options as the project's own list has them, dropped ones by the rank that they had."""
    return [option.id for option in sorted(field.options, key=lambda option: option.rank)]


def sortable(catalog: Catalog) -> list[str]:
    """The fields that the grid sorts by now."""
    names = [NUM]
    names += [field.id for field in (*catalog.builtins, *catalog.attributes) if field.served is not None]
    return names
