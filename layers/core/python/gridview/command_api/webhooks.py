"""Webhooks: created, changed, deleted, their secrets and messages. Their writers are imported when one is
written.
"""

from dataclasses import replace
from functools import partial

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, written
from gridview.command_api.container import CommandContainer, CommandRequest
from gridview.command_api.writes import counted, created, done_once
from gridview.commands.actor import Role
from gridview.schema.jobs import Hint
from gridview.support import aws
from gridview.support.errors import Conflict, LimitExceeded, UnfollowableFilter

endpoints = Endpoints[CommandContainer]("Webhooks", "command")


@endpoints.post(
    "/v1/projects/<project>/webhooks",
    Role.ADMIN,
    "Create a webhook",
    status=201,
    body="WebhookCreate",
    answer="WebhookWithSecret",
    problems=(Conflict, LimitExceeded, UnfollowableFilter),
)
def create_webhook(request: CommandRequest) -> Response:
    """Create a webhook, and answer its secret."""
    from gridview.live import webhook_store

    own, actor, project, body = request.container, request.actor, request.path["project"], request.body()
    create = partial(
        webhook_store.create_webhook,
        *(own.table, own.catalogs, actor, project, body, request.container.webhook_seals),
        localhost=own.to_localhost,
    )
    return _with_secret(
        request,
        created(request, create, lambda webhook: f"/v1/projects/{project}/webhooks/{webhook['id']}"),
    )


@endpoints.patch(
    "/v1/projects/<project>/webhooks/<webhook>",
    Role.ADMIN,
    "Change, disable or enable a webhook",
    body="WebhookPatch",
    answer="WebhookAnswer",
    problems=(Conflict, UnfollowableFilter),
)
@counted
def update_webhook(request: CommandRequest) -> Response:
    """Change a webhook."""
    from gridview.live import webhook_store

    own, project, webhook = request.container, request.path["project"], request.path["webhook"]
    return written(
        200,
        webhook_store.update_webhook(
            *(own.table, own.catalogs, request.actor, project, webhook, request.body(), request.expected()),
            localhost=own.to_localhost,
        ),
    )


@endpoints.delete(
    "/v1/projects/<project>/webhooks/<webhook>", Role.ADMIN, "Delete a webhook", problems=(Conflict,)
)
@counted
def delete_webhook(request: CommandRequest) -> Response:
    """Delete a webhook."""
    from gridview.live import webhook_store

    own, project, webhook = request.container, request.path["project"], request.path["webhook"]
    webhook_store.delete_webhook(own.table, own.catalogs, request.actor, project, webhook, request.expected())
    return Response(204)


@endpoints.post(
    "/v1/projects/<project>/webhooks/<webhook>/rotate",
    Role.ADMIN,
    "Replace the secret of a webhook",
    answer="WebhookWithSecret",
    problems=(Conflict,),
)
def rotate_webhook(request: CommandRequest) -> Response:
    """Replace the secret of a webhook, and answer the new one."""
    from gridview.live import webhook_store

    own, project, webhook = request.container, request.path["project"], request.path["webhook"]
    rotate = partial(
        webhook_store.rotate_webhook,
        *(own.table, own.catalogs, request.actor, project, webhook, request.container.webhook_seals),
    )
    return _with_secret(request, done_once(request, rotate, lambda rotated: written(200, rotated)))


@endpoints.post(
    "/v1/projects/<project>/webhooks/<webhook>/deliveries/<delivery>/replay",
    Role.ADMIN,
    "Send a message to a webhook again",
    status=202,
    answer="WebhookDelivery",
    problems=(Conflict,),
)
def replay_delivery(request: CommandRequest) -> Response:
    """Have a delivery sent again."""
    from gridview.live import webhook_store

    own = request.container
    project, webhook, delivery = (request.path[name] for name in ("project", "webhook", "delivery"))
    replay = partial(
        webhook_store.replay_delivery,
        *(own.table, own.catalogs, request.actor, project, webhook, delivery, partial(_hint, own)),
    )
    log = f"/v1/projects/{project}/webhooks/{webhook}/deliveries"
    return done_once(request, replay, lambda replayed: Response(202, replayed, {"Location": log}))


def _hint(own: CommandContainer, hint: Hint) -> None:
    """The outbox is due; if the hint is lost, it is looked at within a minute."""
    try:
        own.webhook_queue.send(hint)
    except aws.FAILURES:
        own.logger.exception("could not send the hint for a webhook")


def _with_secret(request: CommandRequest, response: Response) -> Response:
    """Return the response with the secret in the place of the sealed one, which is the stored form."""
    from gridview.live import webhook_store

    opened = webhook_store.with_secret(
        response.body, request.actor, request.path["project"], request.container.webhook_seals
    )
    return replace(response, body=opened)
