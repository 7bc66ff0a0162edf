"""A Cognito user pool. Only its administrators set a user's tenant and role."""

from aws_cdk import Duration
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from infra.checks import acknowledge
from infra.limits import TOKEN_MINUTES
from infra.retention import data_policy
from infra.settings import Settings


class Identity(Construct):
    """The user pool and the one public client that signs in to it.

    The client can read `custom:tenant` and `custom:role` (so they are claims of the ID token) but cannot write them: a signed-in
    user cannot move to another tenant or raise a role. The tenant is also immutable.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self.pool = cognito.UserPool(
            self,
            "Users",
            self_sign_up_enabled=False,
            sign_in_aliases=cognito.SignInAliases(email=True),
            sign_in_case_sensitive=False,
            standard_attributes=cognito.StandardAttributes(
                email=cognito.StandardAttribute(required=True, mutable=True)
            ),
            custom_attributes={
                "tenant": cognito.StringAttribute(mutable=False, min_len=2, max_len=32),
                "role": cognito.StringAttribute(mutable=True, min_len=1, max_len=16),
            },
            password_policy=cognito.PasswordPolicy(
                min_length=12,
                require_lowercase=True,
                require_uppercase=True,
                require_digits=True,
                require_symbols=True,
                temp_password_validity=Duration.days(3),
            ),
            mfa=cognito.Mfa.OPTIONAL,
            mfa_second_factor=cognito.MfaSecondFactor(otp=True, sms=False),
            # After a change of address, the user signs in with the old one until the new one is verified.
            auto_verify=cognito.AutoVerifiedAttrs(email=True),
            keep_original=cognito.KeepOriginalAttrs(email=True),
            account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
            deletion_protection=settings.guarded,
            removal_policy=data_policy(settings),
        )
        acknowledge(
            self.pool,
            {
                "AwsSolutions-COG2": "A second factor (an authenticator app) is optional, because importers and other "
                "programs sign in with a password.",
                "AwsSolutions-COG8": "The plus plan is paid per active user; each account decides on that.",
            },
        )
        self.client = cognito.UserPoolClient(
            self,
            "Client",
            user_pool=self.pool,
            auth_flows=cognito.AuthFlow(user_srp=True, user_password=True),
            disable_o_auth=True,
            generate_secret=False,
            prevent_user_existence_errors=True,
            enable_token_revocation=True,
            id_token_validity=Duration.minutes(TOKEN_MINUTES),
            access_token_validity=Duration.minutes(TOKEN_MINUTES),
            refresh_token_validity=Duration.days(30),
            read_attributes=cognito.ClientAttributes()
            .with_standard_attributes(email=True, email_verified=True, fullname=True)
            .with_custom_attributes("tenant", "role"),
            # NOTE: Cognito requires the required attributes here, and takes an empty set for "all".
            write_attributes=cognito.ClientAttributes().with_standard_attributes(email=True, fullname=True),
        )
