"""Webhooks that are in the table without a request."""

from typing import Any

from gridview.live.webhook import SealedSecret, Webhook

NOW = "2026-11-21T08:00:00.000000Z"


def stored(webhook: str, tenant: str = "0807", project: str = "35e9", **parts: Any) -> dict[str, Any]:
    """The stored item of a webhook."""
    made = {
        "url": "https://hooks.example.org/gridview",
        "secrets": (SealedSecret("sealed"),),
        "created": NOW,
        "created_by": "ann",
        "updated": NOW,
        "updated_by": "ann",
    }
    return Webhook(tenant, project, webhook, **{**made, **parts}).to_item()
