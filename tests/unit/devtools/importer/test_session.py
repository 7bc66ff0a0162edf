"""The token of an import into a deployed stack, and its renewal, with a Cognito that only records."""

from typing import Any

import boto3
import jwt
import pytest
from botocore.exceptions import ClientError

from devtools.failure import Failure
from devtools.importer.session import Session

ISSUER = "https://cognito-idp.eu-west-2.amazonaws.com/eu-west-2_Abc"


def id_token(**claims: Any) -> str:
    return jwt.encode({"iss": ISSUER, "aud": "client", "exp": 0, **claims}, "k" * 32)


class Cognito:
    def __init__(self) -> None:
        self.made: list[tuple[Any, ...]] = []
        self.asked: list[dict[str, Any]] = []
        self.now = 0.0
        self.refuses = False

    def client(self, *arguments: Any, region_name: str, **_: Any) -> "Cognito":
        self.made.append((*arguments, region_name))
        return self

    def initiate_auth(self, **request: Any) -> Any:
        self.asked.append(request)
        if self.refuses:
            raise ClientError(
                {"Error": {"Code": "NotAuthorizedException", "Message": "User is disabled."}}, "InitiateAuth"
            )
        return {"AuthenticationResult": {"IdToken": f"renewed {len(self.asked)}"}}


@pytest.fixture
def cognito(monkeypatch: pytest.MonkeyPatch) -> Cognito:
    made = Cognito()
    monkeypatch.setattr(boto3, "client", made.client)
    return made


def session(cognito: Cognito, token: str, *, renewable: bool = True) -> Session:
    return Session(token, "refresh" if renewable else None, clock=lambda: cognito.now)


def test_the_token_is_given_at_first_and_a_renewed_one_when_it_is_asked_for_again(cognito: Cognito) -> None:
    given = id_token()
    one = session(cognito, given)
    assert one.token() == given
    assert cognito.asked == []
    assert one.token() == "renewed 1"
    assert cognito.made == [("cognito-idp", "eu-west-2")]
    assert cognito.asked == [
        {
            "ClientId": "client",
            "AuthFlow": "REFRESH_TOKEN_AUTH",
            "AuthParameters": {"REFRESH_TOKEN": "refresh"},
        }
    ]


def test_threads_that_are_refused_at_once_renew_once_and_later_again(cognito: Cognito) -> None:
    token = id_token()
    renewed = id_token(exp=1)
    cognito.initiate_auth = lambda **_: {"AuthenticationResult": {"IdToken": renewed}}  # type: ignore[method-assign]
    one = session(cognito, token)
    one.token()
    assert [one.token() for _ in range(4)] == [renewed] * 4
    assert len(cognito.made) == 1
    cognito.now += 900
    assert one.token() == renewed
    assert len(cognito.made) == 2


def test_without_a_refresh_token_a_refusal_says_what_to_do(cognito: Cognito) -> None:
    one = session(cognito, id_token(), renewable=False)
    one.token()
    with pytest.raises(Failure, match=r"is valid for 15 minutes.*GRIDVIEW_REFRESH_TOKEN"):
        one.token()


def test_a_refused_refresh_is_one_sentence(cognito: Cognito) -> None:
    cognito.refuses = True
    one = session(cognito, id_token())
    one.token()
    with pytest.raises(Failure, match=r"User is disabled.*Sign in again"):
        one.token()


@pytest.mark.parametrize(
    "token",
    [
        "nonsense",
        id_token(iss="https://cognito-idp.eu-west-2.amazonaws.com.example.org/eu-west-2_Abc"),
        id_token(iss="https://example.org/cognito-idp.eu-west-2.amazonaws.com/x"),
        id_token(iss=""),
        id_token(aud=["client", "other"]),
    ],
)
def test_a_refresh_token_is_sent_only_to_cognito(cognito: Cognito, token: str) -> None:
    one = session(cognito, token)
    one.token()
    with pytest.raises(Failure, match="not an ID token"):
        one.token()
    assert cognito.made == []
