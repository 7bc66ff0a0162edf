"""The journal of a project on a local stack: concurrent writers, a complete fold, and then the same
answers as SQLite.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import httpx

from devtools.local import bulk
from devtools.local.table import TABLE
from devtools.proof.oracle import compare, world
from devtools.proof.oracle.loading import Loaded, container
from devtools.proof.oracle.sql import Oracle
from devtools.proof.oracle.world import Json, Project
from gridview.journal.log import Log
from gridview.schema.store import Catalogs
from tests.support.depth import one_of
from tests.support.stacks import TENANT, LocalStack, until

PROJECT = "journal"
WRITERS = 3
BATCHES = 8
"""The batches of each writer."""
QUESTIONS = one_of(10, thorough=100)
AT_ONCE = 5


class Writer:
    """A writer who creates issues, and edits and deletes them. `holds`: the expected issues."""

    def __init__(self, api: httpx.Client, project: Project, bodies: Iterator[Json], random: Random) -> None:
        self._api = api
        self._project = project
        self._bodies = bodies
        self._random = random
        self.holds: dict[int, Json] = {}

    def write_batches(self) -> None:
        """Write all batches, one after the other."""
        for _ in range(BATCHES):
            self.write()

    def write(self) -> None:
        """Write a batch: new issues, some with another's values, and one deletion."""
        edited = self._random.sample(sorted(self.holds), min(len(self.holds), AT_ONCE))
        created = [next(self._bodies) for _ in range(AT_ONCE)]
        changes = {num: next(self._bodies) for num in edited[1:]}
        gone = edited[:1]
        results = self._batch(
            [
                *({"create": body} for body in created),
                *({"update": {"num": num, **self._whole(body)}} for num, body in changes.items()),
                *({"delete": {"num": num}} for num in gone),
            ]
        )
        new = [one["issue"]["num"] for one in results[: len(created)]]
        self.holds |= {**dict(zip(new, created, strict=True)), **changes}
        for num in gone:
            del self.holds[num]

    def _whole(self, body: Json) -> Json:
        """A change to exactly these values."""
        nothing = dict.fromkeys(one["id"] for one in self._project.attributes)
        return {**body, "fields": {**nothing, **body["fields"]}}

    def _batch(self, operations: Sequence[Json]) -> list[Any]:
        answer = self._api.post(f"/v1/projects/{PROJECT}/issues/batch", json={"operations": operations})
        results: list[Any] = answer.raise_for_status().json()["results"]
        assert [one for one in results if one["status"] >= 300] == []
        return results


def test_concurrent_writes_are_in_the_journal_and_folded(stack: LocalStack) -> None:
    random = Random(30)  # noqa: S311
    project = world.make(random, sizes=(110,))
    project.composites = []
    bodies = [*project.issues.values()]
    project.issues, project.stamps = {}, {}
    with stack.client() as api:
        _post(api, "/v1/projects", {"id": PROJECT, "name": "Journal", "states": project.states})
        for attribute in project.attributes:
            _post(api, f"/v1/projects/{PROJECT}/attributes", attribute)
        writers = [
            Writer(api, project, _endless(bodies, seed), Random(seed))  # noqa: S311
            for seed in range(WRITERS)
        ]
        with ThreadPoolExecutor(WRITERS) as pool:
            for done in [pool.submit(one.write_batches) for one in writers]:
                done.result()
        for one in writers:
            project.issues |= one.holds
        for num in project.issues:
            issue = api.get(f"/v1/projects/{PROJECT}/issues/{num}").raise_for_status().json()
            project.stamps[num] = world.stamps_of(issue)
        table = bulk.table_at(stack.state.engine, TABLE)
        until(lambda: api.get(f"/v1/projects/{PROJECT}").json()["issues"] == len(project.issues))
    log = Log(table, TENANT, PROJECT)
    until(lambda: log.head().due is None)
    last = log.head().last
    journaled = {change.num for item in log.up_to(last, last) for change in item.changes}
    assert journaled >= project.issues.keys()
    listed = stack.dev("journal", "list", "--tenant", TENANT, "--project", PROJECT)
    assert (listed.status, listed.stdout) == (
        0,
        f"{TENANT}/{PROJECT}: folded up to its last number, {last:,}\n",
    )
    catalog = Catalogs().get(table, TENANT, PROJECT)
    checked = stack.dev("fsck", "--tenant", TENANT, "--project", PROJECT, "--patience", "5")
    assert checked.status == 0, checked.stdout
    loaded = Loaded(project, table, catalog, Oracle(project), container(table, catalog))
    for seed in range(QUESTIONS):
        compare.put(loaded, world.question(Random(f"journal {seed}"), project))  # noqa: S311
    assert stack.given_up() == []


def _post(api: httpx.Client, path: str, body: Json) -> None:
    api.post(path, json=body).raise_for_status()


def _endless(bodies: Sequence[Json], seed: int) -> Iterator[Json]:
    drawn = Random(f"bodies {seed}")  # noqa: S311
    while True:
        yield drawn.choice(bodies)
