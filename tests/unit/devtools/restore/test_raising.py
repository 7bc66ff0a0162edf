"""The items of a restored table that change, and their changes."""

import random
from typing import Any

import pytest

from devtools.restore.raising import RESTORED, Delete, Put, Raise
from gridview.encoding import derived_keys, keys, live_keys
from gridview.schema.documents import LOST, is_lost, versions_between
from gridview.schema.ids import MAX_ISSUE_NUMBER
from gridview.schema.purged_issues import PurgedIssues
from gridview.schema.remembered import Answer, Use, answered, new_state
from gridview.support import clock

NOW = 1_796_000_000.0
VERSION = 1_796_000_000_000
EARLIER, LATER = int(NOW) - 1, int(NOW) + 86_400

RAISE = Raise(VERSION, NOW)
GONE = Raise(VERSION, NOW, lost_writes=500)

PROJECT = keys.project("acme", "bridge")
ISSUE = keys.issue("acme", "bridge", 7)
DOCUMENT = {keys.PK: ISSUE, keys.SK: PROJECT, "num": 7, "version": 5, "change": b"c", "fields": {}}
LEDGER = {keys.PK: ISSUE, keys.SK: derived_keys.LEDGER, "version": 5, "revision": 9, "report": [4, 5]}
COUNTER = {keys.PK: PROJECT, keys.SK: keys.COUNTER, "last": 40}
OUTBOX = {
    keys.PK: live_keys.outbox("acme", "bridge", "w1"),
    keys.SK: live_keys.OUTBOX,
    keys.SORT: "2026-01-01T00:00:00.000000Z",
    keys.HOLDER: "somebody",
    "position": [12, 3, 1_700_000_000_000, "abc"],
}


def the_put(
    item: dict[str, Any], other: dict[str, Any] | None = None, restore: Raise = RAISE
) -> dict[str, Any]:
    (change,) = restore.changes_to(item, other)
    assert isinstance(change, Put)
    return change.item


def test_a_document_and_its_ledger_get_the_version_of_the_restore_the_document_last() -> None:
    assert RAISE.asks(DOCUMENT) == ("restored", (ISSUE, derived_keys.LEDGER))
    ledger, document = RAISE.changes_to(DOCUMENT, LEDGER)
    assert ledger == Put({**LEDGER, "version": VERSION, "report": [4, VERSION]})
    expected = {name: value for name, value in DOCUMENT.items() if name != "change"}
    assert document == Put({**expected, "version": VERSION, LOST: [[5, VERSION]]})


def test_a_second_restore_keeps_what_the_first_one_skipped() -> None:
    first = the_put(DOCUMENT)
    second = the_put({**first, "version": VERSION + 3}, restore=Raise(VERSION + 1_000, NOW + 1))
    assert second[LOST] == [[5, VERSION], [VERSION + 3, VERSION + 1_000]]
    lost = [
        version
        for version in (4, 5, 6, VERSION - 1, VERSION, VERSION + 3, VERSION + 4)
        if is_lost(second, version)
    ]
    assert lost == [6, VERSION - 1, VERSION + 4]
    assert list(versions_between(second, 3, VERSION + 1_002)) == [
        4,
        5,
        VERSION + 1,
        VERSION + 2,
        VERSION + 3,
        VERSION + 1_001,
    ]
    assert list(versions_between(second, VERSION + 1, VERSION + 3)) == [VERSION + 2]
    assert list(versions_between(second, 1, 4)) == [2, 3]


@pytest.mark.parametrize(
    "ledger",
    [None, {**LEDGER, "version": 4}, {**LEDGER, "version": VERSION}],
    ids=["none", "behind", "raised"],
)
def test_a_ledger_of_another_version_stays(ledger: dict[str, Any] | None) -> None:
    (change,) = RAISE.changes_to(DOCUMENT, ledger)
    assert isinstance(change, Put)
    assert change.item[keys.SK] == PROJECT


