"""The query that the README shows, put to the worked example, and the answer that it shows."""

import json
import re
from pathlib import Path

from tests.support.cloud import Cloud
from tests.support.http import Client

README = (Path(__file__).parents[3] / "README.md").read_text("utf-8")


def test_the_query_of_the_readme_has_the_answer_of_the_readme(
    account: Cloud, bridge: str, api: Client
) -> None:
    account.derive()
    section = README.split("\n## One query and its answer\n", 1)[1].split("\n## ", 1)[0]
    shown = re.search(r"http://127\.0\.0\.1:8420(\S+) .*?-d '(.*?)'", section, re.DOTALL)
    answer = re.search(r"```json\n(.*?)```", section, re.DOTALL)
    assert shown is not None
    assert answer is not None
    path, body = shown.groups()
    assert path == f"{bridge}/grid"
    got = api.post(path, json.loads(body))
    assert got.body == json.loads(answer[1])
