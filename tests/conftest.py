"""The distribution of tests among processes, their shared fixtures, and the lines at the end of a run."""

import gc
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

from devtools import paths

_GROUPS = {
    "tests/deploy/": "deployment",
    "tests/infra/": "deployment",
    "tests/engine/test_dlq.py": "stack",
    "tests/engine/test_idempotency.py": "stack",
    "tests/engine/test_import.py": "stack",
    "tests/engine/test_local_stack.py": "stacks",
    "tests/engine/": "engine",
    "tests/unit/devtools/proof/faults/": "scenarios",
    "tests/unit/devtools/proof/test_prove.py": "scenarios",
    "tests/unit/routes/": "routes",
}
"""Tests that share a fixture which is slow to start, or the enumeration of all scenarios, run in one process; others stay
together by file.
"""

_FIRST = (
    "tests/deploy/",
    "tests/infra/",
    # Checks the whole table, which the others of its group fill.
    "tests/engine/test_fsck.py",
    "tests/engine/",
    "tests/engine/test_dlq.py",
    "tests/engine/test_idempotency.py",
    "tests/engine/test_import.py",
    # Each process is given two groups at the beginning; these take no time.
    "tests/unit/encoding/test_attribute_values.py",
    "tests/unit/encoding/test_cursors.py",
    "tests/unit/encoding/test_json_codec.py",
    "tests/engine/test_local_stack.py",
    "tests/web/",
    "tests/unit/routes/",
    "tests/unit/devtools/proof/",
    "tests/unit/functions/",
    "tests/unit/fsck/",
    "tests/unit/journal/",
)
"""The slowest tests begin first, so that all processes end together. The longest prefix that matches decides."""


class _Scheduling(LoadFileScheduling):  # type: ignore[misc]
    """By file, and by `_GROUPS`."""

    def _split_scope(self, nodeid: str) -> str:
        group = next((name for start, name in _GROUPS.items() if nodeid.startswith(start)), None)
        return group or str(super()._split_scope(nodeid))


_SHORT_LIVED_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""An engine that serves a few thousand calls takes a third less CPU time if Java does not optimize it for hours."""

# The same examples each time, and none fails because the machine is busy.
settings.register_profile(
    "gridview", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("gridview")


def pytest_configure() -> None:
    """Make every engine that a test starts, in any process, a short-lived one."""
    os.environ.setdefault("JAVA_TOOL_OPTIONS", _SHORT_LIVED_JAVA)


def pytest_sessionstart() -> None:
    """In CI, fail if anything is missing for a proof."""
    if os.environ.get("CI") and not paths.DATA.is_dir():
        raise pytest.UsageError(f"CI needs the shared data, and {paths.DATA} is missing.")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The order in which groups are shared out."""

    def place(item: pytest.Item) -> int:
        fitting = [start for start in _FIRST if item.nodeid.startswith(start)]
        return _FIRST.index(max(fitting, key=len)) if fitting else len(_FIRST)

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """Exempt imported modules and collected tests from garbage collection, so that it does not scan them repeatedly."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the missing proofs, and why."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", ())
    )
    for reason, count in reasons.items():
        terminalreporter.write_line(f"Not proven here: {count} tests did not run, since {reason}.")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _Scheduling | None:
    """Replace `loadfile` by this project's scheduling."""
    return _Scheduling(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of `npx cdk synth`: the tests of the template read it, and the tests of the deployment deploy it."""
    from tests.support.assembly import synthesize_by_command

    return synthesize_by_command(tmp_path_factory.mktemp("cdk"))
