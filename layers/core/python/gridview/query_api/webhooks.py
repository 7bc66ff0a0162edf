"""The webhooks of a project, and their deliveries. Their readers are imported when one is read."""

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, ok, versioned
from gridview.commands.actor import Role
from gridview.query_api.container import QueryContainer, QueryRequest

endpoints = Endpoints[QueryContainer]("Webhooks", "query")


@endpoints.get(
    "/v1/projects/<project>/webhooks", Role.ADMIN, "The webhooks of a project", answer="WebhookList"
)
def list_webhooks(request: QueryRequest) -> Response:
    """Return the webhooks of a project."""
    from gridview.live import webhook_reads

    own = request.container
    return ok(webhook_reads.list_webhooks(own.table, own.catalogs, request.actor, request.path["project"]))


@endpoints.get(
    "/v1/projects/<project>/webhooks/<webhook>",
    Role.ADMIN,
    "A webhook of a project",
    answer="WebhookAnswer",
)
def get_webhook(request: QueryRequest) -> Response:
    """One webhook."""
    from gridview.live import webhook_reads

    own, project, webhook = request.container, request.path["project"], request.path["webhook"]
    return versioned(webhook_reads.get_webhook(own.table, own.catalogs, request.actor, project, webhook))


@endpoints.get(
    "/v1/projects/<project>/webhooks/<webhook>/deliveries",
    Role.ADMIN,
    "The deliveries of a webhook, newest change first",
    parameters="ListParameters",
    answer="DeliveryPage",
)
def list_deliveries(request: QueryRequest) -> Response:
    """Return a page of the deliveries of a webhook."""
    from gridview.live import webhook_reads

    own = request.container
    return ok(
        webhook_reads.list_deliveries(
            *(own.table, own.catalogs, request.actor, request.path["project"], request.path["webhook"]),
            request.parameters,
            own.cursor_source.cursors("deliveries"),
        )
    )
