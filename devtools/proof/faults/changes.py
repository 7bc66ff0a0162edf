"""Users who write under an X-Change-Id, and undo changes. Each undo is repeated until it is answered, even after crashes."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from random import Random
from typing import Any
from uuid import UUID

from devtools.proof.faults import people
from devtools.proof.faults.lambdas import Answer
from devtools.proof.faults.lives import Life, Maker, is_gone, lives_of, made_by, numbers_of
from devtools.proof.faults.undo_model import carried_out, plan, wrong_version
from devtools.proof.faults.world import Difference, Run, World
from gridview.commands.actor import Actor
from gridview.dynamodb.table import Table
from gridview.encoding.consistency import SECONDS
from gridview.journal.change_members import members_of
from gridview.schema.store import Catalogs

USERS = "ann", "bob"

_WAIT = frozenset(
    {"history-not-ready", "request-in-progress", "not-found", "conflict", "too-many-writes", "busy"}
)
"""Refusals of an undo after which the request is repeated: not enough is known yet."""

_MORE = 0.6
"""How often a user continues a change instead of beginning another."""


_IN_PARTS = 0.25
"""How often an undo names some of the issues that the change touched."""


@dataclass(eq=False)
class Written:
    """The writes of a user under one id."""

    user: str
    id: UUID
    tokens: list[tuple[float, str]] = field(default_factory=list)
    """When each was given out, and it."""
    answered: dict[int, int] = field(default_factory=dict)
    """Issue number -> a version that an answer reported as written, or that was there before."""

    @property
    def maker(self) -> Maker:
        """The author of its writes."""
        return Maker(self.id.bytes, self.user)

    def receive(self, answer: Answer, now: float) -> None:
        """Keep the token of a write, and the versions that it has written."""
        token = answer.headers.get("x-consistency-token")
        if token is None or answer.status >= HTTPStatus.BAD_REQUEST:
            return
        self.tokens.append((now, token))
        body = answer.body or {}
        results = body.get("results", [{"issue": body}])
        self.answered |= {
            one["issue"]["num"]: one["issue"]["version"] for one in results if "num" in one.get("issue", {})
        }

    def has_good_tokens(self, now: float) -> bool:
        """Whether the tokens of all of its writes are still good."""
        return all(at + SECONDS > now + 1 for at, _ in self.tokens)


@dataclass(eq=False)
class Undo:
    """One undo, asked for by `user` until it is answered. `own`: what it writes itself."""

    of: Written
    own: Written
    actor: Actor
    key: str | None
    nums: list[int] | None = None
    """The issues that are named in it; None: all that the change touched."""
    known: dict[int, list[int]] | None = None
    """Issue number -> the versions of the change in the history at the first request."""
    tokens: Mapping[int, int] = field(default_factory=dict)
    """The issues, with versions, whose tokens were sent the last time: those of all that the change had been answered by then."""
    written: bool = False
    """Whether anything of the change had been written, and answered, when it was asked for the last time."""
    run: Run | None = None
    job: str | None = None
    over: bool = False

    def names(self, num: int) -> bool:
        """Whether it is about an issue."""
        return self.nums is None or num in self.nums


class Undoers:
    """Users who write in a project under ids of their own and undo these changes."""

    def __init__(self, world: World, containers: list[Catalogs], random: Random) -> None:
        self._world = world
        self._containers = containers
        self._random = random
        self._open: dict[str, Written] = {}
        self._closed: list[Written] = []
        self._undos: list[Undo] = []

    # Writing

    def _change_of(self, user: str) -> Written:
        change = self._open.get(user)
        if change is None or self._random.random() >= _MORE:
            if change is not None:
                self._closed.append(change)
            change = self._open[user] = Written(user, UUID(int=self._random.getrandbits(128), version=4))
        return change

    def write(self) -> Run:
        """A user makes, changes, deletes or restores an issue, or several by a batch, as a part of a change."""
        world, random = self._world, self._random
        change = self._change_of(random.choice(USERS))
        nums = [document["num"] for document in world.documents.values()]
        gone = [image["num"] for image in world.trashed.values()]
        drawn = random.random()
        if not nums or drawn < 0.1:
            request: tuple[Any, ...] = "POST", "/issues", people.wish(world, new=True)
        elif drawn < 0.22:
            request = "DELETE", f"/issues/{random.choice(nums)}"
        elif drawn < 0.3 and gone:
            request = "POST", f"/trash/{random.choice(gone)}/restore"
        elif drawn < 0.5:
            request = "POST", "/issues/batch", {"operations": [self._operation(nums) for _ in range(3)]}
        else:
            request = "PATCH", f"/issues/{random.choice(nums)}", people.wish(world, new=False)
        return self.ask(change, *request)

    def _operation(self, nums: list[int]) -> dict[str, Any]:
        drawn, num = self._random.random(), self._random.choice(nums)
        if drawn < 0.2:
            return {"create": people.wish(self._world, new=True)}
        if drawn < 0.35:
            return {"delete": {"num": num}}
        return {"update": {"num": num, **people.wish(self._world, new=False)}}

    def rival(self) -> None:
        """Another user makes two edits, of issues that others may be changing."""
        nums = [document["num"] for document in self._world.documents.values()]
        change = self._change_of(self._random.choice(USERS))
        for num in self._random.sample(nums, min(2, len(nums))):
            self.ask(change, "PATCH", f"/issues/{num}", people.wish(self._world, new=False))

    def ask(self, change: Written, method: str, path: str, body: Any = None) -> Run:
        """Start a request of the change's author."""
        world = self._world
        catalogs = self._random.choice(self._containers)

        def work(table: Table) -> Answer:
            actor = people.writer(world, change.user)
            headers = {"x-change-id": str(change.id)}
            functions = world.functions(table, catalogs)
            return functions.request(actor, method, f"{world.path}{path}", body, more=headers)

        def ended(run: Run) -> None:
            world.check_request(run)
            if run.invocation.raised is None:
                change.receive(run.invocation.result, world.clock.seconds)

        return world.start("command", work, ended, f"{method} {path} in {str(change.id)[:8]}")

    # Undo

    def undo(self) -> Run | None:
        """A user undoes a change, or repeats a request that had no answer."""
        world, random = self._world, self._random
        waiting = [
            one for one in self._undos if not one.over and (one.run is None or one.run not in world.runs)
        ]
        waiting = [one for one in waiting if one.job is None]
        if waiting and (random.random() < 0.6 or not self._closed):
            return self._ask(random.choice(waiting))
        if not self._closed or len(waiting) > 3:
            return None
        return self._ask(self.begin(random.choice(self._closed)))

    def begin(self, change: Written, *, whole: bool = False) -> Undo:
        """A new undo of a change, or, unless it is to be `whole`, of a part of it."""
        random, world = self._random, self._world
        by_admin = random.random() < 0.2
        actor = world.admin if by_admin else people.writer(world, change.user)
        own = Written(actor.user, UUID(int=random.getrandbits(128), version=4))
        key = f"undo {len(self._undos)}" if random.random() < 0.6 else None
        touched = sorted(self._listed_versions(change))
        drawn = Random(own.id.int)  # noqa: S311  which undos are of parts changes nothing else of a scenario
        in_parts = drawn.random() < _IN_PARTS and bool(touched) and not whole
        some = drawn.sample(touched, drawn.randint(1, len(touched))) if in_parts else None
        one = Undo(change, own, actor, key, some)
        self._undos.append(one)
        return one

    def _ask(self, one: Undo) -> Run:
        world, catalogs = self._world, self._random.choice(self._containers)
        now = world.clock.seconds
        headers = {"x-change-id": str(one.own.id)}
        if one.of.tokens and one.of.has_good_tokens(now):
            headers["x-consistency-token"] = ",".join(token for _, token in one.of.tokens)
        written = one.of.answered if "x-consistency-token" in headers else {}
        one.tokens = {num: version for num, version in written.items() if one.names(num)}
        if one.key is not None:
            headers["idempotency-key"] = one.key
        body: dict[str, Any] = {"change": str(one.of.id), "by": one.of.user}
        one.written = bool(one.of.tokens) and self._has_written(one.of)
        if one.nums is not None:
            body["nums"] = one.nums
            world.totals["undos of parts"] += 1
        if one.known is None:
            one.known = {
                num: versions for num, versions in self._listed_versions(one.of).items() if one.names(num)
            }

        def work(table: Table) -> Answer:
            functions = world.functions(table, catalogs)
            return functions.request(one.actor, "POST", f"{world.path}/undo", body, more=headers)

        def ended(run: Run) -> None:
            world.check_request(run)
            if run.invocation.raised is None:
                self._receive(one, run.invocation.result)

        world.totals["undos asked for"] += 1
        one.run = world.start("undo", work, ended, f"{str(one.of.id)[:8]} by {str(one.own.id)[:8]}")
        return one.run

    def _has_written(self, change: Written) -> bool:
        world = self._world
        return any(made_by(lives_of(world, num), [change.maker]) for num in numbers_of(world))

    def _listed_versions(self, change: Written) -> dict[int, list[int]]:
        """The versions of a change that the history lists now."""
        world, listed_versions = self._world, defaultdict(list)
        listed = {(one.num, one.version) for one in members_of(world.engine, *world.home, change.id.bytes)}
        for num in numbers_of(world):
            for version in made_by(lives_of(world, num), [change.maker]):
                if (num, version) in listed:
                    listed_versions[num].append(version)
        return dict(listed_versions)

    def _receive(self, one: Undo, answer: Answer) -> None:
        if answer.status == HTTPStatus.ACCEPTED:
            self._world.totals["undos by jobs"] += 1
            one.job = answer.body["id"]
        elif answer.status == HTTPStatus.OK:
            self._world.totals["undos answered"] += 1
            one.over = True
            if answer.body["change"] not in (None, str(one.own.id)):
                raise Difference(f"an undo by {one.own.id} says that it is {answer.body['change']}")
            if answer.body["change"] is not None:
                one.own.receive(answer, self._world.clock.seconds)
            self._closed.append(one.own)
            undone = {one_issue["num"]: one_issue["version"] for one_issue in answer.body["undone"]}
            self._judge(one, undone, {one_issue["num"] for one_issue in answer.body["refused"]})
        elif answer.status == HTTPStatus.NOT_FOUND and one.written:
            raise Difference(f"an undo of {one.of.id}, which was written, finds nothing: {answer.body}")
        elif answer.status < HTTPStatus.INTERNAL_SERVER_ERROR and answer.body["type"] not in _WAIT:
            raise Difference(f"an undo is answered {answer.status} {answer.body}")

    def _judge(self, one: Undo, undone: Mapping[int, int], refused: set[int]) -> None:
        """The answer has the outcome of every issue of the change, and each outcome is true."""
        reported = {*undone, *refused}
        if one.nums is not None and reported != {*one.nums}:
            raise Difference(f"an undo of {one.of.id} in {one.nums} speaks of {sorted(reported)}")
        for num, version in one.tokens.items():
            written = made_by(lives_of(self._world, num), [one.of.maker])
            if version in written and num not in reported:
                raise Difference(f"an undo of {one.of.id} with its tokens says nothing of issue {num}")
        for num, parts in (one.known or {}).items():
            if num not in undone and num not in refused:
                raise Difference(f"an undo of {one.of.id} says nothing of issue {num}")
            if num not in undone:
                continue
            lives = [life for life in lives_of(self._world, num) if life.version <= undone[num]]
            if not self._is_over(one, lives, parts, stays=num in refused):
                raise Difference(
                    f"an undo of {one.of.id} says that issue {num} is taken back at version {undone[num]}, "
                    f"and there is still to be done: {plan(lives, parts, one.own.maker)}"
                )

    @staticmethod
    def _is_over(one: Undo, lives: Sequence[Life], known: Sequence[int], *, stays: bool) -> bool:
        """Whether nothing is left to be taken back of these parts, or of all that came while it was done."""
        for parts in (known, made_by(lives, [one.of.maker])):
            left, must_stay = plan(lives, parts, one.own.maker)
            if left is None and (stays or not must_stay):
                return True
        return False

    # In quiet

    def assert_right(self) -> None:
        """Nothing was taken back that was not to be, and nothing twice."""
        by_own = {one.own.maker: one.of.maker for one in self._undos}
        for num in numbers_of(self._world):
            lives = lives_of(self._world, num)
            for at, life in enumerate(lives):
                change = by_own.get(life.maker)
                if change is None:
                    continue
                self._world.totals["versions by undos"] += 1
                wrong = wrong_version(lives, at, change, life.maker)
                if wrong is not None:
                    raise Difference(f"issue {num}: an undo of {UUID(bytes=change.change)}: {wrong}")

    def finish(self, finished: Callable[[str], Any]) -> None:
        """Every undo that was asked for is answered, when all is quiet. `finished` gives a job that is over, with its refusals."""
        for one in [one for one in self._undos if not one.over]:
            if one.job is None:
                self._answered(one)
            if one.job is not None:
                self._judge_job(one, *finished(one.job))

    def _answered(self, one: Undo) -> None:
        """Ask until there is an answer; nothing of the change may ever have been written."""
        for _ in range(4):
            self._world.finish(self._ask(one))
            if one.over or one.job is not None:
                return
            self._world.pass_time(70.0)
        if one.known and self._listed_versions(one.of):
            raise Difference(f"an undo of {one.of.id} is not answered")
        one.over = True

    def _judge_job(self, one: Undo, job: Mapping[str, Any], refused: list[int]) -> None:
        one.over = True
        if job["state"] != "done":
            raise Difference(f"an undo by a job ends so: {job}")
        if (job["done"] + job["refused"], job["refused"]) != (job["total"], len({*refused})):
            raise Difference(f"an undo by a job does not add up: {job}, refused {refused}")
        self._closed.append(one.own)
        for num, parts in (one.known or {}).items():
            if num in refused:
                continue
            lives = lives_of(self._world, num)
            # At one moment nothing was left to be taken back. Others may have gone on since.
            ends = range(len([life for life in lives if life.version <= parts[-1]]), len(lives) + 1)
            if not any(self._is_over(one, lives[:end], parts, stays=False) for end in ends):
                raise Difference(f"a job has left issue {num} as it was, and refuses nothing of it")

    def undo_in_quiet(self, count: int, work_off: Callable[[], None], finished: Callable[[str], Any]) -> None:
        """Undo some changes while nothing else happens: the documents match the answers exactly, also after a redo."""
        changes = [*self._closed, *self._open.values()]
        for _ in range(min(count, len(changes))):
            change = changes.pop(self._random.randrange(len(changes)))
            before = self._seen()
            first = self._undisturbed(change, work_off, finished)
            if first is None:
                continue
            self._world.totals["undos in quiet"] += 1
            own, stays = first
            again = self._undisturbed(own, work_off, finished, whole=True)
            if again is not None and not stays:
                if again[1]:
                    raise Difference(f"the undo of {own.id}, which was undisturbed, leaves something")
                if self._seen() != before:
                    raise Difference(f"a redo after {own.id} does not make the documents what they were")

    def _seen(self) -> dict[int, Any]:
        last = {num: lives_of(self._world, num)[-1] for num in numbers_of(self._world)}
        return {num: (life.is_alive, life.values) for num, life in last.items()}

    def _undisturbed(
        self,
        change: Written,
        work_off: Callable[[], None],
        finished: Callable[[str], Any],
        *,
        whole: bool = False,
    ) -> tuple[Written, set[int]] | None:
        """An undo, and the issues of which something stays; None: there is nothing to take back."""
        world = self._world
        listed_versions = self._listed_versions(change)
        if not listed_versions:
            return None
        one = self.begin(change, whole=whole)
        expected = {}
        for num in listed_versions:
            if one.names(num) and not is_gone(world, num):
                lives = lives_of(world, num)
                expected[num] = carried_out(lives, made_by(lives, [change.maker]), one.own.maker)
        refusals: list[set[int]] = []
        judge = self._judge

        def judged(one: Undo, undone: Mapping[int, int], refused: set[int]) -> None:
            judge(one, undone, refused)
            refusals.append(refused)

        self._judge = judged  # type: ignore[method-assign]
        try:
            self._answered(one)
        finally:
            self._judge = judge  # type: ignore[method-assign]
        if one.job is not None:
            work_off()
            job, refused = finished(one.job)
            self._judge_job(one, job, refused)
            refusals.append({*refused})
        for num, (life, stays) in expected.items():
            now = lives_of(world, num)[-1]
            if (now.is_alive, now.values) != (life.is_alive, life.values):
                raise Difference(
                    f"issue {num} after an undo of {change.id}: {now.is_alive, now.values} and not "
                    f"{life.is_alive, life.values}"
                )
            if stays != (num in refusals[-1]):
                raise Difference(
                    f"issue {num} after an undo of {change.id}: something stays: {stays}; refused: {sorted(refusals[-1])}"
                )
        work_off()
        return one.own, {num for num, (_, stays) in expected.items() if stays}
