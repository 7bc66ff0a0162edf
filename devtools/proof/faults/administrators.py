"""Who changes the definitions of a project while others work in it, and who carries out in the background what follows."""

from collections.abc import Callable
from typing import Any

from devtools.proof.faults.world import IN_FLIGHT, TIMEOUT, Run, World
from gridview.commands import attributes, projects
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.maintenance.job_worker import Worker
from gridview.schema.catalog import Catalog, Field
from gridview.schema.store import Catalogs
from gridview.support.errors import NotFound, Overloaded

CATALOG_AGE = 5.0
"""Seconds for which the core promises to use a catalog at most. Not its own constant: who deploys it trusts in the promise."""

SETTLING = TIMEOUT + CATALOG_AGE + IN_FLIGHT
"""Seconds after a change of definitions from which on nobody acts on the older ones: none less would do."""

MOST_ATTRIBUTES = 7

_TYPES = ("date", "number", "enum", "multi_enum", "bool", "text", "user")
_IDS = ("start", "kind", "cost", "tags", "note", "extra", "more")

Change = Callable[[World, Table], None]
"""A change of definitions, made by a container that has no catalog yet or, in a drawn scenario, by any."""

_Request = Callable[[Table, Catalogs], None]


def define(world: World, catalogs: Catalogs) -> Run | None:
    """A request that changes a definition: whatever may be asked of an attribute, or of the states."""
    try:
        catalog = world.catalog()
    except NotFound:
        return None
    kinds: list[tuple[Callable[[World, Catalog], tuple[str, _Request] | None], float]] = [
        (_add, 2 if len(catalog.attributes) < MOST_ATTRIBUTES else 0),
        (_drop, 2),
        (_switch, 4),
        (_reorder, 3),
        (_rebuild, 1),
    ]
    makers, weights = zip(*kinds, strict=True)
    chosen = world.random.choices(makers, weights)[0](world, catalog)
    if chosen is None:
        return None
    what, change = chosen
    world.totals["changes of definitions"] += 1
    return world.command(what, lambda table: change(table, catalogs))


def _add(world: World, _: Catalog) -> tuple[str, _Request]:
    kind = world.random.choice(_TYPES)
    body: dict[str, Any] = {
        "name": "Another",
        "id": world.random.choice(_IDS),
        "type": kind,
        "indexed": world.chance(0.8),
    }
    if kind in ("enum", "multi_enum"):
        body["options"] = ["a", "b", "c"]

    def change(table: Table, catalogs: Catalogs) -> None:
        attributes.create_attribute(table, catalogs, world.admin, world.project, body)

    return f"create attribute {body['id']} {kind}", change


def _drop(world: World, catalog: Catalog) -> tuple[str, _Request] | None:
    if not catalog.attributes:
        return None
    chosen = world.random.choice(catalog.attributes).id

    def change(table: Table, catalogs: Catalogs) -> None:
        attributes.delete_attribute(
            table, catalogs, world.admin, world.project, chosen, None, settling=SETTLING
        )

    return f"delete attribute {chosen}", change


def _switch(world: World, catalog: Catalog) -> tuple[str, _Request] | None:
    fields = [*catalog.attributes, *catalog.attributes, *catalog.builtins]
    chosen = world.random.choice(fields)
    return _patch(world, chosen, {"indexed": not chosen.indexed})


def _reorder(world: World, catalog: Catalog) -> tuple[str, _Request] | None:
    fields = [field for field in catalog.attributes if field.type.has_options] + [catalog.state]
    chosen = world.random.choice(fields)
    options: list[dict[str, str]] = [{"id": one.id, "value": one.value} for one in chosen.live_options]
    world.random.shuffle(options)
    if world.chance(0.3):
        options.insert(0, {"value": f"new {chosen.next_option}"})
    if len(options) > 1 and world.chance(0.3):
        options.pop()
    if options and world.chance(0.3):
        options[0]["value"] += "'"
    if not chosen.builtin:
        return _patch(world, chosen, {"options": options})

    def change(table: Table, catalogs: Catalogs) -> None:
        projects.update_project(
            table, catalogs, world.admin, world.project, {"states": options}, None, settling=SETTLING
        )

    return "change the states", change


def _patch(world: World, field: Field, body: dict[str, Any]) -> tuple[str, _Request]:
    def change(table: Table, catalogs: Catalogs) -> None:
        attributes.update_attribute(
            table, catalogs, world.admin, world.project, field.id, body, None, settling=SETTLING
        )

    return f"change {field.id}: {body}", change


def _rebuild(world: World, catalog: Catalog) -> tuple[str, _Request]:
    fields = [field.id for field in (*catalog.builtins, *catalog.attributes)]
    chosen = [world.random.choice(fields)] if world.chance(0.7) else None

    def change(table: Table, catalogs: Catalogs) -> None:
        attributes.rebuild(table, catalogs, world.tenant, world.project, chosen, rate=0, settling=SETTLING)

    return f"rebuild {chosen or 'everything'}", change


def delete_project(world: World, catalogs: Catalogs) -> Run:
    """A request that deletes the project, whatever is going on in it."""

    def work(table: Table) -> None:
        projects.delete_project(table, catalogs, world.admin, world.project, None, settling=SETTLING)

    world.totals["deleted projects"] += 1
    return world.command("delete the project", work)


def upkeep(world: World, catalogs: Catalogs) -> Run:
    """An invocation of the upkeep function, as the schedule makes one."""
    began = world.clock.seconds

    def work(table: Table) -> Any:
        def remaining() -> float:
            return began + TIMEOUT - world.clock.seconds

        fences = world.fences_of(catalogs)
        return Worker(table, catalogs, remaining, world.letter, settling=SETTLING, fences=fences).work()

    def ended(run: Run) -> None:
        if not isinstance(
            run.invocation.raised, Overloaded
        ):  # the next one goes on when the lease has run out
            world.check(run)

    return world.start("upkeep", work, ended)


def job_is_left(world: World) -> bool:
    """Whether background work is still to be done."""
    partition = keys.project(world.tenant, world.project)
    return world.engine.get(partition, keys.JOB, consistent=True) is not None
