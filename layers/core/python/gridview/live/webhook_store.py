"""Creates, changes and deletes webhooks, and replaces their secrets.

Whatever is stored has a sealed secret: the webhook, and also the answer that is kept under an `Idempotency-Key`. So a repeated
request is answered with the same secret, and the table never holds it in the clear (`with_secret`).
"""

from collections.abc import Mapping
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
from gridview.live.feed import require_journal
from gridview.live.signatures import new_secret
from gridview.live.webhook import ROTATION, SealedSecret, Webhook, binding_of
from gridview.live.webhook_reads import existing, stored
from gridview.live.webhook_requests import LOCALHOST, WebhookCreate, WebhookPatch
from gridview.schema import ids
from gridview.schema.store import Catalogs, retry_lost_races
from gridview.support import clock
from gridview.support.errors import Conflict, Unprocessable
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
    """Create a webhook, answered with its sealed secret: one transaction. It is sent what changes from now on.

    NotJournalled if the project's changes cannot be followed; Unprocessable beyond 20. `localhost`: see `target_of`.
    """
    request = parse(WebhookCreate, body, {LOCALHOST: localhost})

    def change() -> dict[str, Any]:
        require_journal(catalogs.current(table, actor.tenant, project))
        if len(stored(table, actor.tenant, project)) >= MAX_WEBHOOKS:
            raise Unprocessable(f"A project can have at most {MAX_WEBHOOKS} webhooks. Delete one first.")
        now = clock.now()
        empty = Webhook(
            actor.tenant,
            project,
            ids.new_webhook_id(),
            request.url,
            secrets=(),
            events=tuple(request.events),
            enabled=request.enabled,
            created=now,
            created_by=actor.user,
            updated=now,
            updated_by=actor.user,
        )
        sealed = seals.seal(new_secret().encode(), empty.binding)
        made = replace(empty, secrets=(SealedSecret(sealed),))
        answered = {**made.to_json(now), "secret": sealed}
        commit(table, [put(made.to_item(), ABSENT)], answered)
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

    To enable it takes away the notice that it was disabled by itself.
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
            after = replace(after, events=tuple(request.events))
        if "enabled" in given:
            after = replace(after, enabled=request.enabled)
            if request.enabled:
                after = replace(after, notice=None)
        now = clock.now()
        if after != before:
            after = after.written(actor.user, now)
            table.transact([put(after.to_item(), version_is(before.version))])
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
    """Delete a webhook: one transaction. Nothing is sent any more. NotFound, VersionMismatch."""

    def change() -> None:
        before = existing(table, catalogs, actor, project, webhook)
        check(expected, before.version, lambda: before.to_json(clock.now()))
        item = before.to_item()
        table.transact([delete(item[keys.PK], item[keys.SK], version_is(before.version))])

    retry_lost_races(change)


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
