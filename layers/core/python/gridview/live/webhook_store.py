"""Creates, changes and deletes webhooks, replaces their secrets, and has deliveries replayed.

Whatever is stored has a sealed secret: the webhook, and also the answer that is kept under an `Idempotency-Key`. So a repeated
request is answered with the same secret, and the table never holds it in the clear (`with_secret`).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gridview.commands.actor import Actor
from gridview.commands.idempotency import Commit, at_once
from gridview.commands.preconditions import Expected, check
from gridview.dynamodb.expressions import ABSENT, delete, put, version_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.json_codec import loads
from gridview.encoding.seals import Seals
from gridview.index.history import read_changes as read_history
from gridview.index.journal_log import Log
from gridview.live.feed import end_of, require_journal
from gridview.live.outbox import new_outbox
from gridview.live.outbox_store import OutboxStore
from gridview.live.signatures import new_secret
from gridview.live.webhook import EVENTS, MOVES, ROTATION, SealedSecret, Webhook, binding_of
from gridview.live.webhook_reads import existing, stored
from gridview.live.webhook_requests import LOCALHOST, WebhookCreate, WebhookPatch, check_events
from gridview.schema import ids
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs, retry_lost_races
from gridview.support import clock
from gridview.support.errors import Conflict, FieldError, InvalidRequest, NotFound, Unprocessable
from gridview.support.validation import parse

MAX_WEBHOOKS = 20
"""Webhooks of a project: each of its changes is sent to all of them."""


def create_webhook(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    body: Any,
    seals: Seals,
    *,
    localhost: bool,
    commit: Commit = at_once,
) -> dict[str, Any]:
    """Create a webhook with its outbox, answered with its sealed secret: one transaction. It is sent what changes from now on.

    NotJournalled if the project's changes cannot be followed; Unprocessable beyond 20. `localhost`: see `target_of`.
    """
    request = parse(WebhookCreate, body, {LOCALHOST: localhost})
    view = None if request.view is None else ids.view_number(request.view)
    known = EVENTS if view is None else MOVES
    events = tuple(request.events) if "events" in request.model_fields_set else known
    check_events(events, of_view=view is not None)

    def change() -> dict[str, Any]:
        catalog = catalogs.current(table, actor.tenant, project)
        require_journal(catalog)
        if view is not None and not table.get(
            keys.views(actor.tenant, project), keys.shared_view(view), consistent=True
        ):
            raise InvalidRequest(
                "The request is not valid.", [FieldError("view", "must be a view that everybody sees")]
            )
        if len(stored(table, actor.tenant, project)) >= MAX_WEBHOOKS:
            raise Unprocessable(f"A project can have at most {MAX_WEBHOOKS} webhooks. Delete one first.")
        now = clock.now()
        empty = Webhook(
            actor.tenant,
            project,
            ids.new_webhook_id(),
            request.url,
            secrets=(),
            events=events,
            view=view,
            enabled=request.enabled,
            created=now,
            created_by=actor.user,
            updated=now,
            updated_by=actor.user,
        )
        sealed = seals.seal(new_secret().encode(), empty.binding)
        made = replace(empty, secrets=(SealedSecret(sealed),))
        answered = {**made.to_json(now), "secret": sealed}
        outbox = new_outbox(end_of(catalog, Log(table, actor.tenant, project)))
        commit(table, [put(made.to_item(), ABSENT), put(outbox.to_item(_outbox_of(made)), ABSENT)], answered)
        return answered

    return retry_lost_races(change)


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
    """Change a webhook: 2 write units. What changes nothing is not written. NotFound, VersionMismatch.

    To enable it takes away the notice that it was disabled by itself. From then on it is sent what changes, after a reset that says
    that something may have been missed: its outbox is put anew. NotJournalled.
    """
    request = parse(WebhookPatch, body, {LOCALHOST: localhost})
    given = request.model_fields_set

    def change() -> dict[str, Any]:
        before = existing(table, catalogs, actor, project, webhook)
        check(expected, before.version, lambda: before.to_json(clock.now()))
        after = before
        if "url" in given:
            after = replace(after, url=request.url)
        if "events" in given:
            check_events(request.events, of_view=before.view is not None)
            after = replace(after, events=tuple(request.events))
        if "enabled" in given:
            after = replace(after, enabled=request.enabled)
            if request.enabled:
                after = replace(after, notice=None)
        now = clock.now()
        if after != before:
            after = after.written(actor.user, now)
            writes = [put(after.to_item(), version_is(before.version))]
            if after.enabled and not before.enabled:
                catalog = catalogs.current(table, actor.tenant, project)
                outbox = new_outbox(end_of(catalog, Log(table, actor.tenant, project)), missed=True)
                writes.append(put(outbox.to_item(_outbox_of(after))))
            table.transact(writes)
        return after.to_json(now)

    return retry_lost_races(change)


def rotate_webhook(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    webhook: str,
    seals: Seals,
    *,
    commit: Commit = at_once,
) -> dict[str, Any]:
    """Replace the secret of a webhook, answered with the new one, sealed: one transaction. The former one signs for a day too."""

    def change() -> dict[str, Any]:
        before = existing(table, catalogs, actor, project, webhook)
        now = clock.now()
        sealed = seals.seal(new_secret().encode(), before.binding)
        after = before.rotated(sealed, now, clock.after(ROTATION)).written(actor.user, now)
        answered = {**after.to_json(now), "secret": sealed}
        commit(table, [put(after.to_item(), version_is(before.version))], answered)
        return answered

    return retry_lost_races(change)


def delete_webhook(
    table: Table, catalogs: Catalogs, actor: Actor, project: str, webhook: str, expected: Expected
) -> None:
    """Delete a webhook: one transaction. Nothing is sent any more. NotFound, VersionMismatch. Its deliveries expire."""

    def change() -> None:
        before = existing(table, catalogs, actor, project, webhook)
        check(expected, before.version, lambda: before.to_json(clock.now()))
        item = before.to_item()
        table.transact(
            [
                delete(item[keys.PK], item[keys.SK], version_is(before.version)),
                delete(_outbox_of(before), keys.OUTBOX),
            ]
        )

    retry_lost_races(change)


def replay_delivery(
    table: Table,
    catalogs: Catalogs,
    actor: Actor,
    project: str,
    webhook: str,
    delivery: str,
    hint_at: Callable[[Hint], None],
    *,
    commit: Commit = at_once,
) -> dict[str, Any]:
    """Have a delivery sent again, at once: a transaction of two items, and 3 write units. The message keeps its id.

    NotFound; Conflict if the webhook is disabled, or what the message tells is not remembered any more.
    """

    def change() -> dict[str, Any]:
        found = existing(table, catalogs, actor, project, webhook)
        if not found.enabled:
            raise Conflict("The webhook is disabled. Enable it first.")
        store = OutboxStore(table, actor.tenant, project, webhook)
        before = store.delivery(delivery)
        if before is None:
            raise NotFound("Delivery not found.")
        if before.num is not None and before.version is not None:
            told = before.num, before.version
            if told not in read_history(table, actor.tenant, project, [told], consistent=True):
                raise Conflict("What the message told is not remembered any more.")
        after = before.replayed(clock.now())
        answered = after.to_json(webhook)
        commit(table, store.replay(before, after), answered)
        store.wake(after.due)
        hint_at(Hint(store.partition, after.due))
        return answered

    return retry_lost_races(change)


def _outbox_of(webhook: Webhook) -> str:
    return keys.outbox(webhook.tenant, webhook.project, webhook.id)


def with_secret(
    answer: Mapping[str, Any] | bytes, actor: Actor, project: str, seals: Seals
) -> dict[str, Any]:
    """An answer of `create_webhook` or `rotate_webhook`, or one that was kept of it, with the secret itself.

    Conflict if the secret that sealed it has been replaced twice since.
    """
    told = dict(loads(answer)) if isinstance(answer, bytes) else dict(answer)
    try:
        secret = seals.open(told["secret"], binding_of(actor.tenant, project, told["id"]))
    except ValueError:
        raise Conflict("The secret cannot be told again. Rotate it.") from None
    return {**told, "secret": secret.decode()}
