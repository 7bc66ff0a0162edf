"""A function's work around a snapshot; a replacement of the runtime's library calls the hooks as Lambda does."""

import random
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from botocore.credentials import Credentials
from botocore.loaders import create_loader

from gridview.api import snapshots
from gridview.command_api.resources import LATER as OF_COMMANDS
from gridview.dynamodb.table import Table
from gridview.query_api.resources import LATER as OF_QUERIES
from gridview.support import aws

ROLE = "arn:aws:iam::123456789012:role/session"

Hook = tuple[Callable[..., object], tuple[Any, ...]]


class Runtime(ModuleType):
    """The registering half of the library, and Lambda, which calls the registered hooks."""

    def __init__(self) -> None:
        super().__init__("snapshot_restore_py")
        self.before: list[Hook] = []
        self.after: list[Hook] = []

    def register_before_snapshot(self, hook: Callable[..., object], *given: Any) -> None:
        self.before.append((hook, given))

    def register_after_restore(self, hook: Callable[..., object], *given: Any) -> None:
        self.after.append((hook, given))

    def snapshot(self) -> None:
        for hook, given in reversed(self.before):
            hook(*given)

    def restore(self) -> None:
        for hook, given in self.after:
            hook(*given)


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """A function that prepares for a snapshot."""
    fake = Runtime()
    monkeypatch.setitem(sys.modules, "snapshot_restore_py", fake)
    monkeypatch.setenv("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")
    for name, value in (("DEFAULT_REGION", "eu-west-2"), ("ACCESS_KEY_ID", "a"), ("SECRET_ACCESS_KEY", "b")):
        monkeypatch.setenv(f"AWS_{name}", value)
    return fake


def test_without_snapshots_a_function_connects_at_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand")
    taken: list[str] = []
    snapshots.start([lambda: taken.append("one"), lambda: taken.append("two")], ["dynamodb"])
    assert taken == ["one", "two"]


def test_with_snapshots_it_connects_after_each_start_and_never_before(runtime: Runtime) -> None:
    taken: list[str] = []
    snapshots.start([lambda: taken.append("one"), lambda: taken.append("two")], ["dynamodb"])
    runtime.snapshot()
    assert taken == []
    runtime.restore()
    assert taken == ["one", "two"]


@pytest.mark.parametrize("role", ["", ROLE])
def test_no_credentials_are_asked_for_before_the_snapshot(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    asked: list[str] = []

    def load(_: object) -> Credentials:
        asked.append("credentials")
        return Credentials("key", "secret")

    monkeypatch.setattr("botocore.credentials.EnvProvider.load", load)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    table = Table("gridview", session_role=role)
    snapshots.start([table.connect], [*table.services, "secretsmanager"])
    runtime.snapshot()
    assert asked == []
    runtime.restore()
    assert asked == ["credentials"]


@pytest.mark.parametrize("role", ["", ROLE])
def test_the_models_of_botocore_are_in_the_snapshot(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    """Then no environment reads files of a megabyte after its start."""
    monkeypatch.setattr(aws, "_models", create_loader())
    table = Table("gridview", session_role=role)
    snapshots.start([table.connect], table.services)
    runtime.snapshot()
    monkeypatch.setattr(
        "botocore.loaders.JSONFileLoader.load_file", lambda *_: pytest.fail("a file was read")
    )
    runtime.restore()


def test_modules_that_requests_need_later_are_in_the_snapshot(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "needed_later.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    snapshots.start([], [], ["needed_later"])
    assert "needed_later" not in sys.modules
    runtime.snapshot()
    assert sys.modules.pop("needed_later").__file__ == str(tmp_path / "needed_later.py")


def test_without_snapshots_they_wait_for_a_request(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand")
    (tmp_path / "needed_later.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    snapshots.start([], [], ["needed_later"])
    assert "needed_later" not in sys.modules


@pytest.mark.parametrize("names", [OF_COMMANDS, OF_QUERIES])
def test_deferred_imports_of_endpoints_exist(names: Sequence[str]) -> None:
    assert [name for name in names if find_spec(name) is None] == []


def test_environments_of_one_snapshot_draw_different_numbers(runtime: Runtime) -> None:
    snapshots.start([], [])
    state = random.getstate()
    drawn = set()
    for _ in range(3):
        random.setstate(state)
        runtime.restore()
        drawn.add(random.random())  # noqa: S311
    assert len(drawn) == 3


def test_every_start_has_its_own_connections(runtime: Runtime) -> None:
    table = Table("gridview")
    snapshots.start([table.connect], ["dynamodb"])
    runtime.restore()
    first = table.metered()._client
    runtime.restore()
    assert table.metered()._client is not first
