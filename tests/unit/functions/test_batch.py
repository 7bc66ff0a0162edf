"""The batch: mixed operations, each by itself, answered in order; carried out once for one Idempotency-Key."""

import itertools
import json
import random
import threading
from typing import Any

import pytest

from gridview.commands import batch as batches
from gridview.commands.attempts import Attempt
from gridview.support.errors import Overloaded
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client, Context

# A killed function has no metrics to publish, which Powertools finds worth a warning.
pytestmark = pytest.mark.filterwarnings("ignore:No application metrics")


def create(name: str, **more: Any) -> dict[str, Any]:
    return {"create": {"name": name, **more}}


def update(num: int, **more: Any) -> dict[str, Any]:
    return {"update": {"num": num, **more}}


def delete(num: int, **more: Any) -> dict[str, Any]:
    return {"delete": {"num": num, **more}}


def statuses(answer: Answer) -> list[int]:
    assert answer.status == 200, answer.text
    return [result["status"] for result in answer.body["results"]]


def names(api: Client, project: str) -> dict[int, str]:
    rows = api.get(f"{project}/grid", query={"limit": "500"}).body["rows"]
    return {row["num"]: row["name"] for row in rows}


def test_the_results_are_in_the_order_of_the_operations(api: Client, account: Cloud, bridge: str) -> None:
    answer = api.batch(
        "35e9",
        create("Scaffold", fields={"3812": "2023-05-08"}),
        update(1, state="closed", fields={"882a": None}),
        delete(2),
        update(99, name="x"),
        create("", fields={"3812": "soon"}),
        delete(99),
        update(3, nme="x", fields={"3fe6": "many"}),
        create("Rivets", state="closed"),
    )
    assert statuses(answer) == [201, 200, 204, 404, 400, 404, 400, 201]
    results = answer.body["results"]
    assert {result["issue"]["num"]: result["issue"]["name"] for result in results if "issue" in result} == {
        4: "Scaffold",
        1: "Needs Painting",
        5: "Rivets",
    }
    assert results[1]["issue"] == api.get(f"{bridge}/issues/1").body
    assert results[2] == {"status": 204}
    for place, fields in ((4, {"name", "fields.3812"}), (6, {"nme", "fields.3fe6"})):
        problem = results[place]["problem"]
        assert (problem["status"], problem["type"]) == (400, "invalid-request")
        assert {error["field"] for error in problem["errors"]} == fields
    assert names(api, bridge) == {
        1: "Needs Painting",
        3: "Girder needs replacing",
        4: "Scaffold",
        5: "Rivets",
    }


def test_an_operation_may_name_the_version_that_it_replaces(api: Client, bridge: str) -> None:
    answer = api.batch(
        "35e9",
        update(1, version=1, name="First"),
        update(1, version=1, name="Late"),
        update(1, version=2, name="Second"),
        delete(2, version=7),
        delete(3, version=1),
        update(99, version=1, name="x"),
        delete(98, version=1),
    )
    assert statuses(answer) == [200, 412, 200, 412, 204, 404, 404]
    assert names(api, bridge) == {1: "Second", 2: "Check for rust"}


def test_operations_on_one_issue_follow_each_other(api: Client, bridge: str) -> None:
    operations = [update(1, fields={"3fe6": number}) for number in range(10)]
    answer = api.batch("35e9", *operations, delete(1), update(1, name="x"), delete(1))
    assert statuses(answer) == [200] * 10 + [204, 404, 404]
    versions = [result["issue"]["version"] for result in answer.body["results"][:10]]
    assert versions == list(range(2, 12))


def test_an_operation_cannot_reach_an_issue_that_the_same_batch_creates(api: Client, bridge: str) -> None:
    assert statuses(api.batch("35e9", update(4, name="x"), create("new"), delete(4))) == [404, 201, 404]
    assert names(api, bridge)[4] == "new"


def test_refused_creates_take_no_numbers(api: Client, project: str) -> None:
    answer = api.batch("plain", create(""), create("a"), create("", x=1), create("b"))
    assert statuses(answer) == [400, 201, 400, 201]
    assert names(api, project) == {1: "a", 2: "b"}


def test_numbers_that_no_issue_can_have_are_not_found(api: Client, project: str) -> None:
    answer = api.batch("plain", delete(10**8), update(10**17, name="x"), delete(10**39, version=1))
    assert statuses(answer) == [404, 404, 404]


