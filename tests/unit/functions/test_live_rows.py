"""GET .../changes of some rows: the events are exactly the difference between the grid before and after."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from gridview.encoding import derived_keys, keys
from gridview.encoding.json_codec import dumps
from tests.support.cloud import Cloud
from tests.support.depth import one_of
from tests.support.http import Answer, Client
from tests.support.stream import Stream

ATTRIBUTES = (
    {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b", "c"]},
    {"id": "start", "name": "Start", "type": "date"},
    {"id": "tags", "name": "Tags", "type": "multi_enum", "options": ["x", "y", "z"]},
    {"id": "cost", "name": "Cost", "type": "number", "indexed": False},
    {"id": "double", "name": "Double", "type": "number", "formula": "{cost} * 2 + COUNT({tags})"},
    {"id": "label", "name": "Label", "type": "text", "formula": "IF({double} > 5, {name}, TEXT({start}))"},
    {"id": "hour", "name": "Hour", "type": "datetime", "formula": 'DATEADD({updated}, 1, "hour")'},
)
PATH = "/v1/projects/plain"
OPEN = {"field": "state", "op": "eq", "value": "open"}

Query = dict[str, Any]


@pytest.fixture
def stream(account: Cloud) -> Stream:
    return Stream(account)


@pytest.fixture
def live(account: Cloud, project: str, api: Client) -> str:
    for attribute in ATTRIBUTES:
        api.made(f"{project}/attributes", attribute)
    for _ in range(4):  # the indexes of the formulas
        account.upkeep()
    return project


def asked(api: Client, query: Query, **more: str) -> Answer:
    """The changes of the rows of a grid query, or of a view."""
    given = {name: value if name == "view" else dumps(value).decode() for name, value in query.items()}
    return api.get(f"{PATH}/changes", query={**given, **more})


class Rows:
    """The rows of a client: read once, and updated by events."""

    def __init__(self, api: Client, query: Query) -> None:
        self.api = api
        self.query = query
        self.keys: dict[int, str] = {}
        self.resets = 0
        self.cursor: str = asked(api, query).body["next"]

    def poll(self) -> list[dict[str, Any]]:
        """Ask until no event comes, and apply the events. Each fits the former rows."""
        received: list[dict[str, Any]] = []
        while True:
            answer = asked(self.api, self.query, since=self.cursor)
            assert answer.status == 200, answer.text
            self.cursor = answer.body["next"]
            for event in answer.body["items"]:
                self._apply(event)
            received += answer.body["items"]
            if not answer.body["items"]:
                return received

    def _apply(self, event: dict[str, Any]) -> None:
        if event["kind"] == "reset":
            self.resets += 1
            return
        num = event["num"]
        assert event["previous_key"] == self.keys.get(num), event
        assert (
            event["move"]
            == {
                (True, False): "enter",
                (False, True): "leave",
                (False, False): "update",
            }[event["previous_key"] is None, event["key"] is None]
        )
        if event["key"] is None:
            del self.keys[num]
        else:
            self.keys[num] = event["key"]

    @property
    def shown(self) -> list[int]:
        """The issues in the order of their keys."""
        return sorted(self.keys, key=lambda num: self.keys[num])


def grid(api: Client, query: Query) -> list[int]:
    """The same according to the index."""
    answer = api.post(f"{PATH}/grid", {**query, "limit": 500})
    assert answer.status == 200, answer.text
    return [row["num"] for row in answer.body["rows"]]


def create(api: Client, name: str, state: str = "open", **fields: Any) -> int:
    num: int = api.made(f"{PATH}/issues", {"name": name, "state": state, "fields": fields})["num"]
    return num


def patch(api: Client, num: int, **body: Any) -> None:
    answer = api.patch(f"{PATH}/issues/{num}", body)
    assert answer.status == 200, answer.text


def delete(api: Client, num: int) -> None:
    answer = api.delete(f"{PATH}/issues/{num}", headers={"if-match": api.get(f"{PATH}/issues/{num}").etag})
    assert answer.status == 204, answer.text


def test_rows_enter_change_and_leave(api: Client, live: str, stream: Stream) -> None:
    rows = Rows(api, {"filter": OPEN, "sort": [{"field": "kind", "direction": "desc"}]})
    one, two = create(api, "one", kind="a"), create(api, "two", kind="c")
    hidden = create(api, "hidden", "closed", kind="b")
    stream.deliver()
    assert [(event["num"], event["move"]) for event in rows.poll()] == [(one, "enter"), (two, "enter")]
    assert rows.shown == [two, one]
    patch(api, one, name="renamed")
    stream.deliver()
    (event,) = rows.poll()
    assert (event["move"], event["key"], event["fields"]) == (
        "update",
        event["previous_key"],
        {"name": {"old": "one", "new": "renamed"}},
    )
    patch(api, one, fields={"kind": None})
    patch(api, two, state="closed")
    patch(api, hidden, name="still hidden")
    stream.deliver()
    assert [(event["num"], event["move"]) for event in rows.poll()] == [(one, "update"), (two, "leave")]
    patch(api, hidden, state="open")
    delete(api, one)
    stream.deliver()
    rows.poll()
    assert rows.shown == [hidden]


def test_changes_of_other_rows_deliver_nothing(api: Client, live: str, stream: Stream) -> None:
    rows = Rows(api, {"filter": {"field": "name", "op": "starts_with", "value": "Z"}})
    for at in range(150):
        num = create(api, f"n{at}")
    stream.look()
    patch(api, num, name="z")
    stream.deliver()
    assert [event["num"] for event in rows.poll()] == [num]


QUERIES: tuple[Query, ...] = (
    {"sort": [{"field": "num"}]},
    {"filter": OPEN},
    {"filter": OPEN, "sort": [{"field": "kind", "direction": "desc", "nulls": "first"}, {"field": "start"}]},
    {"filter": {"not": {"field": "kind", "op": "in", "value": ["a", "b"]}}, "sort": [{"field": "name"}]},
    {"filter": {"field": "tags", "op": "has_any", "value": ["x"]}, "sort": [{"field": "tags"}]},
    {
        "filter": {"field": "cost", "op": "gte", "value": 3},
        "sort": [{"field": "updated", "direction": "desc"}],
    },
    {"filter": {"or": [{"field": "start", "op": "is_empty"}, OPEN]}, "sort": [{"field": "created"}]},
    {"filter": {"field": "num", "op": "lte", "value": 5}, "sort": [{"field": "start", "direction": "desc"}]},
    {"filter": {"field": "updated", "op": "gt", "value": "2026-01-01T00:00:00Z"}},
    {"filter": {"field": "double", "op": "gt", "value": 3}, "sort": [{"field": "label"}]},
    {"filter": {"field": "label", "op": "is_empty"}, "sort": [{"field": "double", "direction": "desc"}]},
    {"sort": [{"field": "hour", "direction": "desc"}]},
)


class People:
    """Users who change the project at random, with a consumer that runs sooner or later."""

    def __init__(self, api: Client, random: Random) -> None:
        self._api = api
        self._random = random
        self._alive: list[int] = []

    def act(self) -> None:
        draw = self._random
        what = draw.choice(("create", "edit", "edit", "edit", "edit", "delete"))
        if what == "create" or not self._alive:
            self._alive.append(
                create(self._api, draw.choice("abc"), draw.choice(("open", "closed")), **self._some())
            )
        elif what == "delete":
            delete(self._api, self._alive.pop(draw.randrange(len(self._alive))))
        else:
            body: dict[str, Any] = {"fields": self._some(nothing=True)}
            if draw.random() < 0.4:
                body["state"] = draw.choice(("open", "closed"))
            if draw.random() < 0.4:
                body["name"] = draw.choice("abc")
            patch(self._api, draw.choice(self._alive), **body)

    def _some(self, *, nothing: bool = False) -> dict[str, Any]:
        values: dict[str, list[Any]] = {
            "kind": ["a", "b", "c"],
            "start": ["2026-01-01", "2026-02-01"],
            "tags": [["x"], ["z", "x"], ["y"]],
            "cost": [1, 3, 5],
        }
        empty: list[Any] = [None] if nothing else []
        names = self._random.sample(sorted(values), self._random.randint(0, 3))
        return {name: self._random.choice([*values[name], *empty]) for name in names}


@pytest.mark.parametrize("seed", range(one_of(3, thorough=40)))
def test_events_are_the_difference_of_two_answers(api: Client, live: str, stream: Stream, seed: int) -> None:
    """With any lag of the consumer, and any lead of the documents over the feed."""
    random = Random(seed)  # noqa: S311
    people = People(api, random)
    followers = [Rows(api, query) for query in QUERIES]
    for _ in range(25):
        people.act()
        stream.look()
        if random.random() < 0.3:
            stream.deliver(random.randint(1, 4))
        if random.random() < 0.3:
            random.choice(followers).poll()
    stream.deliver()
    for rows in followers:
        rows.poll()
        assert rows.shown == grid(api, rows.query), rows.query
        assert rows.resets == 0


def test_a_saved_view_is_followed_by_its_id(api: Client, live: str, stream: Stream) -> None:
    view = api.made(f"{PATH}/views", {"name": "Open", "query": {"filter": OPEN, "sort": [{"field": "kind"}]}})
    rows = Rows(api, {"view": view["id"]})
    create(api, "closed one", "closed")
    one, two = create(api, "one", kind="b"), create(api, "two", kind="a")
    stream.deliver()
    rows.poll()
    assert rows.shown == [two, one]


def test_a_view_that_becomes_another_is_a_reset(api: Client, live: str, stream: Stream) -> None:
    view = api.made(f"{PATH}/views", {"name": "Open", "query": {"filter": OPEN}})
    rows = Rows(api, {"view": view["id"]})
    create(api, "one")
    stream.deliver()
    rows.poll()
    other = {"query": {"filter": {"not": OPEN}}}
    assert api.patch(f"{PATH}/views/{view['id']}", other).status == 200
    answer = asked(api, rows.query, since=rows.cursor)
    assert answer.body["items"] == [{"kind": "reset"}]
    assert asked(api, rows.query, since=answer.body["next"]).body["items"] == []


def test_a_plain_cursor_can_continue_with_any_rows_and_then_only_with_these(
    api: Client, live: str, stream: Stream
) -> None:
    now = asked(api, {}).body["next"]
    create(api, "one")
    stream.deliver()
    found = asked(api, {"filter": OPEN}, since=now).body
    assert [event["move"] for event in found["items"]] == ["enter"]
    assert "move" not in asked(api, {}, since=now).body["items"][0]
    assert asked(api, {}, since=found["next"]).body["items"] == [{"kind": "reset"}]


def test_a_change_that_the_history_lacks_is_waited_for(
    account: Cloud, api: Client, live: str, stream: Stream, later: Callable[[float], None]
) -> None:
    """The document is ahead in a field that decides, and the consumer has not delivered its former value."""
    num = create(api, "one", kind="a")
    stream.deliver()
    rows = Rows(api, {"filter": {"field": "kind", "op": "eq", "value": "a"}})
    rows.keys[num] = "known since it was read"
    patch(api, num, name="two")
    stream.look()
    patch(api, num, fields={"kind": "b"})
    stream.look()
    stream.deliver(1)
    assert rows.poll() == []
    stream.deliver()
    events = asked(api, rows.query, since=rows.cursor).body["items"]
    assert [(event["version"], event["move"]) for event in events] == [(2, "update"), (3, "leave")]
    later(61)  # too late: no further event will come
    account.table.delete(derived_keys.history("0807", "plain", num), derived_keys.history_item(3))
    events = asked(api, rows.query, since=rows.cursor).body["items"]
    assert events == [{"kind": "reset"}]


def test_an_issue_of_which_an_older_version_was_put_back_is_a_reset(
    account: Cloud, api: Client, live: str, stream: Stream
) -> None:
    num = create(api, "one", kind="a")
    stream.deliver()
    rows = Rows(api, {"filter": {"field": "kind", "op": "eq", "value": "a"}})
    older = account.table.get(keys.issue("0807", "plain", num), keys.project("0807", "plain"))
    assert older is not None
    patch(api, num, name="two")
    stream.deliver()
    account.table.put(older)
    assert asked(api, rows.query, since=rows.cursor).body["items"] == [{"kind": "reset"}]


@pytest.mark.parametrize("touches", [True, False])
def test_a_field_that_no_later_version_changed_is_as_the_document_has_it(
    account: Cloud, api: Client, live: str, stream: Stream, touches: bool
) -> None:
    num = create(api, "one", kind="a")
    stream.deliver()
    rows = Rows(api, {"filter": {"field": "kind", "op": "eq", "value": "a"}})
    patch(api, num, name="two")
    stream.look()
    patch(api, num, **({"fields": {"kind": "b"}} if touches else {"fields": {"cost": 1}}))
    stream.look()
    stream.deliver(1)
    events = asked(api, rows.query, since=rows.cursor).body["items"]
    assert [event["move"] for event in events] == ([] if touches else ["update"])


def test_the_deletion_of_a_purged_issue_has_its_values(
    account: Cloud, api: Client, live: str, stream: Stream
) -> None:
    num = create(api, "one", kind="a", cost=4)
    stream.deliver()
    rows = Rows(api, {"filter": OPEN, "sort": [{"field": "kind"}, {"field": "created"}]})
    patch(api, num, name="two")
    stream.look()
    place = keys.issue("0807", "plain", num), keys.project("0807", "plain")
    account.table.delete(*place)
    stream.look()
    stream.deliver()
    events = asked(api, rows.query, since=rows.cursor).body["items"]
    assert events[0]["move"] == "update"


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ({"filter": "{"}, ["filter"]),
        ({"filter": '{"field": "nope", "op": "eq", "value": 1}'}, ["filter.field"]),
        ({"sort": "nope"}, ["sort.0.field"]),
        ({"view": "x"}, ["view"]),
        ({"view": "v1", "sort": "kind"}, ["sort"]),
        ({"view": "v1", "filter": '{"field": "kind", "op": "is_empty"}'}, ["filter"]),
        ({"sort": "nope", "wait": "x"}, ["sort.0.field", "wait"]),
    ],
)
def test_errors_name_their_parameters(
    api: Client, live: str, query: dict[str, str], fields: list[str]
) -> None:
    answer = api.get(f"{PATH}/changes", query=query)
    assert answer.kind == (400, "invalid-request")
    assert sorted(answer.errors) == fields


def test_an_order_without_an_index_is_refused_as_by_the_grid(api: Client, live: str) -> None:
    answer = api.get(f"{PATH}/changes", query={"sort": "cost"})
    assert answer.kind == (422, "query-too-expensive")
    assert answer.body["remedies"]
    assert api.patch(f"{PATH}/attributes/cost", {"indexed": True}).status == 200
    answer = api.get(f"{PATH}/changes", query={"sort": "cost"})
    assert answer.kind == (409, "index-building")
    assert answer.body["build"]["state"] == "building"


def test_a_private_view_of_another_user_is_like_a_missing_one(api: Client, live: str) -> None:
    view = api.made(f"{PATH}/views", {"name": "Mine", "visibility": "private", "query": {"filter": OPEN}})
    assert asked(api, {"view": view["id"]}).status == 200
    bob = api.acting(user="bob")
    mine, none = asked(bob, {"view": view["id"]}), asked(bob, {"view": "v999"})
    assert mine.status == none.status == 404
    assert {**mine.body, "request_id": ""} == {**none.body, "request_id": ""}
