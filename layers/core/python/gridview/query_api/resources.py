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