def test_a_raised_ledger_keeps_the_versions_that_the_journal_lacks() -> None:
    ledger, _ = RAISE.changes_to(DOCUMENT, {**LEDGER, "report": [3, 4]})
    assert isinstance(ledger, Put)
    assert ledger.item["report"] == [3, 4]


def test_the_place_of_a_deleted_issue_in_the_trash_follows_its_version() -> None:
    at = "2026-11-21T08:00:00.000000Z"
    deleted = {**DOCUMENT, "deleted_by": "ann", "deleted_at": at, keys.TTL_ATTRIBUTE: LATER}
    listed, unlisted, document = RAISE.changes_to(deleted, None)
    trash = keys.trash("acme", "bridge")
    place = {keys.PK: trash, keys.SK: keys.trash_place(at, 7, VERSION), keys.TTL_ATTRIBUTE: LATER}
    assert listed == Put(place)
    assert unlisted == Delete(trash, keys.trash_place(at, 7, 5))
    assert isinstance(document, Put)
    assert RAISE.changes_to({**deleted, keys.TTL_ATTRIBUTE: EARLIER}, None) == []


def test_numbers_go_on_after_those_of_the_lost_table() -> None:
    assert RAISE.asks(COUNTER) == ("lost", (PROJECT, keys.COUNTER))
    assert the_put(COUNTER, {**COUNTER, "last": 55})["last"] == 55
    assert the_put(COUNTER, {**COUNTER, "last": 3})["last"] == 40
    assert the_put(COUNTER)["last"] == 40


def test_without_the_lost_table_numbers_skip_as_many_as_were_written_at_most_and_once() -> None:
    assert GONE.asks(COUNTER) is None
    raised = the_put(COUNTER, restore=GONE)
    assert (raised["last"], raised[RESTORED]) == (540, VERSION)
    assert GONE.changes_to(raised) == []
    with pytest.raises(ValueError, match="the last number is"):
        GONE.changes_to({**COUNTER, "last": MAX_ISSUE_NUMBER - 499})
    assert the_put({**COUNTER, "last": MAX_ISSUE_NUMBER - 500}, restore=GONE)["last"] == MAX_ISSUE_NUMBER


@pytest.mark.parametrize(
    ("pk", "sk"),
    [
        (keys.views("acme", "bridge"), keys.VIEW_REGISTER),
        (keys.comments("acme", "bridge"), keys.comment_register(7)),
    ],
)
def test_ids_of_views_and_comments_go_on_after_those_of_the_lost_table(pk: str, sk: str) -> None:
    register = {keys.PK: pk, keys.SK: sk, "last": 2, "revision": 1}
    assert RAISE.asks(register) == ("lost", (pk, sk))
    assert the_put(register, {**register, "last": 8})["last"] == 8
    assert the_put(register, restore=GONE)["last"] == 2


def test_an_epoch_and_the_first_version_of_what_is_new_are_raised_once() -> None:
    catalog = {keys.PK: PROJECT, keys.SK: keys.CATALOG, "epoch": 3, "next_composite": 2}
    raised = the_put(catalog, {**catalog, "next_composite": 4})
    assert (raised["epoch"], raised["first_version"], raised["next_composite"]) == (VERSION, VERSION, 4)
    assert RAISE.changes_to(raised) == []
    assert the_put(catalog, restore=GONE)["next_composite"] == 502


@pytest.mark.parametrize(
    ("pk", "sk"),
    [
        (PROJECT, keys.tenant("acme")),
        (PROJECT, keys.attribute("acme", "bridge", "start")),
        (keys.views("acme", "bridge"), keys.shared_view(1)),
        (keys.views("acme", "bridge"), keys.private_view("ann", 1)),
        (keys.comments("acme", "bridge"), keys.comment(7, 1)),
        (live_keys.webhooks("acme", "bridge"), "w1"),
    ],
)
def test_every_item_with_a_version_for_callers_gets_a_new_one(pk: str, sk: str) -> None:
    item = {keys.PK: pk, keys.SK: sk, "version": 2, "name": "kept"}
    assert the_put(item) == {**item, "version": VERSION}
    assert RAISE.changes_to(the_put(item)) == []


