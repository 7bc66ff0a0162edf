"""The stream's second reader: it has sockets told what was committed."""

import json
from typing import Any, Final

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from gridview.encoding import keys
from infra.function import GridFunction
from infra.limits import BATCH_SIZE, PUSH_RETRIES
from infra.table import GridTable

PUSH_SECONDS: Final = 300
"""The oldest records that are worth a push."""

FILTERS: Final[tuple[dict[str, Any], ...]] = (
    # Items of journals: their heads and marks have not been `made`.
    {
        "eventName": ["INSERT"],
        "dynamodb": {
            "Keys": {keys.PK: {"S": [{"prefix": keys.JOURNAL_PREFIX}]}},
            "NewImage": {"made": {"N": [{"exists": True}]}},
        },
    },
    # Definitions and views: who follows rows has to read them anew.
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


class PushStream(Construct):
    """An event source mapping without a destination for what fails. A stream has room for two readers, and this is the second."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        table: GridTable,
        socket: GridFunction,
    ) -> None:
        super().__init__(scope, construct_id)
        self.mapping = lambda_.CfnEventSourceMapping(
            self,
            "Mapping",
            function_name=socket.live.function_arn,
            event_source_arn=table.stream_arn,
            starting_position="LATEST",
            filter_criteria=lambda_.CfnEventSourceMapping.FilterCriteriaProperty(
                filters=[
                    lambda_.CfnEventSourceMapping.FilterProperty(
                        pattern=json.dumps(wanted, separators=(",", ":"))
                    )
                    for wanted in FILTERS
                ]
            ),
            batch_size=BATCH_SIZE,
            maximum_batching_window_in_seconds=0,
            # The pushes of a project follow each other, and a new account may have ten invocations at once.
            parallelization_factor=1,
            bisect_batch_on_function_error=True,
            maximum_retry_attempts=PUSH_RETRIES,
            maximum_record_age_in_seconds=PUSH_SECONDS,
            function_response_types=["ReportBatchItemFailures"],
        )
        # NOTE: Lambda checks these when the mapping is created, so the grant comes first.
        table.grant_stream(
            socket.role,
            "dynamodb:DescribeStream",
            "dynamodb:GetRecords",
            "dynamodb:GetShardIterator",
            "dynamodb:ListStreams",
        ).apply_before(self.mapping)
