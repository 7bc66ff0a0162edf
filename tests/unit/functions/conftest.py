"""The API on the table in memory. The functions are imported once a process; each test has an empty table, or a shared
constant one.

Queues and files are moto's. `tests/unit/routes` has a test of each route on both the table in memory and moto's. The
conformance suite in `tests/unit/dynamodb` compares the tables call by call. DynamoDB Local is in `tests/engine`.
"""

from typing import TYPE_CHECKING, Any

import pytest

from tests.support import worked_example
from tests.support.http import Client

if TYPE_CHECKING:
    from tests.support import cloud


@pytest.fixture
def api(account: "cloud.Cloud") -> Client:
    """An admin of tenant 0807."""
    return account.api()


_loaded: list[dict[str, Any]] = []


@pytest.fixture
def bridge(account: "cloud.Cloud", api: Client) -> str:
    """The path of the worked example's project 35e9, with its attributes and issues."""
    if _loaded:
        account.put(_loaded)
    else:
        worked_example.load(api)
        _loaded.extend(account.items())
    return worked_example.PATH


@pytest.fixture
def project(api: Client) -> str:
    """The path of an empty project."""
    api.made("/v1/projects", {"name": "Plain", "id": "plain"})
    return "/v1/projects/plain"
