"""The functions as Lambda runs them: their real handlers, each invocation with a module of its own, on what a scenario gives it.

A container of Lambda has one invocation at a time, and what a scenario calls a container is what it keeps: the `Catalogs`. The
module's table, queue and caches are put in before each invocation. Metrics and logs go nowhere but to `Invoked.errors`.
"""

import importlib
import json
import os
import pkgutil
import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple, TypeVar
from unittest import mock

from botocore.exceptions import ClientError
from typing_extensions import override

import gridview
from devtools.local import gateway, matching
from devtools.proof.faults.bucket import NoBatches
from gridview.chains.fence_cache import Fences
from gridview.commands.actor import Role
from gridview.derive.images import Poison
from gridview.dynamodb.table import Table
from gridview.encoding.json_codec import dumps
from gridview.live.delivery_hints import DeliveryHints
from gridview.maintenance.batch_bucket import Batches
from gridview.maintenance.fold_wakes import Wakes
from gridview.maintenance.job_queue import body_of
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import CONFIRMED, EpochCheck
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs
from gridview.support import fold_pace
from gridview.view.beats import Canary, Heart
from gridview.view.block_cache import BlockCache
from gridview.view.freshness import Notes

_ENVIRONMENT = {
    "AWS_REGION": "eu-west-2",
    "AWS_DEFAULT_REGION": "eu-west-2",
    "POWERTOOLS_SERVICE_NAME": "faults",
    "POWERTOOLS_METRICS_NAMESPACE": "gridview",
    "POWERTOOLS_LOG_LEVEL": "CRITICAL",
    "TABLE_NAME": "faults",
    "DEAD_LETTER_QUEUE_URL": "https://queue.invalid",
    "JOB_QUEUE_URL": "https://queue.invalid",
    "WEBHOOK_QUEUE_URL": "https://queue.invalid",
    "WEBHOOK_RETRY_QUEUE_URL": "https://queue.invalid",
    "EXPORT_BUCKET": "nowhere",
    "FAILED_BATCHES_BUCKET": "nowhere",
    "CURSOR_SECRET": "a secret of the simulator",
    "WEBHOOK_SECRET": "another secret of the simulator",
    "SOCKET_URL": "wss://socket.invalid",
}


_FUNCTIONS = ("command", "deliver", "live", "maintain", "query", "socket", "upkeep")

_NEVER = "9999999999"
"""When the tokens of a scenario end."""


class _Still(Heart):
    """The heartbeat decides nothing, so no scenario is disturbed by it."""

    @override
    def beat(self, table: Table) -> None:
        """Nothing."""


class _NoWebhooks(DeliveryHints):
    """In most scenarios no project has webhooks, and nothing else depends on the look for them."""

    @override
    def look(self, table: Table, catalogs: Catalogs, records: Any) -> None:
        """Nothing."""


_free: dict[tuple[str, float], list[ModuleType]] = defaultdict(list)
"""Modules that no invocation is using."""


@dataclass(frozen=True)
class Context:
    """Lambda's context of an invocation; `left` gives the seconds that it has."""

    left: Callable[[], float]
    function_name: str = "faults"
    memory_limit_in_mb: int = 1024
    invoked_function_arn: str = "arn:aws:lambda:eu-west-2:123456789012:function:faults"
    aws_request_id: str = "9c1f0a3e-0d6b-4a55-8f0e-6a2d1e90c1f3"

    def get_remaining_time_in_millis(self) -> int:
        """As Lambda gives them."""
        return int(self.left() * 1000)


class Letters(NamedTuple):
    """The queue of poison issues."""

    send: Callable[[Poison], None]


class Hints(NamedTuple):
    """A queue of hints at due work."""

    send: Callable[[Hint], None]


def read_json(text: str | bytes) -> Any:
    """JSON with all digits of its numbers."""
    return json.loads(text, parse_float=Decimal)


class Failed(Exception):
    """A request was answered with 500. Its cause is the error that the function logged."""


