"""The destinations of failures in deriving the index."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.bucket import NO_TLS, private_bucket
from infra.checks import acknowledge
from infra.limits import RETENTION_DAYS
from infra.settings import Settings

RETENTION = Duration.days(RETENTION_DAYS)


class DeadLetters(Construct):
    """A queue and a bucket.

    The queue takes poison issues, sent by the consumer itself or by upkeep: an issue's key, its version and the error. The bucket
    takes whole batches that the event source mapping gives up on (the consumer crashed, or time ran out); to a queue it would send
    metadata only.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        tls_only = not settings.emulator
        self.queue = sqs.Queue(
            self,
            "Queue",
            retention_period=RETENTION,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=tls_only,
            removal_policy=RemovalPolicy.DESTROY,
        )
        acknowledge(
            self.queue,
            {"AwsSolutions-SQS3": "This is the dead-letter queue: the functions themselves send to it."},
        )
        self.bucket = private_bucket(
            self,
            "Batches",
            settings,
            why_no_logs="Only Lambda writes here, a few objects a year, and each of them says which mapping wrote it.",
            lifecycle_rules=[s3.LifecycleRule(expiration=RETENTION)],
        )
        if not tls_only:
            acknowledge(self.queue, {"AwsSolutions-SQS4": NO_TLS})

    def grant_send(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow sending to the queue."""
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=["sqs:SendMessage"], resource_arns=[self.queue.queue_arn]
        )
