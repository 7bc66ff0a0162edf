import re
from typing import Any

import pytest

from infra.paths import ROOT
from tests.support.templates import of_construct, only, resources

CLIENT = "AWS::Cognito::UserPoolClient"
CLIENTS = ["IdentityClient", "IdentityPage"]
CLAIMS = {"custom:tenant", "custom:role"}


def test_only_administrators_create_users(template: dict[str, Any]) -> None:
    pool = only(template, "AWS::Cognito::UserPool")
    assert pool["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}


def test_tenant_never_changes_and_role_may(template: dict[str, Any]) -> None:
    schema = {one["Name"]: one["Mutable"] for one in only(template, "AWS::Cognito::UserPool")["Schema"]}
    assert schema["tenant"] is False
    assert schema["role"] is True


@pytest.mark.parametrize("name", CLIENTS)
def test_users_cannot_write_their_tenant_or_role(template: dict[str, Any], name: str) -> None:
    client = of_construct(template, CLIENT, name)
    # An empty list would make every attribute writable.
    assert client["WriteAttributes"]
    assert not CLAIMS & set(client["WriteAttributes"])
    assert set(client["ReadAttributes"]) >= CLAIMS


@pytest.mark.parametrize("name", CLIENTS)
def test_id_and_access_tokens_live_for_fifteen_minutes(template: dict[str, Any], name: str) -> None:
    """A disabled or demoted user keeps the rights of the token for so long."""
    client = of_construct(template, CLIENT, name)
    units = client["TokenValidityUnits"]
    assert (client["IdTokenValidity"], units["IdToken"]) == (15, "minutes")
    assert (client["AccessTokenValidity"], units["AccessToken"]) == (15, "minutes")


@pytest.mark.parametrize("name", CLIENTS)
def test_required_attributes_are_writable(template: dict[str, Any], name: str) -> None:
    """Cognito refuses a client without these."""
    schema = only(template, "AWS::Cognito::UserPool")["Schema"]
    required = {one["Name"] for one in schema if one.get("Required")}
    assert required <= set(of_construct(template, CLIENT, name)["WriteAttributes"])


@pytest.mark.parametrize("name", CLIENTS)
def test_clients_are_public_and_give_nothing_away(template: dict[str, Any], name: str) -> None:
    client = of_construct(template, CLIENT, name)
    assert client["GenerateSecret"] is False
    assert client["PreventUserExistenceErrors"] == "ENABLED"
    assert client["EnableTokenRevocation"] is True


def test_programs_sign_in_with_a_password_and_not_by_the_managed_login(template: dict[str, Any]) -> None:
    client = of_construct(template, CLIENT, "IdentityClient")
    assert client["AllowedOAuthFlowsUserPoolClient"] is False
    assert set(client["ExplicitAuthFlows"]) == {
        "ALLOW_USER_SRP_AUTH",
        "ALLOW_USER_PASSWORD_AUTH",
        "ALLOW_REFRESH_TOKEN_AUTH",
    }


def test_the_page_accepts_a_code_only_at_its_own_address(template: dict[str, Any]) -> None:
    client = of_construct(template, CLIENT, "IdentityPage")
    (distribution,) = resources(template, "AWS::CloudFront::Distribution")
    page = ["https://", {"Fn::GetAtt": [distribution, "DomainName"]}]
    assert client["AllowedOAuthFlowsUserPoolClient"] is True
    assert client["AllowedOAuthFlows"] == ["code"]
    # Without aws.cognito.signin.user.admin: no token of the page changes its user.
    assert client["AllowedOAuthScopes"] == ["openid", "email", "profile"]
    assert client["CallbackURLs"] == [{"Fn::Join": ["", [*page, "/callback"]]}]
    assert client["LogoutURLs"] == [{"Fn::Join": ["", [*page, "/"]]}]
    assert client["SupportedIdentityProviders"] == ["COGNITO"]


def test_a_refresh_token_of_the_page_is_good_once(template: dict[str, Any]) -> None:
    client = of_construct(template, CLIENT, "IdentityPage")
    assert client["RefreshTokenRotation"] == {"Feature": "ENABLED", "RetryGracePeriodSeconds": 30}
    # Cognito refuses rotation together with this flow, and an empty list means the default ones.
    assert client["ExplicitAuthFlows"]
    assert "ALLOW_REFRESH_TOKEN_AUTH" not in client["ExplicitAuthFlows"]


def test_a_domain_of_ones_own_is_the_address_of_the_page(chosen_template: dict[str, Any]) -> None:
    client = of_construct(chosen_template, CLIENT, "IdentityPage")
    assert client["CallbackURLs"] == ["https://grid.example.org/callback"]
    assert client["LogoutURLs"] == ["https://grid.example.org/"]


def test_the_managed_login_has_a_style_and_a_prefix_that_no_other_stack_has(
    template: dict[str, Any], chosen_template: dict[str, Any]
) -> None:
    (pool,) = resources(template, "AWS::Cognito::UserPool")
    (page,) = (one for one in resources(template, CLIENT) if one.startswith("IdentityPage"))
    assert only(template, "AWS::Cognito::UserPool")["UserPoolTier"] == "ESSENTIALS"
    domain = only(template, "AWS::Cognito::UserPoolDomain")
    assert (domain["ManagedLoginVersion"], domain["UserPoolId"]) == (2, {"Ref": pool})
    assert only(template, "AWS::Cognito::ManagedLoginBranding") == {
        "UserPoolId": {"Ref": pool},
        "ClientId": {"Ref": page},
        "UseCognitoProvidedValues": True,
    }
    prefix, account = domain["Domain"]["Fn::Join"][1]
    assert account == {"Ref": "AWS::AccountId"}
    # Cognito's limit: 63 characters, including the twelve of the account.
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,50}", prefix)
    other = only(chosen_template, "AWS::Cognito::UserPoolDomain")["Domain"]["Fn::Join"][1][0]
    assert other != prefix


def test_without_a_page_there_is_no_sign_in_by_a_browser(api_template: dict[str, Any]) -> None:
    kinds = {resource["Type"] for resource in api_template["Resources"].values()}
    assert not {"AWS::Cognito::UserPoolDomain", "AWS::Cognito::ManagedLoginBranding"} & kinds
    assert only(api_template, CLIENT)["AllowedOAuthFlowsUserPoolClient"] is False


def test_the_page_of_authentication_has_the_periods_of_the_pool(template: dict[str, Any]) -> None:
    text = " ".join((ROOT / "docs/authentication.md").read_text("utf-8").split())
    policy = only(template, "AWS::Cognito::UserPool")["Policies"]["PasswordPolicy"]
    client = of_construct(template, CLIENT, "IdentityClient")
    assert client["TokenValidityUnits"]["RefreshToken"] == "minutes"
    days = client["RefreshTokenValidity"] // (24 * 60)
    assert f"A password has at least {policy['MinimumLength']} characters" in text
    assert f"password that is valid for {policy['TemporaryPasswordValidityDays']} days" in text
    assert f"The refresh token is valid for {days} days" in text
    assert f"After {days} days, or if a refresh fails" in text
