"""The smoke test's view of a stack, local or deployed."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

import httpx
from websockets.sync.client import ClientConnection


class Receiver(NamedTuple):
    """A receiver of webhooks.

    `has_received`: whether a message that this secret signs has arrived. None: only the list of deliveries shows it.
    """

    url: str
    has_received: Callable[[str], bool] | None


class Stack(Protocol):
    """A stack, and two tenants that the test has for itself."""

    name: str
    web: httpx.Client
    """A client without a token, which reaches whatever the stack names."""

    def page_url(self) -> str:
        """The address of the page. NotShown."""

    def api(self, *, foreign: bool = False) -> httpx.Client:
        """The API as an administrator of the test's tenant sees it, or one of the foreign tenant."""

    def foreign_keys(self, project: str) -> None:
        """Check that IAM refuses the foreign tenant's keys to a session of the test's tenant, which has this project.

        NotShown, Wrong.
        """

    def connect(self, url: str) -> AbstractContextManager[ClientConnection]:
        """An open socket. NotShown."""

    def exported(self, url: str) -> tuple[str, str | None]:
        """The file that the link of an export leads to, and why the link itself could not be shown. Wrong."""

    def receiver(self) -> AbstractContextManager[Receiver]:
        """A receiver of webhooks. NotShown."""
