"""The consumer's looks at journals: a fold with enough to do begins before the next minute."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gridview.derive.images import projects_in
from gridview.dynamodb.table import Table
from gridview.journal.gaps import Gaps
from gridview.journal.items import Head
from gridview.journal.log import Log
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs
from gridview.support import clock

ENOUGH = 1_000
"""The weight of waiting changes at which the fold is worth a turn: in groups of that size a write of a block
is cheap.
"""

_SECONDS_BETWEEN = 1.0
_REMEMBERED = 1_000
"""Projects of which a container remembers when it looked last."""


class Wakes:
    """The looks of one container of the consumer at journals, so that they are folded before the next minute
    begins.

    `send` sends a hint. Nothing depends on it: each minute every fold that is due is hinted at. A look also
    empties the numbers that writers have taken and left, at which followers of the journal wait (`gaps`).
    """

    def __init__(self, send: Callable[[Hint], None]) -> None:
        self._send = send
        self._looked: dict[tuple[str, str], float] = {}
        self._gaps = Gaps()

    def look(self, table: Table, catalogs: Catalogs, records: Iterable[Mapping[str, Any]]) -> None:
        """Hint at the folds of the projects in these stream records in which enough waits and nobody folds.

        Half a read unit for each project, at most once a second, and the cost of `Gaps.close`.
        """
        now = clock.seconds()
        for project in projects_in(records):
            catalog = catalogs.known(*project)
            looked = self._looked.get(project)
            if catalog is None:
                continue
            if looked is None or not 0 <= now - looked < _SECONDS_BETWEEN:
                if len(self._looked) >= _REMEMBERED:
                    self._looked.clear()
                self._looked[project] = now
                log = Log(table, *project)
                head = log.known_head()
                if head is not None:
                    self._wake(log, head)
                    self._gaps.close(log, head)

    def _wake(self, log: Log, head: Head) -> None:
        # The holder of the fold has moved on the instant at which it is due, and continues without a hint.
        if head.waiting >= ENOUGH and head.due is not None and head.due <= clock.now():
            self._send(Hint(log.partition, head.due))
