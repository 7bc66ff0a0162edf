"""The role that a function assumes for each tenant: its policies name the tenant that the session is tagged with."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from constructs import Construct

from gridview.dynamodb.sessions import TAG


class SessionRole(iam.Role):
    """A role that one function may assume, and only in sessions that are tagged with a tenant and with nothing else.

    It trusts the account, on the condition that the caller is the function's role. A principal that names that role
    can fail: IAM looks it up, and a new role is not known everywhere yet ("Invalid principal in policy").
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, function_role: iam.Role, emulator: bool
    ) -> None:
        trusted = iam.AccountRootPrincipal().with_conditions(
            {
                "ArnEquals": {"aws:PrincipalArn": _names(function_role, emulator)},
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


def _names(role: iam.Role, emulator: bool) -> list[str]:
    """Return the values of `aws:PrincipalArn` in calls of this role. An emulator uses the session's ARN."""
    sessions = f"arn:{Aws.PARTITION}:sts::{Aws.ACCOUNT_ID}:assumed-role/{role.role_name}/*"
    return [role.role_arn, *([sessions] if emulator else [])]
