"""The worked example on both tables, in memory and on moto. Each route has a test named after its operation."""

from collections.abc import Iterator
from typing import Any

import pytest

from gridview.schema import ids
from gridview.support import clock
from tests.support.cloud import Cloud
from tests.support.effects import RUNNING, Example, event, example_of


@pytest.fixture(scope="module", params=RUNNING)
def kind(request: pytest.FixtureRequest) -> str:
    """The kind of the table."""
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def either_account(kind: str) -> Iterator[Cloud[Any]]:
    """An account with a table of this kind."""
    with RUNNING[kind]() as running:
        yield running


@pytest.fixture(autouse=True)
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock: on a busy machine too, no push runs out of time and no index is late."""
    now = clock.seconds()
    monkeypatch.setattr(clock, "seconds", lambda: now)


@pytest.fixture(autouse=True)
def ids_of_the_event_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first job and the first webhook of a test have the ids that the event files name."""
    new_job_id, jobs = ids.new_job_id, iter([event("get_job")["pathParameters"]["job"]])
    monkeypatch.setattr(ids, "new_job_id", lambda at: next(jobs, None) or new_job_id(at))
    webhooks = iter([event("get_webhook")["pathParameters"]["webhook"]])
    monkeypatch.setattr(ids, "new_webhook_id", lambda: next(webhooks))


@pytest.fixture
def example(either_account: Cloud[Any], kind: str, request: pytest.FixtureRequest) -> Iterator[Example]:
    """The worked example, for the test of a route: `test_create_issue`."""
    operation = request.function.__name__.removeprefix("test_")
    with example_of(either_account, kind, operation) as made:
        yield made
