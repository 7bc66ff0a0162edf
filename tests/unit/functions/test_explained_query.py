"""The query whose plan docs/querying.md shows, sent to the worked example."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.cloud import Cloud
from tests.support.http import Client

QUERYING = (Path(__file__).parents[3] / "docs/querying.md").read_text("utf-8")
SECTION = QUERYING.split("\n## The plan of a query\n", 1)[1].split("\n## ", 1)[0]


def test_the_query_has_the_plan_that_the_page_shows(account: Cloud, bridge: str, api: Client) -> None:
    account.derive()
    account.fold()
    asked = re.search(r'"\$API(\S+)" .*?-d \'(.*?)\'', SECTION, re.DOTALL)
    drawn = re.search(r"```text\n(.*?)```", SECTION, re.DOTALL)
    assert asked is not None
    assert drawn is not None
    assert asked[1] == f"{bridge}/grid"
    got = api.post(asked[1], json.loads(asked[2])).body
    explain = got.pop("explain")
    assert (got["total"], got["matched"], [row["num"] for row in got["rows"]]) == (3, 2, [1, 3])
    assert list(outline(explain["tree"])) == drawn[1].splitlines()
    assert explain.keys() >= set(
        re.findall(r"`(plan|calls|sequential_calls|items_read|read_units)`", SECTION)
    )


def outline(node: dict[str, Any], depth: int = 0) -> Iterator[str]:
    """A line for each node, without those about the lag of the index and the issues that a new example lacks."""
    if node["node"] in ("freshness", "overlay read", "new issues read"):
        return
    estimated = node["estimated"]["read_units"] if "estimated" in node else "-"
    yield f"{'  ' * depth}{node['node']} [{estimated}, {node['read_units']}] {node['sentence']}"
    for child in node.get("children", ()):
        yield from outline(child, depth + 1)
