"""A project put into the table and into the oracle."""

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

from devtools.local import bulk
from devtools.proof.faults.lambdas import Functions
from devtools.proof.oracle.limits import held_to
from devtools.proof.oracle.sql import Oracle
from devtools.proof.oracle.world import Json, Project
from gridview.commands import attributes, composite_indexes, projects
from gridview.commands.actor import Actor, Role
from gridview.derive.images import Poison
from gridview.dynamodb.table import Table
from gridview.encoding.consistency import Recent
from gridview.encoding.cursors import Cursors
from gridview.encoding.values import parse_datetime
from gridview.journal.log import Log
from gridview.maintenance.job_worker import Worker
from gridview.query.references import Reference
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import CONFIRMED, EpochCheck
from gridview.schema.store import Catalogs
from gridview.view.block_cache import BlockCache
from gridview.view.context import ReadContext
from gridview.view.journal_tail import learn


class Difference(AssertionError):
    """The grid and the oracle do not agree."""


def same(what: str, ours: Any, expected: Any) -> None:
    """Difference when they are not equal."""
    if ours != expected:
        raise Difference(f"{what}: the grid says {str(ours)[:2000]}, the oracle {str(expected)[:2000]}")


@dataclass
class Loaded:
    """A project that is in the table and in the oracle."""

    project: Project
    table: Table
    catalog: Catalog
    oracle: Oracle
    cache: BlockCache
    recent: Recent = ()
    """Writes that answers include though the index may lack them. For later pages the cursor has them."""
    epoch: EpochCheck = CONFIRMED
    """The source of the issue numbers that have been given out."""
    sends: Callable[[Json], Json] = lambda body: body
    """Returns the body of a request as it is sent."""
    refers: Callable[[], Reference | None] = lambda: None
    """Returns what the relative operands of the next request refer to."""

    def context(
        self, table: Table | None = None, recent: Recent | None = None, feed: Cursors | None = None
    ) -> ReadContext:
        """The context of a request. `table`, `recent`: in the place of its own."""
        metered = (self.table if table is None else table).metered()
        held = self.recent if recent is None else recent
        return ReadContext(metered, self.catalog, self.cache, self.epoch, held, feed)


def load(
    table: Table,
    project: Project,
    tenant: str,
    project_id: str,
    *,
    unindexed: Container[int] = (),
) -> Loaded:
    """Put a project's issues into the table, with all that is derived from them, and into SQLite.

    `unheard`: of these issues only the documents are put.
    """
    actor = Actor(tenant, "oracle", Role.ADMIN)
    body = {"id": project_id, "name": project_id, "states": project.states}
    projects.create_project(table, actor, body)
    for attribute in project.attributes:
        attributes.create_attribute(table, Catalogs(), actor, project_id, attribute)
    for sort in project.composites:
        composite_indexes.create_composite(table, Catalogs(), actor, project_id, {"sort": sort}, settling=0)
    for name in project.switched_off:
        attributes.update_attribute(
            table, Catalogs(), actor, project_id, name, {"indexed": False}, None, settling=0
        )
    begin_orders(table, project, actor, project_id)
    if project.composites or project.switched_off or project.orders:
        Worker(table, Catalogs(), lambda: 60.0, _poison, settling=0).work()
    catalog = Catalogs().get(table, tenant, project_id)
    made = []
    for num, issue in project.issues.items():
        stamps = project.stamps[num]
        changes, now = documents.parse_create(catalog, issue), parse_datetime(stamps.created)
        one = documents.new_document(catalog, num, changes, user=stamps.created_by, now=now)
        made.append({**one, "updated": parse_datetime(stamps.updated), "updated_by": stamps.updated_by})
    if made:
        bulk.take_numbers(table, catalog, max(project.issues))
        with held_to(project.limits):
            indexed = [one for one in made if one["num"] not in unindexed]
            bulk.load(table, catalog, indexed, bulk.in_batches)
        bulk.in_batches(table, [one for one in made if one["num"] in unindexed])
    return Loaded(project, table, catalog, Oracle(project), container(table, catalog))


def begin_orders(table: Table, project: Project, actor: Actor, project_id: str) -> None:
    """Make the views of a project that are sorted by hand. Their orders are built by the next upkeep."""
    functions = Functions(table, Catalogs())
    for order in project.orders:
        path = f"/v1/projects/{project_id}/views"
        made = functions.request(actor, "POST", path, {"name": order, "visibility": "shared"})
        same(f"the view of {made}", made.body.get("id"), order)
        sort = {"query": {"sort": [{"manual": order}]}}
        same("the answer", functions.request(actor, "PATCH", f"{path}/{order}", sort).status, 200)


def container(table: Table, catalog: Catalog) -> BlockCache:
    """The cache of a container that has read the definitions: it knows the end of the journal."""
    cache = BlockCache()
    learn(Log(table, catalog.tenant, catalog.project), cache)
    return cache


def _poison(poison: Poison) -> None:
    raise AssertionError(f"an empty project has an issue: {poison}")
