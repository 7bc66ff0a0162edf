"""Permanently deleted data leaves histories and remembered answers too: values of an attribute, a purged issue."""

import string
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

import pytest

from devtools.proof.faults.watched import Attempted
from gridview.dynamodb.leases import LEASE
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.json_codec import dumps, loads
from gridview.maintenance import forgotten_answers, job_worker
from gridview.maintenance.forgotten_answers import redact_answers, take_turn
from gridview.maintenance.waiting import Batch
from gridview.schema.answer_contents import Redaction, without_issues
from gridview.schema.jobs import Hint, Turn
from gridview.schema.remembered import Answer
from gridview.support import clock
from gridview.support.errors import Overloaded
from tests.support.checked import differences_in
from tests.support.cloud import Cloud
from tests.support.http import Client, Context
from tests.support.removed import removed

BRIDGE = "/v1/projects/35e9"
SECRET = "a very private remark"
KEY = {"idempotency-key": "k"}


KEPT = (keys.REQUEST_PREFIX, derived_keys.HISTORY_PREFIX, keys.COMMENT_PREFIX, keys.ISSUE_PREFIX)


def kept(account: Cloud) -> str:
    """Documents, histories, comments and remembered answers, with all packed values."""
    return " ".join(
        _plain(item)
        for (pk, sk), item in account.table.items.items()
        if pk.startswith(KEPT) and sk != derived_keys.LEDGER and not sk.startswith(derived_keys.ORDER_PREFIX)
    )


