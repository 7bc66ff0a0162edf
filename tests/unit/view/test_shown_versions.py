"""The token of an answer names exactly the parts of it that the index may still lack."""

import pytest

from gridview.derive.issue_changes import IssueChange
from gridview.derive.ledger import SHOWN_SECONDS
from gridview.encoding.consistency import DELETED, MAX_ISSUES
from gridview.journal.items import JournalItem
from gridview.support import clock
from gridview.view.moves import Logged
from gridview.view.shown_versions import TAKEN_IN, Shown, ShownVersion, beyond

NOW = 1_800_000_000.0


@pytest.fixture(autouse=True)
def time_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "seconds", lambda: NOW)


def ago(num: int, version: int, seconds: float, *, removed: bool = False) -> ShownVersion:
    return ShownVersion(num, version, clock.stored(NOW - seconds), removed)


def change(num: int, version: int, *, removed: bool = False) -> IssueChange:
    return IssueChange(num, version, removed, 1, {})


def logged(*changes: IssueChange, after_gap: tuple[JournalItem, ...] = (), seconds: float = 1.0) -> Logged:
    return Logged(last=57, items=[JournalItem(57, NOW - seconds, changes)], beyond=after_gap)


def test_versions_made_within_a_minute_and_the_lag_are_named() -> None:
    versions = [ago(1, 2, 1), ago(2, 3, TAKEN_IN - 1), ago(3, 4, TAKEN_IN + 1), ago(4, 5, TAKEN_IN + 11)]
    for late, named in ((None, {1: 2, 2: 3}), (-3.0, {1: 2, 2: 3}), (10.0, {1: 2, 2: 3, 3: 4})):
        shown = Shown.of(versions, late)
        assert (shown.versions, shown.number) == (named, 0)


def test_the_last_of_several_versions_of_an_issue_is_named() -> None:
    shown = Shown.of(
        [ago(1, 2, 9), ago(1, 3, 5), ago(2, 4, 3), ago(2, 5, 2, removed=True), ago(3, 6, 2, removed=True)],
        None,
    )
    assert shown.versions == {1: 3, 2: DELETED, 3: DELETED}


def test_versions_in_the_journal_are_covered_by_its_number() -> None:
    journal = logged(change(1, 2), change(2, 3), change(3, 4, removed=True), change(4, 7))
    overlaid = [ShownVersion(3, 4, removed=True), ShownVersion(4, 8, removed=True), ShownVersion(5, 1)]
    shown = Shown.of([ago(1, 2, 1), ago(2, 4, 1), ago(6, 1, 1)], None, overlaid, journal)
    assert (shown.versions, shown.number) == ({2: 4, 4: DELETED, 5: 1, 6: 1}, 57)


def test_a_removed_document_is_named_though_the_journal_has_an_earlier_version() -> None:
    shown = Shown.of(
        [], None, [ShownVersion(1, 0, removed=True), ShownVersion(2, 0, removed=True)], logged(change(1, 5))
    )
    assert shown.versions == {1: DELETED, 2: DELETED}
    shown = Shown.of([], None, [ShownVersion(1, 0, removed=True)], logged(change(1, 5, removed=True)))
    assert shown.versions == {}


def test_a_journal_shown_to_all_readers_needs_no_number() -> None:
    for seconds, number in ((SHOWN_SECONDS - 1, 57), (SHOWN_SECONDS + 1, 0)):
        shown = Shown.of([], None, (), logged(change(1, 2), seconds=seconds))
        assert shown.number == number
    shown = Shown.of([], None, (), Logged(last=57))
    assert shown.number == 0


def test_versions_after_a_missing_number_are_named() -> None:
    items = (
        JournalItem(59, NOW, (change(1, 2), change(2, 3))),
        JournalItem(60, NOW, (change(1, 3), change(3, 4, removed=True))),
    )
    journal = logged(change(2, 2), after_gap=items)
    shown = Shown.of([], None, beyond(journal), journal)
    assert shown.versions == {1: 3, 2: 3, 3: DELETED}
    assert beyond(None) == []


def test_at_most_500_issues_are_named_overlaid_ones_first_then_the_latest() -> None:
    versions = [ago(num, 1, num / 100) for num in range(1, MAX_ISSUES + 100)]
    overlaid = [ShownVersion(num, 1) for num in range(10_000, 10_100)]
    shown = Shown.of(reversed(versions), None, overlaid)
    assert len(shown.versions) == MAX_ISSUES
    assert {*shown.versions} == {*range(10_000, 10_100), *range(1, MAX_ISSUES - 99)}
