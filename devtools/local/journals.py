"""Journals of the local stack: every project has one, so that its changes can be followed."""

from devtools import files
from devtools.local.every_project import all_projects
from devtools.local.folder import Folder
from gridview.commands.journals import begin_journal
from gridview.dynamodb.table import Table

_DONE = "journals"


def begin_all(table: Table) -> int:
    """Let each project of the table be journalled; returns how many were not. Nobody else may be at work."""
    return sum(begin_journal(table, tenant, project) for tenant, project in all_projects(table))


def begin_once(folder: Folder, table: Table) -> None:
    """The same for the table of a data folder, unless that has been done. New projects are journalled from their beginning."""
    known = files.read_json(folder.seed) or {}
    if not known.get(_DONE):
        begin_all(table)
        tell_done(folder, known)


def tell_done(folder: Folder, known: dict[str, object]) -> None:
    """Note that every project of a data folder is journalled, beside what is known of its data."""
    files.write_json(folder.seed, {**known, _DONE: True})
