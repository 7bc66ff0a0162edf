"""Functions in processes of their own."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from devtools import paths
from devtools.failure import FunctionError
from devtools.local import processes
from devtools.local.containers import BusyError, Pool

PoolOf = Callable[..., Pool]

HANDLER = """\
import os, sys, time

NAME = os.environ["NAME"]
calls = 0


def handler(event, context):
    global calls
    calls += 1
    action = event.get("do")
    if action == "raise":
        raise ValueError("the detail")
    if action == "exit":
        sys.exit(3)
    if action == "kill":
        os.kill(os.getpid(), 9)
    if action == "sleep":
        time.sleep(event["seconds"])
    if action == "unserializable":
        return object()
    return {
        "pid": os.getpid(),
        "name": NAME,
        "calls": calls,
        "echo": event,
        "function": context.function_name,
        "arn": context.invoked_function_arn,
        "request": context.aws_request_id,
        "left": context.get_remaining_time_in_millis(),
        "memory": context.memory_limit_in_mb,
    }
"""


@pytest.fixture
def pool_of(tmp_path: Path) -> Iterator[PoolOf]:
    folder = tmp_path / "functions" / "standin"
    folder.mkdir(parents=True)
    (folder / "handler.py").write_text(HANDLER)
    env = os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path), paths.PYTHONPATH)), "NAME": "x"}
    pools = []

    def make(size: int = 1, timeout: float = 30.0, waiting: int | None = None, **changes: str) -> Pool:
        pools.append(Pool("standin", env=env | changes, size=size, timeout=timeout, waiting=waiting))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


def test_an_event_goes_in_and_a_result_comes_out(pool_of: PoolOf) -> None:
    result = pool_of().invoke({"a": ["é", 1.5, None]})
    assert result["echo"] == {"a": ["é", 1.5, None]}
    assert result["name"] == "x"
    assert result["function"] == "gridview-standin"
    assert result["arn"].endswith(":function:gridview-standin")
    assert 0 < result["left"] <= 30_000
    assert result["memory"] > 0
    assert result["pid"] != os.getpid()


def test_an_environment_is_used_again_with_its_globals(pool_of: PoolOf) -> None:
    pool = pool_of()
    first, second = pool.invoke({}), pool.invoke({})
    assert (first["pid"], first["calls"], second["calls"]) == (second["pid"], 1, 2)
    assert first["request"] != second["request"]


@pytest.mark.parametrize("action", ["raise", "unserializable"])
def test_an_error_leaves_the_environment(pool_of: PoolOf, action: str) -> None:
    pool = pool_of()
    before = pool.invoke({})
    with pytest.raises(FunctionError):
        pool.invoke({"do": action})
    assert pool.invoke({})["pid"] == before["pid"]


@pytest.mark.parametrize("action", ["exit", "kill"])
def test_a_crash_costs_the_environment_and_no_more(pool_of: PoolOf, action: str) -> None:
    pool = pool_of()
    before = pool.invoke({})
    with pytest.raises(FunctionError, match="ended"):
        pool.invoke({"do": action})
    after = pool.invoke({})
    assert (after["calls"], after["pid"] != before["pid"]) == (1, True)


def test_a_function_that_takes_too_long_is_ended(pool_of: PoolOf) -> None:
    pool = pool_of(timeout=0.2)
    process = processes.known(pool.invoke({})["pid"])
    assert process is not None
    with pytest.raises(FunctionError, match="timed out"):
        pool.invoke({"do": "sleep", "seconds": 60})
    assert not process.lives()


def test_a_function_that_cannot_be_loaded(pool_of: PoolOf) -> None:
    pool = pool_of(PYTHONPATH=paths.PYTHONPATH)
    for _ in range(2):
        with pytest.raises(FunctionError, match="ended"):
            pool.invoke({})


def test_events_at_once_have_an_environment_each_up_to_the_size(pool_of: PoolOf) -> None:
    pool = pool_of(size=2)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(pool.invoke({"do": "sleep", "seconds": 0.3})))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len({result["pid"] for result in results}) == 2


def test_an_environment_ends_when_its_connection_is_closed(pool_of: PoolOf) -> None:
    pool = pool_of()
    process = processes.known(pool.invoke({})["pid"])
    assert process is not None
    container = pool._idle.pop()
    container._connection.close()
    assert container._process.wait(10) == 0
    assert not process.lives()


def test_events_beyond_those_that_may_wait_are_refused_at_once_and_later_ones_are_not(
    pool_of: PoolOf,
) -> None:
    pool = pool_of(size=1, waiting=1)
    begun = [threading.Thread(target=pool.invoke, args=({"do": "sleep", "seconds": 0.5},)) for _ in range(2)]
    for one in begun:
        one.start()
    while pool._admitted._value:
        time.sleep(0.01)
    with pytest.raises(BusyError):
        pool.invoke({})
    for one in begun:
        one.join()
    assert pool.invoke({"n": 1})["echo"] == {"n": 1}
