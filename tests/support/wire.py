"""The connections of the WebSocket API without a network: the messages to each, and whether it is
closed, gone or slow.
"""

import json
from collections import defaultdict
from typing import Any

from gridview.live.socket_messages import MAX_FRAME_BYTES
from gridview.live.wire import Gone, Slow


class MemoryWire:
    """Records messages. A closed connection is gone."""

    def __init__(self) -> None:
        self.sent: dict[str, list[Any]] = defaultdict(list)
        self.open: set[str] = set()
        self.slow: set[str] = set()

    def clear(self) -> None:
        """Forget all connections."""
        self.sent.clear()
        self.open.clear()
        self.slow.clear()

    def post(self, connection: str, frame: bytes) -> None:
        """Send a message."""
        assert len(frame) <= MAX_FRAME_BYTES
        if connection not in self.open:
            raise Gone
        if connection in self.slow:
            raise Slow
        self.sent[connection].append(json.loads(frame))

    def end(self, connection: str) -> None:
        """Close a connection."""
        self.open.discard(connection)
