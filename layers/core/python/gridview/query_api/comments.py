"""The comments on an issue. Their readers are imported when one is read."""

from typing import Any

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, ok, versioned
from gridview.commands.actor import Role
from gridview.query_api.container import QueryContainer, QueryRequest
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck

endpoints = Endpoints[QueryContainer]("Comments", "query")


@endpoints.get(
    "/v1/projects/<project>/issues/<num>/comments",
    Role.VIEWER,
    "The comments on an issue in creation order",
    parameters="ListParameters",
    answer="CommentPage",
)
def list_comments(request: QueryRequest) -> Response:
    """Return a page of the comments on an issue."""
    from gridview.commands import comments

    own, num = request.container, int(request.path["num"])
    cursors = own.cursor_source.cursors("comments")

    def page(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
        return epoch.beside(
            own.table, lambda: comments.list_comments(own.table, catalog, num, request.parameters, cursors)
        )

    return ok(own.catalogs.using(own.table, request.actor.tenant, request.path["project"], page))


@endpoints.get(
    "/v1/projects/<project>/issues/<num>/comments/<comment>",
    Role.VIEWER,
    "A comment on an issue",
    answer="IssueComment",
)
def get_comment(request: QueryRequest) -> Response:
    """One comment."""
    from gridview.commands import comments

    own, num, comment_id = request.container, int(request.path["num"]), int(request.path["comment"])

    def found(catalog: Catalog, epoch: EpochCheck) -> dict[str, Any]:
        comment = epoch.beside(own.table, lambda: comments.get_comment(own.table, catalog, num, comment_id))
        return comment.to_json()

    return versioned(own.catalogs.using(own.table, request.actor.tenant, request.path["project"], found))