@contextmanager
def _module(function: str, settling: float) -> Iterator[ModuleType]:
    free = _free[function, settling]
    module = free.pop() if free else _loaded(function, settling)
    try:
        yield module
    finally:
        free.append(module)


@cache
def load_all() -> None:
    """Import the functions and the whole core outside of any scenario.

    A module of the core sees a scenario's clock and chance only if it is there at its beginning, and some are imported late.
    """
    for module in pkgutil.walk_packages(gridview.__path__, f"{gridview.__name__}."):
        importlib.import_module(module.name)
    for function in _FUNCTIONS:
        with _module(function, 0.0):
            pass


def _loaded(function: str, settling: float) -> ModuleType:
    name = f"functions.{function}.handler"
    environment = mock.patch.dict(os.environ, {**_ENVIRONMENT, "SETTLE_SECONDS": str(settling)})
    unconnected = mock.patch.object(Table, "connect")  # a scenario gives the table
    unpaced = mock.patch.object(fold_pace, "use")  # and says how much waits for the fold
    with environment, unconnected, unpaced, mock.patch("botocore.session.Session.create_client"):
        sys.modules.pop(name, None)
        module = importlib.import_module(name)
        sys.modules.pop(name)
    module.metrics.add_metric = lambda **_: None
    module.metrics.provider.flush_metrics = lambda **_: None
    return module


Result = TypeVar("Result")


class Used(Catalogs):
    """Catalogs of a container that note the last one used; `only` in the place of all others, if it is given."""

    def __init__(self, catalogs: Catalogs, only: Catalog | None = None) -> None:
        vars(catalogs).setdefault("remembered", BlockCache())  # one container, for every user of it
        self.remembered: BlockCache
        vars(self).update(vars(catalogs))
        self.last: Catalog
        self._only = only

    @override
    def using(
        self,
        table: Table,
        tenant: str,
        project: str,
        use: Callable[[Catalog, EpochCheck], Result],
        *,
        numbered: bool = False,
    ) -> Result:
        def noting(catalog: Catalog, epoch: EpochCheck) -> Result:
            self.last = catalog
            return use(catalog, epoch)

        if self._only is not None:
            return noting(self._only, CONFIRMED)
        return super().using(table, tenant, project, noting, numbered=numbered)


def _raise_if_unforeseen(error: Exception) -> None:
    """Upkeep survives what a batch raises. A scenario has to see it, but for what it denies by itself."""
    if not isinstance(error, ClientError):
        raise error


