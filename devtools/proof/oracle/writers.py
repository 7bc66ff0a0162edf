"""The questions put while writers write and consumers derive: call by call, in an order that is drawn.

A request takes from its first call (moment S) to its last (E). Between any two of its calls issues are edited, made
and deleted. Consumers make calls of their own, in the midst of block writes, splits and merges. GSI1 and reads that
are not consistent may be H moments late.

An issue is *still* for a request when no change of it was on its way at S - H or after. A change is on its way if it
is in the stream, with a consumer at work, or not yet shown by the index. Then:

- A row shows an issue in a version that it had between S - H and E, with all values of that version. It passes the
  filter by its shown values, and the rows of a page are in order by theirs. No issue is on a page twice.
- The still, matching issues on a page follow each other in the oracle's order without a gap. A page that begins the
  result has the first of them, and a page that ends it has the last.
- A walk by cursors, forwards or backwards, shows each issue that is still all along exactly once, in the oracle's
  order.
- Counts (total, matched, of a group, rows before an issue, rows before a page) are at least the oracle's over the
  still issues. They are at most that plus once for every version of each other issue.

If everything is still, this is equality with the oracle. At the end of a scenario all becomes quiet, and the question
is put once more as in `compare`.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from devtools.proof.faults.virtual import Clock, virtual
from devtools.proof.oracle import asking, compare, refusals, world
from devtools.proof.oracle.compare import (
    answered_groups,
    answered_summary,
    check_keys,
    check_values,
    groups_expected,
    nums_of,
    summary_expected,
)
from devtools.proof.oracle.limits import LIMITS, budgets, held_to
from devtools.proof.oracle.loading import Difference, Loaded, same
from devtools.proof.oracle.orders import RANKS
from devtools.proof.oracle.scene import Scene
from devtools.proof.oracle.sql import Oracle, folded
from devtools.proof.oracle.world import Json, Project, Question
from gridview.dynamodb.table import Table
from gridview.support.errors import NotFound, Overloaded, QueryTooExpensive

_LIMITS = tuple(one for one in LIMITS if not one.startswith("real"))
_SIZES = (15, 30, 60)
_PAGES = 120


@dataclass
class Window:
    """The answer to a request, and its moments.

    `behind`: from this moment on, each part of the answer was true at some time.
    """

    answer: Any
    since: float
    still: Project
    slack: int


@dataclass
class Played:
    """The outcome of a scenario."""

    kind: str
    requests: int = 0
    rows: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    refused: str | None = None
    overloaded: bool = False


def play(seed: int) -> Played:
    """Play the scenario of this number; Difference."""
    random = Random(f"writers {seed}")  # noqa: S311  (the same one each time)
    project = world.make(random, _LIMITS, _SIZES)
    clock = Clock()
    with virtual(clock, seed, RANKS[seed % 2]), held_to(project.limits):
        return _Scenario(random, clock, project).play()


class _Scenario(Scene):
    def __init__(self, random: Random, clock: Clock, project: Project) -> None:
        super().__init__(random, clock, project)
        self._question = _question(random, project)
        self._played = Played(self._question.kind, happened=self.happened)

    def play(self) -> Played:
        """Put the question while all this goes on, and once more when it has become quiet."""
        for _ in range(self._random.choice((0, 20, 80))):
            self._happen()
        try:
            _KINDS[self._question.kind](self)
        except QueryTooExpensive as error:
            self._refused(error)
        except Overloaded:
            self._played.overloaded = True
        self._quiet()
        return self._played

    # Requests

    def _request(self, work: Callable[[Table], Any]) -> Window:
        """Let a reader ask while everything goes on; an error of the request is raised here."""
        self._played.requests += 1
        since = self._now - self._lag
        answer = self._meanwhile(work)
        moved = self._history.moved(since)
        return Window(answer, since, self._history.still(since), self._history.slack(moved))

    def _refused(self, error: QueryTooExpensive) -> None:
        """It may be refused where the oracle knows a reason, or would if all issues that moved had been in the way."""
        project = self._history.present()
        moved = len(self._history.moved(0))
        room = {name: most - moved for name, most in budgets(project.limits).items()}
        self._played.refused = refusals.why(project, Oracle(project), self._question, room)
        if self._played.refused is None:
            raise Difference(f"refused without a reason: {error.detail}") from error

    def _page(self, body: Json) -> Window:
        asked = {**body, "keys": True}
        window = self._request(lambda table: asking.page(self._loaded.context(table), asked).body)
        nums = nums_of(window.answer)
        self._played.rows += len(nums)
        same("whether all rows are of different issues", len(set(nums)), len(nums))
        same("whether it is at most a page", len(nums) <= body["limit"], True)
        shown = self._history.as_shown(
            [(row["num"], row["version"]) for row in window.answer["rows"]], window.since
        )
        if shown is None:
            versions = [(row["num"], row["version"]) for row in window.answer["rows"]]
            raise Difference(f"a row shows what its issue was not: {versions}")
        check_values(self._of(shown), window.answer, body.get("columns"))
        oracle = Oracle(shown)
        same("the rows, by what they show", nums, oracle.rows(body))
        check_keys(oracle, body, window.answer)
        if body["count"]:
            between("total", window.answer["total"], len(window.still.issues), window.slack)
            between("matched", window.answer["matched"], len(Oracle(window.still).rows(body)), window.slack)
        return window

    def _of(self, project: Project) -> Loaded:
        return replace(self._loaded, project=project)

    def walk(self) -> None:
        """All pages forwards, and then all of them backwards."""
        body = self._question.body
        began = self._now - self._lag
        window = self._page(body)
        pages = [window]
        while window.answer["next"] is not None:
            same("whether a walk ends", len(pages) < _PAGES, True)
            window = self._page({**body, "cursor": window.answer["next"]})
            pages.append(window)
        for one in pages:
            self._check_run(one, begins=one is pages[0], ends=one is pages[-1])
        self._check_walk("the rows forwards", began, [num for one in pages for num in nums_of(one.answer)])
        back = [window]
        while window.answer["prev"] is not None:
            same("whether a walk backwards ends", len(back) < _PAGES, True)
            window = self._page({**body, "cursor": window.answer["prev"]})
            self._check_run(window, begins=window.answer["prev"] is None, ends=False)
            back.append(window)
        self._check_walk(
            "the rows backwards", began, [num for one in reversed(back) for num in nums_of(one.answer)]
        )

    def _check_run(self, window: Window, *, begins: bool, ends: bool) -> int | None:
        """The still rows follow each other without a gap.

        Returns the place of the first one among all still, matching issues.
        """
        expected = Oracle(window.still).rows(self._question.body)
        still = set(expected)
        shown = [num for num in nums_of(window.answer) if num in still]
        if not shown:
            same("the rows of the only page", begins and ends and bool(expected), False)
            return None
        at = 0 if begins else expected.index(shown[0])
        stop = len(expected) if ends else at + len(shown)
        same("the rows that nothing happened to", shown, expected[at:stop])
        return at

    def _check_walk(self, what: str, began: float, shown: Sequence[int]) -> None:
        expected = Oracle(self._history.still(began)).rows(self._question.body)
        still = set(expected)
        same(what, [num for num in shown if num in still], expected)

    def offset(self) -> None:
        """A page at an offset, and the pages before and after it."""
        body, offset = self._question.body, self._question.body["offset"]
        window = self._page(body)
        same("the offset", window.answer["offset"], offset)
        at = self._check_run(window, begins=not offset, ends=False)
        expected = Oracle(window.still).rows(body)
        if not window.slack:
            same("the rows", nums_of(window.answer), expected[offset : offset + body["limit"]])
        elif at is None:
            same(
                "whether the page is after the end",
                len(expected) - window.slack <= offset or bool(window.answer["rows"]),
                True,
            )
        else:
            row = offset + nums_of(window.answer).index(expected[at])
            if abs(row - at) > window.slack:
                raise Difference(
                    f"row {row} is {expected[at]}, the oracle has it at {at}, {window.slack} moved"
                )
        onward = {name: one for name, one in body.items() if name != "offset"}
        for cursor in (window.answer["next"], window.answer["prev"]):
            if cursor is not None:
                self._check_run(self._page({**onward, "cursor": cursor}), begins=False, ends=False)

    def groups(self) -> None:
        """Grouped counts."""
        body = self._question.body
        window = self._request(lambda table: asking.grouped(self._loaded.context(table), body).body)
        loaded = replace(self._loaded, project=window.still, oracle=Oracle(window.still))
        ours, theirs = answered_groups(loaded, body, window.answer), groups_expected(loaded, body)
        self._played.rows += len(ours)
        if not window.slack:
            same("the groups", ours, theirs)
            return
        counts = {spelled_alike(one["values"]): one["count"] for one in ours}
        least = {spelled_alike(one["values"]): one["count"] for one in theirs}
        same("whether all groups are different", len(counts), len(ours))
        kept = [one for one in counts if one in least]
        if "order" in body:  # by counts and aggregates, in which issues on their way count as well
            same("which groups nothing happened to", {*kept}, {*least})
        else:
            same("the groups that nothing happened to", kept, list(least))
        for values, count in counts.items():
            between(f"the count of {values}", count, least.get(values, 0), window.slack)

    def summary(self) -> None:
        """A summary of fields: while issues change, what it says holds together; `_quiet` compares it."""
        body = self._question.body
        window = self._request(lambda table: asking.summarized(self._loaded.context(table), body).body)
        loaded = replace(self._loaded, project=window.still, oracle=Oracle(window.still))
        ours, theirs = answered_summary(loaded, body, window.answer), summary_expected(loaded, body)
        self._played.rows += len(ours["summaries"])
        if not window.slack:
            same("the summary", ours, theirs)
            return
        between("matched", ours["matched"], theirs["matched"], window.slack)
        for summary, least in zip(ours["summaries"], theirs["summaries"], strict=True):
            if "count" in summary:
                between("count", summary["count"], least["count"], window.slack)

    def position(self) -> None:
        """The position of an issue."""
        num = self._question.num
        try:
            window = self._request(
                lambda table: asking.position(self._loaded.context(table), num, self._question.body).body
            )
        except NotFound:
            same(
                "whether the issue was unchanged",
                num in self._history.still(self._now - self._lag).issues,
                False,
            )
            return
        if num not in window.still.issues:
            return
        rows = Oracle(window.still).rows(self._question.body)
        if num not in rows:
            same("the row number", window.answer["row_number"], None)
        else:
            between("the row number", window.answer["row_number"], rows.index(num), window.slack)

    def _quiet(self) -> None:
        """Everything ends and is shown; then the answer is the oracle's."""
        for run in list(self._world.runs):
            self._world.finish(run)
        self._world.drain(self._containers[0])
        self._memory.catch_up_with_all()
        self._memory.stale(None)
        project = self._history.present()
        compare.put(replace(self._loaded, project=project, oracle=Oracle(project)), self._question)


_KINDS: dict[str, Callable[[_Scenario], None]] = {
    "walk": _Scenario.walk,
    "offset": _Scenario.offset,
    "groups": _Scenario.groups,
    "summary": _Scenario.summary,
    "row_number": _Scenario.position,
}


def _question(random: Random, project: Project) -> Question:
    """A question with so small pages that there are several of them, and with room for all groups."""
    question = world.question(random, project)
    if question.kind == "groups":
        question.body["limit"] = 500
    elif "limit" in question.body:
        question.body["limit"] = random.choice((2, 5, 9))
    return question


def spelled_alike(values: Sequence[Any]) -> tuple[Any, ...]:
    """The values of a group, however its first issue spells them."""
    return tuple(folded(one) if isinstance(one, str) else one for one in values)


def between(what: str, ours: int, least: int, slack: int) -> None:
    """Difference when a count is less than this, or more by what may be on its way."""
    if not least <= ours <= least + slack:
        raise Difference(
            f"{what}: the grid says {ours}, the oracle {least}, and {slack} on their way at most"
        )
