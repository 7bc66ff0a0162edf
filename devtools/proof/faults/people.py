"""The people of a scenario: writers of issues and readers of the grid; and changes of the table without either."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from devtools.proof.faults.lambdas import Answer, Used
from devtools.proof.faults.truth import assert_current, assert_page, epoch_of
from devtools.proof.faults.world import Run, World
from gridview.commands import issues
from gridview.commands.actor import Actor, Role
from gridview.derive.images import Underivable
from gridview.derive.work import Superseded
from gridview.dynamodb.errors import ItemTooLarge
from gridview.dynamodb.expressions import ABSENT, Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.fsck.repair import repair_issue
from gridview.schema.catalog import Catalog
from gridview.schema.documents import CHANGED
from gridview.schema.fields import Field, FieldType
from gridview.schema.store import Catalogs
from gridview.support.errors import NotFound, RequestError

SPOILT = ("o99", "1 May 2023")
"""Stored values from which no sort string can be made."""

_TEXTS = ("", "alpha", "Beta", "beta", "Émile", "x" * 300)
_VALUES: dict[FieldType, Callable[[Random, Field], Any]] = {
    FieldType.TEXT: lambda random, _: random.choice(_TEXTS),
    FieldType.NUMBER: lambda random, _: random.choice([-5, 0, 3, 12, 1_000_000]),
    FieldType.DATE: lambda random, _: random.choice(["2023-05-01", "2023-05-02", "2024-02-29"]),
    FieldType.DATETIME: lambda random, _: random.choice(["2023-05-01T10:00:00Z", "2023-05-01T11:00:00Z"]),
    FieldType.BOOL: lambda random, _: random.random() < 0.5,
    FieldType.ENUM: lambda random, field: random.choice([one.value for one in field.live_options]),
    FieldType.MULTI_ENUM: lambda random, field: random.sample(
        [one.value for one in field.live_options], random.randint(1, min(2, len(field.live_options)))
    ),
    FieldType.USER: lambda random, _: random.choice(["ann", "Bob", "cid"]),
}
_EDITORS = ("ann", "bob", "Bob", "cid")
_CLEARED = 0.25
_CHANGED = 0.4


def value(random: Random, field: Field) -> Any:
    """A value of a field as a request gives it; None clears."""
    return None if random.random() < _CLEARED else _VALUES[field.type](random, field)


def body(random: Random, catalog: Catalog, *, new: bool) -> dict[str, Any]:
    """A request that changes some fields of an issue, or one that makes an issue."""
    fields = {
        field.id: value(random, field)
        for field in catalog.attributes
        if not field.computed
        and random.random() < _CHANGED
        and (field.live_options or not field.type.has_options)
    }
    if new:
        fields = {name: given for name, given in fields.items() if given is not None}
    request: dict[str, Any] = {"fields": fields}
    if new or random.random() < 0.3:
        request["name"] = random.choice(_TEXTS[1:])
    if random.random() < 0.3:
        request["state"] = random.choice([one.value for one in catalog.state.live_options])
    return request


def writer(world: World, user: str) -> Actor:
    """A user who may write."""
    return Actor(world.tenant, user, Role.EDITOR)


def create(world: World, catalogs: Catalogs) -> Run:
    """A request that makes an issue."""
    return ask(world, catalogs, "create", "ann", "POST", "/issues", wish(world, new=True))


def update(world: World, catalogs: Catalogs, num: int) -> Run:
    """A request that changes an issue, at any version or only at the version that the client has seen."""
    seen = world.documents.get(keys.issue(world.tenant, world.project, num), {}).get("version")
    expected = frozenset({seen}) if seen and world.chance(0.2) else None
    asked = wish(world, new=False)
    user = world.random.choice(_EDITORS)
    return ask(world, catalogs, f"update {num} by {user}", user, "PATCH", f"/issues/{num}", asked, expected)


def delete(world: World, catalogs: Catalogs, num: int) -> Run:
    """A request that deletes an issue."""
    seen = world.documents.get(keys.issue(world.tenant, world.project, num), {}).get("version")
    expected = frozenset({seen}) if seen and world.chance(0.3) else None
    user = world.random.choice(_EDITORS)
    return ask(world, catalogs, f"delete {num} by {user}", user, "DELETE", f"/issues/{num}", None, expected)


def bring_back(world: World, catalogs: Catalogs, num: int) -> Run:
    """A request that restores a deleted issue."""
    return ask(world, catalogs, f"restore {num}", "cid", "POST", f"/trash/{num}/restore")


def purge(world: World, catalogs: Catalogs, num: int) -> Run:
    """A request that permanently deletes an issue in the trash."""
    return ask(world, catalogs, f"purge {num}", "ada", "DELETE", f"/trash/{num}", actor=world.admin)


def ask(
    world: World, catalogs: Catalogs, what: str, user: str, *request: Any, actor: Actor | None = None
) -> Run:
    """A request of a writer, for a path of the project."""
    method, path, *rest = request

    def work(table: Table) -> Answer:
        functions = world.functions(table, catalogs)
        return functions.request(actor or writer(world, user), method, f"{world.path}{path}", *rest)

    return world.command(what, work)


def wish(world: World, *, new: bool) -> dict[str, Any]:
    """The body of a request for an issue, by the present definitions or by definitions of some time ago."""
    try:
        now = world.catalog()
    except NotFound:
        return {"name": "late"}
    known = world.known if world.known is not None and world.chance(0.2) else now
    world.known = now
    return body(world.random, known, new=new)


# Directly in the table


def remove(world: World, key: str) -> None:
    """The table's own expiry, or an operator with the console, takes a document away."""
    world.expiring = world.chance(0.5)
    world.note("{} is {} in the table", key[-3:], "expired" if world.expiring else "deleted")
    world.table.delete(key, keys.project(world.tenant, world.project))
    world.expiring = False


