"""The tokens of a question other than those of writes: tokens of reads, and cursors of the changes.

For each write that the index may lack, a question carries one of these:

- the token of the write;
- the token of a read that has shown the issue as it is;
- the cursor of the changes of an answer that held all writes, which includes everything before it, however long ago.

The read is of the issue by itself, of a page of rows, or of any answer that held all writes. The question's answers
have to be the same in each case. A read names the writes of the last minute. For older ones the token of the write is
carried.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from devtools.proof.oracle import asking, world
from devtools.proof.oracle.loading import Loaded
from devtools.proof.oracle.world import Json
from gridview.dynamodb.table import Table
from gridview.encoding.consistency import DELETED, Recent, RecentWrites, still_good
from gridview.encoding.cursors import Cursors
from gridview.journal.feed_cursors import FeedCursor
from gridview.schema.document_store import get_issue
from gridview.support import clock
from gridview.support.errors import QueryTooExpensive
from gridview.view.shown_versions import TAKEN_IN, Answered, Shown, ShownVersion

FOREVER = 2**32 - 1
_MEANWHILE = 5.0
"""Seconds that a read takes at most: a write that is younger by so much when it begins is young when it ends."""

_ANSWERS, _CURSORS = "answers", "cursors of the changes"
_SAY_HOW_FAR = (_ANSWERS, _CURSORS)

WEIGHTS: Mapping[str, float] = {"writes": 4, "issues": 1, "rows": 2, _ANSWERS: 1, _CURSORS: 2}
"""How often each is carried."""

Meanwhile = Callable[[Callable[[Table], Any]], Any]
"""Does the work of a reader, between whose calls all goes on."""


@dataclass(slots=True)
class Carrier:
    """A client that has read before. `meanwhile`: how; `rest`: lets tokens expire; None: there are no cursors."""

    random: Random
    loaded: Loaded
    writes: RecentWrites
    meanwhile: Meanwhile
    happened: Counter[str]
    rest: Callable[[], None] | None = None
    says_how_far: bool = False
    """Whether the carried tokens name a number of the journal: then copies of the journal may be late."""

    def carried(self) -> Recent:
        """The tokens of all writes, or others in their place."""
        ways = {"writes": self._writes, "issues": self._issues, "rows": self._rows, _ANSWERS: self._answer}
        if self.rest is not None:
            ways[_CURSORS] = self._cursor
        (chosen,) = self.random.choices(list(ways), [WEIGHTS[way] for way in ways])
        try:
            found = ways[chosen]()
        except QueryTooExpensive:
            found = None
        if found is None:
            return self._writes()
        self.happened[f"questions with tokens of {chosen}"] += 1
        self.says_how_far = chosen in _SAY_HOW_FAR
        return found

    def _writes(self) -> Recent:
        return (self.writes,)

    def _issues(self) -> Recent:
        """The tokens of reads of each issue by itself."""
        read = [
            get_issue(self.loaded.table, self.loaded.catalog, num)
            for num, version in self.writes.versions.items()
            if version != DELETED
        ]
        shown = Shown.of([ShownVersion(one["num"], one["version"], one["updated"]) for one in read], None)
        return self._with_the_others(shown, {one["num"]: one["version"] for one in read}, clock.seconds())

    def _rows(self) -> Recent | None:
        """The tokens of a page of rows."""
        question = world.question(self.random, self.loaded.project)
        if question.kind not in ("walk", "offset"):
            return None
        begun = clock.seconds()
        page, shown = self._asked(asking.page, question.body, ())
        return self._with_the_others(shown, {row["num"]: row["version"] for row in page["rows"]}, begun)

    def _with_the_others(self, shown: Shown, versions: Mapping[int, int], begun: float) -> Recent:
        """The token of what was shown, and those of the writes that it did not show, or that were old by then."""
        project = self.loaded.project
        seen = {
            num
            for num, version in versions.items()
            if version == self.writes.versions.get(num)
            and clock.instant(project.stamps[num].updated) > begun - TAKEN_IN + _MEANWHILE
        }
        self.happened["writes that reads have shown"] += len(seen)
        others = {num: version for num, version in self.writes.versions.items() if num not in seen}
        return self._token(shown), self.writes._replace(versions=others)

    def _answer(self) -> Recent:
        """The token of an answer that held all writes."""
        question = world.question(self.random, self.loaded.project)
        ask = {"groups": asking.grouped, "summary": asking.summarized}.get(question.kind, asking.page)
        body = {} if question.kind == "row_number" else question.body
        return (self._token(self._asked(ask, body, (self.writes,)).shown),)

    def _cursor(self) -> Recent | None:
        """The cursor of the changes of such an answer, some time later."""
        asked = self._asked(asking.page, {"limit": 1, "count": True}, (self.writes,), asking.FEED)
        answer = asked.body
        if answer["changes_cursor"] is None:
            return None
        if self.rest is not None and self.random.random() < 0.5:
            self.rest()
        catalog = self.loaded.catalog
        held = FeedCursor.held(answer["changes_cursor"], asking.FEED, catalog.tenant, catalog.project)
        return still_good(held, catalog.project, clock.seconds())

    def _asked(
        self, ask: Callable[..., Answered], body: Json, recent: Recent, feed: Cursors | None = None
    ) -> Answered:
        found: Answered = self.meanwhile(lambda table: ask(self.loaded.context(table, recent, feed), body))
        return found

    def _token(self, shown: Shown) -> RecentWrites:
        return RecentWrites(self.loaded.catalog.project, FOREVER, shown.versions, shown.number)