def test_500_operations_are_the_most(api: Client, account: Cloud, project: str) -> None:
    answer = api.batch("plain", *(create(f"issue {place}") for place in range(500)))
    assert statuses(answer) == [201] * 500
    results = answer.body["results"]
    assert [result["issue"]["num"] for result in results] == list(range(1, 501))
    assert [result["issue"]["name"] for result in results] == [f"issue {place}" for place in range(500)]
    before = account.items()
    refused = api.batch("plain", *([create("x")] * 501))
    assert refused.kind == (400, "invalid-request")
    assert refused.errors.keys() == {"operations"}
    assert account.items() == before


def test_operations_too_large_for_the_answer_are_refused_before_their_write(
    api: Client, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MAX_ANSWER_BYTES", 1_000)
    answer = api.batch("35e9", *(update(num, name=f"{num}" * 200) for num in (1, 2, 3)), delete(1))
    found = statuses(answer)
    assert found.count(413) == 1
    refused = found.index(413) + 1
    kept = {1: "Needs Painting", 2: "Check for rust", 3: "Girder needs replacing"}[refused]
    assert api.get(f"{bridge}/issues/{refused}").status == (404 if refused == 1 else 200)
    if refused > 1:
        assert api.get(f"{bridge}/issues/{refused}").body["name"] == kept


def minimal(api: Client, *operations: Any, key: str | None = None) -> Answer:
    body = {"return": "minimal", "operations": list(operations)}
    return api.post(
        "/v1/projects/35e9/issues/batch", body, headers={} if key is None else {"idempotency-key": key}
    )


def test_a_minimal_answer_has_statuses_versions_and_the_numbers_of_new_issues(
    api: Client, bridge: str
) -> None:
    answer = minimal(
        api, create("Scaffold"), update(1, name="x"), update(1, name="x"), delete(2), update(3, nme="x")
    )
    *written, refused = answer.body["results"]
    assert written == [
        {"status": 201, "num": 4, "version": 1},
        {"status": 200, "version": 2},
        {"status": 200, "version": 2},
        {"status": 204},
    ]
    assert (refused["status"], refused["problem"]["errors"][0]["field"]) == (400, "nme")
    assert names(api, bridge) == {1: "x", 3: "Girder needs replacing", 4: "Scaffold"}


def test_a_minimal_answer_has_room_for_issues_of_any_size(
    api: Client, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MAX_ANSWER_BYTES", 1_000)
    assert statuses(minimal(api, *(update(num, name=f"{num}" * 1_000) for num in (1, 2, 3)))) == [200] * 3


def test_a_whole_answer_can_be_asked_for_by_name(api: Client, bridge: str) -> None:
    body = {"operations": [update(1, name="x")]}
    whole = api.post(f"{bridge}/issues/batch", {"return": "representation", **body})
    assert whole.body == api.batch("35e9", update(1, name="x")).body
    for wrong in ("all", None, True):
        answer = api.post(f"{bridge}/issues/batch", {"return": wrong, **body})
        assert answer.errors.keys() == {"return"}


OPERATIONS = [create("a"), create("b"), update(1, fields={"3fe6": 7}), delete(2), update(99, name="x")]
EXPECTED = [201, 201, 200, 204, 404]


def test_the_same_key_and_body_answer_the_same_and_do_nothing_again(
    api: Client, account: Cloud, bridge: str
) -> None:
    first = api.batch("35e9", *OPERATIONS, key="key")
    assert statuses(first) == EXPECTED
    before = account.items()
    second = api.batch("35e9", *OPERATIONS, key="key")
    assert (second.status, second.text) == (200, first.text)
    assert account.items() == before


def test_without_a_key_everything_is_done_again(api: Client, bridge: str) -> None:
    for _ in range(2):
        api.batch("35e9", create("twin"))
    assert list(names(api, bridge).values()).count("twin") == 2


def test_the_same_key_with_another_body_is_a_conflict(api: Client, account: Cloud, bridge: str) -> None:
    api.batch("35e9", *OPERATIONS, key="key")
    before = account.items()
    assert api.batch("35e9", *OPERATIONS[:1], key="key").kind == (409, "conflict")
    assert account.items() == before


def test_a_key_is_its_users_and_its_projects_own(api: Client, bridge: str) -> None:
    api.made("/v1/projects", {"id": "other", "name": "Other"})
    for client, project in ((api, "35e9"), (api.acting(user="bob"), "35e9"), (api, "other")):
        assert statuses(client.batch(project, create("mine"), key="key")) == [201]
    assert list(names(api, bridge).values()).count("mine") == 2
    assert names(api, "/v1/projects/other") == {1: "mine"}


def test_a_request_refused_as_a_whole_can_be_fixed_under_the_same_key(
    api: Client, account: Cloud, bridge: str
) -> None:
    before = account.items()
    for _ in range(2):
        assert api.batch("35e9", {"creat": {}}, key="key").kind == (400, "invalid-request")
    assert account.items() == before
    assert statuses(api.batch("35e9", create("a"), key="key")) == [201]


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_has_1_to_255_characters(api: Client, account: Cloud, bridge: str, key: str) -> None:
    before = account.items()
    assert api.batch("35e9", create("a"), key=key).kind == (400, "invalid-request")
    assert account.items() == before


class Killed(BaseException):
    """Lambda ends a function that is out of time."""


class Executioner:
    """Lets the first `writes` writes of issues through, then kills the function."""

    def __init__(self, account: Cloud, monkeypatch: pytest.MonkeyPatch, writes: int) -> None:
        self._left = writes
        self._lock = threading.Lock()
        self._patch = monkeypatch
        table = account.modules["command"].table
        for name in ("put", "update"):
            self._patch.setattr(table, name, self._guarded(getattr(table, name)))

    def _guarded(self, write: Any) -> Any:
        def guarded(target: Any, *arguments: Any, **named: Any) -> Any:
            if str(target if isinstance(target, str) else target["PK"]).startswith("issue-"):
                with self._lock:
                    if self._left == 0:
                        raise Killed
                    self._left -= 1
            return write(target, *arguments, **named)

        return guarded


def replayed(api: Client, *operations: Any) -> Answer:
    return api.batch("35e9", *operations, key="key")


@pytest.mark.parametrize("writes", range(5))
def test_a_batch_that_was_killed_in_the_middle_is_finished_by_the_next_attempt_and_nothing_is_done_twice(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    out_of_time = Client(api.handlers, api.claims, Context(milliseconds_left=-1))
    with monkeypatch.context() as patch:
        Executioner(account, patch, writes)
        if writes < 4:
            with pytest.raises(Killed):
                replayed(out_of_time, *OPERATIONS)
        else:
            assert statuses(replayed(out_of_time, *OPERATIONS)) == EXPECTED
    answer = replayed(api, *OPERATIONS)
    assert statuses(answer) == EXPECTED
    assert [result["issue"]["num"] for result in answer.body["results"][:2]] == [4, 5]
    assert names(api, bridge) == {1: "Needs Painting", 3: "Girder needs replacing", 4: "a", 5: "b"}
    changed = api.get(f"{bridge}/issues/1").body
    assert (changed["version"], changed["fields"]["3fe6"]) == (2, 7)
    assert replayed(api, *OPERATIONS).text == answer.text
    assert api.made(f"{bridge}/issues", {"name": "next"})["num"] == 6, "numbers were reserved once"


def test_a_minimal_answer_is_the_same_after_a_kill(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        Executioner(account, patch, 3)
        with pytest.raises(Killed):
            minimal(Client(api.handlers, api.claims, Context(milliseconds_left=-1)), *OPERATIONS, key="key")
    answer = minimal(api, *OPERATIONS, key="key")
    *written, missing = answer.body["results"]
    assert written == [
        {"status": 201, "num": 4, "version": 1},
        {"status": 201, "num": 5, "version": 1},
        {"status": 200, "version": 2},
        {"status": 204},
    ]
    assert missing["status"] == 404
    assert minimal(api, *OPERATIONS, key="key").text == answer.text
    assert replayed(api, *OPERATIONS).kind == (409, "conflict"), "another body"


def test_issues_edited_since_a_kill_still_belong_to_the_batch(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any) -> None:
        raise Killed

    out_of_time = Client(api.handlers, api.claims, Context(milliseconds_left=-1))
    with monkeypatch.context() as patch:
        patch.setattr(Attempt, "end", die)
        with pytest.raises(Killed):
            replayed(out_of_time, create("a"), create("b"))
    assert api.patch(f"{bridge}/issues/4", {"name": "edited"}).status == 200
    answer = replayed(api, create("a"), create("b"))
    assert statuses(answer) == [201, 201]
    assert [result["issue"]["version"] for result in answer.body["results"]] == [2, 1]
    assert {num: name for num, name in names(api, bridge).items() if num > 3} == {4: "edited", 5: "b"}


def test_operations_that_failed_temporarily_are_done_by_the_repeated_request(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer with a 503 in it must not be remembered for a day."""
    table = account.modules["command"].table
    write = table.put

    def busy(item: Any, *arguments: Any) -> None:
        if item.get("name") == "b":
            raise Overloaded("The table is busy; try again.")
        write(item, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(table, "put", busy)
        assert statuses(replayed(api, *OPERATIONS)) == [EXPECTED[0], 503, *EXPECTED[2:]]
    answer = replayed(api, *OPERATIONS)
    assert statuses(answer) == EXPECTED
    assert [result["issue"]["num"] for result in answer.body["results"][:2]] == [4, 5]
    assert replayed(api, *OPERATIONS).text == answer.text


def test_a_repeated_batch_with_other_outcomes_gives_no_number_twice(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    creates = [{"create": {"name": "a"}}, {"create": {"name": "b", "fields": {"3fe6": 1}}}]
    out_of_time = Client(api.handlers, api.claims, Context(milliseconds_left=-1))
    with monkeypatch.context() as patch:
        Executioner(account, patch, 0)
        with pytest.raises(Killed):
            replayed(out_of_time, *creates)
    api.delete(f"{bridge}/attributes/3fe6")
    assert statuses(replayed(api, *creates)) == [409, 400]


def test_while_the_first_attempt_may_be_alive_the_second_gets_in_progress(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        Executioner(account, patch, 1)
        with pytest.raises(Killed):
            replayed(api, *OPERATIONS)
    before = account.items()
    answer = replayed(api, *OPERATIONS)
    assert answer.kind == (429, "request-in-progress")
    assert answer.headers["retry-after"] == "1"
    assert account.items() == before


def test_an_operation_with_a_version_that_was_done_before_the_kill_is_not_a_mismatch_afterwards(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    operations = [update(1, version=1, name="Once"), update(3, version=1, name="Once")]
    out_of_time = Client(api.handlers, api.claims, Context(milliseconds_left=-1))
    with monkeypatch.context() as patch:
        Executioner(account, patch, 1)
        with pytest.raises(Killed):
            replayed(out_of_time, *operations)
    answer = replayed(api, *operations)
    assert statuses(answer) == [200, 200]
    assert [result["issue"]["version"] for result in answer.body["results"]] == [2, 2]


def test_the_mark_of_a_batch_is_not_returned(api: Client, account: Cloud, bridge: str) -> None:
    replayed(api, *OPERATIONS)
    (issue,) = (item for item in account.items() if item.get("num") == {"N": "4"})
    assert "mark" in issue
    assert "mark" not in api.get(f"{bridge}/issues/4").text
    assert api.patch(f"{bridge}/issues/4", {"name": "x"}).status == 200
    (issue,) = (item for item in account.items() if item.get("num") == {"N": "4"})
    assert "mark" not in issue


def test_an_answer_larger_than_an_item_is_remembered(api: Client, bridge: str) -> None:
    noise = random.Random(7)  # noqa: S311  (incompressible, not secret)
    texts = ["".join(chr(noise.randrange(0x4E00, 0x9FFF)) for _ in range(1024)) for _ in range(200)]
    operations = [create(text, fields={"47e5": text}) for text in texts]
    first = replayed(api, *operations)
    assert len(json.dumps(first.text)) > 1_000_000
    assert replayed(api, *operations).text == first.text


def busy_writes(
    table: Any, monkeypatch: pytest.MonkeyPatch, num: int, *, first: int = 0, last: int = 99
) -> None:
    """Have the table refuse the writes of an issue from the first to the last of them."""
    write, count = table.put, itertools.count()

    def busy(item: Any, *arguments: Any) -> None:
        if item.get("num") == num and first <= next(count) <= last:
            raise Overloaded("The table is busy; try again.")
        write(item, *arguments)

    monkeypatch.setattr(table, "put", busy)


@pytest.mark.parametrize("returning", ["minimal", "representation"])
@pytest.mark.parametrize("expected", [{}, {"version": 1}])
def test_finished_operations_of_a_repeated_batch_do_not_overwrite_later_edits(
    api: Client,
    account: Cloud,
    bridge: str,
    monkeypatch: pytest.MonkeyPatch,
    expected: dict[str, int],
    returning: str,
) -> None:
    operations = [
        update(1, name="Ann's", **expected),
        create("new"),
        delete(2),
        update(3, name="late"),
    ]

    def send() -> Answer:
        body = {"return": returning, "operations": operations}
        return api.post(f"{bridge}/issues/batch", body, headers={"idempotency-key": "key"})

    with monkeypatch.context() as patch:
        busy_writes(account.modules["command"].table, patch, 3)
        assert statuses(send()) == [200, 201, 204, 503]
    assert api.patch(f"{bridge}/issues/1", {"name": "Bob's"}).status == 200
    assert api.patch(f"{bridge}/issues/4", {"name": "Bob's too"}).status == 200
    assert api.post(f"{bridge}/trash/2/restore", b"").status == 200
    answer = send()
    assert statuses(answer) == [200, 201, 204, 200]
    one, new, *_ = answer.body["results"]
    if returning == "minimal":
        assert (one, new) == ({"status": 200, "version": 2}, {"status": 201, "num": 4, "version": 1})
    else:
        assert one == {"status": 200, "issue": api.get(f"{bridge}/issues/1").body}
        assert new == {"status": 201, "issue": api.get(f"{bridge}/issues/4").body}
    assert names(api, bridge) | {2: ""} == {1: "Bob's", 2: "", 3: "late", 4: "Bob's too"}
    assert api.get(f"{bridge}/issues/2").status == 200
    assert send().text == answer.text


def test_an_issue_deleted_since_has_only_its_version_in_the_repeated_answer(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    operations = update(1, name="Ann's"), update(3, name="late")
    with monkeypatch.context() as patch:
        busy_writes(account.modules["command"].table, patch, 3)
        assert statuses(replayed(api, *operations)) == [200, 503]
    assert api.delete(f"{bridge}/issues/1").status == 204
    answer = replayed(api, *operations)
    assert answer.body["results"][0] == {"status": 200, "version": 2}
    assert statuses(answer) == [200, 200]
    assert api.get(f"{bridge}/issues/1").status == 404


def test_operations_on_one_issue_wait_for_one_that_may_succeed_later(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    operations = [update(1, name=name) for name in ("first", "second", "third")]
    table = account.modules["command"].table
    with monkeypatch.context() as patch:
        busy_writes(table, patch, 1, first=1, last=1)
        assert statuses(replayed(api, *operations)) == [200, 503, 503]
    assert api.get(f"{bridge}/issues/1").body["name"] == "first"
    assert statuses(replayed(api, *operations)) == [200, 200, 200]
    issue = api.get(f"{bridge}/issues/1").body
    assert (issue["name"], issue["version"]) == ("third", 4)


def test_after_a_kill_the_mark_of_a_later_operation_on_an_issue_counts_for_the_earlier_ones(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any) -> None:
        raise Killed

    operations = update(1, name="first"), update(1, name="second", version=2)
    out_of_time = Client(api.handlers, api.claims, Context(milliseconds_left=-1))
    with monkeypatch.context() as patch:
        patch.setattr(Attempt, "end", die)
        with pytest.raises(Killed):
            replayed(out_of_time, *operations)
    assert statuses(replayed(api, *operations)) == [200, 200]
    issue = api.get(f"{bridge}/issues/1").body
    assert (issue["name"], issue["version"]) == ("second", 3)


def test_a_refused_operation_is_judged_again_though_a_later_one_on_its_issue_is_finished(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    operations = update(1, name="first", version=7), update(1, name="second"), update(3, name="late")
    with monkeypatch.context() as patch:
        busy_writes(account.modules["command"].table, patch, 3)
        assert statuses(replayed(api, *operations)) == [412, 200, 503]
    assert statuses(replayed(api, *operations)) == [412, 200, 200]
    assert api.get(f"{bridge}/issues/1").body["version"] == 2