def restore(world: World, key: str) -> None:
    """A removed issue is put back from a copy, and continues its versions."""
    version = world.orders[key].version
    before = world.history[key][max(one for one, had in world.history[key].items() if had)][-1]
    world.note("{} is restored", key[-3:])
    catalog = world.catalog()
    kept = {
        name: given
        for name, given in before["fields"].items()
        if given not in SPOILT and not catalog.removed(name)
    }
    world.table.put({**before, "fields": kept, "version": version + 1}, ABSENT)


def spoil(world: World, key: str) -> None:
    """A document gets a value that has no sort string."""
    document = world.documents[key]
    catalog = world.catalog()
    chosen = [
        (field.key, "o99" if field.type is FieldType.ENUM else "1 May 2023")
        for field in catalog.attributes
        if field.type in (FieldType.ENUM, FieldType.DATE) and field.indexed and not field.computed
    ]
    if not chosen:
        return
    name, given = world.random.choice(chosen)
    world.note("{} is spoilt", key[-3:])
    world.totals["poison"] += 1
    _put_past_the_api(world, document, {**document["fields"], name: given})


def enlarge(world: World, key: str) -> None:
    """A document is written whose ledger will not fit an item."""
    document = world.documents[key]
    version = document["version"] + 1
    world.note("the ledger of {} will not fit at v{}", key[-3:], version)
    world.totals["poison"] += 1
    world.too_large.add((key, version))
    world.were_too_large.add((key, version))
    catalog = world.catalog()
    fields = {**document["fields"]}
    for field in catalog.attributes:
        if field.type is FieldType.DATE and not field.computed:
            fields[field.key] = f"{1000 + version}-01-01"  # never a value that it had before
    _put_past_the_api(world, document, fields)


