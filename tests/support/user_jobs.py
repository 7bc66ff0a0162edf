"""User jobs that are in the table without a request."""

from typing import Any

from gridview.schema.user_jobs import JobKind, UserJob
from gridview.support import clock

JOB = "018f3a5c2b71e7d4c90a"
NOW = "2026-11-21T08:00:00.000000Z"


def stored(tenant: str = "0807", project: str = "35e9", user: str = "ann") -> dict[str, Any]:
    """The stored item of a job that waits for its first turn; it is in no line."""
    return UserJob(JOB, JobKind.UPDATE, user, bytes(16), NOW, clock.expiry(1)).to_item(tenant, project)
