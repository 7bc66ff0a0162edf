"""Engine tests: one DynamoDB Local, in memory, with one table with a stream, for all of them.

A second table with a stream would slow the engine down, so tests use separate tenants: each takes a fresh `tenant`.
"""

import secrets
from collections.abc import Iterator

import pytest

from devtools.local import engine as engines
from devtools.local import table
from devtools.local.environment import local
from tests.support.stacks import LocalStack, running_stack

TABLE = "gridview"


@pytest.fixture(scope="package")
def engine() -> Iterator[engines.Engine]:
    """A running engine."""
    with engines.running(in_memory=True) as running:
        yield running


@pytest.fixture(scope="package")
def table_name(engine: engines.Engine) -> str:
    """The name of its table."""
    table.ensure(engine.client(), TABLE)
    return TABLE


@pytest.fixture
def tenant() -> str:
    """The id of a tenant that no other test uses."""
    return f"t{secrets.token_hex(8)}"


@pytest.fixture(autouse=True)
def dummy_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the dummy account of the local stack instead of the developer's own."""
    for name, value in local().items():
        if name.startswith("AWS_"):
            monkeypatch.setenv(name, value)


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    """A local stack that no test kills; tests use separate projects."""
    with running_stack(tmp_path_factory.mktemp("stack")) as running:
        yield running
