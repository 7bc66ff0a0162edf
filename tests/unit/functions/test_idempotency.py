"""Idempotency-Key over HTTP: a request under a key creates once, and every repetition gets the first answer.

`test_batch` and `commands/test_attempts` test a batch under a key.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from devtools.proof.faults.watched import Attempted
from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.encoding import keys
from gridview.encoding.attribute_values import item_size
from gridview.support.errors import Overloaded
from infra.routes import ROUTES
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client

# A killed function has no metrics to publish, which Powertools finds worth a warning.
pytestmark = pytest.mark.filterwarnings("ignore:No application metrics")

BRIDGE = "/v1/projects/35e9"
CREATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "create_project": ("/v1/projects", {"name": "Tay Bridge", "states": ["open", "shut"]}),
    "create_project with an id": ("/v1/projects", {"id": "tay", "name": "Tay Bridge"}),
    "create_attribute": (f"{BRIDGE}/attributes", {"name": "Kind", "type": "enum", "options": ["a", "b"]}),
    "create_index": (f"{BRIDGE}/indexes", {"sort": [{"field": "3812"}, {"field": "name"}]}),
    "create_comment": (f"{BRIDGE}/issues/1/comments", {"text": "Rust!"}),
    "create_view": (f"{BRIDGE}/views", {"name": "Mine", "query": {"sort": [{"field": "3812"}]}}),
    "create_view for all": (f"{BRIDGE}/views", {"name": "All", "visibility": "default"}),
    "create_issue": (f"{BRIDGE}/issues", {"name": "Rivets", "fields": {"3812": "2023-05-08"}}),
    "create_webhook": (f"{BRIDGE}/webhooks", {"url": "https://hooks.example.org/bridge"}),
}
EVER_NEW = {"create_project": {"id"}, "create_webhook": {"id", "secret"}}
"""The random parts of answers."""
ALONE = {
    *("batch", "rotate_webhook", "replay_delivery", "restore_issue", "restore_attribute", "restore_project"),
    *("update_matching", "delete_matching", "undo", "export", "place_rows"),
}
"""Operations that create nothing, and are tested elsewhere."""

creations = pytest.mark.parametrize("creation", CREATIONS)


@pytest.fixture
def bridge(account: Cloud, bridge: str) -> str:
    """The worked example, with a journal."""
    account.forget()
    return bridge


def create(api: Client, creation: str, key: str | None = "key", **changed: Any) -> Answer:
    path, body = CREATIONS[creation]
    return api.post(path, {**body, **changed}, headers={} if key is None else {"idempotency-key": key})


def parts_of(answer: Answer) -> tuple[Any, ...]:
    return answer.status, answer.text, answer.headers


def without_secret(answer: Answer) -> dict[str, Any]:
    """The part of a created resource that can be read again."""
    return {name: value for name, value in answer.body.items() if name != "secret"}


def resources(account: Cloud) -> set[tuple[str, str]]:
    """The keys of all stored items, without the remembered requests."""
    return {key for key in account.table.items if not key[0].startswith(keys.REQUEST_PREFIX)}


def test_every_call_that_creates_is_listed_here() -> None:
    repeatable = {route.operation for route in ROUTES if route.repeatable}
    assert repeatable == {creation.split(" ")[0] for creation in CREATIONS} | ALONE


@creations
def test_a_repetition_is_answered_as_the_first_and_does_nothing(
    api: Client, account: Cloud, bridge: str, creation: str
) -> None:
    first = create(api, creation)
    assert (first.status, first.etag) == (201, '"1"')
    assert api.get(first.headers["location"]).body == without_secret(first)
    before = account.items()
    assert parts_of(create(api, creation)) == parts_of(first)
    assert account.items() == before


@creations
def test_under_a_key_the_answer_is_that_without_one(
    api: Client, account: Cloud, bridge: str, creation: str
) -> None:
    before = account.items()
    first = create(api, creation)
    account.reset()
    account.put(before)
    bare = create(api, creation, key=None)
    ever_new = {"created", "updated", *EVER_NEW.get(creation, ())}
    assert first.body.keys() == bare.body.keys()
    assert {name for name, value in bare.body.items() if first.body[name] != value} <= ever_new
    assert first.headers.keys() == bare.headers.keys()


@creations
def test_another_body_under_the_same_key_is_a_conflict(
    api: Client, account: Cloud, bridge: str, creation: str
) -> None:
    create(api, creation)
    before = account.items()
    assert create(api, creation, name="Other").kind == (409, "conflict")
    assert account.items() == before


def test_a_repeated_request_gets_the_first_answer_even_after_edits(api: Client, bridge: str) -> None:
    first = create(api, "create_issue")
    location = first.headers["location"]
    assert api.patch(location, {"name": "Other"}).status == 200
    assert parts_of(create(api, "create_issue")) == parts_of(first)
    assert api.delete(location).status == 204
    assert api.delete(f"{bridge}/attributes/3812").status == 204
    assert parts_of(create(api, "create_issue")) == parts_of(first)
    assert api.get(location).status == 404


def test_without_a_key_or_with_another_everything_is_done_again(api: Client, bridge: str) -> None:
    numbers = [create(api, "create_issue", key).body["num"] for key in (None, None, "a", "b", "a")]
    assert numbers == [4, 5, 6, 7, 6]


def test_a_key_is_good_for_one_call_of_one_project(api: Client, bridge: str) -> None:
    body = {"name": "Tay", "type": "text"}
    api.made("/v1/projects", {"id": "other", "name": "Other"})
    for path in (f"{BRIDGE}/attributes", "/v1/projects/other/attributes"):
        api.made(path, body, headers={"idempotency-key": "key"})
    body = {"name": "Tay"}
    for path in ("/v1/projects", f"{BRIDGE}/issues", "/v1/projects/other/issues"):
        api.made(path, body, headers={"idempotency-key": "key"})


def test_a_key_is_its_users_own(api: Client, bridge: str) -> None:
    first = create(api, "create_issue")
    bob = create(api.acting(user="bob"), "create_issue")
    assert (first.body["num"], bob.body["num"]) == (4, 5)
    assert (first.body["created_by"], bob.body["created_by"]) == ("ann", "bob")
    assert parts_of(create(api, "create_issue")) == parts_of(first)


@creations
def test_a_key_is_its_tenants_own(api: Client, account: Cloud, bridge: str, creation: str) -> None:
    first = create(api, creation)
    stranger = api.acting(tenant="3cc8")
    before = account.items()
    if creation.startswith("create_project"):
        assert create(stranger, creation).status == 201
    else:
        assert create(stranger, creation).kind == (404, "not-found")
        assert create(stranger, creation, name="Other").kind != (409, "conflict")
        assert account.items() == before
        stranger.made("/v1/projects", {"id": "35e9", "name": "Another bridge"})
        mine = stranger.post(f"{BRIDGE}/issues", {"name": "Rivets"}, headers={"idempotency-key": "key"})
        assert mine.body["num"] == 1
    assert parts_of(create(api, creation)) == parts_of(first)


def test_a_kept_answer_is_withheld_from_a_user_who_may_no_longer_create(api: Client, bridge: str) -> None:
    create(api, "create_issue")
    assert create(api.acting(role="viewer"), "create_issue").kind == (403, "forbidden")


def test_records_are_stored_under_their_tenant(api: Client, account: Cloud, bridge: str) -> None:
    for client in (api, api.acting(tenant="3cc8")):
        create(client, "create_project")
    assert api.batch("35e9", {"delete": {"num": 1}}, key="key").status == 200
    found = [key for key in account.table.items if key[0].startswith(keys.REQUEST_PREFIX)]
    assert sorted(pk for pk, _ in found) == ["request-0807.", "request-0807.35e9", "request-3cc8."]
    assert all(len(digest) == 64 for _, digest in found)


@creations
def test_a_refusal_is_not_remembered(api: Client, account: Cloud, bridge: str, creation: str) -> None:
    before = account.items()
    for _ in range(2):
        assert create(api, creation, nme="x").kind == (400, "invalid-request")
    assert account.items() == before
    assert create(api, creation).status == 201


def test_a_refusal_that_no_longer_holds_is_not_repeated(api: Client, bridge: str) -> None:
    api.made("/v1/projects", {"id": "tay", "name": "Older"})
    assert create(api, "create_project with an id").kind == (409, "conflict")
    assert create(api, "create_project with an id", key="other", id="tay2").status == 201


@pytest.mark.parametrize("key", ["", "x" * 256, "a\x00", "a\tb", "\x7f", "a\u0301", "k, k", "k,k", "\ud800"])
@pytest.mark.parametrize("creation", [*CREATIONS, "batch"])
def test_an_invalid_idempotency_key_is_refused_by_name(
    api: Client, account: Cloud, bridge: str, creation: str, key: str
) -> None:
    before = account.items()
    batch = creation == "batch"
    answer = api.batch("35e9", {"create": {"name": "a"}}, key=key) if batch else create(api, creation, key)
    assert answer.kind == (400, "invalid-request")
    assert answer.errors.keys() == {"Idempotency-Key"}
    assert account.items() == before


@pytest.mark.parametrize("key", ["x" * 255, "0", '"quoted"', "import 7/9; row=1", "~!"])
def test_any_other_visible_ascii_is_a_key(api: Client, bridge: str, key: str) -> None:
    assert parts_of(create(api, "create_issue", key)) == parts_of(create(api, "create_issue", key))


class Killed(BaseException):
    """Lambda ends a function that is out of time."""


Around = Callable[[Attempted, Callable[[], Any]], Any]


@pytest.fixture
def through(account: Cloud, monkeypatch: pytest.MonkeyPatch) -> Callable[[Around | None], None]:
    """Passes the command function's calls of the table through a given function; None: no longer."""
    module = account.modules["command"]
    plain = module.table

    def watch(around: Around | None) -> None:
        seen = plain if around is None else account.table.seen_through(around)
        monkeypatch.setattr(module, "table", seen)

    return watch


