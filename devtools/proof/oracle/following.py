"""The questions put while issues are edited, and compared with the writes that their cursor of the feed counts.

As with tokens (`tokens`), but people go on editing between any two calls of a question, which seldom names their
writes. The state at an answer's `changes_cursor` is made from the history. Each issue is in its last version before that
place of the journal, or in the version that the cursor names. SQLite has to count the very same. If the journal has
no change of an issue after the cursor, a page has the issue exactly if it matches.

When all has become quiet, a follower continues from each page by its cursor, for its rows and for all issues. The
page's rows and both counts, with the changes applied, have to be the final rows and counts.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any, NamedTuple
from unittest import mock

from typing_extensions import override

from devtools.proof.faults.virtual import Clock, virtual
from devtools.proof.oracle import asking, compare, tokens, world
from devtools.proof.oracle.compare import Asked
from devtools.proof.oracle.history import Version
from devtools.proof.oracle.limits import LIMITS, held_to
from devtools.proof.oracle.loading import Difference, Loaded, same
from devtools.proof.oracle.orders import RANKS
from devtools.proof.oracle.scene import PROJECT, TENANT
from devtools.proof.oracle.sql import Oracle, manual_order_of, row_key
from devtools.proof.oracle.tokens import KEPT_CHANGES, SIZES
from devtools.proof.oracle.world import Json, Project, Question
from gridview.dynamodb.table import Table
from gridview.journal.feed_cursors import FeedCursor
from gridview.journal.feed_positions import FeedPosition, versions_from
from gridview.journal.gaps import MISSING_SECONDS
from gridview.journal.log import Log
from gridview.live.change_requests import rows_of
from gridview.live.changes import follow
from gridview.live.followed_rows import FollowedRows
from gridview.schema.history import RESET
from gridview.support.errors import Overloaded, QueryTooExpensive
from gridview.view import journal_tail

_QUESTIONS = (3, 6, 12)
_FIRST = FeedPosition(1, 0, 0.0)
_LOOKS = 200
_ASKED = ("groups", "summary")


def play(seed: int) -> tuple[Asked, Counter[str]]:
    """Play the scenario of this number; Difference. Returns the last question."""
    random = Random(f"following {seed}")  # noqa: S311  (the same one each time)
    project = world.make(random, tuple(LIMITS), SIZES)
    clock = Clock()
    kept = mock.patch.object(journal_tail, "_KEPT_CHANGES", random.choice(KEPT_CHANGES))
    with virtual(clock, seed, RANKS[seed % 2]), held_to(project.limits), kept:
        return _Scenario(random, clock, project).play()


class _Page(NamedTuple):
    """A page of all rows that match, as it was answered, and its cursor."""

    body: Json
    answer: Any
    cursor: FeedCursor


class _Scenario(tokens.Scenario):
    def __init__(self, random: Random, clock: Clock, project: Project) -> None:
        super().__init__(random, clock, project)
        self._pages: list[_Page] = []

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
        self._quiet()
        for page in self._pages:
            self._follow(page)
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
        except (QueryTooExpensive, Overloaded):
            self.happened["refused"] += 1
            return asked
        if answer["changes_cursor"] is None:
            self.happened["answers without a cursor"] += 1
            return asked
        self.happened["answers with a cursor"] += 1
        cursor = FeedCursor.opened(answer["changes_cursor"], asking.FEED, loaded.catalog)
        self.happened["versions ahead"] += len(cursor.ahead)
        counted = self._counted(cursor)
        project = self._as_of(counted)
        expected = replace(loaded, project=project, oracle=Oracle(project))
        try:
            asked.rows = _CHECKS[kind](expected, body, answer)
            if kind == "grid":
                self._check_rows(body, answer, counted)
                self._pages += [_Page(body, answer, cursor)] if answer["next"] is None else []
        except Difference as error:
            raise Difference(f"{error}\n  {question.kind} {body}, {cursor}, counted {counted}") from error
        return asked

    def _counted(self, cursor: FeedCursor) -> dict[int, int]:
        """The version of each issue before a cursor, or that the cursor names."""
        log = Log(self._memory, TENANT, PROJECT)
        items = [item for item in log.all_after(0) if item.number < cursor.position.number]
        if [item.number for item in items] != [*range(1, cursor.position.number)]:
            raise Difference(f"the cursor {cursor} goes past a number that is missing")
        found = dict.fromkeys(self._history.origin.issues, 1)
        for one in versions_from(items, _FIRST):
            if one.version is None:
                raise Difference(f"nothing shows what became of {one}")
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

    # From a page on

    def _quiet(self) -> None:
        """Everything ends and is shown."""
        for run in list(self._world.runs):
            self._world.finish(run)
        self._world.drain(self._containers[0])
        self._memory.catch_up_with_all()
        self._memory.stale(None)

    def _follow(self, page: _Page) -> None:
        """Apply the changes after a page's cursor to the page: its rows and its counts become the present ones."""
        present = self._history.present()
        asked: Json = {name: one for name, one in page.body.items() if name in ("filter", "sort")}
        try:
            of_the_page = self._followed(page.cursor, rows_of(self._loaded.catalog, asked))
            of_all = self._followed(page.cursor, rows_of(self._loaded.catalog, {}))
        except QueryTooExpensive:
            return
        if of_the_page is None or of_all is None:
            self.happened["pages that were reset"] += 1
            return
        rows = {row["num"]: row["key"] for row in page.answer["rows"]}
        for event in of_the_page:
            rows.pop(event["num"], None)
            if event["key"] is not None:
                rows[event["num"]] = event["key"]
        expected = Oracle(present).rows({**page.body, "limit": 500, "offset": 0})
        text = f"{page.body}, {page.cursor}, followed by {of_the_page}"
        try:
            same("matched in the end", page.answer["matched"] + _entered(of_the_page), len(expected))
            same("total in the end", page.answer["total"] + _entered(of_all), len(present.issues))
            same("the rows in the end", sorted(rows, key=lambda num: rows[num].encode()), expected)
            if (order := manual_order_of(page.body)) is not None:
                same("their keys in the end", rows, {num: row_key(present, num, order) for num in rows})
        except Difference as error:
            raise Difference(f"{error}\n  {text}") from error
        self.happened["pages followed to the end"] += 1
        self.happened["changes of their rows"] += len(of_the_page)

    def _followed(self, cursor: FeedCursor, rows: FollowedRows) -> list[Any] | None:
        """The events of these rows after a cursor; None after a reset."""
        found: list[Any] = []
        for _ in range(_LOOKS):
            feed = follow(self._memory, self._containers[0], self._loaded.catalog, cursor, rows=rows)
            found += feed.items
            if RESET in found:
                return None
            if feed.ended and not feed.held and not feed.items:
                return found
            cursor = feed.cursor
            self._world.clock.seconds += MISSING_SECONDS if feed.held else 0.0
        raise Difference("the changes do not come to an end")

    def _check_rows(self, body: Json, answer: Any, counted: dict[int, int]) -> None:
        """An issue without changes after the cursor is on the page exactly if it matches."""
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
                    f"issue {num} is shown in version {rows[num]['version']}, and the feed delivers {version}"
                )
            if version == last:
                same(f"whether issue {num} is shown", num in rows, num in matching)


