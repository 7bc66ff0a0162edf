"""Unit tests: no network, and only a dummy AWS account."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from pytest_socket import disable_socket, enable_socket

from gridview.support import forms

if TYPE_CHECKING:
    from tests.support import cloud

_DUMMY_AWS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


# Hooks and not a fixture, so that the fixtures of every scope of a test run without sockets too.
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    disable_socket(allow_unix_socket=True)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    enable_socket()


@pytest.fixture(autouse=True)
def dummy_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use an account that leads nowhere: a call that gets past moto fails instead of reaching a developer's AWS."""
    for name, value in _DUMMY_AWS.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SQS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def every_form() -> Iterator[None]:
    """Let the next test begin with all stored forms, whatever this one writes."""
    yield
    forms.write_up_to(forms.NEWEST)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for nothing: neither the loser of a race nor a reader of what is not written yet."""
    monkeypatch.setattr("gridview.support.backoff.pause", lambda _: None)
    monkeypatch.setattr("gridview.support.clock.sleep", lambda _: None)


@pytest.fixture(scope="module")
def shared_account() -> "Iterator[cloud.Cloud]":
    """An account with a table. Imported here: tests of a table in memory need no moto."""
    from tests.support import cloud

    with cloud.running() as running:
        running.reset()
        yield running


@pytest.fixture
def account(shared_account: "cloud.Cloud") -> "cloud.Cloud":
    """The account with an empty table."""
    shared_account.reset()
    return shared_account


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """A function that lets so many seconds pass."""
    from tests.support.passing import Passing

    time = Passing(monkeypatch)

    def wait(more: float) -> None:
        time.over += more

    return wait