class At:
    """Does something at the n-th call of the table, before it or after it."""

    def __init__(self, place: int, act: Callable[[Callable[[], Any]], None], *, after: bool) -> None:
        self.left = place
        self._act = act
        self._after = after

    def __call__(self, _: Attempted, perform: Callable[[], Any]) -> Any:
        here, self.left = self.left == 0, self.left - 1
        if here and not self._after:
            self._act(perform)
        result = perform()
        if here and self._after:
            self._act(perform)
        return result

    @property
    def reached(self) -> bool:
        """Whether there was an n-th call."""
        return self.left < 0


@creations
@pytest.mark.parametrize("fate", ["killed before it", "killed after it", "killed, and it lands at last"])
def test_a_retry_after_a_kill_at_any_call_of_the_table_creates_nothing_twice(
    api: Client,
    account: Cloud,
    bridge: str,
    through: Callable[[Around | None], None],
    creation: str,
    fate: str,
) -> None:
    before, known = account.items(), resources(account)
    create(api, creation)
    made = len(resources(account) - known)
    late: list[Callable[[], Any]] = []

    def die(perform: Callable[[], Any]) -> None:
        if "lands" in fate:
            late.append(perform)
        raise Killed

    for place in range(20):
        account.reset()
        account.put(before)
        kill = At(place, die, after="after" in fate)
        through(kill)
        with suppress(Killed):
            create(api, creation)
        through(None)
        if not kill.reached:
            assert place >= 2, "the function makes calls of the table"
            break
        retried = create(api, creation)
        while late:
            with suppress(TransactionFailed, ConditionFailed):
                late.pop()()
        account.forget()
        assert retried.status == 201, (place, retried.text)
        assert len(resources(account) - known) == made, place
        assert api.get(retried.headers["location"]).body == without_secret(retried)
        assert parts_of(create(api, creation)) == parts_of(retried)
    else:
        raise AssertionError("the function makes no end of calls")