def _put_past_the_api(world: World, document: Item, fields: Mapping[str, Any]) -> None:
    """The next version with other values. It says, as all do, which version changed each field last: followers go by that."""
    version = document["version"] + 1
    before = document["fields"]
    changed = {key: version for key in {**before, **fields} if before.get(key) != fields.get(key)}
    marks = {**document.get(CHANGED, {}), **changed}
    world.table.put({**document, "fields": fields, CHANGED: marks, "version": version})


def scribble(world: World) -> str:
    """Something that is no issue is put where an issue would be."""
    catalog = world.catalog()
    (num,) = issues.reserve_numbers(world.engine, catalog, 1)
    key = keys.issue(world.tenant, world.project, num)
    world.note("{} is scribbled upon", key[-3:])
    world.totals["poison"] += 1
    world.table.put(
        {
            keys.PK: key,
            keys.SK: keys.project(world.tenant, world.project),
            "version": world.random.choice(["x", None]),
        }
    )
    return key


def repair_document(world: World, key: str) -> None:
    """An operator repairs a spoilt document."""
    document = world.documents[key]
    good = {name: given for name, given in document["fields"].items() if given not in SPOILT}
    world.note("{} is put right", key[-3:])
    _put_past_the_api(world, document, good)


def repair(world: World, key: str, catalogs: Catalogs, version: int = 0) -> Run:
    """An operator has an issue's derived items repaired: a redrive of a dead letter, or a check that repairs."""

    def ended(run: Run) -> None:
        # An answer may also be that it cannot be done now, or not at all.
        if not isinstance(run.invocation.raised, (Underivable, ItemTooLarge, Superseded, RequestError)):
            world.check(run)

    return world.start(
        "repair",
        lambda table: repair_issue(table, catalogs, key, version),
        ended,
        key[-3:],
    )


def is_spoilt(document: Mapping[str, Any]) -> bool:
    """Whether a document has a value without a sort string."""
    return any(isinstance(given, str) and given in SPOILT for given in document.get("fields", {}).values())


# Readers


class Reader:
    """A reader who pages through the grid. Each page is an invocation; its rows are checked."""

    def __init__(self, world: World, catalogs: Catalogs) -> None:
        self._world = world
        self._catalogs = catalogs
        self._query: dict[str, Any] = {}
        self._cursors: list[str] = []

    def page(self) -> Run:
        """Ask for a page: the next or the previous one of this reader, or the first one of another order."""
        world, random = self._world, self._world.random
        if self._cursors and random.random() < 0.6:
            asked = {**self._query, "cursor": random.choice(self._cursors)}
        else:
            asked = self._another_query()
        used, epoch = Used(self._catalogs), epoch_of(world)

        def ended(run: Run) -> None:
            world.check_request(run)
            answer = run.invocation.result
            if run.invocation.raised is not None or answer.status != 200:
                return
            page = answer.body
            world.totals["pages"] += 1
            assert_current(used.last, epoch)
            assert_page(world, used.last, asked, page)
            self._query = {name: given for name, given in asked.items() if name != "cursor"}
            self._cursors = [cursor for cursor in (page["next"], page["prev"]) if cursor]

        return world.start(
            "reader",
            lambda table: world.functions(table, used).grid(world.tenant, world.path, asked),
            ended,
            str({**asked, "cursor": "cursor" in asked}),
        )

    def _another_query(self) -> dict[str, Any]:
        random = self._world.random
        catalog = self._catalogs._entries.get((self._world.tenant, self._world.project))
        names = ["num", "name", "state", "updated", "created_by", "updated_by"]
        if catalog is not None:
            names += [field.id for field in catalog.attributes] * 2
        query: dict[str, Any] = {
            "limit": random.randint(1, 5),
            "sort": [
                {
                    "field": random.choice(names),
                    "direction": random.choice(["asc", "desc"]),
                    "nulls": random.choice(["first", "last"]),
                }
            ],
        }
        if random.random() < 0.3:
            query["columns"] = random.sample(names, 2)
        return query
