"""The table's stream and its delivery to the consumer."""

import json

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from constructs import Construct

from gridview.encoding import keys
from infra.checks import acknowledge
from infra.dead_letters import DeadLetters
from infra.function import GridFunction
from infra.limits import BATCH_SIZE, MAX_RECORD_AGE_HOURS, RETRIES
from infra.settings import Settings
from infra.table import GridTable

_BATCH_KEYS = "aws/lambda/"
"""The prefix that Lambda gives the keys of failed batches."""


class StreamMapping(Construct):
    """The event source mapping, and the permissions that it needs in the consumer's role.

    It invokes the consumer for issue documents and the heartbeat only. Derived items have other keys, so the consumer never
    triggers itself. `limits` explains batch size, retries and the records' maximum age. The other choices:

    - two batches of a shard at once, unless the operator chooses otherwise. Lambda keeps the order of each item's records even so,
      and the consumer needs no more: it derives state from state, each issue by itself. A new table has four shards and sustains
      4,000 writes a second, which are 400 issues of ten writes. One batch derives 130 of them a second (ten writes of 6 ms, eight
      threads), so eight batches outrun the table, and they leave two invocations to a new account that has ten. An order is one
      partition of GSI1 and takes 1,000 writes a second: many more batches would be throttled there, and with them the users' own
      writes;
    - no batching window: an edit reaches the sorted grids as soon as possible, and under load batches fill by themselves;
    - no tumbling window: the consumer keeps no state between invocations except the ledgers;
    - `ReportBatchItemFailures`: work before the first failed record is not repeated;
    - bisecting, for invocations that crash or run out of time and so report nothing: in a few steps it isolates the faulty record,
      and the others are done. It uses up no retries;
    - a bucket for batches given up, because a queue would get a pointer into a stream that forgets after 24 hours;
    - metrics of events: the one sign that a batch went to the bucket. They are off by default.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        table: GridTable,
        consumer: GridFunction,
        dead_letters: DeadLetters,
    ) -> None:
        super().__init__(scope, construct_id)
        issue_documents = {
            "dynamodb": {
                "Keys": {
                    keys.PK: {"S": [{"prefix": keys.ISSUE_PREFIX}]},
                    keys.SK: {"S": [{"prefix": keys.PROJECT_PREFIX}]},
                }
            }
        }
        heartbeat = {"dynamodb": {"Keys": {keys.PK: {"S": [keys.BEAT]}}}}
        self.mapping = mapping = lambda_.CfnEventSourceMapping(
            self,
            "Mapping",
            function_name=consumer.live.function_arn,
            event_source_arn=table.stream_arn,
            starting_position="TRIM_HORIZON",
            filter_criteria=lambda_.CfnEventSourceMapping.FilterCriteriaProperty(
                filters=[
                    lambda_.CfnEventSourceMapping.FilterProperty(
                        pattern=json.dumps(wanted, separators=(",", ":"))
                    )
                    for wanted in (issue_documents, heartbeat)
                ]
            ),
            batch_size=BATCH_SIZE,
            maximum_batching_window_in_seconds=0,
            parallelization_factor=settings.parallelization,
            bisect_batch_on_function_error=True,
            maximum_retry_attempts=RETRIES,
            maximum_record_age_in_seconds=MAX_RECORD_AGE_HOURS * 3600,
            metrics_config=lambda_.CfnEventSourceMapping.MetricsConfigProperty(metrics=["EventCount"]),
            function_response_types=["ReportBatchItemFailures"],
            destination_config=lambda_.CfnEventSourceMapping.DestinationConfigProperty(
                on_failure=lambda_.CfnEventSourceMapping.OnFailureProperty(
                    destination=dead_letters.bucket.bucket_arn
                )
            ),
        )
        # NOTE: Lambda checks these when the mapping is created, so each grant comes first.
        table.grant_stream(
            consumer.role,
            "dynamodb:DescribeStream",
            "dynamodb:GetRecords",
            "dynamodb:GetShardIterator",
            "dynamodb:ListStreams",
        ).apply_before(mapping)
        self._allow_failure_destination(consumer.role, dead_letters, mapping)

    def _allow_failure_destination(
        self, role: iam.IRole, dead_letters: DeadLetters, mapping: lambda_.CfnEventSourceMapping
    ) -> None:
        bucket = dead_letters.bucket
        policy = iam.Policy(
            self,
            "FailedBatches",
            roles=[role],
            statements=[
                iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket.bucket_arn]),
                iam.PolicyStatement(
                    actions=["s3:PutObject"], resources=[bucket.arn_for_objects(f"{_BATCH_KEYS}*")]
                ),
            ],
        )
        mapping.node.add_dependency(policy)
        bucket_resource = bucket.node.default_child
        assert isinstance(bucket_resource, s3.CfnBucket)  # noqa: S101  what a Bucket is made of
        logical_id = Stack.of(self).get_logical_id(bucket_resource)
        acknowledge(
            policy,
            {
                f"AwsSolutions-IAM5[Resource::<{logical_id}.Arn>/{_BATCH_KEYS}*]": "Lambda names these objects itself: "
                "mapping, shard, time and a random part."
            },
        )
