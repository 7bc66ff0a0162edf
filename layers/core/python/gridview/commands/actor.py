"""The user who makes a request, as the verified token states."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from gridview.schema import ids
from gridview.support.errors import Forbidden, Unauthenticated

MAX_NAME = 256
"""Characters of a user's name. The directory allows more."""


class Role(IntEnum):
    """The rights of a user; each role includes the ones below it."""

    VIEWER = 1
    EDITOR = 2
    ADMIN = 3


_ROLES = {role.name.lower(): role for role in Role}


def role_named(name: object) -> Role | None:
    """Return the role with a name as tokens and the user directory have it; None for any other value."""
    return _ROLES.get(str(name))


class Actor(NamedTuple):
    """A user of a tenant, with a role in it."""

    tenant: str
    user: str
    role: Role

    def require(self, role: Role) -> None:
        """Raise Forbidden if this user's role is below `role`."""
        if self.role < role:
            raise Forbidden(
                f"This call requires the role {role.name.lower()}. Ask an administrator to make the call, or to give "
                "you the role."
            )


def from_claims(claims: Mapping[str, Any]) -> Actor:
    """Return the actor of an ID token whose signature, audience and expiry the authorizer has verified.
    Unauthenticated on a bad claim.

    An HTTP API's authorizer also accepts Cognito's access tokens; they have another `token_use`.
    """
    tenant, user, role = (
        claims.get("custom:tenant"),
        claims.get("sub"),
        role_named(claims.get("custom:role")),
    )
    if (
        claims.get("token_use") != "id"
        or not isinstance(tenant, str)
        or not ids.TENANT.fullmatch(tenant)
        or not isinstance(user, str)
        or not ids.USER.fullmatch(user)
        or user == ids.FORMER_USER
        or role is None
    ):
        raise Unauthenticated(
            "The token is not an ID token with a tenant, a user and a role. Send the ID token of a sign-in."
        )
    return Actor(tenant, user, role)


def end_in(claims: Mapping[str, Any]) -> float:
    """Until when a good token is believed, in seconds since 1970. Unauthenticated if it does not say so."""
    try:
        return float(int(claims["exp"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        raise Unauthenticated("The token has no expiry. Send the ID token of a sign-in.") from None


def name_in(claims: Mapping[str, Any]) -> str:
    """Return how people call the user of a valid token: the name, else the address, else the id."""
    names = (claims.get(one) for one in ("name", "email", "sub"))
    trimmed = (one.encode(errors="replace").decode().strip() for one in names if isinstance(one, str))
    return next(filter(None, trimmed), "")[:MAX_NAME]
