"""The tenant for whom the calls of a request are made, and the credentials that reach no further than that
tenant.

With a session role the one client signs each request with credentials of the tenant in whose name it is made.
They belong to a session of that role that is tagged with the tenant; the role's policy names the partition
keys of that tag's tenant. So all tenants share the client and its connections. The tenant is a context
variable; `concurrency.in_context` takes it along into other threads.
"""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from threading import Lock
from typing import Any, Final

from botocore.credentials import Credentials, ReadOnlyCredentials, RefreshableCredentials

from gridview.support import aws
from gridview.support.errors import Overloaded

TAG: Final = "tenant"
"""The name of the session tag."""

_SECONDS: Final = 900
"""Seconds that a session lasts: the shortest that STS gives."""
_RENEWED: Final = 300
"""Seconds before its end from which on a session is renewed; the present one serves on as long as that fails."""
_OVER: Final = 60
"""Seconds before its end from which on a session is not used any more."""
_TENANTS: Final = 500
"""Tenants whose sessions are kept, 3 KB each."""

_tenant: ContextVar[str | None] = ContextVar("tenant", default=None)


@contextmanager
def acting_for(tenant: str | None) -> Iterator[None]:
    """Make the calls within in the name of a tenant. None: of nobody, and a client with a session role then
    refuses to call.
    """
    before = _tenant.set(tenant)
    try:
        yield
    finally:
        _tenant.reset(before)


def tenant() -> str:
    """Return the tenant whom calls are made for now.

    Raises:
        LookupError: for nobody.
    """
    found = _tenant.get()
    if found is None:
        raise LookupError("a call of the table needs a tenant")
    return found


class SessionCredentials(Credentials):
    """The credentials of the current tenant. A tenant's first request makes one call to STS, as does one
    every ten minutes.

    Raises Overloaded if STS keeps refusing: a role that has just been made is unknown to it for seconds.
    """

    def __init__(self, role: str) -> None:
        super().__init__("", "", method="tenant-session")
        self._role = role
        self._sts = aws.client("sts", aws.PATIENT)
        self._sessions: OrderedDict[str, RefreshableCredentials] = OrderedDict()
        self._lock = Lock()

    def get_frozen_credentials(self) -> ReadOnlyCredentials:
        """Return the credentials to sign the current request. botocore asks for them in the thread that makes
        the request.
        """
        return self._session(tenant()).get_frozen_credentials()

    def _session(self, of: str) -> RefreshableCredentials:
        with self._lock:
            if of not in self._sessions:
                begin = partial(self._begun, of)
                self._sessions[of] = RefreshableCredentials.create_from_metadata(
                    begin(), begin, self.method, advisory_timeout=_RENEWED, mandatory_timeout=_OVER
                )
            self._sessions.move_to_end(of)
            if len(self._sessions) > _TENANTS:
                self._sessions.popitem(last=False)
            return self._sessions[of]

    def _begun(self, of: str) -> dict[str, Any]:
        try:
            # The name appears in CloudTrail and in refusals; a tenant is no person.
            answer = self._sts.assume_role(
                RoleArn=self._role,
                RoleSessionName=of,
                DurationSeconds=_SECONDS,
                Tags=[{"Key": TAG, "Value": of}],
            )
        except aws.FAILURES as error:
            raise Overloaded("The tenant's session for the table cannot be opened; try again.") from error
        given = answer["Credentials"]
        return {
            "access_key": given["AccessKeyId"],
            "secret_key": given["SecretAccessKey"],
            "token": given["SessionToken"],
            "expiry_time": given["Expiration"].isoformat(),
        }
