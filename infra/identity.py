"""A Cognito user pool. Only its administrators set a user's tenant and role."""

from typing import Any

from aws_cdk import Aws, Duration
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from infra import page
from infra.checks import acknowledge
from infra.limits import TOKEN_MINUTES
from infra.retention import data_policy
from infra.settings import Settings

SCOPES = {
    "openid": cognito.OAuthScope.OPENID,
    "email": cognito.OAuthScope.EMAIL,
    "profile": cognito.OAuthScope.PROFILE,
}
"""The scopes that the page requests. None of them lets a token change its user."""


class Identity(Construct):
    """The user pool and its public clients: one for programs, and one for the page if there is one.

    A client can read `custom:tenant` and `custom:role`, so they are claims of the ID token. It cannot write them: a
    signed-in user cannot move to another tenant or raise a role. The tenant is also immutable.
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
            # Managed login needs this plan, and it is the one that new pools have.
            feature_plan=cognito.FeaturePlan.ESSENTIALS,
            account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
            email=_mailer(settings),
            deletion_protection=settings.guarded,
            removal_policy=data_policy(settings),
        )
        acknowledge(
            self.pool,
            {
                "AwsSolutions-COG2": "A second factor (an authenticator app) is optional, because importers and other "
                "programs sign in with a password.",
                "AwsSolutions-COG8": "The plus plan costs money for each active user, so each operator decides on it.",
            },
        )
        self.clients = [
            self._client(
                "Client",
                auth_flows=cognito.AuthFlow(user_srp=True, user_password=True),
                disable_o_auth=True,
                refresh_token_validity=Duration.days(30),
            )
        ]
        """The first is for programs."""

    def add_login(self, settings: Settings) -> str:
        """Give the pool Cognito's managed login; returns its address, without a slash at its end."""
        return self.pool.add_domain(
            "Login",
            cognito_domain=cognito.CognitoDomainOptions(
                domain_prefix=f"{settings.short_name}-{Aws.ACCOUNT_ID}"
            ),
            managed_login_version=cognito.ManagedLoginVersion.NEWER_MANAGED_LOGIN,
        ).base_url()

    def add_page(self, url: str, settings: Settings) -> cognito.UserPoolClient:
        """Let the page at this address sign its users in by the managed login."""
        client = self._client(
            "Page",
            # Rotation refuses ALLOW_REFRESH_TOKEN_AUTH, which is a default; the managed login needs no flow of these.
            auth_flows=cognito.AuthFlow(user_srp=True),
            o_auth=cognito.OAuthSettings(
                flows=cognito.OAuthFlows(authorization_code_grant=True),
                scopes=list(SCOPES.values()),
                callback_urls=[f"{url}{page.CALLBACK}"],
                logout_urls=[f"{url}/"],
            ),
            supported_identity_providers=[cognito.UserPoolClientIdentityProvider.COGNITO],
            refresh_token_validity=Duration.days(1),
            # A page whose answer was lost may ask with the same token again.
            refresh_token_rotation_grace_period=Duration.seconds(30),
        )
        if not settings.emulator:
            # Without a style the managed login shows no form.
            cognito.CfnManagedLoginBranding(
                self,
                "Style",
                user_pool_id=self.pool.user_pool_id,
                client_id=client.user_pool_client_id,
                use_cognito_provided_values=True,
            )
        self.clients.append(client)
        return client

    def _client(self, construct_id: str, **own: Any) -> cognito.UserPoolClient:
        return cognito.UserPoolClient(
            self,
            construct_id,
            user_pool=self.pool,
            generate_secret=False,
            prevent_user_existence_errors=True,
            enable_token_revocation=True,
            id_token_validity=Duration.minutes(TOKEN_MINUTES),
            access_token_validity=Duration.minutes(TOKEN_MINUTES),
            read_attributes=cognito.ClientAttributes()
            .with_standard_attributes(email=True, email_verified=True, fullname=True)
            .with_custom_attributes("tenant", "role"),
            # NOTE: Cognito requires the required attributes here, and takes an empty set for "all".
            write_attributes=cognito.ClientAttributes().with_standard_attributes(email=True, fullname=True),
            **own,
        )


def _mailer(settings: Settings) -> cognito.UserPoolEmail | None:
    """SES as the sender of invitations and codes; None: Cognito itself, some 50 mails a day."""
    if not settings.mail_from:
        return None
    return cognito.UserPoolEmail.with_ses(
        from_email=settings.mail_from,
        from_name="gridview",
        ses_region=Aws.REGION,
        ses_verified_domain=settings.mail_from.rpartition("@")[2],
    )
