"""The client of a soak: a call is repeated until it is answered, whatever is killed meanwhile."""

import json
import time
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

import httpx

from devtools.failure import Failure
from devtools.importer.client import is_transient, retry_after

_PATIENCE: Final = 180.0
"""Seconds for which a call is repeated: longer than a restart of the stack on a busy machine."""
_PAUSE: Final = 0.5
_TIMEOUT: Final = httpx.Timeout(60.0, connect=5.0)


class Answered(NamedTuple):
    """An answer. `first`: the first attempt was answered, so nothing was done twice."""

    status: int
    headers: Mapping[str, str]
    body: Any
    first: bool


class Client:
    """One user of the API. For one thread."""

    def __init__(self, api: str, token: str) -> None:
        self._client = httpx.Client(
            base_url=api, headers={"Authorization": f"Bearer {token}"}, timeout=_TIMEOUT
        )

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answered:
        """The answer to a call, which is repeated until it has one that is final. Failure after three minutes."""
        content = None if body is None else json.dumps(body, default=str)
        given = {"Content-Type": "application/json", **(headers or {})}
        deadline = time.monotonic() + _PATIENCE
        first = True
        while True:
            pause = _PAUSE
            try:
                answer = self._client.request(method, path, content=content, headers=given)
            except httpx.TransportError as error:
                trouble = type(error).__name__
            else:
                if not is_transient(answer.status_code):
                    read = json.loads(answer.content, parse_float=Decimal) if answer.content else None
                    return Answered(answer.status_code, answer.headers, read, first)
                trouble = f"{answer.status_code} {answer.text}"
                pause = max(pause, retry_after(answer.headers.get("Retry-After")))
            first = False
            if time.monotonic() > deadline:
                raise Failure(f"{method} {path} was not answered: {trouble}")
            time.sleep(pause)

    def require(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        """The body of a good answer. Failure of another one."""
        answer = self.ask(method, path, body, headers)
        if answer.status >= httpx.codes.BAD_REQUEST:
            raise Failure(f"{method} {path} answered {answer.status}: {answer.body}")
        return answer.body
