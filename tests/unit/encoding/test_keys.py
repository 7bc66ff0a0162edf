"""Keys of two owners never meet."""

from collections.abc import Callable
from itertools import combinations

import pytest

from gridview.encoding import derived_keys, keys, live_keys


@pytest.mark.parametrize(
    "key",
    [
        keys.project,
        derived_keys.journal,
        keys.views,
        live_keys.webhooks,
        keys.comments,
        derived_keys.activity,
        keys.trash,
        keys.jobs,
        lambda tenant, project: keys.issue(tenant, project, 1),
        lambda tenant, project: derived_keys.history(tenant, project, 1),
        lambda tenant, project: derived_keys.order(tenant, project, "num"),
        lambda tenant, project: derived_keys.directory(tenant, project, "num"),
        lambda tenant, project: derived_keys.block(tenant, project, "num", "0"),
    ],
)
def test_each_project_has_its_own_keys(key: Callable[[str, str], str]) -> None:
    owners = [("acme", "bridge"), ("acme", "harbor"), ("zeta", "bridge")]
    for one, other in combinations([key(*owner) for owner in owners], 2):
        assert one != other


@pytest.mark.parametrize(
    ("key", "stored"),
    [
        (live_keys.socket_owner("L0SM9cOFvHcCIhw="), "socket-L0SM9cOFvHcCIhw="),
        (live_keys.owed_pushes("0807", "35e9"), "socket-0807.35e9"),
        (live_keys.PUSHING, "socket-pushing"),
    ],
)
def test_the_keys_of_stored_items_stay_the_same(key: str, stored: str) -> None:
    """Invocations of an older and a newer version share the items (docs/data-model.md)."""
    assert key == stored
