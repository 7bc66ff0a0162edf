"""The resources that the command function serves."""

from gridview.api.endpoints import Endpoints
from gridview.command_api import (
    attributes,
    comments,
    history,
    indexes,
    issues,
    jobs,
    projects,
    trash,
    users,
    views,
    webhooks,
)
from gridview.command_api.container import CommandContainer

RESOURCES: tuple[Endpoints[CommandContainer], ...] = (
    users.endpoints,
    projects.endpoints,
    attributes.endpoints,
    indexes.endpoints,
    issues.endpoints,
    trash.endpoints,
    comments.endpoints,
    history.endpoints,
    views.endpoints,
    webhooks.endpoints,
    jobs.endpoints,
)

LATER = (
    "gridview.commands.comments",
    "gridview.commands.manual_orders",
    "gridview.commands.placing",
    "gridview.commands.placing_request",
    "gridview.commands.reads",
    "gridview.commands.undo",
    "gridview.commands.undo_answers",
    "gridview.commands.undo_decision",
    "gridview.commands.views",
    "gridview.live.webhook_store",
    "gridview.maintenance.bulk_request",
    "gridview.maintenance.export_request",
    "gridview.query.neighbors",
    "gridview.query.row_keys",
    "gridview.query.saved_views",
    "gridview.query.sort_order",
    "gridview.query.view_answers",
    "gridview.view.context",
)
"""Modules that endpoints import when they are called: a function that starts without a snapshot does not wait
for them.
"""
