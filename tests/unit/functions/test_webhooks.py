"""Webhooks over HTTP: the users who may define them, their limits, and secrets that are shown once."""

import base64
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from devtools.proof.faults.watched import Attempted
from gridview.api.sealing import SECRETS
from gridview.encoding import keys, live_keys
from gridview.encoding.seals import Seals
from gridview.support import clock
from tests.support.cloud import ENVIRONMENT, Cloud
from tests.support.http import Answer, Client
from tests.support.removed import removed

URL = "https://hooks.example.org/gridview"
OTHER = "https://hooks.example.org/other"
ALL = ["create", "update", "delete", "restore"]


@pytest.fixture
def followed(account: Cloud, project: str) -> str:
    """The path of the webhooks of a project with a journal."""
    account.forget()
    return f"{project}/webhooks"


@pytest.fixture
def webhook(api: Client, followed: str) -> str:
    """The path of a webhook."""
    return f"{followed}/{api.made(followed, {'url': URL})['id']}"


def secrets_in(account: Cloud) -> list[str]:
    """The secrets of the only webhook, opened, the present one first."""
    (item,) = (item for (pk, _), item in account.table.items.items() if live_keys.is_webhooks(pk))
    seals = Seals([ENVIRONMENT["WEBHOOK_SECRET"].encode()], SECRETS)
    binding = f"0807.plain.{item['SK']}".encode()
    return [seals.open(sealed, binding).decode() for sealed, _ in item["secrets"]]


def without_secret(answer: Answer) -> dict[str, Any]:
    return {name: value for name, value in answer.body.items() if name != "secret"}


# Defining


def test_a_webhook_is_answered_whole_and_found_again(api: Client, followed: str) -> None:
    answer = api.post(followed, {"url": URL})
    made = answer.body
    assert answer.status == 201
    assert answer.headers["location"] == f"{followed}/{made['id']}"
    assert answer.etag == '"1"'
    assert made.pop("secret").startswith("whsec_")
    assert made.pop("created") == made.pop("updated")
    assert made == {
        "id": made["id"],
        "url": URL,
        "view": None,
        "frozen": None,
        "columns": None,
        "missing": [],
        "events": ALL,
        "enabled": True,
        "warning": None,
        "previous_secret_expires": None,
        "version": 1,
        "created_by": "ann",
        "updated_by": "ann",
    }
    found = api.get(f"{followed}/{made['id']}")
    assert found.body.items() >= made.items()
    assert found.etag == '"1"'
    assert api.get(followed).body == {"items": [found.body], "next": None}


def test_webhooks_are_listed_in_creation_order(api: Client, followed: str) -> None:
    assert api.get(followed).body == {"items": [], "next": None}
    made = [api.made(followed, {"url": f"{URL}/{place}"})["id"] for place in range(5)]
    assert [one["id"] for one in api.get(followed).body["items"]] == made


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({}, {"url"}),
        ({"url": None}, {"url"}),
        ({"url": 1}, {"url"}),
        ({"url": ""}, {"url"}),
        ({"url": "http://hooks.example.org"}, {"url"}),
        ({"url": "https://10.0.0.1"}, {"url"}),
        ({"url": "http://127.0.0.1:8000"}, {"url"}),
        ({"url": "https://ann:x@hooks.example.org"}, {"url"}),
        ({"url": URL, "secret": "whsec_mine"}, {"secret"}),
        ({"url": URL, "events": []}, {"events"}),
        ({"url": URL, "events": None}, {"events"}),
        ({"url": URL, "events": ["creates"]}, {"events.0"}),
        ({"url": URL, "events": ["create", "create"]}, {"events"}),
        ({"url": URL, "enabled": "yes"}, {"enabled"}),
        ({"url": "x", "enabled": 1, "events": [1]}, {"url", "enabled", "events.0"}),
    ],
)
def test_an_invalid_webhook_is_refused_by_name(
    api: Client, account: Cloud, followed: str, webhook: str, body: Any, wrong: set[str]
) -> None:
    before = account.items()
    answer = api.post(followed, body)
    assert answer.kind == (400, "invalid-request")
    assert answer.errors.keys() == wrong
    if "url" in body:
        patched = api.patch(webhook, body)
        assert patched.kind == (400, "invalid-request")
        assert patched.errors.keys() == wrong
    assert account.items() == before