class Functions(NamedTuple):
    """The functions on one table, in a container that knows these definitions."""

    table: Table
    catalogs: Catalogs
    settling: float = 0.0
    left: Callable[[], float] = lambda: 60.0
    fences: Fences | None = None
    hint: Callable[[Hint], None] | None = None
    """Takes hints at outboxes; None: no project has webhooks."""
    given: Mapping[str, Any] = MappingProxyType({})
    """Further globals of the modules, by name."""
    batches: Batches = NoBatches()
    """The bucket of batches that wait."""

    def _invoke(self, function: str, event: Mapping[str, Any], **given: Any) -> Any:
        with _module(function, self.settling) as module:
            vars(module).update({"table": self.table, "catalogs": self.catalogs, **given, **self.given})
            return module.handler(event, Context(self.left))

    def socket(self, event: Mapping[str, Any]) -> Any:
        """Return the socket function's answer to an event."""
        return self._invoke("socket", event)

    def maintain(self, records: Any, letter: Callable[[Poison], None]) -> Any:
        """The answer of the stream consumer to these records."""
        wakes = Wakes(lambda _: None)  # a hint may be lost
        given = {
            "dead_letters": Letters(letter),
            "batches": self.batches,
            "notes": Notes(),
            "wakes": wakes,
            "delivery_hints": DeliveryHints(self.hint) if self.hint else _NoWebhooks(lambda _: None),
        }
        return self._invoke("maintain", {"Records": records}, **given)

    def upkeep(self, letter: Callable[[Poison], None]) -> Any:
        """Return the answers of the upkeep function: as its schedule invokes it, and then after each of its hints."""
        hints: deque[Hint] = deque()
        given = {
            "dead_letters": Letters(letter),
            "fences": self.fences or Fences(),
            "job_queue": Hints(hints.append),
            "heart": _Still(),
            "canary": vars(self.catalogs).setdefault("canary", Canary()),  # one container for all its users
            **self._redriving,
        }
        done = [self._invoke("upkeep", {"task": "jobs"}, **given)]
        while hints:
            message = {"body": body_of(hints.popleft())}
            done.append(self._invoke("upkeep", {"Records": [message]}, **given))
        return done

    def redrive(self, letter: Callable[[Poison], None]) -> Any:
        """Have the upkeep function redrive waiting batches."""
        with _module("upkeep", self.settling) as module:
            given = {"dead_letters": Letters(letter), **self._redriving}
            vars(module).update({"table": self.table, "catalogs": self.catalogs, **given, **self.given})
            return module.redrive_batches(self.left)

    @property
    def _redriving(self) -> Mapping[str, Any]:
        return {"batches": self.batches, "_report_crash": _raise_if_unforeseen}

    def deliver(self, hints: Sequence[Hint], sender: Any) -> Any:
        """Return the answer of the function that delivers: after these hints, or without any as its schedule
        invokes it.
        """
        queue = Hints(self.hint or (lambda _: None))
        given = {"sender": sender, "webhook_queue": queue, "retry_queue": queue}
        records = [{"body": body_of(hint)} for hint in hints]
        return self._invoke("deliver", {"Records": records} if records else {"task": "webhooks"}, **given)

    def request(
        self,
        actor: tuple[str, str, Role],
        method: str,
        path: str,
        body: Any = None,
        versions: frozenset[int] | None = None,
        *,
        query: str = "",
        more: Mapping[str, str] | None = None,
    ) -> "Answer":
        """Return the answer to a request, by a container that goes on with its caches. `more`: further headers.

        Unforeseen errors are raised, with the error that the function logged as their cause.
        """
        tenant, user, role = actor
        claims = {
            "token_use": "id",
            "sub": user,
            "custom:tenant": tenant,
            "custom:role": role.name.lower(),
            "exp": _NEVER,
        }
        headers = {"content-type": "application/json", **(more or {})}
        if versions is not None:
            headers["if-match"] = ", ".join(f'"{version}"' for version in sorted(versions))
        matched = matching.match(method, path)
        request = gateway.Request(method, path, query, headers, b"" if body is None else dumps(body), id="r")
        event = gateway.event(request, matched, claims)
        logged: list[BaseException | None] = []
        cache = vars(self.catalogs).setdefault("remembered", BlockCache())
        with _module(matched.function, self.settling) as module:
            given = {"job_queue": Hints(lambda _: None)}  # a hint may be lost
            own = {"table": self.table, "catalogs": self.catalogs, "cache": cache}
            vars(module).update({**own, **given, **self.given})
            module.logger.exception = lambda *_: logged.append(sys.exc_info()[1])
            raw = module.handler(event, Context(self.left))
        if raw["statusCode"] == 500:
            raise Failed(raw["body"]) from (logged or [None])[-1]
        answer_headers = {name.lower(): value for name, value in raw.get("headers", {}).items()}
        return Answer(raw["statusCode"], read_json(raw["body"] or "null"), answer_headers)

    def grid(self, tenant: str, project: str, asked: Mapping[str, Any]) -> "Answer":
        """A page of the grid of a project, by its path."""
        viewer = tenant, "eve", Role.VIEWER
        return self.request(viewer, "POST", f"{project}/grid", asked)


class Answer(NamedTuple):
    """An HTTP answer. The names of its headers are in lower case."""

    status: int
    body: Any
    headers: Mapping[str, str] = MappingProxyType({})
