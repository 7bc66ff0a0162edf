"""Who makes a request, as the token says."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from gridview.schema import ids
from gridview.support.errors import Forbidden, Unauthenticated


class Role(IntEnum):
    """What a user may do; each role may do all that the ones below it may."""

    VIEWER = 1
    EDITOR = 2
    ADMIN = 3


_ROLES = {role.name.lower(): role for role in Role}


class Actor(NamedTuple):
    """A user of a tenant, with a role there."""

    tenant: str
    user: str
    role: Role

    def require(self, role: Role) -> None:
        """Forbidden when this user's role is below `role`."""
        if self.role < role:
            raise Forbidden(f"This needs the role {role.name.lower()}.")


def from_claims(claims: Mapping[str, Any]) -> Actor:
    """The actor of an ID token whose signature, audience and expiry the authorizer has verified; Unauthenticated otherwise.

    Cognito's access tokens pass the authorizer of an HTTP API too: `token_use` tells them apart.
    """
    tenant, user, role = (
        claims.get("custom:tenant"),
        claims.get("sub"),
        _ROLES.get(str(claims.get("custom:role"))),
    )
    if (
        claims.get("token_use") != "id"
        or not isinstance(tenant, str)
        or not ids.TENANT.fullmatch(tenant)
        or not isinstance(user, str)
        or not ids.USER.fullmatch(user)
        or role is None
    ):
        raise Unauthenticated("The token is not an ID token with a tenant, a user and a role.")
    return Actor(tenant, user, role)
