"""Questions of the grid beyond pages of one order: filters, orders by several fields, offsets, counts, groups and
summaries.

The questions and their right answers come from the oracle, which knows nothing of the core: it has the documents in
SQLite.

While people write, reads may be as old as the scenario. A row still passes the filter by the document that it shows,
and the rows of a page are in order by their shown values. No more issues match than there ever were. No value is
counted more often than issues had it, version by version. Once all is quiet every answer is exactly the oracle's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice, product
from random import Random
from typing import Any

from typing_extensions import override

from devtools.proof.faults.lambdas import Answer, Used
from devtools.proof.faults.truth import assert_current, assert_rows, epoch_of, shown
from devtools.proof.faults.world import Difference, Run, World
from devtools.proof.oracle import loading, refusals
from devtools.proof.oracle.compare import (
    answered_groups,
    answered_summary,
    groups_expected,
    nums_of,
    summary_expected,
)
from devtools.proof.oracle.limits import budgets
from devtools.proof.oracle.loading import Loaded, same
from devtools.proof.oracle.sql import Oracle
from devtools.proof.oracle.world import Json, Project, Question, Stamps, question, stamps_of
from devtools.proof.oracle.writers import between, spelled_alike
from gridview.commands.actor import Role
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.catalog import Catalog
from gridview.schema.fields import NUM, UnknownOption
from gridview.schema.fields import Field as Column
from gridview.schema.store import Catalogs
from gridview.view.block_cache import BlockCache

_PATHS = {"walk": "grid", "offset": "grid", "groups": "groups", "summary": "summary"}
_COMBINATIONS = 64
"""Ways in which a page is looked at whose versions were written more than once."""
_PAGES = 40


@dataclass
class _Project(Project):
    """A project as it is in the middle of its life, or all versions of its issues side by side."""

    closed: frozenset[str] = frozenset()
    """The fields by which the grid does not sort, also built-in ones."""
    nums: dict[int, int] = field(default_factory=dict)
    """Number of a version -> its issue, if each version counts as an issue."""

    @property
    @override
    def unindexed(self) -> frozenset[str]:
        return self.closed

    @override
    def value(self, num: int, name: str) -> Any:
        return self.nums.get(num, num) if name == "num" else super().value(num, name)


class Questioner:
    """A reader with questions.

    `random` is its own, so that its questions leave everything else in a scenario as it is.
    """

    def __init__(self, world: World, catalogs: Catalogs, random: Random) -> None:
        self._world = world
        self._catalogs = catalogs
        self._random = random

    def ask(self) -> Run | None:
        """Ask while all goes on: an invocation whose answer is checked. None where there is nothing to ask about."""
        world = self._world
        catalog = self._catalogs._entries.get((world.tenant, world.project), world.known)
        if catalog is None or (project := _project(catalog, world.documents.values())) is None:
            return None
        asked = self._question(project)
        used, epoch = Used(self._catalogs), epoch_of(world)

        def ended(run: Run) -> None:
            world.check_request(run)
            answer = run.invocation.result
            if run.invocation.raised is None and answer.status == 200:
                world.totals["questions"] += 1
                assert_current(used.last, epoch)
                self.check(used.last, asked, answer.body)

        return world.start("reader", lambda table: self._put(table, used, asked), ended, str(asked))

    def ask_in_quiet(self, catalog: Catalog, count: int) -> None:
        """Ask when nothing is on its way any more: the answers are the oracle's."""
        world = self._world
        project = _project(catalog, world.documents.values())
        if project is None or any(one.moving for one in _columns(catalog)):
            return
        loaded = Loaded(project, world.engine, catalog, Oracle(project), BlockCache())
        for _ in range(count):
            asked = self._question(project)
            world.totals["questions in quiet"] += 1
            with _naming(asked):
                self._compare(loaded, asked)

    def _question(self, project: _Project) -> Question:
        asked = Question("row_number", {})
        while asked.kind not in _PATHS:
            asked = question(self._random, project)
        if asked.kind == "groups":
            asked.body["limit"] = 500
        elif "limit" in asked.body:
            asked.body["limit"] = self._random.randint(1, 5)
        return asked

    def _put(self, table: Table, catalogs: Catalogs, asked: Question) -> Answer:
        world = self._world
        viewer = world.tenant, "eve", Role.VIEWER
        path = f"{world.path}/{_PATHS[asked.kind]}"
        return world.functions(table, catalogs).request(viewer, "POST", path, asked.body)

    # While all goes on

    def check(self, catalog: Catalog, asked: Question, answer: Any) -> None:
        """Check an answer while calls are in flight. It is not judged while options are being moved."""
        with _naming(asked):
            self._check(catalog, asked, answer)

    def _check(self, catalog: Catalog, asked: Question, answer: Any) -> None:
        project = _project(catalog, ())
        if project is None or any(one.moving for one in _columns(catalog)):
            return
        if asked.kind in ("walk", "offset"):
            self._check_rows(catalog, project, asked.body, answer)
            if not asked.body["count"]:
                return
        # An issue is in some families as it is, and in others still as it was: what counts it may mix its versions.
        versions, unknown = self._versions(catalog, project)
        issues = len(self._world.history)
        if asked.kind in ("walk", "offset"):
            between("total", answer["total"], 0, issues)
            between("matched", answer["matched"], 0, issues)
            return
        loaded = Loaded(versions, self._world.engine, catalog, Oracle(versions), BlockCache())
        if asked.kind == "groups":
            groups = [
                (spelled_alike(one["values"]), one["count"])
                for one in answered_groups(loaded, asked.body, answer)
            ]
            same("whether all groups are different", len(dict(groups)), len(groups))
            for at, by in enumerate(asked.body["by"]):
                found = groups_expected(loaded, {"by": [by], "aggregates": []})
                most = {spelled_alike(one["values"])[0]: one["count"] for one in found}
                for values, count in groups:
                    without = issues if values[at] is None else 0
                    between(f"the count of {values}", count, 0, most.get(values[at], 0) + unknown + without)
            return
        upper = summary_expected(loaded, {"fields": asked.body["fields"]})
        ours = answered_summary(loaded, asked.body, answer)
        between("matched", ours["matched"], 0, issues)
        for summary, bounds in zip(ours["summaries"], upper["summaries"], strict=True):
            for function in {"count", "distinct"} & summary.keys():
                between(function, summary[function], 0, bounds[function] + unknown)

    def _check_rows(self, catalog: Catalog, project: _Project, body: Json, answer: Any) -> None:
        """The rows pass the filter and are in order, by documents that they show."""
        documents = assert_rows(self._world, catalog, body, answer)
        nums = nums_of(answer)
        same("whether it is at most a page", len(nums) <= body["limit"], True)
        orders = [
            Oracle(_with(catalog, project, one)).rows(body)
            for one in islice(product(*documents), _COMBINATIONS)
        ]
        if nums not in orders:
            raise Difference(f"a page shows {nums}; by what it shows it would be one of {orders}")

    def _versions(self, catalog: Catalog, project: _Project) -> tuple[_Project, int]:
        """All versions of all issues, and the number of versions that this catalog cannot show."""
        found = replace(project, issues={}, stamps={}, nums={})
        unknown = 0
        for key, versions in self._world.history.items():
            for document in (one for documents in versions.values() for one in documents):
                at = len(found.nums) + 1
                try:
                    one = _body(catalog, document)
                except (UnknownOption, LookupError, ValueError, TypeError):
                    unknown += 1
                    continue
                found.issues[at], found.stamps[at] = one
                found.nums[at] = keys.parse_issue(key).num
        return found, unknown

    # In quiet

    def _compare(self, loaded: Loaded, asked: Question) -> None:
        body = asked.body
        answer = self._put(loaded.table, Used(Catalogs(), loaded.catalog), asked)
        if answer.status != 200:
            reason = refusals.why(loaded.project, loaded.oracle, asked, budgets("real"))
            if answer.status != 422 or reason is None:
                raise Difference(f"refused without a reason: {answer}")
            return
        if asked.kind == "groups":
            same("the groups", answered_groups(loaded, body, answer.body), groups_expected(loaded, body))
        elif asked.kind == "summary":
            same("the summary", answered_summary(loaded, body, answer.body), summary_expected(loaded, body))
        else:
            self._compare_rows(loaded, asked, answer.body)

    def _compare_rows(self, loaded: Loaded, asked: Question, page: Any) -> None:
        body = asked.body
        expected = loaded.oracle.rows(body)
        if body["count"]:
            same("total", page["total"], len(loaded.project.issues))
            same("matched", page["matched"], len(expected))
        begin = body.get("offset", 0)
        expected = expected[begin:]
        onward = {name: one for name, one in body.items() if name != "offset"}
        seen = nums_of(page)
        same("the rows", seen, expected[: body["limit"]])
        for _ in range(_PAGES):
            if page["next"] is None:
                break
            following = replace(asked, body={**onward, "cursor": page["next"]})
            page = self._put(loaded.table, Used(Catalogs(), loaded.catalog), following).body
            seen += nums_of(page)
        same("the rows of all pages", seen, expected)