def _whole(question: Question) -> Json:
    """The question, for all rows or groups at once."""
    body = {name: one for name, one in question.body.items() if name not in ("cursor", "offset")}
    if question.kind in _ASKED:
        return body
    return {**body, "limit": 500, "count": True, "keys": True}


def _entered(events: Iterable[Any]) -> int:
    """How many more rows there are by these events."""
    return sum({"enter": 1, "leave": -1}.get(event["move"], 0) for event in events)


def _answer(kind: str, loaded: Loaded, body: Json, table: Table) -> Any:
    ask = {"groups": asking.grouped, "summary": asking.summarized, "grid": asking.page}[kind]
    return ask(loaded.context(table, feed=asking.FEED), body).body


def _check_page(loaded: Loaded, body: Json, answer: Any) -> int:
    same("total", answer["total"], len(loaded.project.issues))
    same("matched", answer["matched"], len(loaded.oracle.rows(body)))
    return len(answer["rows"])


def _check_groups(loaded: Loaded, body: Json, answer: Any) -> int:
    groups = compare.answered_groups(loaded, body, answer)
    same("the groups", groups, compare.groups_expected(loaded, body)[: body["limit"]])
    return len(groups)


def _check_summary(loaded: Loaded, body: Json, answer: Any) -> int:
    same(
        "the summary", compare.answered_summary(loaded, body, answer), compare.summary_expected(loaded, body)
    )
    return len(body["fields"])


_CHECKS = {"grid": _check_page, "groups": _check_groups, "summary": _check_summary}
