"""Bearer tokens of the local stack. The data folder's random key signs them; their claims are those of a Cognito ID token."""

import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt

from devtools.failure import Failure
from gridview.commands.actor import Role
from gridview.schema.ids import TENANT, USER

ISSUER = "http://127.0.0.1/gridview-local"
AUDIENCE = "gridview-local"
LIFETIME_SECONDS = 12 * 60 * 60

_ALGORITHM = "HS256"


class InvalidTokenError(Exception):
    """The token is malformed, forged, expired or meant for someone else."""


def issue(
    key: bytes, *, tenant: str, role: str, user: str = "local-user", lifetime: int = LIFETIME_SECONDS
) -> str:
    """A token for a user of a tenant, valid for `lifetime` seconds. Failure when the API would not accept a claim."""
    if not TENANT.fullmatch(tenant):
        raise Failure(f"A tenant id matches {TENANT.pattern}, and {tenant!r} does not.")
    if role.upper() not in Role.__members__ or role != role.lower():
        raise Failure(
            f"A role is one of {', '.join(member.name.lower() for member in Role)}; {role!r} is not."
        )
    if not USER.fullmatch(user):
        raise Failure(f"A user id matches {USER.pattern}, and {user!r} does not.")
    claims = {
        "sub": user,
        "token_use": "id",
        "cognito:username": user,
        "custom:tenant": tenant,
        "custom:role": role,
        "auth_time": int(time.time()),
    }
    return signed(key, AUDIENCE, claims, lifetime)


def signed(key: bytes, audience: str, claims: Mapping[str, Any], lifetime: int = LIFETIME_SECONDS) -> str:
    """A token with these claims for an audience, valid for `lifetime` seconds."""
    now = int(time.time())
    whole = {"iss": ISSUER, "aud": audience, **claims, "iat": now, "exp": now + lifetime}
    return jwt.encode(whole, key, algorithm=_ALGORITHM)


def verified(key: bytes, audience: str, token: str) -> dict[str, Any]:
    """The claims of a good token for this audience; else InvalidTokenError."""
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[_ALGORITHM],
            issuer=ISSUER,
            audience=audience,
            options={"require": ["iss", "aud", "exp", "iat"]},
        )
    except (jwt.InvalidTokenError, RecursionError) as error:
        raise InvalidTokenError(str(error)) from error
    return claims


def claims_of(key: bytes, token: str) -> dict[str, str]:
    """The claims of a good token as strings, as an HTTP API's JWT authorizer passes them on; else InvalidTokenError.

    Like that authorizer it checks signature, issuer, audience and times, and leaves `token_use` to the functions.
    """
    claims = verified(key, AUDIENCE, token)
    return {name: value if isinstance(value, str) else str(value) for name, value in claims.items()}


def claims_in(key: bytes, authorization: str) -> dict[str, str]:
    """The claims of the good token in the value of a header `Authorization`; else InvalidTokenError."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise InvalidTokenError("not a bearer token")
    return claims_of(key, token.strip())


def key_in(data: Path) -> bytes:
    """The signing key of a data folder. It is made on first use; only its owner can read it."""
    return _secret_in(data / "token.key")


def cursor_secret_in(data: Path) -> str:
    """The secret of a data folder. The functions derive cursor keys from it. It is made on first use and kept."""
    return _secret_in(data / "cursor.secret").decode()


def webhook_secret_in(data: Path) -> str:
    """The secret of a data folder that seals the secrets of webhooks. It is made on first use and kept."""
    return _secret_in(data / "webhook.secret").decode()


def _secret_in(path: Path) -> bytes:
    if not path.exists():
        fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        fresh.touch(mode=0o600)
        fresh.write_text(secrets.token_hex(32))
        try:
            # A link fails where the name exists, so of two processes at once one wins and both read the same secret.
            path.hardlink_to(fresh)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_bytes()
