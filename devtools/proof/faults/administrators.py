"""Administrators who change the definitions of a project while others work in it, and the background work that
follows.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from devtools.proof.faults import formula_changes
from devtools.proof.faults.lambdas import Functions
from devtools.proof.faults.world import SETTLING, Run, World
from gridview.commands import attributes
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.catalog import Catalog
from gridview.schema.fields import Field
from gridview.schema.jobs import Job
from gridview.schema.restorable import deletion_of
from gridview.schema.store import Catalogs
from gridview.schema.user_jobs import JobLine
from gridview.support.errors import NotFound, Overloaded

MOST_ATTRIBUTES = 7

_TYPES = ("date", "number", "enum", "multi_enum", "bool", "text", "user")
_IDS = ("start", "kind", "cost", "tags", "note", "extra", "more")

Change = Callable[[World, Table], None]
"""A change of definitions, made by a container that has no catalog yet or, in a drawn scenario, by any."""

_Request = Callable[[Functions], Any]


def define(world: World, catalogs: Catalogs, *, formulas: bool = False) -> Run | None:
    """A request that changes a definition: whatever may be asked of an attribute, or of the states.

    `formulas`: half of them define or change a formula.
    """
    try:
        catalog = world.catalog()
    except NotFound:
        return None
    kinds: list[tuple[Callable[[World, Catalog], tuple[str, _Request] | None], float]] = [
        (_add, 2 if len(catalog.attributes) < MOST_ATTRIBUTES else 0),
        (_drop, 2),
        (_restore, 2 if catalog.hidden else 0),
        (_purge, 1 if catalog.hidden else 0),
        (_switch, 4),
        (_reorder, 3),
        (_rebuild, 1),
        *([(_formulate, 14)] if formulas else []),
    ]
    makers, weights = zip(*kinds, strict=True)
    chosen = world.random.choices(makers, weights)[0](world, catalog)
    if chosen is None:
        return None
    what, change = chosen
    world.totals["changes of definitions"] += 1
    return world.command(what, lambda table: change(world.functions(table, catalogs)))


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

    return f"create attribute {body['id']} {kind}", _asking(world, "POST", "/attributes", body)


def _formulate(world: World, catalog: Catalog) -> tuple[str, _Request] | None:
    asked = formula_changes.drawn(world.random, catalog)
    if asked is None:
        return None
    world.totals["changes of formulas"] += 1
    return " ".join(map(str, asked)), _asking(world, *asked)


def begin_with_formulas(world: World) -> None:
    """Define the formulas that a project begins with, undisturbed."""
    for name, formula in formula_changes.FIRST.items():
        body = {"name": name, "id": name, "type": formula_changes.IDS[name], "formula": formula}
        work = partial(_undisturbed, world, _asking(world, "POST", "/attributes", body))
        world.finish(world.command(f"define {name}", work))


def _undisturbed(world: World, request: _Request, table: Table) -> Any:
    return request(world.functions(table, Catalogs()))


def _drop(world: World, catalog: Catalog) -> tuple[str, _Request] | None:
    if not catalog.attributes:
        return None
    chosen = world.random.choice(catalog.attributes).id
    return f"delete attribute {chosen}", _asking(world, "DELETE", f"/attributes/{chosen}")


def _restore(world: World, catalog: Catalog) -> tuple[str, _Request]:
    chosen = world.random.choice(catalog.hidden).id
    return f"restore attribute {chosen}", _asking(world, "POST", f"/deleted-attributes/{chosen}/restore")


def _purge(world: World, catalog: Catalog) -> tuple[str, _Request]:
    chosen = world.random.choice(catalog.hidden).id
    return f"purge attribute {chosen}", _asking(world, "DELETE", f"/deleted-attributes/{chosen}")


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
    return "change the states", _asking(world, "PATCH", "", {"states": options})


def _patch(world: World, field: Field, body: dict[str, Any]) -> tuple[str, _Request]:
    return f"change {field.id}: {body}", _asking(world, "PATCH", f"/attributes/{field.id}", body)


def _rebuild(world: World, catalog: Catalog) -> tuple[str, _Request]:
    fields = [field.id for field in (*catalog.builtins, *catalog.attributes)]
    chosen = [world.random.choice(fields)] if world.chance(0.7) else None

    def change(functions: Functions) -> None:
        attributes.rebuild(
            functions.table,
            functions.catalogs,
            world.tenant,
            world.project,
            chosen,
            rate=0,
            settling=SETTLING,
        )

    return f"rebuild {chosen or 'everything'}", change


def delete_project(world: World, catalogs: Catalogs) -> Run:
    """A request that deletes the project, whatever is going on in it."""
    world.totals["deleted projects"] += 1
    change = _asking(world, "DELETE", "")
    return world.command("delete the project", lambda table: change(world.functions(table, catalogs)))


def is_closed(world: World) -> bool:
    """Whether the project is deleted and can be restored."""
    own = world.engine.get(keys.project(*world.home), keys.tenant(world.tenant), consistent=True)
    return own is not None and deletion_of(own) is not None


def restore_project(world: World, catalogs: Catalogs) -> Run:
    """A request that brings the deleted project back."""
    world.totals["restored projects"] += 1
    return _of_deleted(world, catalogs, "restore the project", "POST", "/restore")


def purge_project(world: World, catalogs: Catalogs) -> Run:
    """Start a request that permanently deletes the deleted project."""
    return _of_deleted(world, catalogs, "purge the project", "DELETE", "")


def _of_deleted(world: World, catalogs: Catalogs, what: str, method: str, path: str) -> Run:
    asked = world.admin, method, f"/v1/deleted-projects/{world.project}{path}"
    return world.command(what, lambda table: world.functions(table, catalogs).request(*asked))


def _asking(world: World, method: str, path: str, body: Any = None) -> _Request:
    """Return a request of an administrator, for a path of the project."""
    return lambda functions: functions.request(world.admin, method, f"{world.path}{path}", body)


def upkeep(world: World, catalogs: Catalogs) -> Run:
    """An invocation of the upkeep function, as the schedule makes one."""

    def ended(run: Run) -> None:
        if not isinstance(
            run.invocation.raised, Overloaded
        ):  # the next one goes on when the lease has run out
            world.check(run)

    return world.start(
        "upkeep", lambda table: world.functions(table, catalogs).upkeep(world.letter), ended, homes=None
    )


def work_is_left(world: World) -> bool:
    """Whether background work is still to be done."""
    partition = keys.project(world.tenant, world.project)
    line = world.engine.get(keys.job_line(world.home[0]), keys.LINE, consistent=True)
    job = world.engine.get(partition, keys.JOB, consistent=True)
    placements = world.engine.get(keys.placements(*world.home), keys.JOB, consistent=True)
    purged = world.engine.get(keys.request(*world.home), keys.JOB, consistent=True)
    return (
        world.fold_is_due
        or purged is not None
        or (placements is not None and keys.SORT in placements)
        or (job is not None and not Job.from_item(job).rests)
        or (line is not None and any(job.project == world.project for job in JobLine.from_item(line).open))
    )
