"""Keys of webhooks and their deliveries, of sockets, and of polls. `keys` says how a key is made."""

from gridview.encoding.derived_keys import journal_item

# Webhooks

WEBHOOK_PREFIX = "webhook-"


def webhooks(tenant_id: str, project_id: str) -> str:
    """Partition key of the webhooks of a project, whose sort keys are their ids: `webhook-0807.35e9`."""
    return f"{WEBHOOK_PREFIX}{tenant_id}.{project_id}"


def is_webhooks(partition_key: str) -> bool:
    """Return whether this is the partition key of a project's webhooks."""
    return partition_key.startswith(WEBHOOK_PREFIX)


def parse_webhooks(partition_key: str) -> tuple[str, str]:
    """Return the tenant and project in the partition key of a project's webhooks."""
    tenant_id, project_id = partition_key.removeprefix(WEBHOOK_PREFIX).split(".")
    return tenant_id, project_id


OUTBOX_PREFIX = "outbox-"
OUTBOX = "outbox"
"""Sort key of the outbox of a webhook, and index partition of all outboxes in due order."""
_DELIVERY = "delivery."
DELIVERY_END = "delivery/"
"""After every delivery: `/` follows `.`."""
_PLACE_DIGITS = 6
RETRY = "retry."
"""Begins the sort keys of all next attempts."""
_INSTANT = len("2026-11-21T08:00:00.000000Z")


def outbox(tenant_id: str, project_id: str, webhook_id: str) -> str:
    """Partition key of the outbox of a webhook and of its deliveries: `outbox-0807.35e9.w3k9q2m7x1c0z`."""
    return f"{OUTBOX_PREFIX}{tenant_id}.{project_id}.{webhook_id}"


def is_outbox(partition_key: str) -> bool:
    """Return whether this is the partition key of a webhook's outbox."""
    return partition_key.startswith(OUTBOX_PREFIX)


def parse_outbox(partition_key: str) -> tuple[str, str, str]:
    """Return the tenant, project and webhook in the partition key of an outbox."""
    tenant_id, project_id, webhook_id = partition_key.removeprefix(OUTBOX_PREFIX).split(".")
    return tenant_id, project_id, webhook_id


def delivery(number: int, place: int, mark: str = "") -> str:
    """Return the sort key of the delivery of the change at a place of a journal item:
    `delivery.000000000057.000001`. The feed's order.

    The key of a reset is before the change that follows the place: `delivery.000000000057.000001r`. Its `mark` has
    `r`, the webhook's version if the outbox began with one, and the fingerprint of rows that depend on the day.
    """
    return f"{_DELIVERY}{journal_item(number)}.{place:0{_PLACE_DIGITS}}{mark}"


def retry(due: str, sort_key: str) -> str:
    """Sort key of the next attempt at a delivery, by the instant at which it is due:
    `retry.2026-11-21T…Z.000000000057.000001`.
    """
    return f"{RETRY}{due}.{sort_key.removeprefix(_DELIVERY)}"


def parse_retry(sort_key: str) -> tuple[str, str]:
    """Return the instant at which such an attempt is due, and the sort key of its delivery."""
    rest = sort_key.removeprefix(RETRY)
    return rest[:_INSTANT], _DELIVERY + rest[_INSTANT + 1 :]


# Sockets

SOCKETS_PREFIX = "sockets-"


def sockets(tenant_id: str) -> str:
    """Return the partition key of a tenant's open sockets and their subscriptions: `sockets-0807`."""
    return f"{SOCKETS_PREFIX}{tenant_id}"


def parse_sockets(partition_key: str) -> str:
    """Return the tenant in the partition key of open sockets."""
    return partition_key.removeprefix(SOCKETS_PREFIX)


def socket(project_id: str, connection: str = "") -> str:
    """Return the sort key of an open socket, `35e9.L0SM9cOFvHcCIhw=`, or the beginning of all such keys of a
    project.

    API Gateway's ids of connections have no dot. A project's id without a dot is the sort key of when its
    people were shown to each other.
    """
    return f"{project_id}.{connection}"


def subscription(project_id: str, connection: str, subscription_id: str) -> str:
    """Return the sort key of a subscription of a socket, right after the socket:
    `35e9.L0SM9cOFvHcCIhw=.rows`.
    """
    return f"{project_id}.{connection}.{subscription_id}"


def is_socket(sort_key: str) -> bool:
    """Return whether this is the sort key of an open socket, and not of a subscription or a project."""
    return sort_key.count(".") == 1


def parse_socket(sort_key: str) -> tuple[str, str, str]:
    """Return the project, the connection and the subscription in the sort key of a socket, which has none, or
    of a subscription.
    """
    project_id, connection, subscription_id = [*sort_key.split("."), ""][:3]
    return project_id, connection, subscription_id


SOCKET_PREFIX = "socket-"
PUSHING = f"{SOCKET_PREFIX}pushing"
"""Partition and sort key of the turn to push, in a small account. No connection and no project has such a
key: its letters end without `=` or a full stop.
"""
SOCKET = "socket"
"""Sort key of the owner of a socket, and index partition of all sockets in the order in which they end."""


def socket_owner(connection: str) -> str:
    """Return the partition key of the owner of a socket, by API Gateway's id of the connection:
    `socket-L0SM9cOFvHcCIhw=`.
    """
    return f"{SOCKET_PREFIX}{connection}"


def parse_socket_owner(partition_key: str) -> str:
    """Return the connection in the partition key of a socket's owner."""
    return partition_key.removeprefix(SOCKET_PREFIX)


OWED = "owed"
"""Sort key of the note that a project's sockets are owed changes, and index partition of all such notes, oldest first.
"""


def owed_pushes(tenant_id: str, project_id: str) -> str:
    """Partition key of the note that a project's sockets are owed changes: `socket-0807.35e9`."""
    return f"{SOCKET_PREFIX}{tenant_id}.{project_id}"


def parse_owed_pushes(partition_key: str) -> tuple[str, str]:
    """Return the tenant and project in the partition key of the note that a project's sockets are owed
    changes.
    """
    tenant_id, project_id = partition_key.removeprefix(SOCKET_PREFIX).split(".")
    return tenant_id, project_id


SEATS_PREFIX = "seats-"


def seats(tenant_id: str) -> str:
    """Partition key of a tenant's open sockets by user: `seats-0807`."""
    return f"{SEATS_PREFIX}{tenant_id}"


def parse_seats(partition_key: str) -> str:
    """Return the tenant in the partition key of open sockets by user."""
    return partition_key.removeprefix(SEATS_PREFIX)


def seat(user_id: str, connection: str = "") -> str:
    """Sort key of a user's open socket: `ann/L0SM9cOFvHcCIhw=`; the prefix of all of one user. A user's id has no
    slash.
    """
    return f"{user_id}/{connection}"


def parse_seat(sort_key: str) -> tuple[str, str]:
    """Return the user and the connection in the sort key of a user's open socket."""
    user_id, _, connection = sort_key.partition("/")
    return user_id, connection


TICKET_PREFIX = "ticket-"


def tickets(tenant_id: str) -> str:
    """Partition key of a tenant's tickets that were used, whose sort keys are their ids: `ticket-0807`."""
    return f"{TICKET_PREFIX}{tenant_id}"


# Polls

POLLS_PREFIX = "polls-"


def polls(tenant_id: str) -> str:
    """Partition key of the open polls of a tenant, whose sort keys are its users: `polls-0807`."""
    return f"{POLLS_PREFIX}{tenant_id}"
