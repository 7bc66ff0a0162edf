"""SECURITY.md names the actual limits of the code."""

import re
from pathlib import Path

from gridview.api.work_shares import FREE_SECONDS
from gridview.live import deliveries, poll_limits, push_shares, seats, sockets
from gridview.schema import user_jobs
from infra import settings
from infra.ingress import THROTTLE
from infra.settings import Settings
from infra.socket_api import CONNECT_THROTTLE, MESSAGE_THROTTLE

PAGE = (Path(__file__).parents[2] / "SECURITY.md").read_text("utf-8")
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)


def test_the_table_of_limits_has_the_numbers_of_the_code() -> None:
    section = PAGE.partition("## How tenants and users can slow each other down")[2].partition("\n## ")[0]
    assert dict(ROW.findall(section)) == {
        "what": "limit",
        "waiting long polls of a user": f"{poll_limits.MOST_OF_USER}",
        "long polls of a user in flight": f"{poll_limits.MOST_IN_FLIGHT}, and at most twice the tenant's limit",
        "waiting long polls of a tenant": "a third of the reserved concurrency of `live`, else a fifth of the account; "
        "below 50 a tenth",
        f"long queries of a user, beyond {FREE_SECONDS} s each": f"{Settings().work_share}% of each container's time in an account "
        f"below 50, {Settings(account_concurrency=50).work_share}% below 1,000; a tenant twice that",
        "sockets of a user": f"{seats.MAX_USER_SOCKETS}",
        "messages of a socket": f"{sockets.MESSAGES} at once, {sockets.MESSAGES_PER_SECOND} a second",
        "sockets and subscriptions that a user begins": f"{seats.STARTS} at once, {seats.STARTS_PER_SECOND} a second",
        "looks of a user that wait to send presence": f"{seats.WAITS} at once, {seats.STARTS_PER_SECOND} a second, out of the same "
        "bucket",
        "subscriptions of a socket": f"{seats.MAX_SUBSCRIPTIONS}",
        "different rows that a user's sockets follow": f"{seats.MAX_USER_ROWS}",
        "open jobs of a user": f"{user_jobs.MOST_OF_USER}, of them {user_jobs.MOST_EXPORTS_OF_USER} exports",
        "time of a batch of pushes": f"{push_shares.BATCH_SECONDS} s, shared between tenants",
        "turn of a webhook": f"{deliveries.TURN:.0f} s and the round of attempts begun by then; other tenants come first",
        "projects of a tenant": f"{Settings().projects_per_tenant:,} (`-c projects-per-tenant`)",
        "requests of one route, all callers": f"{THROTTLE.requests_per_second} a second",
        "attempts to connect a socket, all callers": f"{CONNECT_THROTTLE.requests_per_second} a second",
        "messages of sockets, all callers": f"{MESSAGE_THROTTLE.requests_per_second:,} a second",
    }


def test_the_concurrency_that_is_reserved() -> None:
    text = " ".join(PAGE.split())
    raised = Settings(account_concurrency=1_100)
    shares = {name: (raised.reserved(name) or 0) // 10 for name in ("live", "socket")}
    assert f"`live` gets {shares['live']}% and `socket` {shares['socket']}%" in text
    assert f"({settings.UNRESERVED} stay unreserved)" in text
    least = next(most for most in range(1_000) if Settings(account_concurrency=most).reserved("live"))
    assert f"From a concurrency of {least} on" in text
