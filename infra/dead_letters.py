"""The destinations of failures in deriving the index."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from gridview.maintenance.waiting import BY_LAMBDA, WAITING
from infra.bucket import NO_TLS, private_bucket
from infra.checks import acknowledge
from infra.limits import RETENTION_DAYS
from infra.settings import Settings

RETENTION = Duration.days(RETENTION_DAYS)


class DeadLetters(Construct):
    """A queue and a bucket.

    The queue takes poison issues, sent by the consumer itself or by upkeep: an issue's key, its version and the
    error. The bucket takes two kinds of records:

    - records that the consumer hands over because the table refuses their issues;
    - whole batches that the event source mapping gives up on, after a crash of the consumer or for lack of time.

    Upkeep derives both again.
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
            why_no_logs="Only Lambda, the consumer and upkeep write here. The name of an object shows which of them wrote it.",
            lifecycle_rules=[s3.LifecycleRule(expiration=RETENTION)],
        )
        if not tls_only:
            acknowledge(self.queue, {"AwsSolutions-SQS4": NO_TLS})

    def grant_send(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow sending to the queue."""
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=["sqs:SendMessage"], resource_arns=[self.queue.queue_arn]
        )

    def grant_hand_over(self, role: iam.Role) -> None:
        """Allow putting batches that upkeep is to derive again."""
        self._grant_objects(role, WAITING, "s3:PutObject")

    def grant_redrive(self, role: iam.Role) -> None:
        """Allow finding, taking over, postponing and removing batches."""
        role.add_to_policy(iam.PolicyStatement(actions=["s3:ListBucket"], resources=[self.bucket.bucket_arn]))
        self._grant_objects(role, WAITING, "s3:GetObject", "s3:PutObject", "s3:DeleteObject")
        self._grant_objects(role, BY_LAMBDA, "s3:GetObject", "s3:DeleteObject")

    def _grant_objects(self, role: iam.Role, prefix: str, *actions: str) -> None:
        role.add_to_policy(
            iam.PolicyStatement(actions=[*actions], resources=[self.bucket.arn_for_objects(f"{prefix}*")])
        )
        resource = self.bucket.node.default_child
        assert isinstance(resource, s3.CfnBucket)  # noqa: S101  what a Bucket is made of
        bucket = self.bucket.stack.get_logical_id(resource)
        why = "Objects of the bucket of batches, by the prefix of their keys."
        acknowledge(role, {f"AwsSolutions-IAM5[Resource::<{bucket}.Arn>/{prefix}*]": why})
