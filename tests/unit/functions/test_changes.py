"""X-Change-Id: the writes of one user under one id are one change, and each document names the
change of its version.
"""

import re
from typing import Any
from uuid import UUID, uuid4

import pytest

from gridview.encoding import keys
from gridview.schema.documents import Changes, merged
from gridview.schema.store import Catalogs
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client, Context

# A killed function has no metrics to publish, which Powertools finds worth a warning.
pytestmark = pytest.mark.filterwarnings("ignore:No application metrics")

CHANGE = "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"
UUIDS = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ISSUES = "/v1/projects/35e9/issues"
OPERATIONS = {"operations": [{"create": {"name": "a"}}, {"update": {"num": 1, "name": "b"}}]}

WRITES: list[tuple[str, str, Any]] = [
    ("POST", "/v1/projects", {"name": "Tay"}),
    ("PATCH", "/v1/projects/35e9", {"name": "Forth"}),
    ("POST", "/v1/projects/35e9/attributes", {"name": "Kind", "type": "text"}),
    ("PATCH", "/v1/projects/35e9/attributes/3812", {"name": "Begin"}),
    ("DELETE", "/v1/projects/35e9/attributes/3812", None),
    ("POST", "/v1/projects/35e9/indexes", {"sort": [{"field": "3812"}, {"field": "882a"}]}),
    ("POST", ISSUES, {"name": "New"}),
    ("PATCH", f"{ISSUES}/1", {"name": "Other"}),
    ("POST", f"{ISSUES}/batch", OPERATIONS),
    ("DELETE", f"{ISSUES}/1", None),
    ("DELETE", "/v1/projects/35e9", None),
]


def ask(api: Client, method: str, path: str, body: Any = None, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    options: dict[str, Any] = {} if body is None else {"body": body}
    return api.call(method, path, **options, headers=named)


def stored(account: Cloud, num: int) -> UUID:
    document = account.table.get(keys.issue("0807", "35e9", num), keys.project("0807", "35e9"))
    assert document is not None
    return UUID(bytes=document["change"])


@pytest.mark.parametrize(("method", "path", "body"), WRITES, ids=lambda one: str(one)[:40])
def test_every_write_answers_the_change_that_it_is_part_of(
    api: Client, account: Cloud, bridge: str, method: str, path: str, body: Any
) -> None:
    before = account.items()
    for wrong in ("", "1", CHANGE[:-1], f"{{{CHANGE}}}", CHANGE.replace("-", ""), f"{CHANGE},{CHANGE}", "é"):
        refused = ask(api, method, path, body, x_change_id=wrong)
        assert (refused.kind, set(refused.errors)) == ((400, "invalid-request"), {"X-Change-Id"}), wrong
        assert "x-change-id" not in refused.headers
    assert account.items() == before
    assert ask(api, method, path, body, x_change_id=CHANGE.upper()).headers["x-change-id"] == CHANGE


def test_without_the_header_each_request_is_its_own_change(api: Client, account: Cloud, bridge: str) -> None:
    answers = [ask(api, "POST", f"{ISSUES}/batch", OPERATIONS) for _ in range(2)]
    changes = [answer.headers["x-change-id"] for answer in answers]
    assert len(set(changes)) == 2
    assert all(UUIDS.fullmatch(change) for change in changes)
    assert [str(stored(account, num)) for num in (4, 5)] == changes


def test_a_read_has_no_change(api: Client, bridge: str) -> None:
    for answer in (
        ask(api, "GET", f"{ISSUES}/1", x_change_id="none"),
        ask(api, "POST", "/v1/projects/35e9/grid", {}, x_change_id="none"),
    ):
        assert answer.status == 200
        assert "x-change-id" not in answer.headers


def test_a_document_stores_the_change_of_its_version_and_the_api_omits_it(
    api: Client, account: Cloud, bridge: str
) -> None:
    created, edited, several = (str(uuid4()) for _ in range(3))
    num = ask(api, "POST", ISSUES, {"name": "New"}, x_change_id=created).body["num"]
    assert str(stored(account, num)) == created
    ask(api, "PATCH", f"{ISSUES}/{num}", {"name": "Newer"}, x_change_id=edited)
    assert str(stored(account, num)) == edited
    assert ask(api, "PATCH", f"{ISSUES}/{num}", {"name": "Newer"}, x_change_id=created).body["version"] == 2
    assert str(stored(account, num)) == edited, "nothing was changed"
    operations = [{"update": {"num": one, "name": "x"}} for one in (1, 2)]
    body = {"operations": [{"create": {"name": "y"}}, *operations]}
    for part in (body, {"operations": [{"update": {"num": 3, "name": "z"}}]}):
        ask(api, "POST", f"{ISSUES}/batch", part, x_change_id=several)
    assert {str(stored(account, one)) for one in (1, 2, 3, num + 1)} == {several}
    assert "change" not in api.get(f"{ISSUES}/1").body


def test_a_version_that_is_part_of_no_change_has_none(api: Client, account: Cloud, bridge: str) -> None:
    document = account.table.get(keys.issue("0807", "35e9", 1), keys.project("0807", "35e9"))
    assert document is not None
    catalog = Catalogs().get(account.table, "0807", "35e9")
    later = merged(catalog, document, Changes({"name": "x"}, {}), user="ann", now=document["updated"])
    assert later.keys() == document.keys() - {"change"} | {"changed"}


def test_the_same_key_answers_the_change_of_the_first_request(
    api: Client, account: Cloud, bridge: str
) -> None:
    for path, body in ((ISSUES, {"name": "New"}), (f"{ISSUES}/batch", OPERATIONS)):
        first = ask(api, "POST", path, body, idempotency_key="key", x_change_id=CHANGE)
        again = ask(api, "POST", path, body, idempotency_key="key", x_change_id=str(uuid4()))
        assert first.headers["x-change-id"] == again.headers["x-change-id"] == CHANGE
        assert again.text == first.text
    assert {str(stored(account, num)) for num in (1, 4, 5)} == {CHANGE}


class Killed(BaseException):
    """Lambda ends a function that is out of time."""


def test_a_batch_that_was_killed_is_one_change(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[str] = []
    with monkeypatch.context() as patch:
        table = account.modules["command"].table
        put = table.put

        def second_dies(item: Any, *arguments: Any) -> None:
            if item["PK"].startswith("issue-"):
                writes.append(item["PK"])
                if len(writes) > 1:
                    raise Killed
            put(item, *arguments)

        patch.setattr(table, "put", second_dies)
        with pytest.raises(Killed):
            ask(
                Client(api.handlers, api.claims, Context(milliseconds_left=-1)),
                "POST",
                f"{ISSUES}/batch",
                OPERATIONS,
                idempotency_key="key",
            )
    answer = ask(api, "POST", f"{ISSUES}/batch", OPERATIONS, idempotency_key="key")
    assert [result["status"] for result in answer.body["results"]] == [201, 200]
    assert {str(stored(account, num)) for num in (1, 4)} == {answer.headers["x-change-id"]}
