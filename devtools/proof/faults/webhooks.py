"""Receivers of webhooks: each change that matches arrives, even if anything between a write and them dies, and
nothing else arrives.

A receiver fails now and then. The messages that it has accepted are compared with the documents that the table really
held.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

from devtools.proof.faults.lambdas import Answer
from devtools.proof.faults.lives import NOTHING, Life, is_gone, kind_of, lives_of, numbers_of, steps
from devtools.proof.faults.truth import shown
from devtools.proof.faults.watched import Attempted, Watched
from devtools.proof.faults.world import Difference, Run, World
from gridview.dynamodb.table import Table
from gridview.encoding import keys, live_keys
from gridview.live.deliveries import IDLE
from gridview.live.outbox import Reply
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import Overloaded

_STATE = "open"
_VIEW = {
    "name": "Open",
    "visibility": "shared",
    "query": {"filter": {"field": "state", "op": "eq", "value": _STATE}, "sort": [{"field": "start"}]},
}
_SOME = "delete", "restore", "update"
_COLUMNS = "name", "state"
"""Not `start`, by which the view is sorted."""
_ROUNDS = 80
"""Looks at all outboxes, after which there is no end to be hoped for."""


class Webhook(NamedTuple):
    """A webhook of a project.

    `events`: the kinds that it gets; `of_view`: it gets the changes of the rows of a view.
    """

    id: str
    events: tuple[str, ...]
    of_view: bool
    columns: tuple[str, ...] | None
    """The fields that it gets; None: all. If the view's sort field is not among them, it gets no keys either."""
    after: Mapping[int, int]
    """The last version of each issue when it was defined: the later ones have to arrive."""


class Post:
    """Sends the messages of an invocation.

    An attempt is one of its calls, which the adversary may refuse, lose or repeat.
    """

    def __init__(self, table: Table, receivers: "Receivers") -> None:
        if not isinstance(table, Watched):
            raise AssertionError("an invocation has its table watched")
        self._around = table._around
        self._receivers = receivers

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """One attempt."""
        try:
            reply: Reply = self._around(
                Attempted("post", ((url, headers["webhook-id"]),)),
                lambda: self._receivers.receive(headers["webhook-id"], body),
            )
        except (Overloaded, ClientError):
            return Reply(problem="The receiver did not answer in time.")
        return reply


class Receivers:
    """All receivers of a world, for several projects."""

    def __init__(self, random: Random, failing: float) -> None:
        self._random = random
        self.failing = failing
        self.received: dict[str, dict[str, Any]] = defaultdict(dict)
        """The messages that each webhook's receiver has accepted: the last body under each id."""
        self.count = 0

    def receive(self, message: str, body: bytes) -> Reply:
        """A message arrives."""
        self.count += 1
        if self._random.random() < self.failing:
            return Reply(500, "", "The receiver answered 500.")
        self.received[message.partition("_")[0]][message] = json.loads(body)
        return Reply(200)