def test_an_outbox_comes_to_a_place_that_its_journal_has_not_reached() -> None:
    head = {"last": 14}
    assert RAISE.asks(OUTBOX) == ("restored", (derived_keys.journal("acme", "bridge"), derived_keys.FOLD))
    raised = the_put(OUTBOX, head)
    assert raised["position"] == [16, 0, VERSION, ""]
    assert raised[keys.HOLDER] == ""
    assert raised[keys.SORT] > OUTBOX[keys.SORT]
    assert RAISE.changes_to(raised, head) == []
    disabled = {name: value for name, value in OUTBOX.items() if name != keys.SORT}
    assert keys.SORT not in the_put(disabled, head)


@pytest.mark.parametrize(
    "key",
    [
        (live_keys.sockets("acme"), live_keys.socket("bridge", "c=")),
        (live_keys.socket_owner("c="), live_keys.SOCKET),
        (live_keys.owed_pushes("acme", "bridge"), live_keys.OWED),
        (live_keys.seats("acme"), live_keys.seat("ann", "c=")),
        (live_keys.polls("acme"), "ann"),
        (keys.request("acme", "bridge"), keys.remembered("9f86d081")),
    ],
)
def test_items_of_connections_and_unfinished_batches_are_removed(key: tuple[str, str]) -> None:
    item = {keys.PK: key[0], keys.SK: key[1], keys.TTL_ATTRIBUTE: LATER}
    assert RAISE.changes_to(item) == [Delete(*key)]


def test_an_answer_that_is_remembered_stays() -> None:
    state = new_state(Use("acme", "bridge", "9f86d081", "body"))
    items = answered(state, Answer(200, {}, random.Random(0).randbytes(400_000)))  # noqa: S311
    assert len(items) == 2
    for item in items:
        assert RAISE.changes_to({**item, keys.TTL_ATTRIBUTE: LATER}) == []


def test_purged_issues_stay_to_be_taken_out_of_the_answers() -> None:
    partition = keys.request("acme", "bridge")
    noted = PurgedIssues().adding([7], clock.stored(NOW)).to_item(partition)
    assert (noted[keys.PK], noted[keys.SK]) == (partition, keys.JOB)
    assert RAISE.changes_to(noted) == []


def test_expired_items_are_removed_but_documents_only_by_the_table() -> None:
    item = {keys.PK: derived_keys.journal("acme", "bridge"), keys.SK: derived_keys.journal_item(1)}
    assert RAISE.changes_to({**item, keys.TTL_ATTRIBUTE: EARLIER}) == [Delete(item[keys.PK], item[keys.SK])]
    assert RAISE.changes_to({**item, keys.TTL_ATTRIBUTE: LATER}) == []
    assert RAISE.changes_to({**DOCUMENT, keys.TTL_ATTRIBUTE: EARLIER}, LEDGER) == []


def test_derived_items_stay_as_they_are() -> None:
    for pk, sk in (
        (ISSUE, derived_keys.order("acme", "bridge", "a1.1")),
        (ISSUE, derived_keys.LEDGER),
        (derived_keys.block("acme", "bridge", "a1.1", "0"), derived_keys.directory("acme", "bridge", "a1.1")),
        (derived_keys.journal("acme", "bridge"), derived_keys.FOLD),
        (keys.trash("acme", "bridge"), "2026-11-21T08:00:00.000000Z.00000007.5"),
    ):
        item = {keys.PK: pk, keys.SK: sk, "version": 5, "last": 3}
        assert RAISE.asks(item) is None
        assert RAISE.changes_to(item) == []
