"""Requests to a service of AWS without botocore's machinery: signed here, and sent over connections that are kept alive.

All else is that of botocore's client for the service: its endpoint, its credentials, how long it waits, and its hook
before a request is sent, by which tests answer.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from botocore.awsrequest import AWSPreparedRequest
from botocore.credentials import Credentials
from botocore.exceptions import NoCredentialsError

from gridview.support import clock
from gridview.support.connections import Connections, HttpAnswer, Patience
from gridview.support.signature import Host, Secret, Signable, signed_headers


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

    def send(
        self, operation: str, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> HttpAnswer:
        """The answer to a request of an operation (`PutItem`), whatever its status. `path`: below the endpoint, encoded.

        Broken. NoCredentialsError.
        """
        if self._credentials is None:
            raise NoCredentialsError
        instant = datetime.fromtimestamp(clock.seconds(), UTC).strftime("%Y%m%dT%H%M%SZ")
        given: Any = self._credentials.get_frozen_credentials()
        secret = Secret(given.access_key, given.secret_key, given.token)
        asked = Signable(method, self._path + path, headers, body)
        signed: Any = signed_headers(self._host, asked, secret, instant)
        request = AWSPreparedRequest(method, self._origin + asked.path, signed, body, False)
        _, instead = self._events.emit_until_response(f"{self._hook}.{operation}", request=request)
        if instead is not None:
            return HttpAnswer(instead.status_code, instead.headers, instead.content)
        return self._connections.send(method, asked.path, signed, body)
