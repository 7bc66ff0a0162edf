"""Requests to a service of AWS without botocore's machinery: signed here, and sent over connections that are
kept alive.

The rest comes from botocore's client for the service. It gives the endpoint, the credentials, the time-outs,
and the hook before a request is sent, by which tests answer.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSPreparedRequest, AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import NoCredentialsError

from gridview.support import clock
from gridview.support.connections import Connections, HttpAnswer, Patience
from gridview.support.signature import Host, Secret, Signable, signed_headers

_TOLERATED: Final = 240
"""Seconds that a clock may be wrong. Services refuse signatures that are five minutes old."""

_TRIAL: Final = Secret("AKIDEXAMPLE", "a secret", "a/session+token==")


class SignedRequests:
    """Sends requests to the service of a client. Threads may use it at the same time."""

    def __init__(self, client: Any, credentials: Credentials | None, *, trusting: bool = False) -> None:
        """`client`: botocore's. `credentials` are asked for at each request. `trusting`: see `Connections`."""
        meta = client.meta
        parts = urlsplit(meta.endpoint_url)
        self._events = meta.events
        self._hook = f"before-send.{meta.service_model.service_id.hyphenize()}"
        self._credentials = credentials
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._path = parts.path.rstrip("/")
        self._host = Host(parts.netloc, meta.region_name, meta.service_model.signing_name)
        patience = Patience(meta.config.connect_timeout, meta.config.read_timeout)
        self._connections = Connections(self._origin, patience, trusting=trusting)
        self._agent = f"{meta.config.user_agent} md/transport#direct"
        self._skew = 0.0

    def send(
        self, operation: str, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> HttpAnswer:
        """Return the answer to a request of an operation (`PutItem`), of any status. `path`: below the
        endpoint, encoded.

        Broken. NoCredentialsError.
        """
        if self._credentials is None:
            raise NoCredentialsError
        instant = datetime.fromtimestamp(clock.seconds() + self._skew, UTC).strftime("%Y%m%dT%H%M%SZ")
        given: Any = self._credentials.get_frozen_credentials()
        secret = Secret(given.access_key, given.secret_key, given.token)
        asked = Signable(method, self._path + path, headers, body)
        signed: Any = signed_headers(self._host, asked, secret, instant)
        # Not signed, as in botocore: a proxy in between may change it.
        signed["User-Agent"] = self._agent
        request = AWSPreparedRequest(method, self._origin + asked.path, signed, body, False)
        _, instead = self._events.emit_until_response(f"{self._hook}.{operation}", request=request)
        if instead is not None:
            return HttpAnswer(instead.status_code, instead.headers, instead.content)
        return self._connections.send(method, asked.path, signed, body)

    def signs_as_botocore(self, headers: Mapping[str, str]) -> bool:
        """Return whether a request with these headers has the signature here that botocore's signer makes of
        it. Sends nothing.
        """
        body = b"{}"
        asked = Signable("POST", f"{self._path}/", headers, body)
        theirs = AWSRequest(asked.method, self._origin + asked.path, data=body, headers=dict(headers))
        try:
            SigV4Auth(Credentials(*_TRIAL), self._host.service, self._host.region).add_auth(theirs)
            ours = signed_headers(self._host, asked, _TRIAL, theirs.headers["X-Amz-Date"])
            return bool(ours["Authorization"] == theirs.headers["Authorization"])
        except Exception:
            # botocore's signer may have changed: nothing says that this one is right.
            return False

    def correct_clock(self, answer: HttpAnswer) -> bool:
        """Sign by the service's clock from here on, if the answer's date is minutes away from ours. Whether it was."""
        try:
            theirs = parsedate_to_datetime(answer.headers.get("date", "")).timestamp()
        except ValueError:
            return False
        skew = theirs - clock.seconds()
        if abs(skew - self._skew) < _TOLERATED:
            return False
        self._skew = skew
        return True
