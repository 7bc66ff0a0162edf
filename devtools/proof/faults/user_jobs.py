"""Users who change or delete all issues that a filter matches.

A job writes an issue once at most, and reports the outcome of each.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from random import Random
from typing import Any
from uuid import UUID

from devtools.proof.faults import people
from devtools.proof.faults.lambdas import Answer
from devtools.proof.faults.lives import Life, Maker, kind_of, lives_of, numbers_of, steps, touched
from devtools.proof.faults.truth import shown
from devtools.proof.faults.world import Difference, Run, World
from gridview.dynamodb.table import Table
from gridview.schema.store import Catalogs

_KINDS = "a", "b", "c"
_FINAL = frozenset({"done", "cancelled", "failed"})
_UNSURE = "changed several times"
"""A part of the reason for a refused issue that the job may or may not have written."""


@dataclass(eq=False)
class Job:
    """A job of a user: of all issues, or those of a `kind`. No other job sets its cost; None: it deletes."""

    user: str
    change: UUID
    kind: str | None
    cost: int | None
    key: str
    run: Run | None = None
    id: str | None = None

    @property
    def maker(self) -> Maker:
        """The author of its writes."""
        return Maker(self.change.bytes, self.user)

    @property
    def body(self) -> dict[str, Any]:
        """The request."""
        matched = None if self.kind is None else {"field": "kind", "op": "eq", "value": self.kind}
        asked: dict[str, Any] = {"filter": matched}
        return asked if self.cost is None else {**asked, "set": {"fields": {"cost": self.cost, "kind": "c"}}}


class Foremen:
    """Users who have jobs done in a project, and cancel some."""

    def __init__(self, world: World, containers: list[Catalogs], random: Random) -> None:
        self._world = world
        self._containers = containers
        self._random = random
        self._jobs: list[Job] = []
        self._reasons: dict[str, dict[int, str]] = {}
        """Job -> issue number -> the reason of the refusal, by the last answer."""

    def act(self) -> Run | None:
        """A user asks for a job, repeats a request that had no answer, or cancels a job."""
        unanswered = [one for one in self._jobs if one.id is None and one.run not in self._world.runs]
        drawn = self._random.random()
        if unanswered and drawn < 0.6:
            return self._ask(self._random.choice(unanswered))
        begun = [one for one in self._jobs if one.id is not None]
        if begun and drawn < 0.2:
            return self._cancel(self._random.choice(begun))
        if len(self._jobs) >= 6:
            return None
        return self._ask(self.begin())

    def begin(self) -> Job:
        """Make a new job, without a request yet."""
        random, place = self._random, len(self._jobs)
        kind = random.choice((*_KINDS[:2], None))
        cost = None if random.random() < 0.3 else 5_000 + place
        change = UUID(int=random.getrandbits(128), version=4)
        job = Job(random.choice(("ann", "bob")), change, kind, cost, f"job {place}")
        self._jobs.append(job)
        return job

    def _request(self, user: str, *asked: Any, **more: str) -> Any:
        world, catalogs = self._world, self._random.choice(self._containers)

        def work(table: Table) -> Answer:
            functions = world.functions(table, catalogs)
            return functions.request(people.writer(world, user), *asked, more=more)

        return work

    def _ask(self, job: Job) -> Run:
        world = self._world
        word = "delete" if job.cost is None else "update"
        headers = {"x-change-id": str(job.change), "idempotency-key": job.key}
        path = f"{world.path}/issues/{word}-matching"

        def ended(run: Run) -> None:
            world.check_request(run)
            answer = run.invocation.result
            if run.invocation.raised is None and answer.status == HTTPStatus.ACCEPTED:
                if job.id not in (None, answer.body["id"]):
                    raise Difference(f"one request begins two jobs: {job.id} and {answer.body['id']}")
                job.id = answer.body["id"]

        work = self._request(job.user, "POST", path, job.body, **headers)
        job.run = world.start("foreman", work, ended, f"{word} {job.kind} by {str(job.change)[:8]}")
        return job.run

    def _cancel(self, job: Job) -> Run:
        world = self._world
        work = self._request(job.user, "DELETE", f"{world.path}/jobs/{job.id}")
        return world.start("foreman", work, world.check_request, f"cancel {job.id}")

    # In quiet

    def outcome(self, job: str) -> tuple[Mapping[str, Any], list[int]]:
        """Return the API's answer about a job, and the issues that it refuses, in the order of the list."""
        world, viewer = self._world, people.writer(self._world, "eve")
        functions = world.functions(world.engine, Catalogs())
        path = f"{world.path}/jobs/{job}"
        answer = functions.request(viewer, "GET", path).body
        refused: list[int] = []
        self._reasons[job] = {}
        query = "limit=2"
        while True:
            page = functions.request(viewer, "GET", f"{path}/refused", query=query).body
            refused += [one["num"] for one in page["items"]]
            self._reasons[job] |= {one["num"]: one["problem"]["detail"] for one in page["items"]}
            if page["next"] is None:
                return answer, refused
            query = f"limit=2&cursor={page['next']}"

    def ask_for_all(self) -> None:
        """Begin each job that a user has asked for, when all is quiet."""
        for job in self._jobs:
            for _ in range(3):
                if job.id is not None:
                    break
                self._world.finish(self._ask(job))
                self._world.pass_time(1.0)
            else:
                raise Difference(f"no job begins for {job}")

    def assert_right(self) -> None:
        """When all jobs are over: each issue was written once at most, as it was to be, and the reported numbers
        add up.
        """
        for job in self._jobs:
            if job.id is not None:
                self._assert_job(job, *self.outcome(job.id))

    def _assert_job(self, job: Job, outcome: Mapping[str, Any], refused: list[int]) -> None:
        totals = self._world.totals
        if outcome["state"] not in _FINAL or outcome["state"] == "failed":
            raise Difference(f"a job ends so: {outcome}")
        written = {num for num in numbers_of(self._world) if self._is_written(job, num)}
        totals[f"jobs {outcome['state']}"] += 1
        totals["issues written by jobs"] += len(written)
        totals["issues refused by jobs"] += len(refused)
        for num in written & {*refused}:
            if _UNSURE not in (why := self._reasons[job.id or ""][num]):
                raise Difference(f"{job.id} has written issue {num}, and refuses it: {why}")
        if len({*refused}) < len(refused):
            raise Difference(f"{job.id} refuses an issue twice: {refused}")
        if outcome["refused"] != len(refused) or outcome["done"] != len(written - {*refused}):
            raise Difference(
                f"{outcome} does not add up: written {sorted(written)}, refused {sorted(refused)}"
            )
        if outcome["state"] == "done" and outcome["done"] + outcome["refused"] != outcome["total"]:
            raise Difference(f"{outcome} does not add up")

    def _is_written(self, job: Job, num: int) -> bool:
        own = [pair for pair in steps(lives_of(self._world, num)) if pair[1].maker == job.maker]
        if len(own) > 1:
            raise Difference(f"{job.id} has written issue {num} {len(own)} times")
        for before, after in own:
            if not (before.is_alive and self._matches(job, before)):
                raise Difference(f"{job.id} writes issue {num} over {before.values}, which does not match")
            if job.cost is None:
                is_as_wanted = kind_of(before, after) == "delete"
            else:
                fields = shown(self._world.catalog(), after.image, None)["fields"]
                only_its_fields = touched(before, after) <= {self._key("cost"), self._key("kind")}
                is_as_wanted = only_its_fields and (fields.get("cost"), fields.get("kind")) == (job.cost, "c")
            if not is_as_wanted:
                raise Difference(f"{job.id} makes of {before.values} {after.values}")
        return bool(own)

    def _key(self, name: str) -> str:
        field = self._world.catalog().get(name)
        if field is None:
            raise AssertionError(f"the project has {name}")
        return field.key

    def _matches(self, job: Job, life: Life) -> bool:
        kind = shown(self._world.catalog(), life.image, None)["fields"].get("kind")
        return job.kind is None or kind == job.kind

    def matching(self, job: Job) -> set[int]:
        """The issues that are there and match."""
        found = {num: lives_of(self._world, num)[-1] for num in numbers_of(self._world)}
        return {num for num, life in found.items() if life.is_alive and self._matches(job, life)}

    def assert_all_in_quiet(self, job: Job, matched: set[int]) -> None:
        """An undisturbed job has written all that matched."""
        outcome, refused = self.outcome(job.id or "")
        written = {num for num in numbers_of(self._world) if self._is_written(job, num)}
        if (outcome["state"], written, refused) != ("done", matched, []):
            raise Difference(f"{outcome}: of {sorted(matched)} it has written {sorted(written)}")
        self._world.totals["jobs in quiet"] += 1
