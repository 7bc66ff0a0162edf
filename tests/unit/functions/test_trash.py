"""Deleted issues: hidden from all users at once, in the trash for thirty days, and restorable under their numbers."""

from collections.abc import Callable
from typing import Any

import pytest

from devtools.proof.faults.adversary import record
from gridview.commands import reads, trash
from gridview.commands.issues import MAX_ISSUES
from gridview.derive.ledger import Ledger
from gridview.dynamodb.errors import ConditionFailed
from gridview.encoding import derived_keys, keys
from gridview.fsck.issue_diff import DifferenceKind, differences
from gridview.fsck.repair import repair_issue
from gridview.journal.log import Log
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import Overloaded
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client, Context
from tests.support.removed import removed

BRIDGE = "/v1/projects/35e9"
ISSUE = f"{BRIDGE}/issues/2"
TRASH = f"{BRIDGE}/trash"
START = "3812"
DAY = 86_400

Later = Callable[[float], None]


@pytest.fixture
def deleted(api: Client, account: Cloud, bridge: str) -> dict[str, Any]:
    """Issue 2, which bob has just deleted, in its former state."""
    before: dict[str, Any] = api.get(ISSUE).body
    account.derive()
    assert api.acting(user="bob", role="editor").delete(ISSUE).status == 204
    account.derive()
    return before


def stored(account: Cloud, num: int = 2) -> dict[str, Any] | None:
    return account.table.get(keys.issue("0807", "35e9", num), keys.project("0807", "35e9"))


def listed(api: Client) -> list[int]:
    return [one["num"] for one in api.get(TRASH).body["items"]]


