"""The walk of a check through the issues of one project, by number."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.fsck.walks import WalkStep, collections
from gridview.support.errors import NotFound

NUMBERS = 128
"""Issues that are checked between two steps."""


class ProjectWalk:
    """The present issues of one project by number: a strongly consistent Query for each."""

    meets_blocks = False

    def __init__(self, table: Table, tenant: str, project: str, progress: Any = None) -> None:
        """NotFound if there is no such project, unless a deleted one still holds the id."""
        self._table = table
        self._project = tenant, project
        if progress is None:
            counter = table.get(keys.project(tenant, project), keys.COUNTER, consistent=True)
            if counter is None:
                raise NotFound("Project not found.")
            progress = [1, counter["last"]]
        self._next, self.last = map(int, progress)

    @property
    def done(self) -> bool:
        """Whether all issues have been checked."""
        return self._next > max(self.last, 1)

    @property
    def progress(self) -> list[int]:
        """The next number and the last."""
        return [self._next, self.last]

    def next(self, pool: ThreadPoolExecutor) -> WalkStep:
        """The issues with the next numbers."""
        numbers = range(self._next, min(self._next + NUMBERS, max(self.last, 1) + 1))
        found = collections(self._table, pool, [keys.issue(*self._project, num) for num in numbers])

        def confirm() -> None:
            self._next = numbers.stop

        projects = [self._project] if numbers.stop > self.last else []
        return WalkStep([(key, items) for key, items in found if items], confirm, projects)
