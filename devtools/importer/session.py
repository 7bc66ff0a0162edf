"""The user of an import on a deployed stack: an ID token of Cognito, renewed while the import lasts."""

import re
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import boto3
import jwt
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from devtools.failure import Failure
from infra.limits import TOKEN_MINUTES

_SHARED_SECONDS: Final = 10.0
"""A token that is younger than this was renewed for another thread."""

_ISSUER: Final = re.compile(r"https://cognito-idp\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/[\w-]+")


class Session:
    """Gives the token at first, and a renewed one whenever it is asked again. Safe to use from several threads."""

    def __init__(
        self, token: str, refresh_token: str | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`token` may have expired, if there is a refresh token: it names the pool and the client."""
        self._token = token
        self._refresh_token = refresh_token
        self._clock = clock
        self._renewed: float | None = None
        self._given = False
        self._lock = threading.Lock()

    def token(self) -> str:
        """A token to try. Failure when it cannot be renewed."""
        with self._lock:
            if self._given and not self._is_fresh():
                self._token = self._renew()
                self._renewed = self._clock()
            self._given = True
            return self._token

    def _is_fresh(self) -> bool:
        return self._renewed is not None and self._clock() - self._renewed < _SHARED_SECONDS

    def _renew(self) -> str:
        if self._refresh_token is None:
            raise Failure(
                f"The API does not accept the token. An ID token is valid for {TOKEN_MINUTES} minutes. "
                "Give a new one, and its refresh token in GRIDVIEW_REFRESH_TOKEN. "
                "Then run the same command again to continue."
            )
        region, client_id = _client_of(self._token)
        try:
            cognito: Any = boto3.client(
                "cognito-idp", region_name=region, config=Config(signature_version=UNSIGNED)
            )
            answer = cognito.initiate_auth(
                ClientId=client_id,
                AuthFlow="REFRESH_TOKEN_AUTH",
                AuthParameters={"REFRESH_TOKEN": self._refresh_token},
            )
        except (BotoCoreError, ClientError) as error:
            raise Failure(
                f"The token cannot be renewed: {error}. Sign in again, then run the same command again to continue."
            ) from error
        renewed: str = answer["AuthenticationResult"]["IdToken"]
        return renewed


def tenant_of(token: str) -> str | None:
    """The tenant of a token; None if it names none."""
    try:
        return str(_claims(token)["custom:tenant"])
    except (jwt.InvalidTokenError, KeyError):
        return None


def _claims(token: str) -> dict[str, Any]:
    # Not verified: it is the caller's own token, and only AWS is asked, by a name that is made from a region.
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return claims


def _client_of(token: str) -> tuple[str, str]:
    """The region of the pool that issued an ID token, and the client that it was issued to."""
    try:
        claims = _claims(token)
    except jwt.InvalidTokenError as error:
        raise Failure(
            "The token is not an ID token, so it cannot be renewed. Sign in again for a new one."
        ) from error
    issuer = _ISSUER.fullmatch(str(claims.get("iss")))
    client = claims.get("aud")
    if issuer is None or not isinstance(client, str):
        raise Failure(
            "The token is not an ID token of a Cognito user pool, so it cannot be renewed. Get a new one."
        )
    return issuer[1], client
