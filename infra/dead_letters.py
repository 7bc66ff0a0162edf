"""The destinations of failures in deriving the index."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.checks import acknowledge
from infra.limits import RETENTION_DAYS
from infra.retention import data_policy
from infra.settings import Settings

RETENTION = Duration.days(RETENTION_DAYS)

_NO_TLS = "An engine on this machine speaks plain HTTP, on the loopback interface."


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
        self.bucket = s3.Bucket(
            self,
            "Batches",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=tls_only,
            lifecycle_rules=[s3.LifecycleRule(expiration=RETENTION)],
            removal_policy=data_policy(settings),
        )
        acknowledge(
            self.bucket,
            {
                "AwsSolutions-S1": "Only Lambda writes here, a few objects a year, and each of them says which mapping wrote it."
            },
        )

        if not tls_only:
            acknowledge(self.queue, {"AwsSolutions-SQS4": _NO_TLS})
            acknowledge(self.bucket, {"AwsSolutions-S10": _NO_TLS})

    def grant_send(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow sending to the queue."""
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=["sqs:SendMessage"], resource_arns=[self.queue.queue_arn]
        )
