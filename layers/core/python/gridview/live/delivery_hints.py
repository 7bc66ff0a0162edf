"""Hints at the outboxes of projects that have just changed, so that messages are sent a second or so after a write."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gridview.derive.images import projects_in
from gridview.dynamodb.table import Table
from gridview.encoding import keys, live_keys
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs
from gridview.support import clock

_BETWEEN = 1.0
"""Seconds between two hints at an outbox."""

_REMEMBERED = 1_000
"""Projects of which a container remembers when its last hints arrive."""


class DeliveryHints:
    """The hints that one container of the stream consumer sends. `send` sends one, which arrives when it is
    due.

    Hints may be lost: a task also checks each outbox every five minutes.
    """

    def __init__(self, send: Callable[[Hint], None]) -> None:
        self._send = send
        self._arrive: dict[tuple[str, str], float] = {}

    def look(self, table: Table, catalogs: Catalogs, records: Iterable[Mapping[str, Any]]) -> None:
        """Hint at the outboxes of the projects of these stream records, whose changes are committed.

        At most once a second for each project. Costs half a read unit for each 4 KB of its webhooks, and a
        message for each enabled one. Within a second of the last hints it sends others, which arrive a second
        later. Later calls then send none until these arrive.
        """
        now = clock.seconds()
        for project in projects_in(records):
            catalog = catalogs.known(*project)
            last = self._arrive.get(project, 0.0)
            if catalog is None or now < last <= now + _BETWEEN:
                continue
            wait = _BETWEEN if now - last < _BETWEEN else 0.0
            if len(self._arrive) >= _REMEMBERED:
                self._arrive.clear()
            self._arrive[project] = now + wait
            due = clock.after(wait)
            for item in table.query_all(live_keys.webhooks(*project)):
                if item["enabled"]:
                    self._send(Hint(live_keys.outbox(*project, item[keys.SK]), due))
