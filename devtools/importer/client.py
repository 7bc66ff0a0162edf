"""The importer's client of the HTTP API. Its requests survive throttling, restarts and lost connections."""

import random
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final

import httpx

from devtools.failure import Failure

PATIENCE: Final = 120.0
"""Seconds in which a request is repeated: longer than a restart of the local stack or a burst of throttling.
"""

_FIRST_WAIT: Final = 0.25
_LONGEST_WAIT: Final = 15.0
_TIMEOUT: Final = httpx.Timeout(35.0, connect=5.0)
"""API Gateway answers within 30 s, even if with an error."""


class RefusedError(Exception):
    """The API permanently refuses a request. Holds its problem document."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(str(problem.get("detail") or problem.get("title") or f"status {status}"))
        self.status = status
        self.problem = problem


class Api:
    """Requests to one API. Safe to use from several threads.

    `token` gives a token at first, and another when the API no longer accepts it.
    """

    def __init__(
        self,
        url: str,
        token: Callable[[], str],
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.url = url.rstrip("/")
        self._token = token
        self._authorization = f"Bearer {token()}"
        self._cancelled = threading.Event()
        self._sleep = sleep or self._cancelled.wait
        self._clock = clock
        self._client = httpx.Client(base_url=self.url, transport=transport, timeout=_TIMEOUT)

    def cancel(self) -> None:
        """Stop repeating requests, in every thread."""
        self._cancelled.set()

    def pause(self, attempt: int) -> None:
        """Wait before the next attempt, longer each time, unless cancelled."""
        self._sleep(_back_off(attempt))
        self._check_cancelled()

    def wait(self, seconds: float) -> None:
        """Wait for so long, unless cancelled."""
        self._sleep(seconds)
        self._check_cancelled()

    def _check_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise Failure("The import was stopped.")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, path: str) -> Any:
        """The resource, or None."""
        try:
            return self._request("GET", path)
        except RefusedError as refused:
            if refused.status == httpx.codes.NOT_FOUND:
                return None
            raise

    def post(self, path: str, body: bytes, *, key: str | None = None) -> Any:
        """The answer to a POST, which is carried out once however often it is sent.

        `key` is its Idempotency-Key, by default one that only this call uses.
        """
        return self._request("POST", path, body, {"Idempotency-Key": key or uuid.uuid4().hex})

    def patch(self, path: str, body: bytes) -> Any:
        """The answer to a PATCH."""
        return self._request("PATCH", path, body)

    def _request(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Any:
        deadline = self._clock() + PATIENCE
        attempt = 0
        renewed = False
        while True:
            authorization = self._authorization
            try:
                answer = self._client.request(
                    method,
                    path,
                    content=body or None,
                    headers={
                        "Authorization": authorization,
                        "Content-Type": "application/json",
                        **(headers or {}),
                    },
                )
            except httpx.TransportError as error:
                wait, trouble = _back_off(attempt), f"cannot be reached ({type(error).__name__})"
            except httpx.InvalidURL as error:
                raise Failure(f"{self.url} is not the address of an API.") from error
            else:
                if answer.status_code == httpx.codes.UNAUTHORIZED and not renewed:
                    renewed = True
                    self._authorization = f"Bearer {self._token()}"
                    if self._authorization != authorization:
                        continue
                if not is_transient(answer.status_code):
                    return self._content(answer)
                wait = max(_back_off(attempt), retry_after(answer.headers.get("Retry-After")))
                trouble = f"keeps answering {answer.status_code}"
            if self._clock() + wait > deadline:
                raise Failure(f"The API at {self.url} {trouble}; run the same command again to continue.")
            self._sleep(wait)
            self._check_cancelled()
            attempt += 1

    def _content(self, answer: httpx.Response) -> Any:
        try:
            content = answer.json()
        except ValueError:
            content = None
        if answer.is_success and content is not None:
            return content
        if answer.is_success or not isinstance(content, dict):
            raise Failure(f"The server at {self.url} is not a gridview API (status {answer.status_code}).")
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            raise Failure("The API does not accept the token.")
        raise RefusedError(answer.status_code, content)


def is_transient(status: int) -> bool:
    """Whether the same request may succeed later: it was throttled, or the server failed."""
    return status == httpx.codes.TOO_MANY_REQUESTS or (
        status >= httpx.codes.INTERNAL_SERVER_ERROR and status != httpx.codes.NOT_IMPLEMENTED
    )


def retry_after(header: str | None) -> float:
    """Seconds that a Retry-After header asks for, as a number or a date (RFC 9110, 10.2.3).

    0 when it says nothing.
    """
    if header is None:
        return 0.0
    if header.strip().isascii() and header.strip().isdigit():
        return float(header.strip()[:9])
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, TypeError):
        return 0.0


def _back_off(attempt: int) -> float:
    # Full jitter: many senders that were refused together must not come back together.
    return random.uniform(0, min(_LONGEST_WAIT, _FIRST_WAIT * 2**attempt))  # noqa: S311  (not a secret)