@contextmanager
def _naming(asked: Question) -> Iterator[None]:
    """A difference names the question."""
    try:
        yield
    except (Difference, loading.Difference) as error:
        raise Difference(f"{asked}: {error}") from error


def _columns(catalog: Catalog) -> Sequence[Column]:
    return (*catalog.builtins, *catalog.attributes)


def _project(catalog: Catalog, documents: Iterable[Item]) -> _Project | None:
    """A project as the oracle knows one; None if options or documents do not allow that."""
    attributes: list[Json] = []
    for column in catalog.attributes:
        options = _options(column)
        if column.type.has_options and (not options or len(set(options)) < len(options)):
            return None
        one: Json = {"id": column.id, "type": str(column.type)}
        attributes.append({**one, "search": column.searched, **({"options": options} if options else {})})
    if any(option.retired for column in _columns(catalog) for option in column.options):
        return None
    closed = frozenset(
        column.id for column in _columns(catalog) if column.served is None and column.id != NUM
    )
    project = _Project(_options(catalog.state), attributes, {}, closed=closed)
    try:
        return _with(catalog, project, documents)
    except (UnknownOption, LookupError, ValueError, TypeError):
        return None


def _options(column: Column) -> list[str]:
    return [option.value for option in sorted(column.options, key=lambda option: option.rank)]


def _with(catalog: Catalog, project: _Project, documents: Iterable[Item]) -> _Project:
    """The project of these documents."""
    bodies = {document["num"]: _body(catalog, document) for document in documents}
    return replace(
        project,
        issues={num: body for num, (body, _) in sorted(bodies.items())},
        stamps={num: stamps for num, (_, stamps) in bodies.items()},
    )


def _body(catalog: Catalog, document: Mapping[str, Any]) -> tuple[Json, Stamps]:
    """An issue as in a request to the API, and its stamps."""
    row = shown(catalog, document, None)
    return row, stamps_of(row)
