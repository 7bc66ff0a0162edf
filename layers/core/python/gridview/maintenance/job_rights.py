"""Whether the user of a job may still do its work, as the user directory says now.

A token states a role for minutes; a job lasts longer. So each turn of a job asks the directory. The user may
have been removed, disabled, moved to another tenant or given a lower role; then the user's jobs stop after
the present turn.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from gridview.commands.actor import Role, role_named
from gridview.schema.user_jobs import JobKind, UserJob
from gridview.support import aws
from gridview.support.errors import Forbidden, Overloaded

NEEDED: Mapping[JobKind, Role] = {
    JobKind.UPDATE: Role.EDITOR,
    JobKind.DELETE: Role.EDITOR,
    JobKind.UNDO: Role.EDITOR,
    JobKind.EXPORT: Role.VIEWER,
}
"""The lowest role that may start a job of a kind, and let it continue; for an undo, of the user's own change."""

RoleOf = Callable[[str, str], Role | None]
"""The present role of a user in a tenant, by their ids; None: the user has none there."""


def unknown_roles(tenant: str, user: str) -> Role | None:  # noqa: ARG001
    """Return the highest role: no directory can be asked, so a job keeps the rights that it was started with."""
    return max(Role)


def needed_role(job: UserJob, asked: Mapping[str, Any]) -> Role:
    """Return the lowest role with which a job continues. `asked`: the order of an undo, which names the user whose change
    it takes back.
    """
    is_of_another = job.kind is JobKind.UNDO and asked["by"] != job.user
    return Role.ADMIN if is_of_another else NEEDED[job.kind]


def require_role(role_of: RoleOf, tenant: str, user: str, needed: Role) -> None:
    """Raise Forbidden unless a user still has a role. Overloaded: the directory does not answer now."""
    role = role_of(tenant, user)
    stays = "The changes of the job stay; an administrator can undo them."
    if role is None:
        raise Forbidden(f"The user who started the job was removed or disabled. {stays}")
    if role < needed:
        raise Forbidden(
            f"The user who started the job is {role.name.lower()} now, and the job needs the role "
            f"{needed.name.lower()}. {stays}"
        )


@cache
def role_source(user_pool: str) -> RoleOf:
    """Return the roles of a Cognito user pool, by its id; without one all are unknown."""
    return UserPool(user_pool).role_of if user_pool else unknown_roles


class UserPool:
    """A user pool of Cognito. A user's id is the `sub`, by which the pool finds users who sign in with an address."""

    def __init__(self, pool: str) -> None:
        self._pool = pool
        self._client = aws.client("cognito-idp", aws.PATIENT)

    def role_of(self, tenant: str, user: str) -> Role | None:
        """Return the role of a user (`RoleOf`): one call. Overloaded: the pool refuses calls for now, or
        can't be reached.
        """
        try:
            found = self._client.admin_get_user(UserPoolId=self._pool, Username=user)
        except self._client.exceptions.UserNotFoundException:
            return None
        except aws.FAILURES as error:
            raise Overloaded("The user directory does not answer; try again.") from error
        return _role_in(found, tenant, user)


def _role_in(found: Mapping[str, Any], tenant: str, user: str) -> Role | None:
    attributes = {one["Name"]: one["Value"] for one in found["UserAttributes"]}
    if not found["Enabled"] or (attributes.get("custom:tenant"), attributes.get("sub")) != (tenant, user):
        return None
    return role_named(attributes.get("custom:role"))
