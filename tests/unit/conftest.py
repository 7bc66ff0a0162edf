"""Unit tests: no network, and no AWS account but a dummy one."""

import pytest
from pytest_socket import disable_socket, enable_socket

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
    """An account that leads nowhere: a call that gets past moto fails instead of reaching somebody's AWS."""
    for name, value in _DUMMY_AWS.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SQS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has lost a race tries again at once."""
    monkeypatch.setattr("gridview.support.backoff.pause", lambda _: None)
