"""Creates, changes and deletes webhooks, replaces their secrets, and has deliveries replayed.

Every stored secret is sealed: in the webhook, and in the answer that is kept under an `Idempotency-Key`. So a
repeated request is answered with the same secret, and the table never holds it in the clear (`with_secret`).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gridview.commands.actor import Actor
from gridview.commands.idempotency import Transact, at_once
from gridview.commands.preconditions import Expected, check
from gridview.dynamodb.expressions import ABSENT, Write, delete, put, version_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys, live_keys
from gridview.encoding.json_codec import loads
from gridview.encoding.seals import Sealing
from gridview.journal.history import read_changes as read_history
from gridview.journal.log import Log
from gridview.live.feed import end_of
from gridview.live.frozen_views import columns_of, frozen
from gridview.live.outbox import new_outbox
from gridview.live.outbox_store import OutboxStore
from gridview.live.signatures import new_secret
from gridview.live.webhook import EVENTS, MOVES, ROTATION, SealedSecret, Webhook, WebhookWarning, binding_of
from gridview.live.webhook_reads import existing, get_webhook, stored
from gridview.live.webhook_requests import (
    LOCALHOST,
    WebhookCreate,
    WebhookPatch,
    check_events,
    keys_of_columns,
)
from gridview.schema import ids
from gridview.schema.catalog import Catalog
from gridview.schema.items import raise_epoch, to_catalog
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs, read, retry_lost_races
from gridview.schema.views import View
from gridview.support import clock
from gridview.support.errors import Conflict, FieldError, InvalidRequest, LimitExceeded, NotFound
from gridview.support.validation import parse

MAX_WEBHOOKS = 20
"""Webhooks of a project: each of its changes is sent to all of them."""


def create_webhook(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    body: Any,
    seals: Sealing,
    *,
    localhost: bool,
    transact: Transact = at_once,
) -> dict[str, Any]:
    """Create a webhook with its outbox, answered with its sealed secret: one transaction. It receives the
    changes from now on.

    LimitExceeded beyond 20: each creation raises the epoch of the definitions, so only one at a time counts the
    webhooks. `localhost`: see `target_of`.
    """
    request = parse(WebhookCreate, body, {LOCALHOST: localhost})

    def change() -> dict[str, Any]:
        view = None if request.view is None else _shared_view(table, actor, project, request.view)
        items = read(table, actor.tenant, project)
        catalog = to_catalog(actor.tenant, project, items)
        # After the epoch: a webhook that this does not count has raised it.
        if len(stored(table, actor.tenant, project)) >= MAX_WEBHOOKS:
            raise LimitExceeded(f"A project can have at most {MAX_WEBHOOKS} webhooks. Delete one first.")
        now = clock.now()
        empty = Webhook(
            actor.tenant,
            project,
            ids.new_webhook_id(),
            request.url,
            secrets=(),
            enabled=request.enabled,
            created=now,
            created_by=actor.user,
            updated=now,
            updated_by=actor.user,
        )
        chosen = _with_columns(_with_view(empty, catalog, view, now, actor), catalog, request)
        chosen = _with_events(chosen, empty, request)
        sealed = seals.seal(new_secret().encode(), empty.binding)
        made = replace(chosen, secrets=(SealedSecret(sealed),))
        answered = {**made.to_json(catalog, now), "secret": sealed}
        outbox = new_outbox(end_of(Log(table, actor.tenant, project)))
        own = [put(made.to_item(), ABSENT), put(outbox.to_item(_outbox_of(made)), ABSENT)]
        transact(table, [*own, raise_epoch(items)], answered)
        return answered

    created = retry_lost_races(change)
    catalogs.forget(actor.tenant, project)
    return created


def update_webhook(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    webhook: str,
    body: Any,
    expected: Expected,
    *,
    localhost: bool,
) -> dict[str, Any]:
    """Change a webhook: 2 write units, none if nothing changes. NotFound, VersionMismatch.

    `view` chooses its rows again, even if the view is the same, as they are now. A choice, `enabled` and
    `warning` clear the warning. A webhook that is enabled, or that follows other rows, gets a new outbox. It
    receives a reset, because events may have been missed, and the changes from then on.
    """
    request = parse(WebhookPatch, body, {LOCALHOST: localhost})
    given = request.model_fields_set

    def change() -> dict[str, Any]:
        wanted = request.view if "view" in given else None
        view = None if wanted is None else _shared_view(table, actor, project, wanted)
        before, catalog = existing(table, catalogs, actor, project, webhook)
        check(expected, before.version, lambda: before.to_json(catalog, clock.now()))
        now = clock.now()
        after = before
        if "url" in given:
            after = replace(after, url=request.url)
        if "view" in given:
            after = _with_view(after, catalog, view, now, actor)
        after = _with_events(_with_columns(after, catalog, request), before, request)
        if "enabled" in given:
            after = replace(after, enabled=request.enabled)
        if after.choice > before.choice or "warning" in given or request.enabled:
            after = replace(after, warning=None)
        if after != before:
            after = after.written(actor.user, now)
            writes = [put(after.to_item(), version_is(before.version))]
            if after.enabled and (not before.enabled or after.choice > before.choice):
                outbox = new_outbox(end_of(Log(table, actor.tenant, project)), replaced_at=after.version)
                writes.append(put(outbox.to_item(_outbox_of(after))))
            table.transact(writes)
        return after.to_json(catalog, now)

    return retry_lost_races(change, lambda: get_webhook(table, catalogs, actor, project, webhook))


def _shared_view(table: Table, actor: Actor, project: str, view: str) -> View:
    """Return a view that everybody sees, strongly consistent: a read unit for each 4 KB. InvalidRequest if
    there is none.
    """
    place = keys.views(actor.tenant, project), keys.shared_view(ids.view_number(view))
    item = table.get(*place, consistent=True)
    if item is None:
        raise InvalidRequest(
            "The request is not valid. Fix what `errors` lists.",
            [FieldError("view", "must be a view that all users of the project see")],
        )
    return View.from_item(item)


def _with_view(webhook: Webhook, catalog: Catalog, view: View | None, now: str, actor: Actor) -> Webhook:
    """Return the webhook with a view's rows and columns as they are; None: with all issues and fields.
    InvalidRequest.
    """
    if view is None and webhook.view is None:
        return webhook
    if view is None:
        return replace(webhook, view=None, columns=None, named={}, choice=webhook.choice + 1)
    return replace(
        webhook,
        view=frozen(catalog, view, now, actor.user),
        columns=columns_of(view),
        named=view.look["named"],
        choice=webhook.choice + 1,
    )


def _with_columns(webhook: Webhook, catalog: Catalog, request: WebhookCreate | WebhookPatch) -> Webhook:
    """Return the webhook with the columns of a request, if it has some. InvalidRequest."""
    if "columns" not in request.model_fields_set:
        return webhook
    if request.columns is None:
        return replace(webhook, columns=None, named={})
    columns = keys_of_columns(catalog, request.columns)
    return replace(webhook, columns=columns, named=dict(zip(columns, request.columns, strict=True)))


def _with_events(webhook: Webhook, before: Webhook, request: WebhookCreate | WebhookPatch) -> Webhook:
    """Return the webhook with the events of a request, or with all if only now it follows a view, or no view any more.
    InvalidRequest.
    """
    known = EVENTS if webhook.view is None else MOVES
    if "events" in request.model_fields_set:
        check_events(request.events, of_view=webhook.view is not None)
        return replace(webhook, events=tuple(one for one in known if one in request.events))
    return webhook if (webhook.view is None) == (before.view is None) else replace(webhook, events=known)


def notices_of_view(table: Table, tenant: str, project: str, view: View, after: View | None) -> list[Write]:
    """Return writes that note on the webhooks of a view that it is deleted, or private: 2 write units each.
    The webhooks continue.

    None if everybody still sees it. Otherwise a read unit for each 4 KB of the project's webhooks.
    """
    if view.owner or (after is not None and not after.owner):
        return []
    fate = "was deleted" if after is None else "is private now"
    reason = (
        f'The view "{view.name}" {fate}. The webhook keeps its filter. Confirm it, or choose another view.'
    )
    warning = WebhookWarning(clock.now(), reason)
    return [
        put(one.warned(warning).to_item(), version_is(one.version))
        for one in stored(table, tenant, project)
        if one.view is not None and one.view.num == view.num and (one.enabled or one.warning is None)
    ]


def rotate_webhook(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    webhook: str,
    seals: Sealing,
    *,
    transact: Transact = at_once,
) -> dict[str, Any]:
    """Replace the secret of a webhook, answered with the new one, sealed: one transaction. The former one
    signs for a day too.
    """

    def change() -> dict[str, Any]:
        before, catalog = existing(table, catalogs, actor, project, webhook)
        now = clock.now()
        sealed = seals.seal(new_secret().encode(), before.binding)
        after = before.rotated(sealed, now, clock.after(ROTATION)).written(actor.user, now)
        answered = {**after.to_json(catalog, now), "secret": sealed}
        transact(table, [put(after.to_item(), version_is(before.version))], answered)
        return answered

    return retry_lost_races(change, lambda: get_webhook(table, catalogs, actor, project, webhook))


def delete_webhook(
    table: Table, catalogs: Catalogs, actor: Actor, project: str, webhook: str, expected: Expected
) -> None:
    """Delete a webhook: one transaction. Nothing is sent any more. NotFound, VersionMismatch. Its deliveries expire."""

    def change() -> None:
        before, catalog = existing(table, catalogs, actor, project, webhook)
        check(expected, before.version, lambda: before.to_json(catalog, clock.now()))
        item = before.to_item()
        table.transact(
            [
                delete(item[keys.PK], item[keys.SK], version_is(before.version)),
                delete(_outbox_of(before), live_keys.OUTBOX),
            ]
        )

    retry_lost_races(change, lambda: get_webhook(table, catalogs, actor, project, webhook))


def replay_delivery(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    webhook: str,
    delivery: str,
    hint_at: Callable[[Hint], None],
    *,
    transact: Transact = at_once,
) -> dict[str, Any]:
    """Have a delivery sent again, at once: a transaction of two items, and 3 write units. The message keeps
    its id.

    NotFound; Conflict if the webhook is disabled, follows other rows by now, or the message's version is not
    remembered any more.
    """

    def change() -> dict[str, Any]:
        found, _ = existing(table, catalogs, actor, project, webhook)
        if not found.enabled:
            raise Conflict("The webhook is disabled. Enable it first.")
        store = OutboxStore(table, actor.tenant, project, webhook)
        before = store.delivery(delivery)
        if before is None:
            raise NotFound("Delivery not found.")
        if before.choice != found.choice and before.num is not None:
            raise Conflict(
                "The webhook follows other rows now, so it cannot send this message again. Read the issue instead."
            )
        if before.num is not None and before.version is not None:
            change = before.num, before.version
            if change not in read_history(table, actor.tenant, project, [change], consistent=True):
                raise Conflict("The change in the message has expired. Read the issue instead.")
        after = before.replayed(clock.now())
        answered = after.to_json(webhook)
        transact(table, store.replay(before, after), answered)
        store.wake(after.due)
        hint_at(Hint(store.partition, after.due))
        return answered

    return retry_lost_races(change)


def _outbox_of(webhook: Webhook) -> str:
    return live_keys.outbox(webhook.tenant, webhook.project, webhook.id)


def with_secret(
    answer: Mapping[str, Any] | bytes, actor: Actor, project: str, seals: Sealing
) -> dict[str, Any]:
    """Return an answer of `create_webhook` or `rotate_webhook`, or one that was kept of it, with the secret
    itself.

    Conflict if the secret that sealed it has been replaced twice since.
    """
    content = dict(loads(answer)) if isinstance(answer, bytes) else dict(answer)
    try:
        secret = seals.open(content["secret"], binding_of(actor.tenant, project, content["id"]))
    except ValueError:
        raise Conflict("The secret can no longer be decrypted. Rotate it.") from None
    return {**content, "secret": secret.decode()}
