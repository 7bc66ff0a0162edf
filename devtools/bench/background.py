"""Measurements of the background: the check of derived data, and passes over issues after a change of definitions."""

from typing import Final

from devtools.bench import apart, issues
from devtools.bench.apart import Place
from devtools.bench.work import Work
from devtools.failure import Failure
from gridview.commands.actor import Actor
from gridview.commands.attributes import create_attribute, rebuild, update_attribute
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.catalog import Catalog
from gridview.schema.jobs import PARTS
from gridview.schema.store import Catalogs
from gridview.support import clock

CHECK_PROJECT: Final = "check: the project"
CHECK_TABLE: Final = "check: all of the table"
NOTHING: Final = "reindex: nothing differs"
BUILDING: Final = "reindex: building"
REMOVING: Final = "reindex: removing"

_CHECK_SECONDS: Final = {CHECK_PROJECT: 40.0, CHECK_TABLE: 120.0}
_NOTHING_SECONDS: Final = 10.0
_PASS_SECONDS: Final = 25.0
_EMPTY: Final = "verdict"
"""An attribute that no issue has a value of."""


def checks(place: Place, catalog: Catalog) -> dict[str, Work]:
    """Check the project by number and the table by a Scan, as much of each as time allows. Failure when anything is wrong."""
    return {
        CHECK_PROJECT: apart.check_project(
            place, catalog.tenant, catalog.project, _CHECK_SECONDS[CHECK_PROJECT]
        ),
        CHECK_TABLE: apart.check_table(place, _CHECK_SECONDS[CHECK_TABLE]),
    }


def passes(place: Place, actor: Actor, table: Table, catalog: Catalog) -> dict[str, Work]:
    """Index an attribute without values, then rebuild the index of one that all issues have; as much as time allows
    of each.

    A rebuild is two passes, of which the second removes the old entries. The second is measured only if everything
    before it finished.
    """
    project, catalogs = catalog.project, Catalogs()
    body = {"id": _EMPTY, "name": _EMPTY, "type": "text", "indexed": False}
    create_attribute(table, catalogs, actor, project, body)
    update_attribute(table, catalogs, actor, project, _EMPTY, {"indexed": True}, None, settling=0)
    done = {NOTHING: apart.work_on_jobs(place, _NOTHING_SECONDS)}
    # If time ran out, this continues the same pass: from here on issues differ.
    rebuild(table, catalogs, actor.tenant, project, [issues.DATE], rate=0, settling=0)
    done[BUILDING] = apart.work_on_jobs(place, _PASS_SECONDS)
    if all(work.finished for work in done.values()):
        _begin_at_once(table, catalog)
        done[REMOVING] = apart.work_on_jobs(place, _PASS_SECONDS)
    # A worker takes jobs of all projects. Work left here would be measured in the next project's place.
    for part in (0, *PARTS):
        table.delete(keys.project(catalog.tenant, project), keys.job(part))
    return done


def _begin_at_once(table: Table, catalog: Catalog) -> None:
    partition = keys.project(catalog.tenant, catalog.project)
    job = table.get(partition, keys.JOB, consistent=True)
    if job is None:
        raise Failure("No pass follows one that has rebuilt an index.")
    table.put({**job, keys.SORT: clock.now()})
