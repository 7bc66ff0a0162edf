"""The nightly check as the upkeep function does it: started by one event, continued by others, with metrics and log
lines.
"""

import json
from typing import Any

import pytest

from gridview.encoding import derived_keys, keys
from gridview.fsck import nightly
from tests.support.cloud import Cloud
from tests.support.http import Context


@pytest.fixture
def cloud(account: Cloud) -> Cloud:
    api = account.api()
    api.made("/v1/projects", {"id": "bridge", "name": "Bridge"})
    for num in range(1, 6):
        api.made("/v1/projects/bridge/issues", {"name": f"secret {num}"})
    account.derive()
    account.fold()
    return account


def invoke(cloud: Cloud, task: str) -> Any:
    return cloud.modules["upkeep"].handler({"task": task}, Context())


def work(cloud: Cloud) -> int:
    """Send hints at due jobs, once, and deliver them. Returns the number of turns."""
    invoke(cloud, "jobs")
    return cloud.deliver_hints()


def printed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The log lines and metrics."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]


def counts(lines: list[dict[str, Any]]) -> list[tuple[Any, Any]]:
    return [(line["FsckDifferences"], line["FsckIssues"]) for line in lines if "FsckDifferences" in line]


def test_a_sound_table_is_reported_by_a_metric_of_zero(
    cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(cloud, "check") == {"begun": True}
    assert invoke(cloud, "check") == {"begun": False}
    assert counts(printed(capsys)) == []
    assert work(cloud) == 5, "four segments, and the whole"
    lines = printed(capsys)
    assert counts(lines) == [([0.0], [5.0])]
    (metric,) = (line["_aws"] for line in lines if "FsckDifferences" in line)
    assert metric["CloudWatchMetrics"][0]["Namespace"] == "gridview"
    assert cloud.table.get(keys.CHECK, keys.JOB) is None
    assert invoke(cloud, "check") == {"begun": True}


def test_a_difference_is_a_metric_and_a_log_line_without_values(
    cloud: Cloud,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nightly, "PATIENCE", 0.0)
    issue = keys.issue("0807", "bridge", 3)
    cloud.table.delete(issue, derived_keys.order("0807", "bridge", "name.1"))
    invoke(cloud, "check")
    printed(capsys)
    work(cloud)
    lines = printed(capsys)
    assert counts(lines) == [([2.0], [5.0])]
    errors = [vars(one) for one in caplog.records if one.levelname == "ERROR"]
    assert [(one["issue"], one["kind"], one["place"]) for one in errors] == [
        (issue, "missing", "name.1"),
        (issue, "ledger", "name.1"),
    ]
    assert "secret" not in repr([lines, errors])


def test_a_difference_that_may_still_be_repaired_by_the_stream_is_waited_for(
    cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.table.delete(keys.issue("0807", "bridge", 3), derived_keys.order("0807", "bridge", "name.1"))
    invoke(cloud, "check")
    assert work(cloud) == 4
    assert work(cloud) == 0
    assert counts(printed(capsys)) == []
    assert cloud.table.get(keys.CHECK, keys.JOB) is not None


def test_no_turn_begins_in_the_last_seconds_of_an_invocation(cloud: Cloud) -> None:
    invoke(cloud, "check")
    invoke(cloud, "jobs")
    assert cloud.deliver_hints(Context(milliseconds_left=14_000)) == 0
    assert cloud.table.get(keys.CHECK, keys.JOB) is not None
    assert work(cloud) == 5
