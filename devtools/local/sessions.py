"""The user at the browser: a key in the page's address buys a cookie, and the cookie's session names the signed-in
user.

The requests and answers of `PATH` are those of docs/decisions/0022-the-local-page-and-its-session.md.
"""

import hashlib
import json
import secrets
import time
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from devtools.local import gateway, tokens
from devtools.local.gateway import Request, Response
from gridview.encoding.json_codec import loads
from gridview.schema.ids import TENANT, USER
from gridview.support.errors import MethodNotAllowed, RequestError, Unauthenticated
from gridview.support.validation import RequestModel, parse

PATH = "/local/session"

_KEYS = "page-keys"
"""Folder of the keys that are not spent: an empty file for each, named by the key's hash."""
_AUDIENCE = "gridview-local-page"
_ALLOW = "DELETE, GET, POST, PUT"


class Person(NamedTuple):
    """The signed-in user; all three are None without one."""

    tenant: str | None = None
    user: str | None = None
    role: str | None = None


class _Key(RequestModel):
    """POST: the key from the page's address."""

    key: str


class _SignIn(RequestModel):
    """PUT: who to be."""

    tenant: str = Field(pattern=f"^{TENANT.pattern}$")
    user: str = Field(pattern=f"^{USER.pattern}$")
    role: Literal["viewer", "editor", "admin"]


def new_key(data: Path) -> str:
    """Make a key that is good once, for as long as a token. Removes keys that were not used in time."""
    folder = data / _KEYS
    folder.mkdir(mode=0o700, exist_ok=True)
    for kept in folder.iterdir():
        if _expired(kept):
            kept.unlink(missing_ok=True)
    key = secrets.token_urlsafe(32)
    (folder / _name(key)).touch(mode=0o600)
    return key


def _spent(data: Path, key: str) -> bool:
    """Spend a key; False if it is none. A file is removed once, so of two who bring the same key one succeeds."""
    kept = data / _KEYS / _name(key)
    try:
        late = _expired(kept)
        kept.unlink()
    except FileNotFoundError:
        return False
    return not late


def _name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _expired(kept: Path) -> bool:
    return time.time() - kept.stat().st_mtime > tokens.LIFETIME_SECONDS


class Sessions:
    """The sessions of one stack. They are signed with its key, and only the browsers keep them."""

    def __init__(self, data: Path, port: int) -> None:
        """`port`: of the stack. Browsers send a cookie to every port of a host, so its name has it."""
        self._data = data
        self._key = tokens.key_in(data)
        self._cookie = f"gridview-{port}"

    def answer(self, request: Request) -> Response:
        """The answer to a request of `PATH`."""
        try:
            return self._answer(request)
        except RequestError as error:
            return gateway.refusal(error, request.id)

    def _answer(self, request: Request) -> Response:
        match request.method:
            case "POST":
                if not _spent(self._data, parse(_Key, loads(request.body)).key):
                    raise Unauthenticated("The key is wrong or was used before; `./dev up` prints a new one.")
                return self._opened(Person())
            case "GET":
                person = self._person(request)
                body = json.dumps(person._asdict()).encode()
                headers = [("content-type", "application/json"), ("cache-control", "no-store")]
                return Response(200, headers, body)
            case "PUT":
                self._person(request)
                wanted = parse(_SignIn, loads(request.body))
                return self._opened(Person(wanted.tenant, wanted.user, wanted.role))
            case "DELETE":
                self._person(request)
                return self._opened(Person())
        raise MethodNotAllowed(
            f"This path does not allow {request.method}. Use {_ALLOW}.", headers={"Allow": _ALLOW}
        )

    def with_token(self, request: Request) -> Request:
        """The request as the API takes it: without cookies, with a token of the session's user if it has no token of its own."""
        headers = {name: value for name, value in request.headers.items() if name != "cookie"}
        if "authorization" not in headers:
            try:
                tenant, user, role = self._person(request)
            except Unauthenticated:
                tenant = user = role = None
            if tenant and user and role:
                token = tokens.issue(self._key, tenant=tenant, user=user, role=role)
                headers["authorization"] = f"Bearer {token}"
        return replace(request, headers=headers)

    def _opened(self, person: Person) -> Response:
        session = tokens.signed(self._key, _AUDIENCE, person._asdict())
        lasting = f"Path=/; HttpOnly; SameSite=Strict; Max-Age={tokens.LIFETIME_SECONDS}"
        return Response(204, [("set-cookie", f"{self._cookie}={session}; {lasting}")], b"")

    def _person(self, request: Request) -> Person:
        """The signed-in user of this browser. Unauthenticated without a good cookie."""
        for part in request.headers.get("cookie", "").split(";"):
            name, _, value = part.strip().partition("=")
            if name == self._cookie:
                try:
                    claims = tokens.verified(self._key, _AUDIENCE, value)
                except tokens.InvalidTokenError:
                    break
                return Person(*(claims[one] for one in Person._fields))
        raise Unauthenticated("This browser has no session; open the address that `./dev up` prints.")