@creations
@pytest.mark.parametrize("after", [False, True])
def test_one_of_two_concurrent_requests_creates_and_both_get_the_same_answer(
    api: Client,
    account: Cloud,
    bridge: str,
    through: Callable[[Around | None], None],
    creation: str,
    after: bool,
) -> None:
    before, known = account.items(), resources(account)
    create(api, creation)
    made = len(resources(account) - known)
    others: list[Answer] = []

    def another(_: Callable[[], Any]) -> None:
        through(None)
        others.append(create(api, creation))

    for place in range(20):
        account.reset()
        account.put(before)
        others.clear()
        meet = At(place, another, after=after)
        through(meet)
        answer = create(api, creation)
        if not meet.reached:
            break
        assert parts_of(answer) == parts_of(others[0]), place
        assert len(resources(account) - known) == made, place


def test_one_of_two_concurrent_bodies_under_one_key_is_a_conflict(
    api: Client, account: Cloud, bridge: str, through: Callable[[Around | None], None]
) -> None:
    def another(_: Callable[[], Any]) -> None:
        through(None)
        assert create(api, "create_issue", name="Other").status == 201

    through(At(1, another, after=False))
    assert create(api, "create_issue").kind == (409, "conflict")


def test_an_answer_of_the_table_that_is_lost_is_found_again(
    api: Client, account: Cloud, bridge: str, through: Callable[[Around | None], None]
) -> None:
    known = resources(account)

    def lose(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        result = perform()
        if attempted.operation == "transact":
            raise Overloaded("The table cannot be reached; try again.")
        return result

    through(lose)
    first = create(api, "create_issue")
    assert first.status == 201
    assert parts_of(create(api, "create_issue")) == parts_of(first)
    assert len(resources(account) - known) == 1


def test_a_request_that_collides_with_its_twin_gets_in_progress(
    api: Client, account: Cloud, bridge: str, through: Callable[[Around | None], None]
) -> None:
    def collide(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "transact":
            raise TransactionFailed(())
        return perform()

    through(collide)
    answer = create(api, "create_issue")
    assert answer.kind == (429, "request-in-progress")
    assert answer.headers["retry-after"] == "1"
    through(None)
    assert create(api, "create_issue").status == 201


def test_a_busy_table_is_an_overload_and_the_same_request_works_later(
    api: Client, account: Cloud, bridge: str, through: Callable[[Around | None], None]
) -> None:
    def refuse(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "transact":
            raise Overloaded("The table is busy; try again.")
        return perform()

    before = resources(account)
    through(refuse)
    for creation in CREATIONS:
        assert create(api, creation, creation).kind == (503, "overloaded")
    assert resources(account) == before
    through(None)
    for creation in CREATIONS:
        assert create(api, creation, creation).status == 201


def test_a_key_adds_one_read_and_one_item_of_less_than_a_kilobyte(
    api: Client, account: Cloud, bridge: str, through: Callable[[Around | None], None]
) -> None:
    calls: list[str] = []

    def note(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        calls.append(attempted.operation)
        return perform()

    create(api, "create_issue", key=None)
    through(note)
    create(api, "create_issue", key=None)
    assert sorted(calls[:2]) == ["get", "update"]  # beside the number the epoch
    assert calls[2:] == ["put"]
    calls.clear()
    create(api, "create_issue")
    assert sorted(calls[:3]) == ["get", "query", "update"]
    assert calls[3:] == ["transact"]
    calls.clear()
    create(api, "create_issue")
    assert calls == ["query"]
    (record,) = (item for (pk, _), item in account.table.items.items() if pk.startswith(keys.REQUEST_PREFIX))
    assert item_size(record) < 1_024
