"""The owners of connections that a container has met lately. The tenant and the project of a connection never
change, and API Gateway never reuses an id, so a remembered owner is never wrong.
"""

from collections import OrderedDict
from typing import Final

from gridview.live.sockets import Owner

_MOST: Final = 10_000
"""Connections, in some 2 MB."""


class KnownOwners:
    """Remembers the owners of the connections that were used last."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._owners: OrderedDict[str, Owner] = OrderedDict()

    def of(self, connection: str) -> Owner | None:
        """Return the owner of a connection; None: not known here."""
        if connection in self._owners:
            self._owners.move_to_end(connection)
        return self._owners.get(connection)

    def note(self, connection: str, owner: Owner) -> None:
        """Remember the owner of a connection."""
        self._owners[connection] = owner
        if len(self._owners) > self._most:
            self._owners.popitem(last=False)
