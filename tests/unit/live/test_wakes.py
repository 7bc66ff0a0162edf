"""The projects with waiting sockets that a batch of stream records wakes."""

from typing import Any

from gridview.encoding import derived_keys, keys
from gridview.live.sockets import Owner
from gridview.live.wakes import Wake, wakes_in

VIEWS = keys.views("0807", "35e9")
JOURNAL = derived_keys.journal("0807", "35e9")
MINE = VIEWS, keys.private_view("ann", 1)
SHARED = VIEWS, keys.shared_view(2)
COMMIT = JOURNAL, derived_keys.journal_item(5)
LATER = JOURNAL, derived_keys.journal_item(6)
DEFINITIONS = keys.project("0807", "35e9"), keys.CATALOG


def records(*places: tuple[str, str]) -> list[dict[str, Any]]:
    """Stream records of items at these keys, one after the other."""
    return [
        {"dynamodb": {"Keys": {keys.PK: {"S": pk}, keys.SK: {"S": sk}}, "SequenceNumber": f"{number}"}}
        for number, (pk, sk) in enumerate(places, 1)
    ]


def woken(*places: tuple[str, str]) -> Wake:
    """The wake of records of one project."""
    (wake,) = wakes_in(records(*places)).values()
    return wake


def test_a_commit_beside_a_changed_view_wakes_all_subscriptions() -> None:
    for places in ((MINE, COMMIT), (COMMIT, MINE)):
        assert woken(*places) == Wake(5, None, "1")


def test_changed_definitions_beside_a_changed_view_wake_all_subscriptions() -> None:
    for places in ((MINE, DEFINITIONS), (DEFINITIONS, MINE)):
        assert woken(*places) == Wake(None, None, "1")


def test_changed_views_wake_the_followers_of_each() -> None:
    assert woken(MINE, SHARED) == Wake(None, frozenset({("ann", 1), (None, 2)}), "1")


def test_the_last_of_several_commits_counts() -> None:
    assert woken(COMMIT, LATER) == woken(LATER, COMMIT) == Wake(6, None, "1")


def test_projects_wake_apart_and_marks_and_orders_of_views_wake_none() -> None:
    mark, order = (JOURNAL, derived_keys.journal_mark(5)), (VIEWS, keys.private_order("ann"))
    assert wakes_in(records(mark, order)) == {}
    elsewhere = derived_keys.journal("0807", "77aa"), derived_keys.journal_item(9)
    assert wakes_in(records(COMMIT, elsewhere)) == {
        Owner("0807", "35e9"): Wake(5, None, "1"),
        Owner("0807", "77aa"): Wake(9, None, "2"),
    }
