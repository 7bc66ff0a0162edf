"""The table's stream, delivered to the consumer."""

import json

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from constructs import Construct

from gridview import keys
from infra.checks import acknowledge
from infra.dead_letters import DeadLetters
from infra.function import GridFunction
from infra.table import GridTable

BATCH_SIZE = 100
RETRIES = 10
MAX_RECORD_AGE = Duration.hours(12)
"""A stream keeps its records for 24 hours; giving up sooner leaves the batch in the bucket instead of nowhere."""
_BATCH_KEYS = "aws/lambda/"
"""What Lambda begins the keys of failed batches with."""


class StreamMapping(Construct):
    """The event source mapping, and what the consumer's role needs for it.

    It wakes the consumer for issue documents only: what the consumer derives has other keys, so it never wakes itself.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
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
        mapping = lambda_.CfnEventSourceMapping(
            self,
            "Mapping",
            function_name=consumer.live.function_arn,
            event_source_arn=table.stream_arn,
            starting_position="TRIM_HORIZON",
            filter_criteria=lambda_.CfnEventSourceMapping.FilterCriteriaProperty(
                filters=[
                    lambda_.CfnEventSourceMapping.FilterProperty(
                        pattern=json.dumps(issue_documents, separators=(",", ":"))
                    )
                ]
            ),
            batch_size=BATCH_SIZE,
            bisect_batch_on_function_error=True,
            maximum_retry_attempts=RETRIES,
            maximum_record_age_in_seconds=MAX_RECORD_AGE.to_seconds(),
            function_response_types=["ReportBatchItemFailures"],
            destination_config=lambda_.CfnEventSourceMapping.DestinationConfigProperty(
                on_failure=lambda_.CfnEventSourceMapping.OnFailureProperty(
                    destination=dead_letters.bucket.bucket_arn
                )
            ),
        )
        # NOTE: Lambda checks these when the mapping is made, so each grant comes before it.
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
