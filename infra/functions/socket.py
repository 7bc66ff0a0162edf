"""The function of the WebSocket API."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import override

from gridview.encoding import derived_keys, keys, live_keys
from infra.event_sources import EventSource, Schedule, SocketRoutes, StreamRecords
from infra.function_spec import FunctionSpec
from infra.grants import READ_OPERATIONS, READS_OF_TABLE, Grant, allow_within
from infra.limits import ANSWER_SECONDS, PUSH_RETRIES
from infra.partitions import EVERY, OWN, Partitions

if TYPE_CHECKING:
    from infra.function import GridFunction
    from infra.parts import Parts
    from infra.settings import Settings

_PUSH_SECONDS: Final = 300
"""The oldest records that are worth a push."""

_COMMITTED: Final[tuple[Mapping[str, Any], ...]] = (
    # Items of journals: their heads and marks have not been `made`.
    {
        "eventName": ["INSERT"],
        "dynamodb": {
            "Keys": {keys.PK: {"S": [{"prefix": derived_keys.JOURNAL_PREFIX}]}},
            "NewImage": {"made": {"N": [{"exists": True}]}},
        },
    },
    # Definitions and views: clients that follow rows have to read them again.
    {
        "dynamodb": {
            "Keys": {keys.PK: {"S": [{"prefix": keys.PROJECT_PREFIX}]}, keys.SK: {"S": [keys.CATALOG]}}
        }
    },
    {
        "dynamodb": {
            "Keys": {
                keys.PK: {"S": [{"prefix": keys.VIEW_PREFIX}]},
                keys.SK: {"S": [{"prefix": "shared/"}, {"prefix": "private/"}]},
            }
        }
    },
)


def _writes(of: Partitions) -> tuple[Grant, ...]:
    return (
        allow_within(("PutItem",), (of.sockets, of.seats, of.tickets, of.journals)),
        allow_within(("UpdateItem", "DeleteItem"), (of.sockets, of.seats)),
    )


class Socket(FunctionSpec):
    """Sockets: connections, subscriptions, and the pushes of commits."""

    name = "socket"
    description = "gridview: sends the changes of projects to open sockets"
    timeout_seconds = ANSWER_SECONDS
    # A whole processor: it signs and sends to 64 connections at once.
    memory_mib = 1769
    reserved_percent = 10

    grants = (READS_OF_TABLE, *_writes(EVERY))
    session_grants = (
        allow_within(
            READ_OPERATIONS,
            (
                OWN.projects,
                OWN.journals,
                OWN.histories,
                OWN.issues,
                OWN.views,
                OWN.sockets,
                OWN.seats,
            ),
        ),
        *_writes(OWN),
    )
    # It looks up the tenant of a connection, which sockets are due to end, and which projects' sockets are owed changes.
    tenantless_grants = (
        allow_within(("GetItem", "PutItem", "DeleteItem"), (f"{live_keys.SOCKET_PREFIX}*",)),
        allow_within(("Query",), (live_keys.SOCKET, live_keys.OWED), on_index=True),
    )

    @override
    def environment(self, parts: "Parts") -> Mapping[str, str | None]:
        return {
            "CURSOR_SECRET_ARN": parts.cursor_secret.arn,
            "SINGLE_WORKER": "true" if parts.settings.small_account else None,
            **parts.sockets.environment,
        }

    @override
    def permit(self, function: "GridFunction", parts: "Parts") -> None:
        """Let it read the secret of cursors, send to connections and close them."""
        parts.cursor_secret.grant(function.role, "secretsmanager:GetSecretValue")
        parts.sockets.grant_connections(function.role)

    @override
    def event_sources(self, settings: "Settings") -> tuple[EventSource, ...]:
        """The second of the two readers that the stream has room for.

        Failed batches are dropped: the next commit brings their changes too.

        Only the number of shards bounds how many invocations there are at once. In a small account they wait a second
        for each other, one of them pushes at a time, and the others end at once (`live.push_turn`).
        """
        return (
            StreamRecords(
                construct="Pushes",
                filters=_COMMITTED,
                starting_position="LATEST",
                # The pushes of a project follow each other, and a new account may have ten invocations at once.
                batches_per_shard=1,
                retries=PUSH_RETRIES,
                oldest_seconds=_PUSH_SECONDS,
                keeps_failures=False,
                window_seconds=1 if settings.small_account else 0,
            ),
            SocketRoutes(),
            Schedule(
                construct="Sockets",
                name="End",
                task="end",
                times="rate(1 minute)",
                description="gridview: ends sockets whose time is over",
            ),
        )
