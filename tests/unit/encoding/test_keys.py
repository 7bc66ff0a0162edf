"""Keys of two owners never meet."""

from collections.abc import Callable
from itertools import combinations

import pytest

from devtools.proof.faults.adversary import record
from gridview.encoding import derived_keys, keys, live_keys
from gridview.journal.history import recorded_change


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
        (lambda: live_keys.socket_owner("L0SM9cOFvHcCIhw="), "socket-L0SM9cOFvHcCIhw="),
        (lambda: live_keys.owed_pushes("0807", "35e9"), "socket-0807.35e9"),
        (lambda: live_keys.PUSHING, "socket-pushing"),
    ],
)
def test_the_keys_of_stored_items_stay_the_same(key: Callable[[], str], stored: str) -> None:
    """Invocations of an older and a newer version share the items (docs/data-model.md)."""
    assert key() == stored


@pytest.mark.parametrize(("version", "fits"), [(10**13 - 1, True), (10**13, False)])
def test_the_history_takes_the_versions_that_its_keys_keep_in_order(version: int, fits: bool) -> None:
    document = {
        keys.PK: keys.issue("acme", "bridge", 1),
        keys.SK: keys.project("acme", "bridge"),
        "version": version,
        "name": "Pier",
        "state": "o1",
        "fields": {},
        "updated": "2024-01-01T00:00:00.000000Z",
        "updated_by": "ann",
    }
    assert (recorded_change(record(1, None, document)) is not None) == fits
    assert (derived_keys.history_item(version) > derived_keys.history_item(version - 1)) == fits