def restore(api: Client, num: int = 2, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return api.post(f"{TRASH}/{num}/restore", b"", headers=named)


def numbers(api: Client, query: dict[str, Any], token: str | None = None) -> list[int]:
    headers = {} if token is None else {"x-consistency-token": token}
    answer = api.post(f"{BRIDGE}/grid", query, headers=headers)
    assert answer.status == 200, answer.text
    return [row["num"] for row in answer.body["rows"]]


QUERIES: list[dict[str, Any]] = [
    {},
    {"columns": ["name"]},
    {"sort": [{"field": START}]},
    {"sort": [{"field": START}], "columns": []},
    {"sort": [{"field": "name", "direction": "desc"}]},
    {"filter": {"field": "state", "op": "eq", "value": "closed"}},
    {"filter": {"field": START, "op": "is_not_empty"}, "sort": [{"field": "state"}, {"field": START}]},
    {"filter": {"field": "num", "op": "in", "value": [1, 2, 3]}},
    {"filter": {"field": "name", "op": "contains", "value": "rust"}},
]


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_a_deleted_issue_is_in_no_page_with_a_token_or_once_the_index_knows(
    api: Client, account: Cloud, bridge: str, query: dict[str, Any]
) -> None:
    account.derive()
    before = numbers(api, query)
    assert 2 in before
    token = api.delete(ISSUE).headers["x-consistency-token"]
    rest = [num for num in before if num != 2]
    # The index still has it. A row shows its document, so it is in no page anyway.
    assert numbers(api, query) == numbers(api, query, token) == rest
    account.derive()
    assert numbers(api, query) == rest
    back = restore(api).headers["x-consistency-token"]
    assert numbers(api, query, back) == before
    account.derive()
    assert numbers(api, query) == before


def test_it_is_in_no_count(api: Client, account: Cloud, deleted: dict[str, Any]) -> None:
    def counts() -> list[Any]:
        account.forget()
        page = api.post(f"{BRIDGE}/grid", {"count": True, "limit": 1}).body
        groups = api.post(f"{BRIDGE}/groups", {"by": ["state"]}).body["groups"]
        asked = {"fields": [{"field": START, "functions": ["count", "max"]}]}
        (summary,) = api.post(f"{BRIDGE}/summary", asked).body["summaries"]
        counted = [(one["values"], one["count"]) for one in groups]
        issues = api.get(BRIDGE).body["issues"]
        return [page["total"], page["matched"], issues, counted, summary["count"], summary["max"]]

    assert counts() == [2, 2, 2, [(["open"], 2)], 1, "2023-05-01"]
    restore(api)
    account.derive()
    assert counts() == [3, 3, 3, [(["open"], 2), (["closed"], 1)], 2, "2023-05-02"]


def test_every_call_treats_a_deleted_issue_as_missing(
    api: Client, account: Cloud, deleted: dict[str, Any]
) -> None:
    before = account.items()
    assert api.get(ISSUE).kind == (404, "not-found")
    assert api.get(f"{ISSUE}/row-number", query={"sort": START}).status == 404
    for headers in ({}, {"if-match": '"2"'}):
        assert api.patch(ISSUE, {"name": "x"}, headers=headers).status == 404
        assert api.delete(ISSUE, headers=headers).status == 404
    assert api.patch(ISSUE, {"name": "x", "base": 1}).status == 404
    operations = [
        {"update": {"num": 2, "name": "x"}},
        {"delete": {"num": 2}},
        {"delete": {"num": 2, "version": 2}},
    ]
    assert [one["status"] for one in api.batch("35e9", *operations).body["results"]] == [404] * 3
    assert account.items() == before


def test_the_document_stays_as_one_more_version(account: Cloud, deleted: dict[str, Any]) -> None:
    document = stored(account)
    assert document is not None
    assert keys.SORT not in document
    assert (document["version"], document["deleted_by"], document["updated_by"]) == (2, "bob", "bob")
    assert document["deleted_at"] == document["updated"] > document["created"]
    assert document["fields"]


def test_the_trash_lists_deleted_issues_with_user_and_expiry(
    api: Client, account: Cloud, deleted: dict[str, Any]
) -> None:
    (one,) = api.acting(role="viewer").get(TRASH).body["items"]
    document = stored(account)
    assert document is not None
    expected = {**deleted, "version": 2, "updated": one["deleted"], "updated_by": "bob", "deleted_by": "bob"}
    assert one == {**expected, "deleted": one["deleted"], "expires": one["expires"]}
    assert one["expires"] > one["deleted"][:8]
    assert round((document["ttl"] - clock.instant(document["deleted_at"])) / DAY, 3) == 30


def test_a_restored_issue_has_its_number_a_higher_version_and_all_its_values(
    api: Client, account: Cloud, deleted: dict[str, Any]
) -> None:
    answer = restore(api.acting(user="cat", role="editor"))
    assert (answer.status, answer.etag) == (200, '"3"')
    changed = {"version": 3, "updated": answer.body["updated"], "updated_by": "cat"}
    assert answer.body == {**deleted, **changed} == api.get(ISSUE).body
    document = stored(account)
    assert document is not None
    assert {"deleted_by", "deleted_at", "ttl"}.isdisjoint(document)
    account.derive()
    assert listed(api) == []
    assert restore(api).kind == (404, "not-found")
    assert api.patch(ISSUE, {"base": 1, "name": "x"}).body["merged"] == []


def test_deleted_twice_it_is_listed_once_and_newest_first(
    api: Client, account: Cloud, deleted: dict[str, Any]
) -> None:
    restore(api)
    for num in (3, 2, 1):
        api.delete(f"{BRIDGE}/issues/{num}")
        account.derive()
    assert listed(api) == [1, 2, 3]
    # The first delete's record comes again, late: no reader sees it.
    account.table.put(
        {"PK": "trash-0807.35e9", "SK": "2023-05-01T00:00:00.000000Z.00000002.2", "ttl": 9_999_999_999}
    )
    assert listed(api) == [1, 2, 3]


def test_pages_of_the_trash(api: Client, account: Cloud, project: str) -> None:
    created = [{"create": {"name": str(place)}} for place in range(7)]
    api.batch("plain", *created)
    for num in range(1, 8):
        api.delete(f"{project}/issues/{num}")
    account.derive()
    restore_one = api.post(f"{project}/trash/5/restore", b"")
    assert restore_one.status == 200  # the list does not know it yet
    seen, cursor, pages = [], None, 0
    while cursor is not None or not pages:
        query = {"limit": "3", **({} if cursor is None else {"cursor": cursor})}
        page = api.get(f"{project}/trash", query=query).body
        seen += [one["num"] for one in page["items"]]
        cursor, pages = page["next"], pages + 1
    assert (seen, pages) == ([7, 6, 4, 3, 2, 1], 3)
    assert api.get(f"{project}/trash", query={"cursor": "x"}).errors.keys() == {"cursor"}
    assert api.get(f"{project}/trash", query={"limit": "501"}).errors.keys() == {"limit"}


def test_a_cursor_of_one_trash_is_none_of_another(
    api: Client, account: Cloud, deleted: dict[str, Any]
) -> None:
    api.delete(f"{BRIDGE}/issues/1")
    account.derive()
    cursor = api.get(TRASH, query={"limit": "1"}).body["next"]
    api.made("/v1/projects", {"id": "tay", "name": "Tay"})
    assert api.get("/v1/projects/tay/trash", query={"cursor": cursor}).status == 400
    other = api.acting(tenant="0808")
    other.made("/v1/projects", {"id": "35e9", "name": "Theirs"})
    assert other.get(TRASH, query={"cursor": cursor}).status == 400


def test_an_answer_ends_at_five_megabytes(
    api: Client, account: Cloud, deleted: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for num in (1, 3):
        api.delete(f"{BRIDGE}/issues/{num}")
        account.derive()
    monkeypatch.setattr(reads, "MAX_TRASH_BYTES", 400)
    first = api.get(TRASH).body
    assert [one["num"] for one in first["items"]] == [3]
    second = api.get(TRASH, query={"cursor": first["next"]}).body
    assert [one["num"] for one in second["items"]] == [1]


def test_after_thirty_days_it_cannot_be_restored_though_the_table_still_has_it(
    api: Client, account: Cloud, deleted: dict[str, Any], later: Later
) -> None:
    later(30 * DAY - 60)
    assert listed(api) == [2]
    later(120)
    assert listed(api) == []
    assert restore(api).status == api.delete(f"{TRASH}/2").status == 404


def test_removals_by_expiry_are_no_changes(
    api: Client, account: Cloud, deleted: dict[str, Any], later: Later
) -> None:
    document = stored(account)
    assert document is not None
    later(31 * DAY)
    # The tombstones of its derived data live longer, but not forever.
    for item in account.table.query(document["PK"]).items:
        account.table.delete(item["PK"], item["SK"])
    before = account.items()
    account.modules["maintain"].handler(removal_of(document), Context())
    assert [one for one in account.items() if "lag-" not in str(one["PK"])] == [
        one for one in before if "lag-" not in str(one["PK"])
    ]


def removal_of(document: dict[str, Any]) -> dict[str, Any]:
    return {"Records": [record(1, document, None)]}


def test_an_administrator_permanently_deletes_it(
    api: Client, account: Cloud, deleted: dict[str, Any]
) -> None:
    document = stored(account)
    assert document is not None
    assert api.acting(role="editor").delete(f"{TRASH}/2").status == 403
    assert api.delete(f"{TRASH}/1").status == 404
    assert stored(account, 1) is not None
    assert api.delete(f"{TRASH}/2").status == 204
    assert stored(account) is None
    assert restore(api).status == api.delete(f"{TRASH}/2").status == 404
    account.modules["maintain"].handler(removal_of(document), Context())
    assert account.table.query("trash-0807.35e9").items == []
    account.derive()
    assert numbers(api, {}) == [1, 3]


def test_a_purge_may_name_the_version(api: Client, account: Cloud, deleted: dict[str, Any]) -> None:
    (one,) = api.get(TRASH).body["items"]
    refused = api.delete(f"{TRASH}/2", headers={"if-match": '"1"'})
    assert refused.status == 412
    assert refused.body["current"] == one
    assert api.delete(f"{TRASH}/2", headers={"if-match": '"2"'}).status == 204


def test_roles_decide_who_may_use_the_trash(api: Client, deleted: dict[str, Any]) -> None:
    viewer, anonymous = api.acting(role="viewer"), api.anonymous()
    assert viewer.get(TRASH).status == 200
    assert restore(viewer).status == 403
    assert [
        anonymous.get(TRASH).status,
        restore(anonymous).status,
        anonymous.delete(f"{TRASH}/2").status,
    ] == [401] * 3
    assert restore(api.acting(role="editor")).status == 200


def test_the_trash_of_another_tenant_is_like_a_missing_one(
    api: Client, account: Cloud, deleted: dict[str, Any]
) -> None:
    before = account.items()
    for other in (api.acting(tenant="0808"), api):
        path = BRIDGE if other is not api else "/v1/projects/none"
        answers = [
            other.get(f"{path}/trash"),
            other.post(f"{path}/trash/2/restore", b""),
            other.delete(f"{path}/trash/2"),
        ]
        assert [(one.status, one.body["detail"]) for one in answers] == [(404, "Project not found.")] * 3
    assert account.items() == before


def test_a_restore_takes_no_body(api: Client, deleted: dict[str, Any]) -> None:
    assert api.post(f"{TRASH}/2/restore", {"name": "x"}).errors.keys() == {"body"}
    assert api.post(f"{TRASH}/2/restore", {}).status == 200


def test_under_a_key_it_is_restored_once(api: Client, account: Cloud, deleted: dict[str, Any]) -> None:
    first = restore(api, idempotency_key="k")
    assert first.status == 200
    api.delete(ISSUE)
    again = restore(api, idempotency_key="k")
    assert (again.status, again.text, again.headers) == (first.status, first.text, first.headers)
    assert api.get(ISSUE).status == 404
    api.delete(f"{BRIDGE}/issues/1")
    other = restore(api, 1, idempotency_key="k")  # of another issue: another request
    assert (other.status, other.body["num"]) == (200, 1)


def test_retired_options_do_not_return_by_a_restore(api: Client, account: Cloud, project: str) -> None:
    attributes: list[dict[str, Any]] = [
        {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b"]},
        {"id": "tags", "name": "Tags", "type": "multi_enum", "options": ["x", "y"]},
        {"id": "only", "name": "Only", "type": "multi_enum", "options": ["x", "y"]},
        {"id": "gone", "name": "Gone", "type": "text"},
        {"id": "kept", "name": "Kept", "type": "number"},
    ]
    for attribute in attributes:
        api.made(f"{project}/attributes", attribute)
    fields = {"kind": "b", "tags": ["x", "y"], "only": ["y"], "gone": "text", "kept": 7}
    api.made(f"{project}/issues", {"name": "n", "state": "closed", "fields": fields})
    account.derive()
    api.delete(f"{project}/issues/1")
    account.derive()
    for name, options in (("kind", ["a"]), ("tags", ["x"]), ("only", ["x"])):
        assert api.patch(f"{project}/attributes/{name}", {"options": options}).status == 200
    assert api.patch(project, {"states": ["open"]}).status == 200
    assert api.delete(f"{project}/attributes/gone").status == 204
    assert api.patch(f"{project}/attributes/kind", {"required": True}).status == 200
    account.upkeep()
    shown = api.get(f"{project}/trash").body["items"][0]
    assert (shown["state"], shown["fields"]["kind"]) == ("closed", "b")
    back = api.post(f"{project}/trash/1/restore", b"").body
    assert (back["state"], back["fields"]) == ("open", {"tags": ["x"], "kept": 7})
    missing = api.patch(f"{project}/issues/1", {"name": "m"})
    assert missing.errors == {"fields.kind": "is required"}
    merged = api.patch(f"{project}/issues/1", {"base": 1, "fields": {"kind": "a", "kept": 8}})
    assert [one["field"] for one in merged.body["conflicts"]] == ["kind"]
    account.derive()
    assert differences_of(account, "plain", 1) == []


def differences_of(account: Cloud, project: str, num: int) -> list[Any]:
    """The findings of a check of an issue, after a fold."""
    account.fold()
    key, head = keys.issue("0807", project, num), Log(account.table, "0807", project).head()
    catalog = Catalogs().get(account.table, "0807", project)
    return differences(key, account.table.query_all(key, consistent=True), catalog, head=head)


def test_the_check_finds_a_trashed_and_a_restored_issue_right(
    api: Client, account: Cloud, deleted: dict[str, Any]
) -> None:
    assert differences_of(account, "35e9", 2) == []
    restore(api)
    account.derive()
    assert differences_of(account, "35e9", 2) == []


def test_a_new_issue_that_was_deleted_before_the_index_had_it_is_in_no_page(
    api: Client, account: Cloud, bridge: str
) -> None:
    account.derive()
    for _ in range(2):
        api.made(f"{BRIDGE}/issues", {"name": "New", "fields": {START: "2023-05-03"}})
    api.delete(f"{BRIDGE}/issues/4")
    for query in ({}, {"sort": [{"field": START}]}, {"count": True}):
        assert set(numbers(api, query)) == {1, 2, 3, 5}
    account.derive()
    assert numbers(api, {}) == [1, 2, 3, 5]


@pytest.mark.parametrize("trashed", [True, False])
def test_a_missing_or_needless_expiry_of_a_document_is_found_and_repaired(
    api: Client, account: Cloud, deleted: dict[str, Any], trashed: bool
) -> None:
    if not trashed:
        restore(api)
        account.derive()
    document = stored(account)
    assert document is not None
    ttl = document.pop("ttl", None)
    account.table.put(document if trashed else {**document, "ttl": 9_999_999_999})
    (found,) = differences_of(account, "35e9", 2)
    assert (found.kind, found.place) == (DifferenceKind.EXPIRY, "document")
    assert repair_issue(account.table, Catalogs(), document["PK"])
    assert differences_of(account, "35e9", 2) == []
    after = stored(account)
    assert after is not None
    assert ("ttl" in after) is trashed
    assert not trashed or abs(after["ttl"] - ttl) < 60
    assert not repair_issue(account.table, Catalogs(), document["PK"])


def test_a_repair_takes_a_deleted_issue_out_of_the_index_in_its_version(
    api: Client, account: Cloud, bridge: str
) -> None:
    account.derive()
    api.delete(ISSUE)  # and the consumer never receives it
    key = keys.issue("0807", "35e9", 2)
    assert differences_of(account, "35e9", 2)
    assert repair_issue(account.table, Catalogs(), key)
    assert Ledger.from_item(account.table.get(key, derived_keys.LEDGER)).order == (2, True)
    assert differences_of(account, "35e9", 2) == []
    restore(api)
    account.derive()
    assert differences_of(account, "35e9", 2) == []
    assert numbers(api, {"sort": [{"field": "name"}]}) == [2, 3, 1]


def test_a_pass_over_the_issues_leaves_a_deleted_one_where_it_is(
    api: Client, account: Cloud, deleted: dict[str, Any]
) -> None:
    assert api.delete(f"{BRIDGE}/attributes/{START}").status == 204
    assert api.delete(f"{BRIDGE}/deleted-attributes/{START}").status == 204
    account.upkeep()
    document = stored(account)
    assert document is not None
    assert document["fields"] == {"a2": "2023-06-02"}  # values of a deleted attribute go from the trash too
    assert numbers(api, {"sort": [{"field": "name"}]}) == [3, 1]
    assert api.get(BRIDGE).body["issues"] == 2
    assert differences_of(account, "35e9", 2) == []


def test_a_repetition_of_a_delete_that_comes_late_does_not_delete_what_was_restored(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, sent = account.modules["command"].table, []
    update = table.update

    def noting(*asked: Any, **named: Any) -> Any:
        sent.append((asked, named))
        return update(*asked, **named)

    with monkeypatch.context() as patch:
        patch.setattr(table, "update", noting)
        api.delete(ISSUE)
    ((asked, named),) = sent
    restore(api)
    with pytest.raises(ConditionFailed):
        account.table.update(*asked, **named)
    assert api.get(ISSUE).status == 200


def test_a_delete_is_done_though_its_answer_was_lost(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = account.modules["command"].table
    update = table.update

    def twice(*asked: Any, **named: Any) -> Any:
        update(*asked, **named)
        return update(*asked, **named)

    with monkeypatch.context() as patch:
        patch.setattr(table, "update", twice)
        assert api.delete(ISSUE).status == 204
    assert api.delete(ISSUE).status == 404


def test_a_slow_clock_does_not_prevent_a_delete(api: Client, account: Cloud, bridge: str) -> None:
    document = stored(account)
    assert document is not None
    account.table.put({**document, "updated": "2999-01-01T00:00:00.000000Z"})
    assert api.delete(ISSUE).status == 204
    assert api.get(ISSUE).status == 404


def test_a_purged_issue_takes_along_what_is_remembered_of_it(
    api: Client, account: Cloud, deleted: dict[str, Any]
) -> None:
    document, history = stored(account), derived_keys.history("0807", "35e9", 2)
    assert document is not None
    assert account.table.query(history).items
    api.delete(f"{TRASH}/2")
    account.modules["maintain"].handler(removal_of(document), Context())
    assert account.table.query(history).items == []
    assert account.table.query(derived_keys.history("0807", "35e9", 1)).items


@pytest.mark.parametrize("days", [0, 31])
def test_comments_are_back_with_their_issue_and_go_with_it(
    api: Client, account: Cloud, bridge: str, later: Later, days: int
) -> None:
    for num in (1, 2):
        api.made(f"{BRIDGE}/issues/{num}/comments", {"text": "Rust"})
    api.delete(ISSUE)
    assert api.get(f"{ISSUE}/comments").status == 404
    restore(api)
    assert len(api.get(f"{ISSUE}/comments").body["items"]) == 1
    api.delete(ISSUE)
    document = stored(account)
    assert document is not None
    later(days * DAY)
    account.table.delete(document["PK"], document["SK"])
    account.modules["maintain"].handler(removal_of(document), Context())
    left = account.table.query(keys.comments("0807", "35e9")).items
    assert {item["SK"][:8] for item in left} == {"00000001"}
    assert commented(account) == [1]


@pytest.mark.parametrize("deaths", range(1, 5))
def test_the_comments_of_a_purged_issue_leave_the_activity_whatever_dies(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch, deaths: int
) -> None:
    for _ in range(2):
        api.made(f"{ISSUE}/comments", {"text": "Rust"})
    api.delete(ISSUE)
    document = stored(account)
    assert document is not None
    api.delete(f"{TRASH}/2")
    left, table = deaths, account.modules["maintain"].table
    delete = table.delete

    def die(*key: str) -> None:
        nonlocal left
        if key[0].startswith((keys.COMMENT_PREFIX, derived_keys.ACTIVITY_PREFIX)):
            left -= 1
            if left < 0:
                raise Overloaded("no more")
        delete(*key)

    assert commented(account) == [2, 2]
    with monkeypatch.context() as patch:
        patch.setattr(table, "delete", die)
        account.modules["maintain"].handler(removal_of(document), Context())
    account.modules["maintain"].handler(removal_of(document), Context())
    assert commented(account) == []
    assert account.table.query(keys.comments("0807", "35e9")).items == []


def commented(account: Cloud) -> list[int]:
    """The issues on which the activity has comments."""
    listed = account.table.query(derived_keys.activity("0807", "35e9")).items
    return [one["num"] for one in listed if one["kind"] == "comment"]


def test_history_outlives_the_expiry_of_a_deleted_issue(
    api: Client, account: Cloud, deleted: dict[str, Any], later: Later
) -> None:
    document = stored(account)
    assert document is not None
    later(31 * DAY)
    account.table.delete(document["PK"], document["SK"])
    account.modules["maintain"].handler(removal_of(document), Context())
    assert account.table.query(derived_keys.history("0807", "35e9", 2)).items


def test_a_deleted_project_takes_its_trash_along(
    api: Client, account: Cloud, deleted: dict[str, Any]
) -> None:
    document = stored(account)
    assert document is not None
    removed(api, BRIDGE)
    assert api.get(TRASH).status == restore(api).status == 404
    account.upkeep()
    assert stored(account) is None
    account.modules["maintain"].handler(removal_of(document), Context())
    assert account.table.query("trash-0807.35e9").items == []


def test_a_full_project_takes_no_issue_back(
    api: Client, account: Cloud, deleted: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash, "MAX_ISSUES", 3)
    assert restore(api).status == 200  # three numbers are used, so it cannot be full
    api.delete(ISSUE)
    account.derive()
    api.made(f"{BRIDGE}/issues", {"name": "n"})
    account.derive()
    refused = restore(api)
    assert (refused.status, MAX_ISSUES) == (422, 1_000_000)
    api.delete(f"{BRIDGE}/issues/4")
    account.derive()
    assert restore(api).status == 200


def test_one_of_two_concurrent_restores_wins(
    api: Client, account: Cloud, deleted: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = account.modules["command"].table
    put, others = table.put, iter([1])

    def put_after_another(item: Any, condition: Any = None) -> None:
        for _ in others:
            assert restore(api.acting(user="bob")).status == 200
        put(item, condition)

    monkeypatch.setattr(table, "put", put_after_another)
    assert restore(api).status == 404
    assert api.get(ISSUE).body["updated_by"] == "bob"


def test_a_restore_is_done_though_its_answer_was_lost(
    api: Client, account: Cloud, deleted: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = account.modules["command"].table
    put = table.put

    def twice(item: Any, condition: Any = None) -> None:
        put(item, condition)
        put(item, condition)

    monkeypatch.setattr(table, "put", twice)
    restored = restore(api)
    assert restored.status == 200
    assert api.get(ISSUE).body["version"] == restored.body["version"]


def test_an_edit_does_not_bring_back_what_was_deleted_meanwhile(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = account.modules["command"].table
    put, others = table.put, iter([1])

    def put_after_a_delete(item: Any, condition: Any = None) -> None:
        for _ in others:
            assert api.delete(ISSUE).status == 204
        put(item, condition)

    monkeypatch.setattr(table, "put", put_after_a_delete)
    assert api.patch(ISSUE, {"name": "x"}).status == 404
    assert api.get(ISSUE).status == 404


def test_a_delete_is_part_of_its_change(api: Client, account: Cloud, bridge: str) -> None:
    change = "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"
    api.delete(ISSUE, headers={"x-change-id": change})
    document = stored(account)
    assert document is not None
    assert document["change"].hex() == change.replace("-", "")
    restore(api, x_change_id=change.replace("5d", "6d"))
    document = stored(account)
    assert document is not None
    assert document["change"].hex().startswith("6d")
