"""The function that answers reads."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from typing_extensions import override

from gridview.encoding import keys
from infra.event_sources import Endpoints, EventSource
from infra.function_spec import FunctionSpec
from infra.grants import READ_OPERATIONS, READS, allow_within
from infra.limits import ANSWER_SECONDS
from infra.partitions import OWN, OWN_DIRECTORIES, OWN_ORDERS, OWN_USER_LIST

if TYPE_CHECKING:
    from infra.function import GridFunction
    from infra.parts import Parts
    from infra.settings import Settings


class Query(FunctionSpec):
    """Everything that reads. It writes nothing."""

    name = "query"
    description = "gridview: carries out the reads of callers"
    timeout_seconds = ANSWER_SECONDS
    memory_mib = 1769
    published = True
    traced = True

    grants = READS
    session_grants = (
        allow_within(
            READ_OPERATIONS,
            (
                OWN.projects,
                OWN.issues,
                OWN.blocks,
                OWN.columns,
                OWN.notes,
                OWN.journals,
                OWN.views,
                OWN.webhooks,
                OWN.outboxes,
                OWN.comments,
                OWN.histories,
                OWN.activity,
                OWN.trash,
                OWN.jobs,
                OWN.job_parts,
                # The heartbeat's note contains no tenant data.
                keys.LAG_OF_BEAT,
            ),
        ),
        allow_within(
            ("Query",),
            (OWN.tenants, OWN_USER_LIST, OWN.projects, OWN_ORDERS, OWN_DIRECTORIES),
            on_index=True,
        ),
    )

    @override
    def build(self) -> None:
        """Write the OpenAPI document, which it serves."""
        # The models of all requests and answers take a second to import. Most readers of declarations need none.
        from infra.openapi import file

        file.write()

    @override
    def environment(self, parts: "Parts") -> Mapping[str, str | None]:
        return {
            "CURSOR_SECRET_ARN": parts.cursor_secret.arn,
            "EXPORT_BUCKET": parts.exports.bucket.bucket_name,
            "LONG_QUERY_PERCENT": str(parts.settings.work_share),
        }

    @override
    def permit(self, function: "GridFunction", parts: "Parts") -> None:
        """Let it read the secret of cursors, and make links to finished exports."""
        parts.cursor_secret.grant(function.role, "secretsmanager:GetSecretValue")
        parts.exports.grant_links(function.session or function.role, of_a_tenant=function.session is not None)

    @override
    def event_sources(self, settings: "Settings") -> tuple[EventSource, ...]:
        del settings
        return (Endpoints(),)
