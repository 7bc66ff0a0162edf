"""The requests of docs/recipes.md, sent to the handlers as written, on a small project like the demo."""

import json
import re
import shutil
import subprocess
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest

from devtools.local import demo
from gridview.commands import undo
from gridview.live.signatures import new_secret, signed_headers
from gridview.support import clock
from tests.support import recorded_changes
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client
from tests.support.sockets import SocketClient
from tests.unit.test_docs import text_of

PATH = "/v1/projects/demo"
BODY = b'{"type":"update"}'

RECIPES = dict(
    re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", text_of("docs/recipes.md"), re.MULTILINE | re.DOTALL)
)
"""The recipes by their headings."""


class Block(NamedTuple):
    """A fenced block of a recipe: its language and its text."""

    language: str
    text: str


def blocks_of(recipe: str) -> list[Block]:
    return [Block(*found) for found in re.findall(r"^```(\w+)\n(.*?)^```", recipe, re.MULTILINE | re.DOTALL)]


SENT = {name: recipe for name, recipe in RECIPES.items() if "```http" in recipe}


@pytest.fixture
def small_demo(account: Cloud, api: Client, monkeypatch: pytest.MonkeyPatch) -> str:
    """The demo's fields with ten issues, of which the last two are in the trash. The history is never late."""
    monkeypatch.setattr(undo, "SETTLED", 0.0)
    states = list(demo.STATES)
    api.made("/v1/projects", {"id": "demo", "name": "Demo", "states": states})
    for attribute in demo.DEMO.attributes:
        api.made(f"{PATH}/attributes", attribute)
    for at in range(10):
        fields = {
            "due": f"2024-05-{at + 1:02d}",
            "assignee": "ann",
            "estimate": at,
            "permit": "PTW-2024-0117",
        }
        api.made(f"{PATH}/issues", {"name": f"Issue {at + 1}", "state": states[at % 3], "fields": fields})
    for num in (9, 10):
        assert api.delete(f"{PATH}/issues/{num}").status == 204
    account.follow()
    recorded_changes.on_time(account.table)
    return PATH


def send(api: Client, text: str, known: dict[str, str]) -> Answer:
    """Send a request as written; words in capitals are replaced by values from earlier answers."""
    for name, value in known.items():
        text = re.sub(rf"\b{name}\b", value.replace("\\", r"\\"), text)
    head, _, body = text.partition("\n\n")
    first, *rest = head.splitlines()
    method, target = first.split(" ")
    parts = urlsplit(target)
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in rest)}
    given = (json.loads(body),) if body.strip() else ()
    return api.call(method, parts.path, *given, query=dict(parse_qsl(parts.query)), headers=headers)


def learn(known: dict[str, str], answer: Answer) -> None:
    """Remember the parts of an answer that later requests name."""
    body = answer.body or {}
    found = {
        "CONSISTENCY-TOKEN": answer.headers.get("x-consistency-token"),
        "CHANGE": answer.headers.get("x-change-id"),
        "JOB": body.get("id") if answer.status == 202 else None,
        "CURSOR": body.get("next") if "items" in body else None,
        "TICKET": body.get("ticket"),
    }
    known.update({name: value for name, value in found.items() if value})


def test_there_are_twenty_recipes_of_few_lines() -> None:
    assert len(RECIPES) == 20
    for name, recipe in RECIPES.items():
        assert blocks_of(recipe), name
        assert all(len(block.text.splitlines()) <= 15 for block in blocks_of(recipe)), name


@pytest.mark.parametrize("name", SENT)
def test_each_request_of_a_recipe_succeeds(account: Cloud, api: Client, small_demo: str, name: str) -> None:
    known: dict[str, str] = {}
    for block in blocks_of(SENT[name]):
        if block.language == "json":
            client = SocketClient(account)
            assert client.connect(known["TICKET"]) == 200
            (frame,) = client.send(block.text)
            assert frame["items"] == []
            assert frame["next"]
            continue
        answer = send(api, block.text, known)
        assert 200 <= answer.status < 300, answer.text
        learn(known, answer)
        account.follow()
        recorded_changes.on_time(account.table)
        account.upkeep()


