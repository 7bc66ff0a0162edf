"""Hints at the outboxes of a project: at most one a second, however often the project changes."""

import pytest

from devtools.proof.faults.adversary import record
from gridview.encoding import keys
from gridview.live.delivery_hints import DeliveryHints
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs
from gridview.support import clock
from tests.support.derived_project import PROJECT, TENANT, new_table
from tests.support.webhooks import stored

NOW = 1_780_000_000.0


def test_changes_within_a_second_share_one_later_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    table, catalogs, sent = new_table(), Catalogs(), list[Hint]()
    table.put(stored("w1", TENANT, PROJECT))
    catalogs.get(table, TENANT, PROJECT)
    hints = DeliveryHints(sent.append)
    issue = {keys.PK: keys.issue(TENANT, PROJECT, 1), keys.SK: keys.project(TENANT, PROJECT)}
    counts = []
    for seconds in (0.0, 0.2, 0.4, 1.1, 1.2, 1.3, 5.0):
        monkeypatch.setattr(clock, "seconds", lambda seconds=seconds: NOW + seconds)
        hints.look(table, catalogs, [record(1, None, issue)])
        counts.append(len(sent))
    assert counts == [1, 2, 2, 2, 3, 3, 4]
