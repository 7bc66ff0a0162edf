from typing import Any

from tests.support.templates import only

CLAIMS = {"custom:tenant", "custom:role"}


def test_nobody_signs_up_alone(template: dict[str, Any]) -> None:
    pool = only(template, "AWS::Cognito::UserPool")
    assert pool["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}


def test_tenant_never_changes_and_role_may(template: dict[str, Any]) -> None:
    schema = {one["Name"]: one["Mutable"] for one in only(template, "AWS::Cognito::UserPool")["Schema"]}
    assert schema["tenant"] is False
    assert schema["role"] is True


def test_users_cannot_write_their_tenant_or_role(template: dict[str, Any]) -> None:
    client = only(template, "AWS::Cognito::UserPoolClient")
    # An empty list would mean that all may be written.
    assert client["WriteAttributes"]
    assert not CLAIMS & set(client["WriteAttributes"])
    assert set(client["ReadAttributes"]) >= CLAIMS


def test_id_and_access_tokens_live_for_fifteen_minutes(template: dict[str, Any]) -> None:
    """So long a user who is disabled or demoted keeps what the token says."""
    client = only(template, "AWS::Cognito::UserPoolClient")
    units = client["TokenValidityUnits"]
    assert (client["IdTokenValidity"], units["IdToken"]) == (15, "minutes")
    assert (client["AccessTokenValidity"], units["AccessToken"]) == (15, "minutes")


def test_required_attributes_are_writable(template: dict[str, Any]) -> None:
    """Cognito refuses a client for which they are not."""
    schema = only(template, "AWS::Cognito::UserPool")["Schema"]
    required = {one["Name"] for one in schema if one.get("Required")}
    assert required <= set(only(template, "AWS::Cognito::UserPoolClient")["WriteAttributes"])


def test_the_client_is_public_and_gives_nothing_away(template: dict[str, Any]) -> None:
    client = only(template, "AWS::Cognito::UserPoolClient")
    assert client["GenerateSecret"] is False
    assert client["PreventUserExistenceErrors"] == "ENABLED"
    assert client["EnableTokenRevocation"] is True
    assert client["AllowedOAuthFlowsUserPoolClient"] is False
    assert set(client["ExplicitAuthFlows"]) == {
        "ALLOW_USER_SRP_AUTH",
        "ALLOW_USER_PASSWORD_AUTH",
        "ALLOW_REFRESH_TOKEN_AUTH",
    }
