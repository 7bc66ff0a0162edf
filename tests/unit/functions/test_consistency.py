"""X-Consistency-Token: an answer to a request with tokens contains their writes, though no consumer has run since."""

from typing import Any

import pytest

from gridview.encoding.consistency import MAX_ISSUES, SECONDS
from gridview.support import aws, clock
from gridview.view.block_cache import BlockCache
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client

HEADER = "x-consistency-token"
BY_START = [{"field": "3812", "direction": "desc"}]


def token_of(answer: Answer) -> str:
    assert answer.status < 300, answer.text
    return answer.headers[HEADER]


def asking(api: Client, bridge: str, *tokens: str, **body: Any) -> Answer:
    return api.post(f"{bridge}/grid", body, headers={HEADER: ", ".join(tokens)} if tokens else {})


def grid(api: Client, bridge: str, *tokens: str, **body: Any) -> Any:
    answer = asking(api, bridge, *tokens, **body)
    assert answer.status == 200, answer.text
    return answer.body


def nums(page: Any) -> list[int]:
    return [row["num"] for row in page["rows"]]


@pytest.fixture
def indexed(account: Cloud, bridge: str) -> str:
    """The worked example's project, completely indexed."""
    account.derive()
    account.fold()
    return bridge


@pytest.fixture
def moving_time(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds by which the functions' clock is ahead."""
    ahead = [0.0]
    real = clock.seconds
    monkeypatch.setattr(clock, "seconds", lambda: real() + ahead[0])
    return ahead


def test_an_edited_row_is_in_its_new_place_at_once(api: Client, indexed: str) -> None:
    edited = api.patch(f"{indexed}/issues/1", {"fields": {"3812": "2023-05-03"}})
    assert nums(grid(api, indexed, sort=BY_START)) == [2, 3], "the index does not know of the edit"
    page = grid(api, indexed, token_of(edited), sort=BY_START)
    assert nums(page) == [1, 2, 3]
    assert page["rows"][0]["version"] == 2


def test_the_first_page_of_a_container_that_knows_the_directories_holds_them_too(
    account: Cloud, api: Client, indexed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account.modules["query"], "cache", BlockCache())
    closed = {"field": "state", "op": "eq", "value": "closed"}
    assert nums(grid(api, indexed, filter=closed, count=True)) == [2]
    edited = token_of(api.patch(f"{indexed}/issues/1", {"state": "closed"}))
    assert nums(grid(api, indexed, edited, filter=closed, count=True)) == [1, 2]


def test_a_new_issue_and_a_deleted_one_are_counted_as_they_are(api: Client, indexed: str) -> None:
    created = token_of(api.post(f"{indexed}/issues", {"name": "New", "state": "open"}))
    deleted = token_of(api.delete(f"{indexed}/issues/2"))
    page = grid(api, indexed, created, deleted, count=True)
    assert (nums(page), page["total"], page["matched"]) == ([1, 3, 4], 3, 3)
    groups = api.post(f"{indexed}/groups", {"by": ["state"]}, headers={HEADER: f"{created},{deleted}"})
    assert [(one["values"], one["count"]) for one in groups.body["groups"]] == [(["open"], 3)]
    asked = {"fields": [{"field": "3812", "functions": ["count", "max"]}]}
    summary = api.post(f"{indexed}/summary", asked, headers={HEADER: f"{created},{deleted}"})
    assert summary.body["summaries"] == [{"field": "3812", "count": 1, "max": "2023-05-01"}]
    place = api.get(f"{indexed}/issues/4/row-number", headers={HEADER: f"{created},{deleted}"})
    assert place.body == {"row_number": 2, "before": 2, "index": {"lag_ms": None, "pending": 2}}
    parameters = api.get(f"{indexed}/grid", query={"sort": "-num"}, headers={HEADER: f"{created},{deleted}"})
    assert nums(parameters.body) == [4, 3, 1]


def test_two_writes_of_one_issue_are_both_held(api: Client, indexed: str) -> None:
    first = token_of(api.patch(f"{indexed}/issues/1", {"fields": {"3812": "2023-05-03"}}))
    second = token_of(api.patch(f"{indexed}/issues/1", {"state": "closed"}))
    closed = {"field": "state", "op": "eq", "value": "closed"}
    for tokens in ([first], [second], [second, first]):
        assert nums(grid(api, indexed, *tokens, sort=BY_START, filter=closed)) == [1, 2]


def test_a_token_of_an_issue_that_was_deleted_since_shows_it_no_more(api: Client, indexed: str) -> None:
    edited = token_of(api.patch(f"{indexed}/issues/1", {"state": "closed"}))
    assert api.delete(f"{indexed}/issues/1").status == 204
    page = grid(api, indexed, edited, count=True)
    assert (nums(page), page["total"]) == ([2, 3], 2)


def test_a_batch_answers_one_token_for_all_of_it(api: Client, indexed: str) -> None:
    for returning in ("representation", "minimal"):
        answer = api.post(
            f"{indexed}/issues/batch",
            {
                "operations": [
                    {"create": {"name": "New", "fields": {"3812": "2024-01-01"}}},
                    {"update": {"num": 3, "fields": {"3812": "2024-01-02"}}},
                    {"update": {"num": 99, "name": "nobody"}},
                    {"delete": {"num": 2 if returning == "representation" else 4}},
                ],
                "return": returning,
            },
        )
        if returning == "representation":
            page = grid(api, indexed, token_of(answer), sort=BY_START, count=True)
            assert (nums(page), page["total"]) == ([3, 4, 1], 3)
    page = grid(api, indexed, token_of(answer), sort=BY_START, count=True)
    assert (nums(page), page["total"]) == ([3, 5, 1], 4), "the index does not get the first batch"


def test_a_batch_that_wrote_nothing_has_no_token(api: Client, indexed: str) -> None:
    answer = api.batch("35e9", {"update": {"num": 99, "name": "nobody"}})
    assert answer.status == 200
    assert HEADER not in answer.headers


@pytest.mark.parametrize("path", ["", "/batch"])
def test_a_request_that_is_sent_again_answers_the_token_of_the_first(
    api: Client, indexed: str, path: str
) -> None:
    body = {"operations": [{"create": {"name": "New"}}]} if path else {"name": "New"}
    one, other = (
        api.post(f"{indexed}/issues{path}", body, headers={"idempotency-key": "once"}) for _ in range(2)
    )
    assert token_of(one) == token_of(other)
    assert nums(grid(api, indexed, token_of(other))) == [1, 2, 3, 4]


def test_the_tokens_of_another_user_are_good_and_those_of_another_tenant_are_refused(
    account: Cloud, api: Client, indexed: str
) -> None:
    token = token_of(api.patch(f"{indexed}/issues/1", {"fields": {"3812": "2023-05-03"}}))
    assert nums(grid(api.acting(user="bob", role="viewer"), indexed, token, sort=BY_START)) == [1, 2, 3]
    other = account.api(tenant="0808")
    other.made("/v1/projects", {"id": "35e9", "name": "The same id"})
    refused = asking(other, indexed, token)
    assert (refused.kind, set(refused.errors)) == ((400, "invalid-request"), {"X-Consistency-Token"})


def test_a_token_of_another_project_says_nothing_of_this_one(api: Client, indexed: str) -> None:
    api.made("/v1/projects", {"id": "tay", "name": "Tay"})
    other = token_of(api.post("/v1/projects/tay/issues", {"name": "Of the other"}))
    assert nums(grid(api, indexed, other, count=True)) == [1, 2, 3]


@pytest.mark.parametrize(
    "spoil", [lambda one: one[:-1], lambda one: one + "A", lambda one: f"{one},", str.swapcase]
)
def test_a_token_that_was_changed_is_refused(api: Client, indexed: str, spoil: Any) -> None:
    token = token_of(api.patch(f"{indexed}/issues/1", {"state": "closed"}))
    for path, body in (("grid", {}), ("groups", {"by": ["state"]})):
        refused = api.post(f"{indexed}/{path}", body, headers={HEADER: spoil(token)})
        assert (refused.kind, set(refused.errors)) == ((400, "invalid-request"), {"X-Consistency-Token"})


def test_an_expired_token_is_no_error_and_of_no_effect(
    api: Client, indexed: str, moving_time: list[float]
) -> None:
    token = token_of(api.patch(f"{indexed}/issues/1", {"fields": {"3812": "2023-05-03"}}))
    moving_time[0] = SECONDS - 2
    assert nums(grid(api, indexed, token, sort=BY_START)) == [1, 2, 3]
    moving_time[0] = SECONDS + 2
    assert nums(grid(api, indexed, token, sort=BY_START)) == [2, 3]


def test_tokens_name_five_hundred_issues_in_all(api: Client, indexed: str) -> None:
    several = [{"create": {"name": str(one)}} for one in range(MAX_ISSUES)]
    all_of_them = token_of(api.batch("35e9", *several))
    again = token_of(api.patch(f"{indexed}/issues/4", {"name": "one of them"}))
    one_more = token_of(api.patch(f"{indexed}/issues/1", {"name": "another"}))
    assert len(all_of_them) < 2_000
    assert grid(api, indexed, all_of_them, again, count=True, limit=1)["total"] == 3 + MAX_ISSUES
    refused = asking(api, indexed, all_of_them, one_more)
    assert (refused.kind, set(refused.errors)) == ((400, "invalid-request"), {"X-Consistency-Token"})


def test_a_deleted_project_is_not_found_with_a_token_either(api: Client, indexed: str) -> None:
    token = token_of(api.patch(f"{indexed}/issues/1", {"state": "closed"}))
    assert api.delete(indexed).status == 204
    assert asking(api, indexed, token).status == 404


def test_pages_after_a_cursor_include_the_writes_of_the_first_one(api: Client, indexed: str) -> None:
    """Otherwise the row that moved to the front would be shown again if the index still has it."""
    token = token_of(api.patch(f"{indexed}/issues/1", {"fields": {"3812": "2023-05-03"}}))
    shown = []
    page = grid(api, indexed, token, sort=BY_START, limit=1)
    while True:
        shown += nums(page)
        if page["next"] is None:
            break
        page = grid(api, indexed, sort=BY_START, limit=1, cursor=page["next"])
    assert shown == [1, 2, 3]
    backwards = []
    while page["prev"] is not None:
        page = grid(api, indexed, sort=BY_START, limit=1, cursor=page["prev"])
        backwards += nums(page)
    assert backwards == [2, 1]


def test_pages_of_groups_hold_what_the_first_one_held(api: Client, indexed: str) -> None:
    token = token_of(api.patch(f"{indexed}/issues/3", {"name": "A new name"}))
    first = api.post(f"{indexed}/groups", {"by": ["name"], "limit": 2}, headers={HEADER: token}).body
    second = api.post(f"{indexed}/groups", {"by": ["name"], "limit": 2, "cursor": first["next"]}).body
    values = [one["values"][0] for one in (*first["groups"], *second["groups"])]
    assert values == ["A new name", "Check for rust", "Needs Painting"]


def test_an_issue_from_which_nothing_can_be_derived_stays_where_the_index_has_it(
    account: Cloud, api: Client, indexed: str
) -> None:
    token = token_of(api.patch(f"{indexed}/issues/1", {"fields": {"3fe6": 7}}))
    (key,) = [one for one in account.table.items if one[0].endswith("00000001") and "project" in one[1]]
    document = account.table.get(*key)
    assert document is not None
    account.table.put({**document, "fields": {**document["fields"], "a1": 42}})
    page = grid(api, indexed, token, count=True)
    assert (page["total"], page["matched"]) == (3, 3)


# Tokens of reads


def test_an_issue_that_was_read_is_in_what_is_read_with_its_token(
    api: Client, indexed: str, moving_time: list[float]
) -> None:
    api.patch(f"{indexed}/issues/1", {"fields": {"3812": "2023-05-03"}})
    seen = token_of(api.acting(user="bob", role="viewer").get(f"{indexed}/issues/1"))
    assert nums(grid(api, indexed, sort=BY_START)) == [2, 3]
    assert nums(grid(api, indexed, seen, sort=BY_START)) == [1, 2, 3]
    moving_time[0] = SECONDS + 2
    assert HEADER not in api.get(f"{indexed}/issues/1").headers, "the index has it, or says how late it is"
    assert HEADER not in asking(api, indexed).headers


def groups_of(api: Client, path: str, *tokens: str) -> dict[str, int]:
    headers = {HEADER: ",".join(tokens)} if tokens else {}
    answer = api.post(f"{path}/groups", {"by": ["state"]}, headers=headers)
    return {one["values"][0]: one["count"] for one in answer.body["groups"]}


def test_rows_ahead_of_the_index_are_counted_with_the_token_of_their_page(api: Client, indexed: str) -> None:
    api.patch(f"{indexed}/issues/1", {"state": "closed"})
    assert groups_of(api, indexed) == {"open": 2, "closed": 1}
    page = asking(api, indexed, columns=["state"])
    assert [row["state"] for row in page.body["rows"]] == ["closed", "closed", "open"]
    assert groups_of(api, indexed, token_of(page)) == {"open": 1, "closed": 2}
    place = api.get(f"{indexed}/issues/1/row-number")
    assert groups_of(api, indexed, token_of(place)) == {"open": 1, "closed": 2}


def test_a_page_names_the_rows_that_it_shows_and_no_others(account: Cloud, api: Client, indexed: str) -> None:
    for num in (1, 2, 3):
        api.patch(f"{indexed}/issues/{num}", {"name": "renamed"})
    page = asking(api, indexed, sort=[{"field": "num", "direction": "desc"}], limit=2)
    assert seen_in(account, page) == {3: 2, 2: 2}
    contains = {"field": "name", "op": "contains", "value": "named"}
    summary = {"fields": [{"field": "name", "functions": ["distinct"]}], "filter": contains}
    figures = api.post(f"{indexed}/summary", summary)
    assert seen_in(account, figures) == {1: 2, 2: 2, 3: 2}


def seen_in(account: Cloud, answer: Answer) -> dict[int, int]:
    (seen,) = account.modules["query"].cursor_source.tokens().opened(token_of(answer), "0807")
    assert seen.number is not None
    return dict(seen.versions)


def test_an_answer_names_again_what_a_token_had_it_hold_as_long_as_the_index_lacks_it(
    account: Cloud, api: Client, indexed: str
) -> None:
    written = [
        token_of(api.patch(f"{indexed}/issues/1", {"state": "closed"})),
        token_of(api.delete(f"{indexed}/issues/2")),
    ]
    answer = api.post(f"{indexed}/groups", {"by": ["state"]}, headers={HEADER: ",".join(written)})
    assert seen_in(account, answer) == {1: 2, 2: 0}
    assert groups_of(api, indexed, token_of(answer)) == {"open": 1, "closed": 1}


def test_a_deleted_issue_that_the_index_still_has_is_named_too(
    account: Cloud, api: Client, indexed: str
) -> None:
    api.delete(f"{indexed}/issues/1")
    page = asking(api, indexed, sort=BY_START)
    assert nums(page.body) == [2, 3]
    assert seen_in(account, page)[1] == 0
    assert groups_of(api, indexed, token_of(page)) == {"open": 1, "closed": 1}


def test_lists_of_changes_and_of_deleted_issues_name_what_they_show(
    account: Cloud, api: Client, indexed: str, moving_time: list[float]
) -> None:
    account.follow()
    api.patch(f"{indexed}/issues/1", {"state": "closed"})
    api.delete(f"{indexed}/issues/2")
    account.follow()
    lists = {"issues/1/history": {1: 2}, "activity": {1: 2, 2: 0, 3: 1}, "trash": {2: 0}}
    for path, seen in lists.items():
        assert seen_in(account, api.get(f"{indexed}/{path}")) == seen
    moving_time[0] = SECONDS + 2
    for path in lists:
        assert HEADER not in api.get(f"{indexed}/{path}").headers


def test_without_the_secret_an_answer_has_no_token(
    account: Cloud, api: Client, indexed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable() -> None:
        raise aws.FAILURES[0]({}, "GetSecretValue")

    monkeypatch.setattr(account.modules["query"].cursor_source, "tokens", unreachable)
    answer = api.get(f"{indexed}/issues/1")
    assert (answer.status, HEADER in answer.headers) == (200, False)


def test_an_answer_with_a_token_costs_no_more(api: Client, indexed: str) -> None:
    grid(api, indexed)
    before = grid(api, indexed, explain=True)["explain"]
    api.patch(f"{indexed}/issues/1", {"state": "closed"})
    answer = asking(api, indexed, explain=True)
    assert HEADER in answer.headers
    explained = answer.body["explain"]
    assert (explained["read_units"], explained["sequential_calls"]) == (
        before["read_units"],
        before["sequential_calls"],
    )


def test_explain_includes_the_cost_of_a_token(api: Client, indexed: str) -> None:
    token = token_of(api.patch(f"{indexed}/issues/1", {"state": "closed"}))
    grid(api, indexed)  # which reads the definitions
    without = grid(api, indexed, explain=True)["explain"]
    explained = grid(api, indexed, token, explain=True)["explain"]
    assert explained["sequential_calls"] == without["sequential_calls"], "beside the first round"
    assert explained["read_units"] == without["read_units"] + 2
    assert any("tokens name" in one for one in explained["plan"])
