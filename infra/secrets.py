"""The secret that seals cursors and consistency tokens."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.checks import acknowledge


class CursorSecret(Construct):
    """64 random letters and digits (380 bits); HKDF derives the keys from them."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self._secret = secretsmanager.Secret(
            self,
            "Secret",
            description="gridview: the secret that seals cursors and consistency tokens",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                password_length=64, exclude_punctuation=True, include_space=False
            ),
            # It protects no stored data: losing it only invalidates the cursors of pages in use.
            removal_policy=RemovalPolicy.DESTROY,
        )
        acknowledge(
            self._secret,
            {
                "AwsSolutions-SMG4": "Rotated by hand (put-secret-value) when there is cause: it protects no stored data, "
                "and the previous value stays readable as AWSPREVIOUS, so that cursors survive.",
            },
        )

    @property
    def arn(self) -> str:
        """The secret's full ARN."""
        resource = self._secret.node.default_child
        assert isinstance(resource, secretsmanager.CfnSecret)  # noqa: S101  what a Secret is made of
        # NOTE: `Ref` is the ARN as well, but local engines return the name for it.
        return resource.attr_id

    def grant(self, grantee: iam.IGrantable, *actions: str) -> iam.Grant:
        """Allow `actions` on the secret."""
        return iam.Grant.add_to_principal(grantee=grantee, actions=list(actions), resource_arns=[self.arn])