def test_the_recipes_do_what_they_promise(account: Cloud, api: Client, small_demo: str) -> None:
    def done(name: str) -> list[Answer]:
        known: dict[str, str] = {}
        answers = []
        for block in blocks_of(SENT[name]):
            answers.append(send(api, block.text, known))
            learn(known, answers[-1])
            account.follow()
            recorded_changes.on_time(account.table)
            account.upkeep()
        return answers

    (overdue,) = done("Overdue issues by assignee")
    assert [(one["values"], one["count"]) for one in overdue.body["groups"]] == [(["ann"], 8)]
    (duplicates,) = done("Find duplicates")
    assert [(one["values"], one["count"]) for one in duplicates.body["groups"]] == [(["PTW-2024-0117"], 8)]
    (place,) = done("Find an issue in an order")
    assert place.body["row_number"] == 1
    _, seen = done("Read your own write")
    assert 7 in [row["num"] for row in seen.body["rows"]]
    edited, taken_back = done("Undo a change")
    assert (edited.body["fields"]["priority"], taken_back.body["refused"]) == ("Critical", [])
    assert "priority" not in api.get(f"{PATH}/issues/7").body["fields"]
    _, job, refused = done("Change many issues and show progress")
    assert (job.body["state"], job.body["done"], refused.body["items"]) == ("done", 8, [])
    _, back = done("Restore an issue from the trash")
    assert back.body["num"] == 9
    before, renamed = done("Rename an option")
    assert [one["id"] for one in before.body["options"]] == [one["id"] for one in renamed.body["options"]]
    assert "Firth Rope Access Ltd" in [one["value"] for one in renamed.body["options"]]
    _, index = done("Add an index while people work")
    assert index.body["state"] == "ready"
    found, written = done("Import every night")
    assert len(found.body["rows"]) == 9
    assert [one["status"] for one in written.body["results"]] == [200, 201]
    _, file = done("Export every night")
    assert (file.body["state"], bool(file.body["url"])) == ("done", True)


SIGNED = {block.language: block.text for block in blocks_of(RECIPES["Verify a webhook's signature"])}


def cases(secret: str) -> list[tuple[dict[str, str], bytes, bool]]:
    """Headers and bodies of messages, and whether each is genuine."""
    now = int(clock.seconds())
    good = signed_headers([new_secret(), secret], "w_1_2", now, BODY)
    old = signed_headers([secret], "w_1_2", now - 400, BODY)
    other = signed_headers([new_secret()], "w_1_2", now, BODY)
    return [(good, BODY, True), (good, BODY + b" ", False), (old, BODY, False), (other, BODY, False)]


def test_the_python_of_the_page_verifies_signatures() -> None:
    names: dict[str, Any] = {}
    exec(SIGNED["python"], names)  # noqa: S102  our own page
    secret = new_secret()
    for headers, body, genuine in cases(secret):
        assert names["is_genuine"](secret, headers, body) == genuine


NODE = shutil.which("node") or ""


@pytest.mark.skipif(not NODE, reason="Node.js is not installed")
def test_the_javascript_of_the_page_verifies_signatures() -> None:
    secret = new_secret()
    messages = [[headers, body.decode(), genuine] for headers, body, genuine in cases(secret)]
    program = (
        f"{SIGNED['js']}\nconst cases = {json.dumps(messages)};\n"
        f"console.log(JSON.stringify(cases.map(([h, b]) => isGenuine('{secret}', h, Buffer.from(b)))));"
    )
    ran = subprocess.run(  # noqa: S603
        [NODE, "-e", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(ran.stdout) == [genuine for _, _, genuine in messages]