def _plain(value: Any) -> str:
    if isinstance(value, bytes):
        try:
            return zlib.decompress(value).decode()
        except (zlib.error, UnicodeDecodeError):
            return ""
    if isinstance(value, dict):
        return " ".join(f"{name} {_plain(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return " ".join(map(_plain, value))
    return str(value)


NOTE = (keys.request("0807", "35e9"), keys.JOB)
"""The key of the purged issues that upkeep takes out of the answers."""


def remove_attribute(api: Client) -> None:
    assert api.delete(f"{BRIDGE}/attributes/47e5").status == 204
    assert api.delete(f"{BRIDGE}/deleted-attributes/47e5").status == 204


def test_an_attribute_that_is_removed_leaves_history_and_remembered_answers(
    api: Client, account: Cloud, bridge: str
) -> None:
    made = api.made(f"{BRIDGE}/issues", {"name": "New", "fields": {"47e5": SECRET, "3fe6": 5}}, headers=KEY)
    path = f"{BRIDGE}/issues/{made['num']}"
    updates = [{"update": {"num": one, "fields": {"47e5": f"{SECRET} {one}"}}} for one in (1, 2)]
    assert api.batch("35e9", *updates, key="b").status == 200
    long = SECRET + "x" * 1_000
    assert api.patch(path, {"name": "Newer", "fields": {"47e5": long}}).status == 200
    assert api.delete(path).status == 204
    account.follow()
    assert SECRET in kept(account)
    remove_attribute(api)
    account.upkeep()
    account.follow()
    assert SECRET not in kept(account)
    assert differences_in(account.table) == []
    again = api.post(f"{BRIDGE}/issues", {"name": "New", "fields": {"47e5": SECRET, "3fe6": 5}}, headers=KEY)
    assert (again.status, again.body) == (201, {**made, "fields": {"3fe6": 5}})
    results = api.batch("35e9", *updates, key="b").body["results"]
    assert [one["issue"]["fields"] for one in results] == [
        {"3812": "2023-05-01", "882a": "2023-06-01"},
        {"3812": "2023-05-02", "882a": "2023-06-02"},
    ]
    assert api.post(f"{BRIDGE}/trash/{made['num']}/restore", b"").status == 200
    events = api.get(f"{path}/history").body["items"]
    assert [one["version"] for one in events] == [3, 2, 1]
    assert events[1]["fields"] == {"name": {"old": "New", "new": "Newer"}}
    assert events[2]["fields"]["3fe6"] == {"old": None, "new": 5}


def test_a_record_that_comes_after_the_removal_brings_no_value_back(
    api: Client, account: Cloud, bridge: str
) -> None:
    assert api.patch(f"{BRIDGE}/issues/3", {"fields": {"47e5": SECRET}}).status == 200
    late = account.stream.take()
    remove_attribute(api)
    account.upkeep()
    assert SECRET not in kept(account)
    event = {"Records": late}
    assert account.modules["maintain"].handler(event, Context()) == {"batchItemFailures": []}
    assert SECRET not in kept(account)
    assert api.get(f"{BRIDGE}/issues/3/history").body["items"][0]["version"] == 2


def test_a_batch_that_lambda_gave_up_brings_no_value_back(api: Client, account: Cloud, bridge: str) -> None:
    assert api.patch(f"{BRIDGE}/issues/3", {"fields": {"47e5": SECRET, "3fe6": 8}}).status == 200
    late = Batch(account.stream.take(), recorded=False, reason="RetryAttemptsExhausted")
    remove_attribute(api)
    account.upkeep()
    assert account.modules["upkeep"]._derive_again(late).records == []
    assert SECRET not in kept(account)
    (event, *_) = api.get(f"{BRIDGE}/issues/3/history").body["items"]
    assert event["version"] == 2
    assert [*event["fields"]] == ["3fe6"]


def test_a_purged_issue_leaves_remembered_answers(api: Client, account: Cloud, bridge: str) -> None:
    body = {"name": SECRET}
    made = api.made(f"{BRIDGE}/issues", body, headers=KEY)
    num = made["num"]
    comments = f"{BRIDGE}/issues/{num}/comments"
    api.made(comments, {"text": SECRET}, headers=KEY)
    updates = [{"update": {"num": one, "fields": {"3fe6": 9}}} for one in (1, num)]
    other = api.batch("35e9", *updates, key="b").body["results"][0]
    account.follow()
    assert api.delete(f"{BRIDGE}/issues/{num}").status == 204
    assert api.delete(f"{BRIDGE}/trash/{num}").status == 204
    account.follow()
    account.upkeep()
    assert SECRET not in kept(account)
    assert NOTE not in account.table.items
    before = account.items()
    again = api.post(f"{BRIDGE}/issues", body, headers=KEY)
    assert again.kind == (404, "not-found")
    assert again.headers["content-type"] == "application/problem+json"
    assert api.post(comments, {"text": SECRET}, headers=KEY).kind == (404, "not-found")
    results = api.batch("35e9", *updates, key="b").body["results"]
    assert results[0] == other
    assert (results[1]["status"], results[1]["problem"]["type"]) == (404, "not-found")
    assert api.post(f"{BRIDGE}/issues", {"name": "Other"}, headers=KEY).kind == (409, "conflict")
    assert account.items() == before


@pytest.mark.parametrize("size", [10, 800_000])
def test_an_answer_of_any_size_is_rewritten_whole(
    api: Client, account: Cloud, bridge: str, size: int
) -> None:
    made = api.made(f"{BRIDGE}/issues", {"name": "New"}, headers=KEY)
    for text in (_incompressible(size), "short"):
        body = dumps({**made, "name": text})
        redact = partial(_with_body, body)
        assert redact_answers(account.table, "0807", "35e9", redact, lambda: 1.0) is None
        again = api.post(f"{BRIDGE}/issues", {"name": "New"}, headers=KEY)
        assert (again.status, again.text) == (201, body.decode())
    records = [pk for pk, _ in account.table.items if pk == keys.request("0807", "35e9")]
    assert len(records) == 1, "parts that are not needed any more are deleted"


@pytest.mark.parametrize("size", [10, 800_000])
def test_two_passes_over_an_answer_at_the_same_time_bring_nothing_back(
    api: Client, account: Cloud, bridge: str, size: int
) -> None:
    made = api.made(f"{BRIDGE}/issues", {"name": "New"}, headers=KEY)
    body = dumps({**made, "name": f"{_incompressible(size)} first second third"})
    redact_all(account.table, partial(_with_body, body))
    others = iter([b" second", b" third"])
    redact_all(racing(account, others), partial(_without, b" first"))
    left = body.replace(b" first second third", b"")
    assert api.post(f"{BRIDGE}/issues", {"name": "New"}, headers=KEY).text == left.decode()


def test_a_pass_that_loses_each_race_for_an_answer_is_not_done(
    api: Client, account: Cloud, bridge: str
) -> None:
    name = " ".join(map(str, range(100)))
    api.made(f"{BRIDGE}/issues", {"name": name}, headers=KEY)
    others = (b" %d" % number for number in range(1, 100))
    with pytest.raises(Overloaded):
        redact_all(racing(account, others), partial(_without, b'"0'))


def redact_all(table: Table, redact: Redaction) -> None:
    assert redact_answers(table, "0807", "35e9", redact, lambda: 1.0) is None


def racing(account: Cloud, others: Iterator[bytes]) -> Table:
    """The table, in which another pass takes out the next text before each transaction."""

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "transact" and (text := next(others, b"")):
            redact_all(account.table, partial(_without, text))
        return perform()

    return account.table.seen_through(around)


def _without(text: bytes, answer: Answer) -> Answer | None:
    return answer._replace(body=answer.body.replace(text, b"", 1)) if text in answer.body else None


def test_the_answer_of_an_undo_has_no_values_of_a_purged_issue() -> None:
    def refusal(num: int) -> dict[str, Any]:
        conflicts = [{"field": "name", "yours": SECRET, "theirs": SECRET, "by": "ben", "version": 3}]
        return {"num": num, "problem": {"type": "edit-conflict", "conflicts": conflicts}}

    body = {"undone": [{"num": 1, "version": 3}], "change": None, "refused": [refusal(2), refusal(3)]}
    answer = Answer(200, {}, dumps(body))
    assert without_issues(answer, {1, 4}) is None
    after = without_issues(answer, {2})
    assert after is not None
    found = loads(after.body)
    assert found["undone"] == body["undone"]
    assert found["refused"][1] == refusal(3)
    gone = found["refused"][0]
    assert (gone["num"], gone["problem"]["type"]) == (2, "not-found")
    assert SECRET not in str(gone)


def _with_body(body: bytes, answer: Answer) -> Answer:
    return answer._replace(body=body)


def _incompressible(size: int) -> str:
    return "".join(Random(0).choices(string.ascii_letters + string.digits, k=size))  # noqa: S311


def make_answers(api: Client) -> list[int]:
    """Create issues with a secret in their names, by requests with a key."""
    return [
        api.made(f"{BRIDGE}/issues", {"name": f"{SECRET} {one}"}, headers={"idempotency-key": str(one)})[
            "num"
        ]
        for one in range(5)
    ]


def purge(api: Client, account: Cloud, num: int) -> None:
    assert api.delete(f"{BRIDGE}/issues/{num}").status == 204
    assert api.delete(f"{BRIDGE}/trash/{num}").status == 204
    account.follow()


def left_in_answers(account: Cloud) -> int:
    """The answers with a secret."""
    return sum(SECRET in _plain(item) for (pk, _), item in account.table.items.items() if pk == NOTE[0])


def seconds_for(answers: int) -> Callable[[], float]:
    """The seconds left of a turn that has time for so many answers."""
    left = iter([1.0] * (answers + 1))  # it is also asked once at the beginning
    return lambda: next(left, 0.0)


def test_the_stream_consumer_reads_no_answer(api: Client, account: Cloud, bridge: str) -> None:
    """A day's answers take minutes, and the records of all tenants would wait."""
    first, *_ = make_answers(api)
    account.asked["maintain"].clear()
    purge(api, account, first)
    assert left_in_answers(account) == 5
    requests = {one.action for one in account.asked["maintain"] if NOTE[0] in str(one)}
    assert requests == {"dynamodb:GetItem", "dynamodb:PutItem"}
    account.upkeep()
    assert left_in_answers(account) == 4


def hint_at_note(account: Cloud) -> Hint:
    return Hint(NOTE[0], account.table.items[NOTE][keys.SORT])


def test_a_pass_over_the_answers_goes_on_where_the_last_turn_ended(
    api: Client, account: Cloud, bridge: str
) -> None:
    numbers = make_answers(api)
    for num in numbers:
        purge(api, account, num)
    for left in (3, 1):
        turn = take_turn(account.table, hint_at_note(account), seconds_for(2))
        assert turn is not None
        assert turn.hints == (hint_at_note(account),)
        assert left_in_answers(account) == left
    assert take_turn(account.table, hint_at_note(account), seconds_for(2)) == Turn()
    assert left_in_answers(account) == 0
    assert NOTE not in account.table.items


def test_an_issue_that_is_purged_during_a_pass_waits_for_the_next_one(
    api: Client, account: Cloud, bridge: str
) -> None:
    numbers = make_answers(api)
    for num in numbers[:-1]:
        purge(api, account, num)
    take_turn(account.table, hint_at_note(account), seconds_for(4))
    purge(api, account, numbers[-1])
    account.upkeep()
    assert left_in_answers(account) == 0
    assert NOTE not in account.table.items


def test_a_worker_that_dies_is_followed_by_another_one(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (num, *_) = make_answers(api)
    purge(api, account, num)
    hint = hint_at_note(account)
    with monkeypatch.context() as patch:
        patch.setattr(forgotten_answers, "redact_answers", _dying)
        with pytest.raises(ZeroDivisionError):
            take_turn(account.table, hint, seconds_for(9))
    assert take_turn(account.table, hint, seconds_for(9)) is None
    assert take_turn(account.table, hint_at_note(account), seconds_for(9)) is None, "the lease holds"
    now = clock.after
    monkeypatch.setattr(clock, "after", lambda seconds: now(seconds + LEASE))
    assert take_turn(account.table, hint_at_note(account), seconds_for(9)) == Turn()
    assert left_in_answers(account) == 4


def test_a_removed_project_has_no_purged_issues(api: Client, account: Cloud, bridge: str) -> None:
    (num, *_) = make_answers(api)
    purge(api, account, num)
    removed(api, BRIDGE)
    account.upkeep()
    assert not [pk for pk, _ in account.table.items if pk == NOTE[0]]


def _dying(*_: object) -> str | None:
    raise ZeroDivisionError


def test_the_answers_of_a_day_may_take_more_turns_than_one(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for one in range(6):
        headers = {"idempotency-key": str(one)}
        api.made(f"{BRIDGE}/issues", {"name": "New", "fields": {"47e5": SECRET}}, headers=headers)
    calls = []

    def in_short_turns(table: Table, tenant: str, project: str, redact: Redaction, *rest: Any) -> str | None:
        _, after = rest
        calls.append(after)
        assert len(calls) < 20, "the removal never ends"
        return redact_answers(table, tenant, project, redact, seconds_for(1), after)

    monkeypatch.setattr(job_worker, "redact_answers", in_short_turns)
    remove_attribute(api)
    account.upkeep()
    assert left_in_answers(account) == 0
    assert len(calls) == 3, "two answers each"
    assert calls == sorted(calls)


def test_other_projects_and_answers_stay_as_they_are(api: Client, account: Cloud, bridge: str) -> None:
    api.made("/v1/projects", {"id": "tay", "name": "Tay"}, headers=KEY)
    api.made("/v1/projects/tay/issues", {"name": "Same number"}, headers=KEY)
    api.made(f"{BRIDGE}/issues", {"name": "One"}, headers={"idempotency-key": "one"})
    gone = api.made(f"{BRIDGE}/issues", {"name": "Two"}, headers={"idempotency-key": "two"})
    before = {key: item for key, item in account.table.items.items() if key[0].startswith("request-")}
    api.delete(f"{BRIDGE}/issues/{gone['num']}")
    api.delete(f"{BRIDGE}/trash/{gone['num']}")
    account.follow()
    account.upkeep()
    after = {key: item for key, item in account.table.items.items() if key[0].startswith("request-")}
    assert after.keys() == before.keys()
    assert sum(after[key] != before[key] for key in before) == 1


def test_a_formula_that_is_removed_leaves_remembered_answers(
    api: Client, account: Cloud, bridge: str
) -> None:
    for name, formula in (("share", "1 / ({3fe6} - 5)"), ("ratio", "2 / ({3fe6} - 5)")):
        body = {"id": name, "name": name, "type": "number", "formula": formula}
        api.made(f"{BRIDGE}/attributes", body)
    both, one = {"share": "division-by-zero", "ratio": "division-by-zero"}, {"ratio": "division-by-zero"}
    issue = {"name": "New", "fields": {"3fe6": 5}}
    assert api.made(f"{BRIDGE}/issues", issue, headers=KEY)["unavailable"] == both
    create = {"create": issue}
    assert api.batch("35e9", create, key="b").body["results"][0]["issue"]["unavailable"] == both
    for gone, left in (("share", one), ("ratio", None)):
        assert api.delete(f"{BRIDGE}/attributes/{gone}").status == 204
        assert api.delete(f"{BRIDGE}/deleted-attributes/{gone}").status == 204
        account.upkeep()
        assert api.post(f"{BRIDGE}/issues", issue, headers=KEY).body.get("unavailable") == left
        assert api.batch("35e9", create, key="b").body["results"][0]["issue"].get("unavailable") == left
    assert "unavailable" not in api.post(f"{BRIDGE}/issues", issue, headers=KEY).body