class Subscribers:
    """The webhooks of one project."""

    def __init__(self, world: World, receivers: Receivers, random: Random) -> None:
        self._world = world
        self._receivers = receivers
        self._random = random
        self.webhooks: list[Webhook] = []

    def begin(self) -> None:
        """Before anything happens: webhooks of all changes, of some, of some fields, of a view that is changed and deleted."""
        view = self._ask("POST", "/views", _VIEW)["id"]
        self.define()
        self.define(events=_SOME)
        self.define(columns=_COLUMNS)
        self.define(view=view)
        self.define(view=view, columns=_COLUMNS)
        self._ask("PATCH", f"/views/{view}", {"query": {}})
        self._ask("DELETE", f"/views/{view}")

    def define(self, **parts: Any) -> None:
        """An administrator defines a webhook; the project's changes arrive there from now on."""
        made = self._ask("POST", "/webhooks", {"url": "https://hooks.example.org/gridview", **parts})
        world = self._world
        after = {num: lives_of(world, num)[-1].version for num in numbers_of(world)}
        columns = tuple(parts["columns"]) if "columns" in parts else None
        self.webhooks.append(Webhook(made["id"], tuple(made["events"]), "view" in parts, columns, after))

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        world = self._world
        functions = world.functions(world.table, Catalogs())
        answer: Answer = functions.request(world.admin, method, f"{world.path}{path}", body)
        if answer.status >= 300:
            raise AssertionError(answer)
        return answer.body

    # In quiet

    def assert_right(self) -> None:
        """Each change that matches was accepted, as it was, and nothing else."""
        for webhook in self.webhooks:
            received = self._receivers.received[webhook.id]
            resets = [message for message, body in received.items() if body["type"] == "reset"]
            self._world.totals["messages"] += len(received)
            self._world.totals["messages of resets"] += len(resets)
            if resets and not webhook.of_view:
                raise Difference(f"webhook {webhook.id} gets a reset: {received[resets[0]]}")
            due = dict(self._due(webhook))
            for message, body in received.items():
                if body["type"] != "reset":
                    self._assert_is_due(webhook, message, body)
            missing = due.keys() - received.keys()
            if missing and not resets:
                raise Difference(f"webhook {webhook.id} {webhook.events} was never sent {sorted(missing)}")

    def _due(self, webhook: Webhook) -> Iterator[tuple[str, str]]:
        """The messages that have to arrive, each with its type."""
        world = self._world
        for num in numbers_of(world):
            if is_gone(world, num):
                continue
            for before, after in steps(lives_of(world, num)):
                event = self._event(webhook, before, after)
                if after.version > webhook.after.get(num, 0) and event in webhook.events:
                    yield f"{webhook.id}_{num}_{after.version}", event

    def _event(self, webhook: Webhook, before: Life, after: Life) -> str:
        """The event that a version is to a webhook; empty: none."""
        if not webhook.of_view:
            kind = kind_of(before, after)
            return kind if kind != "update" or self._difference(webhook, before, after) else ""
        match self._is_row(before), self._is_row(after):
            case False, True:
                return "enter"
            case True, False:
                return "leave"
            case True, True:
                silent = webhook.columns is not None and not self._difference(webhook, before, after)
                return "" if silent else "update"
        return ""

    def _is_row(self, life: Life) -> bool:
        return life.is_alive and shown(self._world.catalog(), life.image, None)["state"] == _STATE

    def _assert_is_due(self, webhook: Webhook, message: str, body: Mapping[str, Any]) -> None:
        data = body["data"]
        if message != f"{webhook.id}_{data['num']}_{data['version']}":
            raise Difference(f"{message} has {data}")
        lives = lives_of(self._world, data["num"])
        found = [(before, after) for before, after in steps(lives) if after.version == data["version"]]
        if not found:
            raise Difference(f"{message} has a version that never was: {body}")
        ((before, after),) = found[:1]
        if (body["type"], data["kind"]) != (self._event(webhook, before, after), kind_of(before, after)):
            raise Difference(f"{message} has {body}, and the version changed {before} to {after}")
        sent = {name: (one["old"], one["new"]) for name, one in data["fields"].items()}
        was = self._difference(webhook, before, after)
        if data["kind"] == "update" and sent != was:
            raise Difference(f"{message} has {sent}, and it was {was}")
        if webhook.columns is not None and not (sent.keys() <= {*webhook.columns} and not data.get("key")):
            raise Difference(f"{message} has {body}, and the webhook gets only {webhook.columns}")

    def _difference(self, webhook: Webhook, before: Life, after: Life) -> dict[str, tuple[Any, Any]]:
        """The changes of a version, as a webhook's events have them."""
        old, new = self._shown_fields(before), self._shown_fields(after)
        return {
            name: (old.get(name), new.get(name))
            for name in {*old, *new}
            if _as_set(old.get(name)) != _as_set(new.get(name))
            and (webhook.columns is None or name in webhook.columns)
        }

    def _shown_fields(self, life: Life) -> dict[str, Any]:
        if life is NOTHING:
            return {}
        document = shown(self._world.catalog(), life.image, None)
        return {"name": document["name"], "state": document["state"], **document["fields"]}

    def assert_delivered(self) -> None:
        """Nothing waits to be sent, and nothing was given up."""
        for webhook in self.webhooks:
            for item in self._world.engine.query_all(live_keys.outbox(*self._world.home, webhook.id)):
                if item.get("status", "delivered") != "delivered" or item[keys.SK].startswith(
                    live_keys.RETRY
                ):
                    raise Difference(f"webhook {webhook.id} still has {item}")

    def next_retry(self) -> float:
        """Seconds until the next attempt, or until a receiver that is down is tried again; 0: there is none."""
        until = [0.0]
        for webhook in self.webhooks:
            for item in self._world.engine.query_all(live_keys.outbox(*self._world.home, webhook.id)):
                if item[keys.SK].startswith(live_keys.RETRY):
                    until.append(max(clock.until(live_keys.parse_retry(item[keys.SK])[0]), 1.0))
                elif item.get("rests"):
                    until.append(max(clock.until(item["rests"]), 1.0))
        return max(until)


def _as_set(value: Any) -> Any:
    return sorted(value) if isinstance(value, list) else value


def deliver(world: World, catalogs: Catalogs, receivers: Receivers, hints: list[Hint]) -> Run:
    """An invocation of the function that delivers, after these hints; without any, as its schedule makes one."""

    def work(table: Table) -> Any:
        return world.functions(table, catalogs).deliver(hints, Post(table, receivers))

    def ended(run: Run) -> None:
        if not isinstance(run.invocation.raised, Overloaded):
            world.check(run)

    return world.start("courier", work, ended, ", ".join(one.partition for one in hints), homes=None)


def deliver_all(world: World, subscribers: list[Subscribers], receivers: Receivers) -> None:
    """Receivers are well, and everything that waits is sent, undisturbed."""
    receivers.failing, still = 0.0, 0
    for _ in range(_ROUNDS):
        world.pass_time(max(IDLE + 1, *(one.next_retry() for one in subscribers)))
        if world.memory is not None:
            world.memory.catch_up_with_all()
        before = receivers.count
        hints = world.hints_at_outboxes
        if hints is None:
            raise AssertionError("a world with webhooks has hints at them")
        world.finish(deliver(world, Catalogs(), receivers, []))
        while due := [one for one in hints if one.due <= clock.now()]:
            hints.clear()
            for hint in due:
                world.finish(deliver(world, Catalogs(), receivers, [hint]))
        waits = any(one.next_retry() for one in subscribers)
        still = 0 if waits or receivers.count > before else still + 1
        if still > 1:
            return
    raise Difference("the messages do not come to an end")
