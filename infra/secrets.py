"""The secrets that the functions seal with: one for values that clients hand back, one for the secrets of webhooks."""

from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.checks import acknowledge
from infra.retention import data_policy
from infra.settings import Settings


class SealingSecret(Construct):
    """64 random letters and digits (380 bits), from which HKDF derives keys.

    It has the table's removal policy and is protected as the table is: values sealed under it are worth nothing
    without it.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings, seals: str) -> None:
        super().__init__(scope, construct_id)
        self._secret = secretsmanager.Secret(
            self,
            "Secret",
            description=f"gridview: the secret that seals {seals}",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                password_length=64, exclude_punctuation=True, include_space=False
            ),
            removal_policy=data_policy(settings),
        )
        if settings.guarded:
            # Secrets Manager has no deletion protection: a policy of the secret refuses its deletion to the whole account.
            self._secret.deny_account_root_delete()
        acknowledge(
            self._secret,
            {
                "AwsSolutions-SMG4": "An operator rotates it (`./dev rotate`). A schedule would drop the former value even if "
                "something is still sealed with it.",
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
