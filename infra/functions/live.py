"""The function in which requests wait for changes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from typing_extensions import override

from infra.event_sources import Endpoints, EventSource
from infra.function_spec import FunctionSpec
from infra.grants import READ_OPERATIONS, READS_OF_TABLE, Grant, allow_within
from infra.limits import ANSWER_SECONDS
from infra.partitions import EVERY, OWN, Partitions

if TYPE_CHECKING:
    from infra.function import GridFunction
    from infra.parts import Parts
    from infra.settings import Settings


def _writes(of: Partitions) -> tuple[Grant, ...]:
    return (
        # A number of a journal at which followers wait is emptied.
        allow_within(("PutItem",), (of.journals,)),
        # Requests that wait are listed.
        allow_within(("UpdateItem", "DeleteItem"), (of.polls,)),
    )


class Live(FunctionSpec):
    """Long polls, and the tickets that sockets connect with."""

    name = "live"
    description = "gridview: answers requests for the changes of projects"
    timeout_seconds = ANSWER_SECONDS
    # It waits most of the time, and waiting is paid for by memory.
    memory_mib = 512
    reserved_percent = 30

    grants = (READS_OF_TABLE, *_writes(EVERY))
    session_grants = (
        allow_within(
            READ_OPERATIONS,
            (OWN.projects, OWN.journals, OWN.histories, OWN.issues, OWN.views, OWN.polls),
        ),
        *_writes(OWN),
    )

    @override
    def environment(self, parts: "Parts") -> Mapping[str, str | None]:
        return {
            "CURSOR_SECRET_ARN": parts.cursor_secret.arn,
            "SOCKET_URL": parts.sockets.url,
            "POLLS_PER_TENANT": str(parts.settings.open_polls),
        }

    @override
    def permit(self, function: "GridFunction", parts: "Parts") -> None:
        """Let it read the secret of cursors."""
        parts.cursor_secret.grant(function.role, "secretsmanager:GetSecretValue")

    @override
    def event_sources(self, settings: "Settings") -> tuple[EventSource, ...]:
        del settings
        return (Endpoints(),)
