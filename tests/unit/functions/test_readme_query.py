"""The query that the README shows, put to the worked example: its answer stands there, and its plan in docs/querying.md."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.cloud import Cloud
from tests.support.http import Client

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text("utf-8")
QUERYING = (ROOT / "docs/querying.md").read_text("utf-8")
SECTION = README.split("\n## One query and its answer\n", 1)[1].split("\n## ", 1)[0]


def test_the_query_of_the_readme_has_the_answer_and_the_plan_that_are_shown(
    account: Cloud, bridge: str, api: Client
) -> None:
    account.derive()
    account.fold()
    asked = re.search(r"http://127\.0\.0\.1:8420(\S+) .*?-d '(.*?)'", SECTION, re.DOTALL)
    answer = re.search(r"```json\n(.*?)```", SECTION, re.DOTALL)
    drawn = re.search(r"```text\n(.*?)```", QUERYING, re.DOTALL)
    assert asked is not None
    assert answer is not None
    assert drawn is not None
    assert asked[1] == f"{bridge}/grid"
    got = api.post(asked[1], {**json.loads(asked[2]), "explain": True}).body
    explain = got.pop("explain")
    assert got.pop("index") == {"lag_ms": None, "pending": 0}, "no consumer has noted anything here"
    assert got.pop("changes")
    shown = json.loads(answer[1])
    assert shown.pop("changes")
    assert shown.pop("index").keys() == {"lag_ms", "pending"}
    assert got == shown
    assert list(outline(explain["tree"])) == drawn[1].splitlines()
    assert explain.keys() >= set(
        re.findall(r"`(plan|calls|sequential_calls|items_read|read_units)`", QUERYING)
    )


def outline(node: dict[str, Any], depth: int = 0) -> Iterator[str]:
    """A line for each node but for what tells how far behind the index is, and what it lacks of an example that was just made."""
    if node["node"] in ("freshness", "overlay read", "unheard read"):
        return
    estimated = node["estimated"]["read_units"] if "estimated" in node else "-"
    yield f"{'  ' * depth}{node['node']} [{estimated}, {node['read_units']}] {node['sentence']}"
    for child in node.get("children", ()):
        yield from outline(child, depth + 1)
