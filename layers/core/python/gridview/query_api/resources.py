"""The resources that the query function serves."""

from gridview.api.endpoints import Endpoints
from gridview.query_api import (
    attributes,
    comments,
    grid,
    history,
    indexes,
    issues,
    jobs,
    projects,
    service,
    trash,
    users,
    views,
    webhooks,
)
from gridview.query_api.container import QueryContainer

RESOURCES: tuple[Endpoints[QueryContainer], ...] = (
    service.endpoints,
    users.endpoints,
    projects.endpoints,
    attributes.endpoints,
    indexes.endpoints,
    issues.endpoints,
    trash.endpoints,
    grid.endpoints,
    comments.endpoints,
    history.endpoints,
    views.endpoints,
    webhooks.endpoints,
    jobs.endpoints,
)

LATER = (
    "gridview.commands.comments",
    "gridview.commands.deleted_attributes",
    "gridview.commands.deleted_projects",
    "gridview.commands.formula_check",
    "gridview.commands.views",
    "gridview.live.webhook_reads",
    "gridview.maintenance.export_links",
    "gridview.query.counting",
    "gridview.query.group_request",
    "gridview.query.summary_request",
    "gridview.query.view_answers",
)
"""Modules that endpoints import when they are called: a function that starts without a snapshot does not wait
for them.
"""
