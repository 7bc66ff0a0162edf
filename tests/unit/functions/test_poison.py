"""A poison issue leaves the functions that derive: as a dead letter, and as one in the metric of the alarm."""

from typing import Any

import pytest

from gridview.derive.images import Poison
from tests.support.cloud import Cloud


@pytest.mark.parametrize("function", ["maintain", "upkeep"])
def test_a_poison_issue_is_a_dead_letter_and_counts_as_one(
    account: Cloud, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    module: Any = account.modules[function]
    counted: list[tuple[str, int]] = []
    sent: list[Poison] = []
    monkeypatch.setattr(module.metrics, "add_metric", lambda name, value, **_: counted.append((name, value)))
    monkeypatch.setattr(module.dead_letters, "send", sent.append)
    poison = Poison("issue-0807.35e9.1", 7, "ValueError: no number")
    module._send(poison)
    assert counted == [("DeadLetters", 1)]
    assert sent == [poison]
