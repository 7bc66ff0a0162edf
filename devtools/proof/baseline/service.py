"""The query function over a table in memory: its answers, and their reads. The one module that knows its inside.

Work in parallel is done one after the other here, so that no run depends on which thread is faster.
"""

import contextlib
import hashlib
import importlib
import io
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch
from urllib.parse import urlencode

from devtools.local import gateway, matching
from devtools.local.container import Context
from devtools.local.environment import local
from devtools.proof.baseline.questions import Question
from devtools.proof.baseline.world import PROJECT, TENANT, Json, World
from devtools.proof.faults.memory_table import MemoryTable
from gridview.dynamodb.metering import Meter
from gridview.journal.log import Log
from gridview.schema.store import Catalogs
from gridview.view.block_cache import BlockCache
from gridview.view.journal_tail import learn

_CLAIMS = {"sub": "baseline", "token_use": "id", "custom:tenant": TENANT, "custom:role": "viewer"}
_SECONDS = 60.0
_NAMES = {("batch_get_item", "table"): "batch", ("get_item", "table"): "get", ("query", "GSI1"): "index"}


class Cost(NamedTuple):
    """The cost of an answer."""

    units: float
    rounds: int
    calls: str
    """For people: each operation with its calls and the items that they read."""


class Found(NamedTuple):
    """An answer, without what may be worded in another way, and its costs: with nothing at hand, and asked again at once."""

    answer: Json
    cold: Cost
    warm: Cost

    @property
    def digest(self) -> str:
        """The answer in a few characters: status and type of a problem, or rows and a digest of everything."""
        if "status" in self.answer:
            return f"{self.answer['status']} {self.answer['type']}"
        digest = hashlib.sha256(json.dumps(self.answer, sort_keys=True).encode()).hexdigest()[:8]
        listed = self.answer.get("rows", self.answer.get("groups"))
        return digest if listed is None else f"{digest} {len(listed)}"


class _Metered:
    """A table that remembers the meter of the request that is being answered."""

    def __init__(self, table: MemoryTable) -> None:
        self._table = table
        self.meter = Meter()

    def metered(self) -> MemoryTable:
        made = self._table.metered()
        self.meter = made.meter
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)


class Service:
    """The query function, whose definitions are at hand."""

    def __init__(self, world: World, module: Any) -> None:
        self._world = world
        self._module = module
        self._table = self._module.table = _Metered(world.table)
        self._module.catalogs = Catalogs()
        self._pages: dict[str, Json] = {}

    def ask(self, question: Question) -> Found:
        """Ask twice, the second time with the caches of the first. AssertionError when the answers differ."""
        path, body = question.request(self._world)
        for number in range(len(question.moves)):
            body = self._moved(path, body, question.moves[number])
        cache = self._container()
        answer, cold = self._asked(path, body, cache)
        again, warm = self._asked(path, body, cache)
        assert again == answer, f"{question.name}: another answer, asked again"  # noqa: S101
        return Found(answer, cold, warm)

    def _container(self) -> BlockCache:
        """One that has read the project's definitions, and beside them where its journal ends."""
        cache = BlockCache(clock=lambda: 0.0)
        learn(Log(self._world.table, TENANT, PROJECT), cache)
        return cache

    def cost(self, question: Question, cache: BlockCache) -> tuple[Json, Cost]:
        """The answer of a container that keeps this, and its cost."""
        return self._asked(*question.request(self._world), cache)

    def _asked(self, path: str, body: Json, cache: BlockCache) -> tuple[Json, Cost]:
        status, answer = self._call(path, body, cache)
        meter = self._table.meter
        calls, items = Counter[str](), Counter[str]()
        for call in meter.calls:
            name = _NAMES.get((call.operation, call.target), f"{call.operation} {call.target}")
            calls[name] += 1
            items[name] += call.items
        listed = ", ".join(f"{name} {calls[name]}/{items[name]}" for name in sorted(calls))
        return _comparable(status, answer), Cost(meter.capacity, meter.rounds, listed)

    def _moved(self, path: str, body: Json, move: str) -> Json:
        """The request for the page that a page leads to; for itself if it leads nowhere, or is refused."""
        asked = json.dumps(body)
        if asked not in self._pages:
            _, self._pages[asked] = self._call(path, body, self._container())
        cursor = self._pages[asked].get("next" if move == ">" else "prev")
        return body if cursor is None else {**body, "cursor": cursor, "offset": None}

    def _call(self, path: str, body: Json, cache: BlockCache) -> tuple[int, Json]:
        self._module.cache = cache
        path = f"/v1/projects/{PROJECT}/{path}"
        if path.endswith("/row-number"):
            query = {name: json.dumps(value) for name, value in body.items()}
            request = gateway.Request("GET", path, urlencode(query), {})
        else:
            headers = {"content-type": "application/json"}
            request = gateway.Request("POST", path, "", headers, json.dumps(body).encode())
        event = gateway.event(request, matching.match(request.method, path), _CLAIMS)
        with contextlib.redirect_stdout(io.StringIO()):  # it prints its metrics
            response = self._module.handler(event, Context("baseline", time.monotonic() + _SECONDS))
        return response["statusCode"], json.loads(response["body"], parse_float=str)


def _comparable(status: int, answer: Json) -> Json:
    if status >= 400:
        return {"status": status, "type": answer["type"]}
    kept = ("rows", "offset", "total", "matched", "more", "row_number")
    kept_parts = {name: answer[name] for name in kept if name in answer}
    if "groups" in answer:
        # `more` is whether there is a next page.
        return kept_parts | {"groups": [_without(one, "filter") for one in answer["groups"]]}
    return kept_parts | {name: answer[name] is not None for name in ("next", "prev") if name in answer}


def _without(document: Json, name: str) -> Json:
    return {key: value for key, value in document.items() if key != name}


@contextlib.contextmanager
def running(world: World) -> Iterator[Service]:
    """The function over a project, for the time of a `with` block."""
    environment = local(
        {
            "TABLE_NAME": "memory",
            "CURSOR_SECRET": "the baseline's cursors are no secret",
            "EXPORT_BUCKET": "none",
            "FAILED_BATCHES_BUCKET": "none",
            "POWERTOOLS_SERVICE_NAME": "baseline",
            "POWERTOOLS_METRICS_NAMESPACE": "gridview",
            "POWERTOOLS_LOG_LEVEL": "CRITICAL",
        }
    )
    with (
        patch.dict(os.environ, environment, clear=True),
        patch.object(ThreadPoolExecutor, "submit", at_once),
    ):
        service = Service(world, _handler())
        service.ask(Question("definitions", "grid", {"limit": 1}))
        yield service


def _handler() -> ModuleType:
    """The function's module, imported again: it reads its environment then. `sys.modules` stays as it was."""
    name = "functions.query.handler"
    before = sys.modules.pop(name, None)
    try:
        return importlib.import_module(name)
    finally:
        sys.modules.pop(name, None)
        if before is not None:
            sys.modules[name] = before


def at_once(_: ThreadPoolExecutor, work: Callable[..., Any], *arguments: Any, **named: Any) -> Future[Any]:
    """Do work that is submitted where it is submitted."""
    future: Future[Any] = Future()
    try:
        future.set_result(work(*arguments, **named))
    except BaseException as error:
        future.set_exception(error)
    return future