def test_a_url_that_is_refused_says_why(api: Client, followed: str) -> None:
    answer = api.post(followed, {"url": "https://10.0.0.1/"})
    assert answer.errors == {
        "url": "must have a host name in lower case, such as hooks.example.org, not an IP address"
    }


def test_events_are_listed_in_their_order(api: Client, followed: str) -> None:
    assert api.made(followed, {"url": URL, "events": ["delete", "create"]})["events"] == ["create", "delete"]


def test_a_project_has_twenty_at_most(api: Client, followed: str) -> None:
    made = [api.made(followed, {"url": URL})["id"] for _ in range(20)]
    assert len(set(made)) == 20
    answer = api.post(followed, {"url": URL})
    assert answer.kind == (422, "limit-exceeded")
    assert "20" in answer.body["detail"]
    assert api.delete(f"{followed}/{made[0]}").status == 204
    assert api.post(followed, {"url": URL}).status == 201


def test_requests_that_overlap_make_no_more_than_twenty_together(
    api: Client, account: Cloud, followed: str
) -> None:
    for _ in range(18):
        api.made(followed, {"url": URL})
    answers: list[Answer] = []
    beginning = iter(range(4))

    def overlapping(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        """Between a count and its transaction, another request counts and creates."""
        if attempted.operation == "transact" and next(beginning, None) is not None:
            answers.append(api.post(followed, {"url": URL}))
        return perform()

    module = account.modules["command"]
    module.table = account.table.seen_through(overlapping)  # type: ignore[attr-defined]
    answers.append(api.post(followed, {"url": URL}))
    assert sorted(one.status for one in answers) == [201, 201, 422, 422, 422]
    assert len(api.get(followed).body["items"]) == 20


def test_on_a_local_stack_a_server_of_this_machine_is_taken_if_that_is_asked_for(
    api: Client, account: Cloud, followed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = {"url": "http://127.0.0.1:8000/hook"}
    assert api.post(followed, here).status == 400
    monkeypatch.setattr(account.modules["command"], "to_localhost", True)
    made = api.made(followed, here)
    assert api.patch(f"{followed}/{made['id']}", {"url": "http://localhost:1/"}).status == 200


# Rights


def test_only_an_administrator_sees_or_changes_a_webhook(account: Cloud, followed: str, webhook: str) -> None:
    before = account.items()
    for role in ("viewer", "editor"):
        client = account.api(role=role)
        for answer in (
            client.get(followed),
            client.get(webhook),
            client.post(followed, {"url": URL}),
            client.patch(webhook, {"enabled": False}),
            client.post(f"{webhook}/rotate"),
            client.delete(webhook),
        ):
            assert answer.kind == (403, "forbidden")
    assert account.items() == before


def test_another_tenants_webhook_answers_as_one_that_there_is_not(
    account: Cloud, followed: str, webhook: str
) -> None:
    stranger = account.api(tenant="0808")
    stranger.made("/v1/projects", {"id": "plain", "name": "Plain"})
    before, missing = account.items(), f"{followed}/w000000000000"
    for path in (webhook, missing):
        for answer in (
            stranger.get(path),
            stranger.patch(path, {"enabled": False}),
            stranger.post(f"{path}/rotate"),
            stranger.delete(path),
        ):
            assert answer.kind == (404, "not-found")
            assert answer.body["detail"] == "Webhook not found."
    assert stranger.get(followed).body["items"] == []
    assert account.items() == before


@pytest.mark.parametrize(
    "unknown", ["w000000000000", "w", "x000000000000", "W000000000000", "w00000000000.", "%77"]
)
def test_a_webhook_that_there_is_not_is_not_found(api: Client, followed: str, unknown: str) -> None:
    path = f"{followed}/{unknown}"
    for answer in (api.get(path), api.patch(path, {}), api.delete(path), api.post(f"{path}/rotate")):
        assert answer.kind == (404, "not-found")


# Changing


def test_a_webhook_is_changed_in_part(api: Client, webhook: str) -> None:
    created = api.get(webhook).body
    moved = api.acting(user="bob").patch(
        webhook, {"url": OTHER, "events": ["update"]}, headers={"if-match": '"1"'}
    )
    assert (moved.status, moved.etag) == (200, '"2"')
    assert (moved.body["url"], moved.body["events"], moved.body["enabled"]) == (OTHER, ["update"], True)
    assert (moved.body["created_by"], moved.body["updated_by"]) == ("ann", "bob")
    assert (moved.body["created"], moved.body["id"]) == (created["created"], created["id"])
    assert moved.body["updated"] > created["updated"]
    assert api.patch(webhook, {"enabled": False}).body == api.get(webhook).body
    assert api.get(webhook).body["enabled"] is False
    assert api.get(webhook).body["url"] == OTHER


def test_a_change_that_changes_nothing_is_none(api: Client, account: Cloud, webhook: str) -> None:
    before = account.items()
    for body in ({}, {"url": URL}, {"enabled": True, "events": ALL[::-1]}):
        answer = api.patch(webhook, body)
        assert (answer.status, answer.etag) == (200, '"1"')
    assert account.items() == before


def test_a_version_that_is_not_the_present_one_is_refused(api: Client, account: Cloud, webhook: str) -> None:
    api.patch(webhook, {"enabled": False})
    before, stale = account.items(), {"if-match": '"1"'}
    assert api.patch(webhook, {"enabled": True}, headers=stale).kind == (412, "version-mismatch")
    assert api.delete(webhook, headers=stale).kind == (412, "version-mismatch")
    assert account.items() == before
    assert api.delete(webhook, headers={"if-match": '"2"'}).status == 204


def test_a_deleted_webhook_is_not_found(api: Client, account: Cloud, followed: str, webhook: str) -> None:
    assert api.delete(webhook).status == 204
    assert api.get(webhook).kind == api.delete(webhook).kind == (404, "not-found")
    assert api.get(followed).body["items"] == []
    assert not [pk for pk, _ in account.table.items if live_keys.is_webhooks(pk)]


def test_the_webhooks_of_a_deleted_project_are_not_found(api: Client, followed: str, webhook: str) -> None:
    assert api.delete("/v1/projects/plain").status == 204
    for answer in (
        api.get(followed),
        api.get(webhook),
        api.post(followed, {"url": URL}),
        api.patch(webhook, {"enabled": False}),
        api.post(f"{webhook}/rotate"),
        api.delete(webhook),
    ):
        assert answer.kind == (404, "not-found")


def test_a_project_takes_its_webhooks_along(api: Client, account: Cloud, followed: str, webhook: str) -> None:
    api.made(followed, {"url": URL})
    api.made("/v1/projects", {"id": "kept", "name": "Kept"})
    kept = api.made("/v1/projects/kept/webhooks", {"url": URL})["id"]
    removed(api, "/v1/projects/plain")
    account.upkeep()
    assert [place for place in account.table.items if live_keys.is_webhooks(place[0])] == [
        (live_keys.webhooks("0807", "kept"), kept)
    ]


# Secrets


def test_a_secret_is_returned_when_it_is_made_and_never_again(
    api: Client, account: Cloud, followed: str
) -> None:
    made = api.made(followed, {"url": URL})
    assert len(base64.b64decode(made["secret"].removeprefix("whsec_"))) == 32
    path = f"{followed}/{made['id']}"
    for answer in (api.get(path), api.get(followed), api.patch(path, {"enabled": False})):
        assert "secret" not in answer.text.replace("previous_secret_expires", "")
    assert secrets_in(account) == [made["secret"]]


def test_the_table_holds_no_secret_in_the_clear(api: Client, account: Cloud, followed: str) -> None:
    first = api.made(followed, {"url": URL}, headers={"idempotency-key": "k"})
    path = f"{followed}/{first['id']}/rotate"
    second = api.post(path, headers={"idempotency-key": "k"}).body
    bodies = [
        zlib.decompress(item["answer"]).decode()
        for (pk, _), item in account.table.items.items()
        if pk.startswith(keys.REQUEST_PREFIX)
    ]
    assert len(bodies) == 2
    held = f"{bodies} {account.items()}"
    for secret in (first["secret"], second["secret"]):
        assert secret not in held
        assert secret.removeprefix("whsec_") not in held


def test_a_repeated_request_gets_the_same_secret(api: Client, account: Cloud, followed: str) -> None:
    key = {"idempotency-key": "k"}
    first, again = (api.post(followed, {"url": URL}, headers=key) for _ in range(2))
    assert (again.text, again.headers) == (first.text, first.headers)
    path = f"{followed}/{first.body['id']}/rotate"
    rotated, once_more = (api.post(path, headers=key) for _ in range(2))
    assert rotated.body["secret"] != first.body["secret"]
    assert (once_more.text, once_more.headers) == (rotated.text, rotated.headers)
    assert secrets_in(account) == [rotated.body["secret"], first.body["secret"]]


def test_a_key_of_one_webhook_is_not_that_of_another(api: Client, followed: str) -> None:
    first, second = (api.made(followed, {"url": URL}) for _ in range(2))
    rotated = [
        api.post(f"{followed}/{one['id']}/rotate", headers={"idempotency-key": "k"}).body
        for one in (first, second)
    ]
    assert [one["id"] for one in rotated] == [first["id"], second["id"]]


def test_a_kept_answer_under_an_unknown_secret_is_a_conflict(
    api: Client, account: Cloud, followed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = {"idempotency-key": "k"}
    api.made(followed, {"url": URL}, headers=key)
    module: Any = account.modules["command"]
    monkeypatch.setattr(module, "webhook_seals", Seals([b"a third"], SECRETS))
    answer = api.post(followed, {"url": URL}, headers=key)
    assert answer.kind == (409, "conflict")
    assert "Rotate" in answer.body["detail"]


def test_a_rotated_secret_signs_for_another_day(
    api: Client, account: Cloud, webhook: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = secrets_in(account)
    rotated = api.post(f"{webhook}/rotate")
    assert (rotated.status, rotated.etag) == (200, '"2"')
    assert without_secret(rotated) == api.get(webhook).body
    assert secrets_in(account) == [rotated.body["secret"], first]
    until = datetime.fromisoformat(rotated.body["previous_secret_expires"])
    assert 86_390 < (until - datetime.now(UTC)).total_seconds() <= 86_400
    now = clock.after
    monkeypatch.setattr(clock, "after", lambda seconds: now(seconds + 86_401))
    assert api.get(webhook).body["previous_secret_expires"] is None
    third = api.post(f"{webhook}/rotate").body
    assert secrets_in(account) == [third["secret"], rotated.body["secret"]]


def test_a_few_secrets_sign_at_once_and_no_more(api: Client, account: Cloud, webhook: str) -> None:
    secrets = [api.post(f"{webhook}/rotate").body["secret"] for _ in range(6)]
    assert secrets_in(account) == secrets[::-1][:4]


def test_the_seal_of_a_secret_opens_for_no_other_webhook(api: Client, account: Cloud, followed: str) -> None:
    for _ in range(2):
        api.made(followed, {"url": URL})
    one, other = (item for (pk, _), item in account.table.items.items() if live_keys.is_webhooks(pk))
    seals = Seals([ENVIRONMENT["WEBHOOK_SECRET"].encode()], SECRETS)
    with pytest.raises(ValueError, match="not sealed for this"):
        seals.open(one["secrets"][0][0], f"0807.plain.{other['SK']}".encode())


# Notices


def test_a_webhook_that_was_disabled_by_itself_says_so_until_it_is_enabled(
    api: Client, account: Cloud, followed: str, webhook: str
) -> None:
    (place,) = (place for place in account.table.items if live_keys.is_webhooks(place[0]))
    item = account.table.items[place]
    warning = ["2026-11-21T08:00:00.000000Z", "Nothing was delivered for 24 hours."]
    account.table.put({**item, "enabled": False, "warning": warning, "version": 2})
    expected = {"at": "2026-11-21T08:00:00Z", "reason": "Nothing was delivered for 24 hours."}
    assert api.get(webhook).body["warning"] == expected
    assert [(one["enabled"], one["warning"]) for one in api.get(followed).body["items"]] == [
        (False, expected)
    ]
    assert api.patch(webhook, {"url": OTHER}).body["warning"] == expected
    enabled = api.patch(webhook, {"enabled": True})
    assert (enabled.body["enabled"], enabled.body["warning"], enabled.etag) == (True, None, '"4"')


@pytest.mark.usefixtures("no_pauses")
def test_a_patch_that_loses_a_race_reads_again(
    api: Client, account: Cloud, webhook: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = account.modules["command"]
    table = module.table
    raced: list[Callable[[], Answer]] = [lambda: api.patch(webhook, {"events": ["create"]})]

    def transact(writes: Any) -> None:
        if raced:
            raced.pop()()
        plain(writes)

    plain = table.transact
    monkeypatch.setattr(table, "transact", transact)
    assert api.patch(webhook, {"url": OTHER}).etag == '"3"'
    assert api.get(webhook).body["events"] == ["create"]
    assert api.get(webhook).body["url"] == OTHER
