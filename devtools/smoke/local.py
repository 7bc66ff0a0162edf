"""The local stack, as the smoke test sees it."""

import secrets
from contextlib import AbstractContextManager

import httpx
from websockets.sync.client import ClientConnection, connect

from devtools.local import tokens
from devtools.local.folder import Folder
from devtools.smoke.outcome import PATIENCE, NotShown
from devtools.smoke.receiver import on_this_machine
from devtools.smoke.stack import Receiver


class LocalStack:
    """A running local stack. Its tenants are new ones, whose tokens its own key signs."""

    def __init__(self, folder: Folder) -> None:
        """Failure when none runs."""
        self.name = folder.require_running().api
        self._key = tokens.key_in(folder.path)
        own = f"smoke{secrets.token_hex(4)}"
        self._tenants = {False: own, True: f"{own}x"}
        self.web = httpx.Client(timeout=PATIENCE)

    def page_url(self) -> str:
        """The page of the stack."""
        return f"{self.name}/"

    def api(self, *, foreign: bool = False) -> httpx.Client:
        """The API, by a token of this machine."""
        token = tokens.issue(self._key, tenant=self._tenants[foreign], role="admin")
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.name, headers=headers, timeout=PATIENCE)

    def foreign_keys(self, project: str) -> None:
        """There is no IAM."""
        del project
        raise NotShown("a local stack has no IAM")

    def connect(self, url: str) -> AbstractContextManager[ClientConnection]:
        """A socket of this machine."""
        return connect(url, open_timeout=PATIENCE)

    def exported(self, url: str) -> tuple[str, str | None]:
        """The file to which the link leads."""
        return self.web.get(url).raise_for_status().text, None

    def receiver(self) -> AbstractContextManager[Receiver]:
        """A server of this machine."""
        return on_this_machine()
