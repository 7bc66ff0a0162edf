"""The role that a function assumes for each tenant: its policies name the tenant that the session is tagged with."""

from aws_cdk import aws_iam as iam
from constructs import Construct

from gridview.dynamodb.sessions import TAG


class SessionRole(iam.Role):
    """A role that one function may assume, and only in sessions that are tagged with a tenant and with nothing else."""

    def __init__(self, scope: Construct, construct_id: str, *, function_role: iam.Role) -> None:
        trusted = iam.ArnPrincipal(function_role.role_arn).with_conditions(
            {
                "StringLike": {f"aws:RequestTag/{TAG}": "?*"},
                "ForAllValues:StringEquals": {"aws:TagKeys": [TAG]},
                # A role that a session goes on to would inherit a transitive tag.
                "Null": {"sts:TransitiveTagKeys": "true"},
            }
        )
        super().__init__(scope, construct_id, assumed_by=trusted.with_session_tags())
        function_role.add_to_policy(
            iam.PolicyStatement(actions=["sts:AssumeRole", "sts:TagSession"], resources=[self.role_arn])
        )
