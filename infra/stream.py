"""The delivery of the table's stream to a function."""

import json

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from constructs import Construct

from gridview.maintenance.waiting import BY_LAMBDA
from infra.checks import acknowledge
from infra.dead_letters import DeadLetters
from infra.event_sources import StreamRecords
from infra.function import GridFunction
from infra.limits import BATCH_SIZE
from infra.parts import Parts


class StreamMapping(Construct):
    """The event source mapping, and the permissions that it needs in the function's role.

    `limits` explains the batch size. The other choices that the function does not make:

    - No batching window, except for pushes in a small account. A change reaches grids and sockets as soon as
      possible, and under load batches fill by themselves.
    - No tumbling window: functions keep no state between invocations except caches.
    - `ReportBatchItemFailures`: work before the first failed record is not repeated.
    - Bisecting, if failed records are dropped. In a few steps it isolates the faulty record, and the others are done.
      It uses up no retries, so it has no bound in time. A batch that is kept leaves the shard whole instead, and
      upkeep bisects it.
    - A bucket for failed batches: a queue would get a pointer into a stream that forgets after 24 hours.
    - With the bucket, metrics of events: the one sign that a batch went to it. They are off by default.
    """

    def __init__(
        self, scope: Construct, *, source: StreamRecords, function: GridFunction, parts: Parts
    ) -> None:
        super().__init__(scope, source.construct)
        self.mapping = lambda_.CfnEventSourceMapping(
            self,
            "Mapping",
            function_name=function.live.function_arn,
            event_source_arn=parts.table.stream_arn,
            starting_position=source.starting_position,
            filter_criteria=lambda_.CfnEventSourceMapping.FilterCriteriaProperty(
                filters=[
                    lambda_.CfnEventSourceMapping.FilterProperty(
                        pattern=json.dumps(wanted, separators=(",", ":"))
                    )
                    for wanted in source.filters
                ]
            ),
            batch_size=BATCH_SIZE,
            maximum_batching_window_in_seconds=source.window_seconds,
            parallelization_factor=source.batches_per_shard,
            bisect_batch_on_function_error=not source.keeps_failures,
            maximum_retry_attempts=source.retries,
            maximum_record_age_in_seconds=source.oldest_seconds,
            function_response_types=["ReportBatchItemFailures"],
        )
        # NOTE: Lambda checks these when the mapping is created, so each grant comes first.
        parts.table.grant_stream(
            function.role,
            "dynamodb:DescribeStream",
            "dynamodb:GetRecords",
            "dynamodb:GetShardIterator",
            "dynamodb:ListStreams",
        ).apply_before(self.mapping)
        if source.keeps_failures:
            self._keep_failures(function.role, parts.dead_letters)

    def _keep_failures(self, role: iam.IRole, dead_letters: DeadLetters) -> None:
        bucket = dead_letters.bucket
        self.mapping.metrics_config = lambda_.CfnEventSourceMapping.MetricsConfigProperty(
            metrics=["EventCount"]
        )
        self.mapping.destination_config = lambda_.CfnEventSourceMapping.DestinationConfigProperty(
            on_failure=lambda_.CfnEventSourceMapping.OnFailureProperty(destination=bucket.bucket_arn)
        )
        policy = iam.Policy(
            self,
            "FailedBatches",
            roles=[role],
            statements=[
                iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket.bucket_arn]),
                iam.PolicyStatement(
                    actions=["s3:PutObject"], resources=[bucket.arn_for_objects(f"{BY_LAMBDA}*")]
                ),
            ],
        )
        self.mapping.node.add_dependency(policy)
        bucket_resource = bucket.node.default_child
        assert isinstance(bucket_resource, s3.CfnBucket)  # noqa: S101  what a Bucket is made of
        logical_id = Stack.of(self).get_logical_id(bucket_resource)
        acknowledge(
            policy,
            {
                f"AwsSolutions-IAM5[Resource::<{logical_id}.Arn>/{BY_LAMBDA}*]": "Lambda names the objects by mapping, shard, "
                "time and a random part."
            },
        )
