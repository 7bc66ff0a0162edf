"""A webhook: where a project's changes are sent, which of them, and the secrets that sign them. Pure.

Its secrets are sealed wherever they are stored. The API answers a secret once: when it is made.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Self

from gridview.encoding import keys
from gridview.encoding.values import datetime_json

EVENTS: Final = ("create", "update", "delete", "restore")
"""The kinds of events of a project."""

MOVES: Final = ("enter", "leave", "change")
"""What events do to the rows of a view."""

SECRETS: Final = "webhook secrets"
"""The purpose of the seals of secrets."""

ROTATION: Final = 86_400.0
"""Seconds for which a secret that was replaced signs too."""

_MOST_SECRETS: Final = 4
"""Secrets that sign side by side: the present one and those it has replaced within a day, the latest of them."""


class SealedSecret(NamedTuple):
    """A sealed secret. `until`: the stored instant up to which it signs; None: it is the present one."""

    sealed: str
    until: str | None = None


class Notice(NamedTuple):
    """Why and when (a stored instant) a webhook was disabled by itself."""

    at: str
    reason: str


def binding_of(tenant: str, project: str, webhook: str) -> bytes:
    """What the sealed secrets of a webhook are bound to: they open for no other."""
    return f"{tenant}.{project}.{webhook}".encode()


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook of a project. `secrets`: the present one first. `notice`: it was disabled by itself.

    `view`: the number of the saved view whose rows it follows; then `events` are what becomes of these.

    Every write that people can tell raises `version`.
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
    notice: Notice | None = None
    version: int = 1
    view: int | None = None

    @property
    def binding(self) -> bytes:
        """What its sealed secrets are bound to."""
        return binding_of(self.tenant, self.project, self.id)

    def signing(self, now: str) -> tuple[str, ...]:
        """The sealed secrets that sign at an instant, the present one first."""
        return tuple(one.sealed for one in self.secrets if one.until is None or one.until > now)

    def rotated(self, sealed: str, now: str, until: str) -> Self:
        """The same with a new secret at an instant. The one before it signs until another."""
        present, *former = (one for one in self.secrets if one.until is None or one.until > now)
        kept = (SealedSecret(sealed), present._replace(until=until), *former)
        return replace(self, secrets=kept[:_MOST_SECRETS])

    def written(self, by: str, now: str) -> Self:
        """The same, as it is stored after a change by a user."""
        return replace(self, version=self.version + 1, updated=now, updated_by=by)

    def disabled(self, notice: Notice) -> Self:
        """The same, as it is stored when it was disabled by itself."""
        return replace(self, enabled=False, notice=notice, version=self.version + 1, updated=notice.at)

    def to_item(self) -> dict[str, Any]:
        """Encode as the stored item."""
        return {
            keys.PK: keys.webhooks(self.tenant, self.project),
            keys.SK: self.id,
            "url": self.url,
            "events": list(self.events),
            "enabled": self.enabled,
            "secrets": [list(one) for one in self.secrets],
            "notice": None if self.notice is None else list(self.notice),
            "view": self.view,
            "version": self.version,
            "created": self.created,
            "created_by": self.created_by,
            "updated": self.updated,
            "updated_by": self.updated_by,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item."""
        tenant, project = keys.parse_webhooks(item[keys.PK])
        return cls(
            tenant=tenant,
            project=project,
            id=item[keys.SK],
            url=item["url"],
            events=tuple(item["events"]),
            enabled=item["enabled"],
            secrets=tuple(SealedSecret(*one) for one in item["secrets"]),
            notice=None if item["notice"] is None else Notice(*item["notice"]),
            version=item["version"],
            created=item["created"],
            created_by=item["created_by"],
            updated=item["updated"],
            updated_by=item["updated_by"],
            view=item.get("view"),
        )

    def to_json(self, now: str) -> dict[str, Any]:
        """As the API answers it, without a secret. `rotating_until`: as long there is more than one signature."""
        former = [one.until for one in self.secrets if one.until is not None and one.until > now]
        return {
            "id": self.id,
            "url": self.url,
            "view": None if self.view is None else f"v{self.view}",
            "events": list(self.events),
            "enabled": self.enabled,
            "notice": None
            if self.notice is None
            else {"at": datetime_json(self.notice.at), "reason": self.notice.reason},
            "rotating_until": datetime_json(max(former)) if former else None,
            "version": self.version,
            "created": datetime_json(self.created),
            "updated": datetime_json(self.updated),
            "created_by": self.created_by,
            "updated_by": self.updated_by,
        }
