"""`changes_cursor` of a grid, groups or a summary: it counts exactly the changes before it, so a follower reaches the present
state.
"""

from collections.abc import Callable
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from gridview.encoding import consistency
from gridview.encoding.consistency import CONSISTENCY_TOKEN
from gridview.encoding.json_codec import dumps
from gridview.journal.gaps import MISSING_SECONDS
from gridview.journal.items import Listing
from gridview.journal.log import Log
from gridview.query import counted
from gridview.support import clock
from gridview.view.block_cache import BlockCache
from tests.support.cloud import Cloud
from tests.support.depth import one_of
from tests.support.http import Answer, Client
from tests.support.stream import Stream

PATH = "/v1/projects/plain"
OPEN = {"field": "state", "op": "eq", "value": "open"}
DEAR = {"field": "cost", "op": "gte", "value": 3}
KIND = {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b"]}
COST = {"id": "cost", "name": "Cost", "type": "number", "indexed": False}
ALL = {"sort": [{"field": "num"}]}
HEADER = CONSISTENCY_TOKEN.lower()

Query = dict[str, Any]


@pytest.fixture
def stream(account: Cloud) -> Stream:
    return Stream(account)


@pytest.fixture
def live(account: Cloud, project: str, api: Client, stream: Stream) -> str:
    """A project with three issues."""
    for attribute in (KIND, COST):
        api.made(f"{project}/attributes", attribute)
    for name in ("one", "two", "three"):
        create(api, name)
    stream.deliver()
    return project


def create(api: Client, name: str, state: str = "open", **fields: Any) -> Answer:
    answer = api.post(f"{PATH}/issues", {"name": name, "state": state, "fields": fields})
    assert answer.status == 201, answer.text
    return answer


def patch(api: Client, num: int, **body: Any) -> Answer:
    answer = api.patch(f"{PATH}/issues/{num}", body)
    assert answer.status == 200, answer.text
    return answer


def delete(api: Client, num: int) -> Answer:
    answer = api.delete(f"{PATH}/issues/{num}", headers={"if-match": api.get(f"{PATH}/issues/{num}").etag})
    assert answer.status == 204, answer.text
    return answer


def token(answer: Answer) -> str:
    found: str = {name.lower(): value for name, value in answer.headers.items()}[HEADER]
    return found


def grid(api: Client, query: Query | None = None, *writes: Answer) -> dict[str, Any]:
    headers = {HEADER: ",".join(map(token, writes))} if writes else {}
    asked = {"count": True, "keys": True, "limit": 500, **(query or {})}
    answer = api.post(f"{PATH}/grid", asked, headers=headers)
    assert answer.status == 200, answer.text
    found: dict[str, Any] = answer.body
    return found


class Follower:
    """A client that has read a grid and continues by its cursor: the keys of its rows, and their number."""

    def __init__(self, api: Client, query: Query, *writes: Answer) -> None:
        self._api = api
        self._query = query
        self._read(*writes)

    def _read(self, *writes: Answer) -> None:
        page = grid(self._api, self._query, *writes)
        self.cursor: str | None = page["changes_cursor"]
        self.keys = {row["num"]: row["key"] for row in page["rows"]}
        self.matched: int = page["matched"]

    def poll(self) -> list[str]:
        """Ask until no change comes, and apply the changes."""
        received: list[str] = []
        asked = {name: dumps(value).decode() for name, value in self._query.items()}
        while self.cursor is not None:
            answer = self._api.get(f"{PATH}/changes", query={**asked, "since": self.cursor})
            assert answer.status == 200, answer.text
            self.cursor = answer.body["next"]
            for event in answer.body["items"]:
                received.append(event.get("id", "reset"))
                if event["kind"] == "reset":
                    self._read()
                    return received
                self._apply(event)
            if not answer.body["items"]:
                break
        return received

    def _apply(self, event: dict[str, Any]) -> None:
        self.matched += {"enter": 1, "leave": -1}.get(event["move"], 0)
        self.keys.pop(event["num"], None)
        if event["key"] is not None:
            self.keys[event["num"]] = event["key"]

    def assert_like(self, page: dict[str, Any]) -> None:
        assert sorted(self.keys, key=lambda num: self.keys[num]) == [row["num"] for row in page["rows"]]
        assert self.matched == page["matched"]

    def assert_like_unless_reset(self, page: dict[str, Any]) -> None:
        """Compare with a page, unless a reset came: a client that had to read again may have got no cursor."""
        if self.cursor is not None:
            self.assert_like(page)


def test_processed_changes_are_not_delivered_again_and_later_ones_are(
    api: Client, live: str, stream: Stream
) -> None:
    rows = Follower(api, {"filter": OPEN})
    assert rows.poll() == []
    create(api, "four")
    patch(api, 1, state="closed")
    stream.deliver()
    assert sorted(rows.poll()) == ["1.2", "4.1"]
    rows.assert_like(grid(api, {"filter": OPEN}))


@pytest.mark.parametrize("query", [ALL, {"filter": OPEN}, {"filter": DEAR}], ids=str)
def test_the_writes_of_a_token_are_counted_and_not_delivered_again(
    api: Client, live: str, stream: Stream, query: Query
) -> None:
    writes = [
        create(api, "four", cost=4),
        patch(api, 1, state="closed", fields={"cost": 5}),
        delete(api, 2),
    ]
    stream.look()
    rows = Follower(api, query, *writes)
    assert rows.cursor is not None
    rows.assert_like(grid(api, query, *writes))
    patch(api, 1, state="open")
    stream.deliver()
    assert rows.poll() == ["1.3"]
    rows.assert_like(grid(api, query))


def test_versions_ahead_are_remembered_from_answer_to_answer(api: Client, live: str, stream: Stream) -> None:
    first, second = patch(api, 1, name="first"), patch(api, 2, name="second")
    stream.look()
    rows = Follower(api, ALL, first, second)
    patch(api, 3, name="third")
    stream.look()
    received = []
    for _ in range(3):
        stream.deliver(1)
        received += rows.poll()
    assert received == ["3.2"]


def test_a_new_issue_that_the_index_lacks_is_counted_and_not_delivered_again(
    api: Client, live: str, stream: Stream
) -> None:
    create(api, "four")
    stream.look()
    rows = Follower(api, {"filter": OPEN})
    assert (rows.matched, len(rows.keys)) == (4, 4)
    assert rows.cursor is not None
    stream.deliver()
    assert rows.poll() == []
    rows.assert_like(grid(api, {"filter": OPEN}))


def test_a_change_after_a_missing_number_is_counted_and_not_delivered_again(
    account: Cloud, api: Client, live: str, stream: Stream, later: Callable[[float], None]
) -> None:
    Log(account.table, "0807", "plain").reserve(1)
    patch(api, 1, state="closed")
    stream.deliver()
    rows = Follower(api, {"filter": OPEN})
    assert rows.matched == 2
    assert rows.poll() == []
    later(MISSING_SECONDS + 1)
    patch(api, 2, state="closed")
    stream.deliver()
    for _ in range(3):  # the first one empties the number, if no consumer has
        rows.poll()
    rows.assert_like(grid(api, {"filter": OPEN}))
    assert rows.matched == 1


def test_documents_ahead_of_the_journal_give_no_cursor_without_a_token(
    api: Client, live: str, stream: Stream
) -> None:
    assert grid(api, {"filter": DEAR})["changes_cursor"] is not None
    written = patch(api, 1, fields={"cost": 7})
    stream.look()
    page = grid(api, {"filter": DEAR})
    assert (page["matched"], page["changes_cursor"]) == (1, None)
    assert grid(api, {"filter": DEAR, "count": False})["changes_cursor"] is not None  # nothing is counted
    rows = Follower(api, {"filter": DEAR}, written)
    assert rows.cursor is not None
    stream.deliver()
    assert rows.poll() == []
    assert grid(api, {"filter": DEAR})["changes_cursor"] is not None


def test_a_deleted_document_that_the_index_still_has_decides_too(
    api: Client, live: str, stream: Stream
) -> None:
    patch(api, 1, fields={"cost": 7})
    stream.deliver()
    assert grid(api, {"filter": DEAR})["changes_cursor"] is not None
    delete(api, 1)
    stream.look()
    page = grid(api, {"filter": DEAR})
    assert (page["matched"], page["changes_cursor"]) == (0, None)


def test_groups_and_summaries_have_such_a_cursor_too(api: Client, live: str, stream: Stream) -> None:
    asked = {
        "groups": {"by": ["state"]},
        "summary": {"fields": [{"field": "kind", "functions": ["count"]}], "filter": OPEN},
    }
    for call, body in asked.items():
        cursor = api.post(f"{PATH}/{call}", body).body["changes_cursor"]
        assert api.get(f"{PATH}/changes", query={"since": cursor}).body["items"] == []
    figures = {"fields": [{"field": "cost", "functions": ["sum"]}]}
    patch(api, 1, fields={"cost": 7})
    stream.look()
    assert api.post(f"{PATH}/summary", figures).body["changes_cursor"] is None
    stream.deliver()
    assert api.post(f"{PATH}/summary", figures).body["changes_cursor"] is not None


def test_answers_that_count_the_same_have_the_same_cursor_for_a_minute(
    api: Client, live: str, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = [60.0 - clock.seconds() % 60]
    monkeypatch.setattr(clock, "seconds", lambda now=clock.seconds: now() + passed[0])

    def cursors(*writes: Answer) -> set[str | None]:
        headers = {HEADER: ",".join(map(token, writes))} if writes else {}
        asked = {"fields": [{"field": "kind", "functions": ["count"]}]}
        answers = [
            grid(api, {}, *writes),
            grid(api, {"filter": OPEN, "count": False}, *writes),
            api.post(f"{PATH}/groups", {"by": ["kind"]}, headers=headers).body,
            api.post(f"{PATH}/summary", asked, headers=headers).body,
        ]
        passed[0] += 2
        return {answer["changes_cursor"] for answer in answers}

    (before,) = cursors()
    written = patch(api, 1, fields={"kind": "a"}, name="new")
    (ahead,) = cursors(written)
    stream.deliver()
    (after,) = cursors()
    assert None not in {before, ahead, after}
    assert len({before, ahead, after}) == 3
    passed[0] += 60
    (later,) = cursors()
    assert later not in {before, ahead, after}
    assert api.get(f"{PATH}/changes", query={"since": later}).body["items"] == []


def test_too_many_versions_ahead_are_not_named(
    api: Client, live: str, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counted, "MAX_AHEAD", 1)
    writes = [patch(api, num, name="new") for num in (1, 2)]
    assert grid(api, {}, writes[0])["changes_cursor"] is not None
    assert grid(api, {}, *writes)["changes_cursor"] is None


def test_other_definitions_are_a_reset_followed_by_all_changes(
    api: Client, live: str, stream: Stream
) -> None:
    written = patch(api, 1, state="closed")
    stream.look()
    cursor = grid(api, {}, written)["changes_cursor"]
    api.made(f"{PATH}/attributes", {"id": "more", "name": "More", "type": "text"})
    answer = api.get(f"{PATH}/changes", query={"since": cursor}).body
    assert answer["items"] == [{"kind": "reset"}]
    stream.deliver()
    events = api.get(f"{PATH}/changes", query={"since": answer["next"]}).body["items"]
    assert [event["id"] for event in events] == ["1.2"]


def test_a_cursor_is_valid_only_for_its_tenant_and_project(api: Client, live: str) -> None:
    cursor = grid(api)["changes_cursor"]
    api.made("/v1/projects", {"id": "other", "name": "Other"})
    answer = api.get("/v1/projects/other/changes", query={"since": cursor})
    assert answer.kind == (400, "invalid-request")
    stranger = api.acting(tenant="0999")
    stranger.made("/v1/projects", {"id": "plain", "name": "Plain"})
    assert stranger.post(f"{PATH}/grid", {"cursor": cursor}).kind == (400, "invalid-request")
    assert stranger.get(f"{PATH}/changes", query={"since": cursor}).kind == (400, "invalid-request")


# Cursors instead of tokens


def holding(api: Client, *texts: str, **query: Any) -> Answer:
    asked = {"count": True, "limit": 500, **query}
    return api.post(f"{PATH}/grid", asked, headers={HEADER: ",".join(texts)})


def test_a_cursor_holds_what_precedes_it_however_long_ago_that_was(
    account: Cloud, api: Client, live: str, stream: Stream, later: Callable[[float], None]
) -> None:
    writes = [patch(api, 1, state="closed"), delete(api, 2)]
    stream.look()
    cursors = [
        grid(api, {"filter": OPEN}, *writes)["changes_cursor"],
        api.post(f"{PATH}/groups", {"by": ["state"]}, headers={HEADER: ",".join(map(token, writes))}).body[
            "changes_cursor"
        ],
    ]
    later(3_600)
    account.forget()
    assert grid(api, {"filter": OPEN})["matched"] == 3, "the index knows of nothing"
    for cursor in cursors:
        page = holding(api, cursor, filter=OPEN).body
        assert (page["matched"], page["total"], [row["num"] for row in page["rows"]]) == (1, 2, [3])


def test_a_grid_that_names_the_cursor_of_a_feed_includes_its_changes(
    account: Cloud, api: Client, live: str, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    cursor = api.get(f"{PATH}/changes").body["next"]
    grid(api)  # the container knows the journal up to here
    patch(api, 1, state="closed")
    stream.deliver()
    changes = api.get(f"{PATH}/changes", query={"since": cursor}).body
    assert [event["id"] for event in changes["items"]] == ["1.2"]
    late_copies(monkeypatch)
    assert grid(api, {"filter": OPEN})["matched"] == 3
    answer = holding(api, changes["next"], filter=OPEN)
    assert answer.body["matched"] == 2
    assert answer.body["changes_cursor"] is not None


def late_copies(monkeypatch: pytest.MonkeyPatch, *, for_ever: bool = False) -> None:
    """Copies of the journal return nothing new; with `for_ever`, the journal itself does not."""
    after = Log.after

    def late(self: Log, number: int, *, consistent: bool = True, rows: int | None = None) -> Listing:
        if for_ever or not consistent:
            return Listing()
        return after(self, number, consistent=consistent, rows=rows)

    monkeypatch.setattr(Log, "after", late)


def test_the_token_of_a_read_holds_as_much_of_the_journal_as_the_answer_did(
    account: Cloud,
    api: Client,
    live: str,
    stream: Stream,
    monkeypatch: pytest.MonkeyPatch,
    later: Callable[[float], None],
) -> None:
    grid(api)
    query = account.modules["query"]
    one, other = query.cache, BlockCache()
    patch(api, 1, state="closed")
    stream.deliver()
    monkeypatch.setattr(query, "cache", other)
    answer = api.post(f"{PATH}/groups", {"by": ["state"]})
    (seen,) = query.cursor_source.tokens().opened(token(answer), "0807")
    assert (dict(seen.versions), seen.number) == ({}, 2)
    monkeypatch.setattr(query, "cache", one)
    late_copies(monkeypatch)
    assert grid(api, {"filter": OPEN})["matched"] == 3
    assert holding(api, token(answer), filter=OPEN).body["matched"] == 2
    later(90)
    assert HEADER not in {name.lower() for name in api.post(f"{PATH}/groups", {"by": ["state"]}).headers}


def test_a_journal_that_lags_the_cursor_is_an_overload(
    api: Client, live: str, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid(api)
    patch(api, 1, state="closed")
    stream.deliver()
    cursor = api.get(f"{PATH}/changes").body["next"]
    late_copies(monkeypatch, for_ever=True)
    answer = holding(api, cursor)
    assert answer.kind == (503, "overloaded")
    assert answer.headers["retry-after"] == "1"


def test_a_cursor_that_a_container_has_come_by_costs_nothing(api: Client, live: str) -> None:
    cursor = grid(api)["changes_cursor"]
    without = grid(api, {"explain": True})["explain"]
    explained = holding(api, cursor, explain=True, keys=True).body["explain"]
    assert (explained["read_units"], explained["sequential_calls"]) == (
        without["read_units"],
        without["sequential_calls"],
    )


def test_pages_after_one_with_a_cursor_include_its_changes_too(
    api: Client, live: str, stream: Stream
) -> None:
    written = patch(api, 3, name="a new name")
    stream.look()
    cursor = grid(api, {}, written)["changes_cursor"]
    by_name = {"sort": [{"field": "name"}], "limit": 1}
    page = holding(api, cursor, **by_name).body
    shown = [row["num"] for row in page["rows"]]
    while page["next"] is not None:
        page = api.post(f"{PATH}/grid", {**by_name, "cursor": page["next"]}).body
        shown += [row["num"] for row in page["rows"]]
    assert shown == [3, 1, 2]


def test_cursors_and_tokens_go_together_and_name_five_hundred_issues_in_all(
    api: Client, live: str, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = patch(api, 1, state="closed"), patch(api, 2, state="closed")
    stream.look()
    cursor = grid(api, {}, first)["changes_cursor"]
    assert cursor is not None
    assert holding(api, cursor, f" {token(second)}", filter=OPEN).body["matched"] == 1
    monkeypatch.setattr(consistency, "MAX_ISSUES", 1)
    refused = holding(api, cursor, token(second))
    assert (refused.kind, set(refused.errors)) == ((400, "invalid-request"), {CONSISTENCY_TOKEN})


def test_a_cursor_of_another_project_or_tenant_is_refused(api: Client, live: str) -> None:
    cursor = grid(api)["changes_cursor"]
    api.made("/v1/projects", {"id": "other", "name": "Other"})
    stranger = api.acting(tenant="0999")
    stranger.made("/v1/projects", {"id": "plain", "name": "Plain"})
    for client, path in ((api, "/v1/projects/other"), (stranger, PATH)):
        for call, body in (
            ("grid", {}),
            ("groups", {"by": ["state"]}),
            ("issues/delete-matching", {"filter": None}),
        ):
            refused = client.post(f"{path}/{call}", body, headers={HEADER: cursor})
            assert (refused.kind, set(refused.errors)) == ((400, "invalid-request"), {CONSISTENCY_TOKEN})


def test_a_cursor_that_has_expired_is_no_error_and_of_no_effect(
    api: Client, live: str, stream: Stream, later: Callable[[float], None]
) -> None:
    written = patch(api, 1, state="closed")
    stream.look()
    cursor = grid(api, {}, written)["changes_cursor"]
    later(8 * 86_400)
    assert holding(api, cursor, filter=OPEN).body["matched"] == 3


def test_a_job_accepts_a_cursor_as_a_token(api: Client, live: str, stream: Stream) -> None:
    written = patch(api, 1, state="closed")
    stream.look()
    cursor = grid(api, {}, written)["changes_cursor"]
    body = {"filter": OPEN, "set": {"name": "new"}}
    assert api.post(f"{PATH}/issues/update-matching", body, headers={HEADER: cursor}).status == 202
    assert api.post(f"{PATH}/undo", {"change": str(uuid4())}, headers={HEADER: cursor}).status in {404, 409}


QUERIES: tuple[Query, ...] = (
    ALL,
    {"filter": OPEN, "sort": [{"field": "kind", "direction": "desc"}, {"field": "name"}]},
    {
        "filter": {"field": "kind", "op": "in", "value": ["a"]},
        "sort": [{"field": "updated", "direction": "desc"}],
    },
    {"filter": DEAR, "sort": [{"field": "kind"}]},
)


@pytest.mark.parametrize("seed", range(one_of(3, thorough=40)))
def test_a_grid_and_the_changes_after_it_add_up_to_a_later_grid(
    api: Client, live: str, stream: Stream, account: Cloud, seed: int
) -> None:
    """With any lag of the consumer, whether the grid names the written fields or not."""
    random = Random(seed)  # noqa: S311
    alive, writes = [1, 2, 3], [create(api, "first")]
    alive.append(writes[0].body["num"])
    followers: list[tuple[Query, Follower]] = []
    for _ in range(30):
        what = random.choice(("create", "edit", "edit", "edit", "delete", "read", "read", "poll", "fold"))
        if what == "create":
            writes.append(create(api, random.choice("abc"), random.choice(("open", "closed")), kind="a"))
            alive.append(writes[-1].body["num"])
        elif what == "edit" and alive:
            fields = {"kind": random.choice(("a", "b", None)), "cost": random.choice((1, 5, None))}
            state = random.choice(("open", "closed"))
            writes.append(patch(api, random.choice(alive), state=state, fields=fields))
        elif what == "delete" and len(alive) > 1:
            writes.append(delete(api, alive.pop(random.randrange(len(alive)))))
        elif what == "read":
            query = random.choice(QUERIES)
            named = [one for one in writes if HEADER in {name.lower() for name in one.headers}]
            found = Follower(api, query, *(named[-5:] if random.random() < 0.5 else ()))
            followers += [(query, found)] if found.cursor is not None else []
        elif what == "poll" and followers:
            random.choice(followers)[1].poll()
        elif what == "fold":
            account.upkeep()
        stream.look()
        if random.random() < 0.4:
            stream.deliver(random.randint(1, 4))
    stream.deliver()
    assert followers
    for query, rows in followers:
        rows.poll()
        rows.assert_like_unless_reset(grid(api, query))
