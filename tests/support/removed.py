"""Removes a project permanently, as an administrator does: it is deleted first."""

from gridview.commands import deleted_projects, projects
from gridview.commands.actor import Actor
from gridview.dynamodb.table import Table
from gridview.schema.store import Catalogs
from tests.support.http import Client


def remove_project(table: Table, actor: Actor, project: str, settling: float = 0) -> None:
    """Delete a project, and remove all its data by background work that starts after so many seconds."""
    projects.delete_project(table, Catalogs(), actor, project, None)
    deleted_projects.purge_project(table, Catalogs(), actor, project, None, settling=settling)


def removed(api: Client, path: str) -> None:
    """Delete and remove a project by the API. `path`: `/v1/projects/35e9`."""
    assert api.delete(path).status == 204
    assert api.delete(path.replace("/projects/", "/deleted-projects/")).status == 204
