"""The bucket of people's exports."""

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from gridview.dynamodb.sessions import TAG
from gridview.maintenance.export_files import FILE_DAYS, FILES, TAILS
from infra.bucket import private_bucket
from infra.checks import acknowledge
from infra.settings import Settings


class Exports(Construct):
    """A bucket that forgets: whole files after a week, the rest after a day or two."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self.bucket = private_bucket(
            self,
            "Files",
            settings,
            why_no_logs="Only the user who exported a file and administrators download it, by links that are valid for minutes. "
            "It is deleted after a week.",
            lifecycle_rules=[
                s3.LifecycleRule(id="files", prefix=FILES, expiration=Duration.days(FILE_DAYS)),
                s3.LifecycleRule(id="tails", prefix=TAILS, expiration=Duration.days(1)),
                s3.LifecycleRule(id="uploads", abort_incomplete_multipart_upload_after=Duration.days(2)),
            ],
        )

    def grant_write(self, role: iam.Role) -> None:
        """Allow making files, and reading the stored tail of an unfinished one."""
        for prefix, *further in ((FILES, "s3:AbortMultipartUpload"), (TAILS,)):
            role.add_to_policy(
                iam.PolicyStatement(
                    actions=["s3:PutObject", "s3:GetObject", *further],
                    resources=[self.bucket.arn_for_objects(f"{prefix}*")],
                )
            )
        self._acknowledge(role, FILES, TAILS)

    def grant_links(self, role: iam.Role, *, of_a_tenant: bool) -> None:
        """Allow links to whole files; in a session of a tenant, to those of the tenant."""
        prefix = f"{FILES}${{aws:PrincipalTag/{TAG}}}/" if of_a_tenant else FILES
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["s3:GetObject"], resources=[self.bucket.arn_for_objects(f"{prefix}*")]
            )
        )
        self._acknowledge(role, prefix.replace("${", "<").replace("}", ">"))

    def _acknowledge(self, role: iam.Role, *prefixes: str) -> None:
        resource = self.bucket.node.default_child
        assert isinstance(resource, s3.CfnBucket)  # noqa: S101  what a Bucket is made of
        bucket = self.bucket.stack.get_logical_id(resource)
        why = "Objects of the bucket of exports, by the prefix of their keys."
        acknowledge(
            role, {f"AwsSolutions-IAM5[Resource::<{bucket}.Arn>/{prefix}*]": why for prefix in prefixes}
        )
