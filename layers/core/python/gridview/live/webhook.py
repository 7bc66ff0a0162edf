"""A webhook: where a project's changes are sent, which of them, and the secrets that sign them. Pure.

Its secrets are sealed wherever they are stored. The API answers a secret once: when it is made.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, Self

from gridview.encoding import keys, live_keys
from gridview.encoding.values import datetime_json
from gridview.live.frozen_views import FrozenView
from gridview.query.view_filters import MAX_MISSING, field_at
from gridview.schema.catalog import Catalog

EVENTS: Final = ("create", "update", "delete", "restore")
"""The kinds of events of a project."""

MOVES: Final = ("enter", "leave", "update")
"""The events of the rows of a view."""

ROTATION: Final = 86_400.0
"""Seconds for which a secret that was replaced signs too."""

_MOST_SECRETS: Final = 4
"""Secrets that sign at the same time: the present one and the latest of the replaced ones of the last day."""


class SealedSecret(NamedTuple):
    """A sealed secret. `until`: the stored instant up to which it signs; None: it is the present one."""

    sealed: str
    until: str | None = None


class WebhookWarning(NamedTuple):
    """A fact about a webhook that an administrator has to know or decide on, and since when (a stored
    instant).
    """

    at: str
    reason: str


def binding_of(tenant: str, project: str, webhook: str) -> bytes:
    """Return the binding of a webhook's sealed secrets: they open for no other webhook."""
    return f"{tenant}.{project}.{webhook}".encode()


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook of a project. `secrets`: the present one first. `warning`: it was disabled automatically, or
    its view is deleted or private.

    - `view`: the saved view whose rows it follows, as it was when it was chosen. `events` then are the moves
      of these rows.
    - `columns`: the internal ids of the only fields whose values it is sent; None: all. `named`: their ids in
      the API when they were chosen.
    - `choice`: how often its rows were chosen. Deliveries of an earlier choice are not sent again.

    Every write raises `version`.
    """

    tenant: str
    project: str
    id: str
    url: str
    secrets: tuple[SealedSecret, ...]
    created: str
    created_by: str
    updated: str
    updated_by: str
    events: tuple[str, ...] = EVENTS
    enabled: bool = True
    warning: WebhookWarning | None = None
    version: int = 1
    view: FrozenView | None = None
    columns: tuple[str, ...] | None = None
    named: Mapping[str, str] = field(default_factory=dict)
    choice: int = 0

    @property
    def sends_keys(self) -> bool:
        """Whether it may be sent the keys of rows, which hold the values that these are sorted by."""
        return self.columns is None or self.view is None or self.view.order <= {*self.columns}

    @property
    def binding(self) -> bytes:
        """Return the binding of its sealed secrets."""
        return binding_of(self.tenant, self.project, self.id)

    def signing(self, now: str) -> tuple[str, ...]:
        """Return the sealed secrets that sign at an instant, the present one first."""
        return tuple(one.sealed for one in self.secrets if one.until is None or one.until > now)

    def rotated(self, sealed: str, now: str, until: str) -> Self:
        """Return the same with a new secret at an instant. The one before it signs until another."""
        present, *former = (one for one in self.secrets if one.until is None or one.until > now)
        kept = (SealedSecret(sealed), present._replace(until=until), *former)
        return replace(self, secrets=kept[:_MOST_SECRETS])

    def written(self, by: str, now: str) -> Self:
        """Return the same, as it is stored after a change by a user."""
        return replace(self, version=self.version + 1, updated=now, updated_by=by)

    def resealed(self, secrets: tuple[SealedSecret, ...]) -> Self:
        """Return the same, as it is stored when its secrets are sealed under another key.

        Nobody sees the difference, but a writer that has read it before must not bring the former seals back:
        `version` rises.
        """
        return replace(self, secrets=secrets, version=self.version + 1)

    def warned(self, warning: WebhookWarning) -> Self:
        """Return the same, as it is stored with a warning; nothing else changes."""
        return replace(self, warning=warning, version=self.version + 1, updated=warning.at)

    def disabled(self, warning: WebhookWarning) -> Self:
        """Return the same, as it is stored when it was disabled by itself."""
        return replace(self, enabled=False, warning=warning, version=self.version + 1, updated=warning.at)

    def to_item(self) -> dict[str, Any]:
        """Encode as the stored item."""
        return {
            keys.PK: live_keys.webhooks(self.tenant, self.project),
            keys.SK: self.id,
            "url": self.url,
            "events": list(self.events),
            "enabled": self.enabled,
            "secrets": [list(one) for one in self.secrets],
            "warning": None if self.warning is None else list(self.warning),
            "view": None if self.view is None else self.view._asdict(),
            "columns": None if self.columns is None else list(self.columns),
            "named": dict(self.named),
            "choice": self.choice,
            "version": self.version,
            "created": self.created,
            "created_by": self.created_by,
            "updated": self.updated,
            "updated_by": self.updated_by,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item."""
        tenant, project = live_keys.parse_webhooks(item[keys.PK])
        return cls(
            tenant=tenant,
            project=project,
            id=item[keys.SK],
            url=item["url"],
            events=tuple(item["events"]),
            enabled=item["enabled"],
            secrets=tuple(SealedSecret(*one) for one in item["secrets"]),
            warning=None if item["warning"] is None else WebhookWarning(*item["warning"]),
            version=item["version"],
            created=item["created"],
            created_by=item["created_by"],
            updated=item["updated"],
            updated_by=item["updated_by"],
            view=None if item["view"] is None else FrozenView(**item["view"]),
            columns=None if item["columns"] is None else tuple(item["columns"]),
            named=item["named"],
            choice=item["choice"],
        )

    def to_json(self, catalog: Catalog, now: str) -> dict[str, Any]:
        """As the API answers it, without a secret. `previous_secret_expires`: as long there is more than one signature."""
        view = self.view
        query, missing = (None, []) if view is None else view.query(catalog)
        columns = None if self.columns is None else [(key, field_at(catalog, key)) for key in self.columns]
        missing += [
            {"part": "columns", "field": self.named.get(key, key)}
            for key, found in columns or ()
            if found is None
        ]
        former = [one.until for one in self.secrets if one.until is not None and one.until > now]
        return {
            "id": self.id,
            "url": self.url,
            "view": None if view is None else view.id,
            "frozen": None
            if view is None
            else {"name": view.name, "at": datetime_json(view.at), "by": view.by, "query": query},
            "columns": None if columns is None else [found.id for _, found in columns if found is not None],
            "missing": missing[:MAX_MISSING],
            "events": list(self.events),
            "enabled": self.enabled,
            "warning": None
            if self.warning is None
            else {"at": datetime_json(self.warning.at), "reason": self.warning.reason},
            "previous_secret_expires": datetime_json(max(former)) if former else None,
            "version": self.version,
            "created": datetime_json(self.created),
            "updated": datetime_json(self.updated),
            "created_by": self.created_by,
            "updated_by": self.updated_by,
        }
