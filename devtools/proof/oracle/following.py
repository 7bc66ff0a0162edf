"""The questions put while issues are edited, and what their cursor of the feed of changes says that they count.

As with journals (`journals`), but people go on editing between any two calls of a question, which seldom names what they wrote.
What an answer's `changes` stands for is made of the history: each issue in the last version that the journal tells in front of it,
or in the version that it names. SQLite has to count the very same. Of the issues of which nothing is told behind the cursor, a page
has those that match, and no others.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any
from unittest import mock

from typing_extensions import override

from devtools.proof.faults.virtual import Clock, virtual
from devtools.proof.oracle import asking, compare, journals, world
from devtools.proof.oracle.compare import Asked, Difference, Loaded, same
from devtools.proof.oracle.history import Version
from devtools.proof.oracle.limits import LIMITS, held_to
from devtools.proof.oracle.scene import PROJECT, TENANT
from devtools.proof.oracle.sql import Oracle
from devtools.proof.oracle.tokens import SIZES
from devtools.proof.oracle.world import Json, Project, Question
from gridview.dynamodb.table import Table
from gridview.index import journal_tail
from gridview.index.feed_cursors import FeedCursor
from gridview.index.feed_positions import FeedPosition, tellings_from
from gridview.index.journal_log import Log
from gridview.support.errors import Overloaded, Unprocessable

_QUESTIONS = (3, 6, 12)
_KEPT_CHANGES = (2, 10, 500)
_FIRST = FeedPosition(1, 0, 0.0)
_ASKED = ("groups", "summary")


def play(seed: int) -> tuple[Asked, Counter[str]]:
    """Play the scenario of this number; Difference. What was asked last is told."""
    random = Random(f"following {seed}")  # noqa: S311  (the same one each time)
    project = world.make(random, tuple(LIMITS), SIZES)
    clock = Clock()
    kept = mock.patch.object(journal_tail, "_KEPT_CHANGES", random.choice(_KEPT_CHANGES))
    with virtual(clock, seed), held_to(project.limits), kept:
        return _Scenario(random, clock, project).play()


class _Scenario(journals.Scenario):
    @override
    def play(self) -> tuple[Asked, Counter[str]]:
        """Let things happen, and put a question while they go on, some times over."""
        for _ in range(self._random.choice(_QUESTIONS)):
            self._edits = self._random.choice((5, 15, 40))
            for _ in range(self._random.choice((0, 20, 80))):
                self._happen()
                if self._random.random() < 0.03 and not self._on_their_way():
                    self._time_passes()
            self._names_all = self._random.random() < 0.2
            asked = self._put(world.question(self._random, self._history.present()))
            self.happened["questions"] += 1
        return asked, self.happened

    @override
    def _named(self) -> Iterable[int]:
        return self._history.last_unsettled if self._names_all else ()

    def _put(self, question: Question) -> Asked:
        asked = Asked(question)
        body = _whole(question)
        recent = (self._written_so_far(),) if self._names_all else ()
        loaded = replace(self._loaded, recent=recent)
        kind = question.kind if question.kind in _ASKED else "grid"
        try:
            answer = self._meanwhile(partial(_answer, kind, loaded, body))
        except (Unprocessable, Overloaded):
            self.happened["refused"] += 1
            return asked
        if answer["changes"] is None:
            self.happened["answers without a cursor"] += 1
            return asked
        self.happened["answers with a cursor"] += 1
        cursor = FeedCursor.opened(answer["changes"], asking.FEED, loaded.catalog)
        self.happened["versions ahead"] += len(cursor.ahead)
        counted = self._counted(cursor)
        project = self._as_of(counted)
        expected = replace(loaded, project=project, oracle=Oracle(project))
        try:
            asked.rows = _CHECKS[kind](expected, body, answer)
            if kind == "grid":
                self._check_rows(body, answer, counted)
        except Difference as error:
            raise Difference(f"{error}\n  {question.kind} {body}, {cursor}, counted {counted}") from error
        return asked

    def _counted(self, cursor: FeedCursor) -> dict[int, int]:
        """The version of each issue that is told in front of a cursor, or that it names."""
        log = Log(self._memory, TENANT, PROJECT)
        items = [item for item in log.all_behind(0) if item.number < cursor.position.number]
        if [item.number for item in items] != [*range(1, cursor.position.number)]:
            raise Difference(f"the cursor {cursor} goes past a number that is missing")
        found = dict.fromkeys(self._history.origin.issues, 1)
        for one in tellings_from(items, _FIRST):
            if one.version is None:
                raise Difference(f"nobody can tell what became of {one}")
            found[one.num] = one.version
        for num, version in cursor.ahead.items():
            found[num] = max(version, found.get(num, 0))
        return found

    def _as_of(self, counted: dict[int, int]) -> Project:
        versions: dict[int, Version] = {}
        for num, number in counted.items():
            found = [one for one in self._history.versions[num] if one.number == number]
            versions |= {num: found[0]} if found else {}
        return self._history.project(versions)

    def _check_rows(self, body: Json, answer: Any, counted: dict[int, int]) -> None:
        """Issues of which nothing is told behind the cursor are there if they match, and are not if they do not."""
        if answer["next"] is not None:
            return
        present = self._history.present()
        rows = {row["num"]: row for row in answer["rows"]}
        matching = {*Oracle(present).rows({**body, "limit": 500, "offset": 0})}
        for num, version in counted.items():
            alive = num in present.issues
            last = self._history.latest(num).number + (not alive)
            if num in rows and rows[num]["version"] < version:
                raise Difference(
                    f"issue {num} is shown in version {rows[num]['version']}, and {version} is told"
                )
            if version == last:
                same(f"whether issue {num} is shown", num in rows, num in matching)


def _whole(question: Question) -> Json:
    """The question, for all rows or groups at once."""
    body = {name: one for name, one in question.body.items() if name not in ("cursor", "offset")}
    if question.kind in _ASKED:
        return body
    return {**body, "limit": 500, "count": True}


def _answer(kind: str, loaded: Loaded, body: Json, table: Table) -> Any:
    ask: Callable[..., Any] = {"groups": asking.grouped, "summary": asking.summarized, "grid": asking.page}[
        kind
    ]
    return ask(table, loaded.catalog, body, loaded.cache, loaded.recent, loaded.epoch, asking.FEED)


def _check_page(loaded: Loaded, body: Json, answer: Any) -> int:
    same("total", answer["total"], len(loaded.project.issues))
    same("matched", answer["matched"], len(loaded.oracle.rows(body)))
    return len(answer["rows"])


def _check_groups(loaded: Loaded, body: Json, answer: Any) -> int:
    told = compare.groups_told(loaded, body, answer)
    same("the groups", told, compare.groups_expected(loaded, body)[: body["limit"]])
    return len(told)


def _check_summary(loaded: Loaded, body: Json, answer: Any) -> int:
    same("the summary", compare.summary_told(loaded, body, answer), compare.summary_expected(loaded, body))
    return len(body["fields"])


_CHECKS = {"grid": _check_page, "groups": _check_groups, "summary": _check_summary}
