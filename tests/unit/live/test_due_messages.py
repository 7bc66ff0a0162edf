"""The messages of a page of the feed: its end, and its resets."""

from collections.abc import Sequence

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.journal.feed_positions import FeedPosition
from gridview.live import due_messages
from gridview.live.due_messages import DueMessages, messages_on
from gridview.live.feed import FeedPage
from gridview.live.followed_rows import RowMove
from gridview.live.frozen_views import FrozenView
from gridview.live.outbox import Outbox, RowKeys
from gridview.live.row_moves import Unjudged, Verdict
from gridview.live.webhook import Webhook
from gridview.schema.history import Change
from tests.support.derived_project import catalog_of, new_table
from tests.support.webhooks import NOW, stored

START = FeedPosition(6, 3, 0.0, "before")
FOLLOWING = tuple(FeedPosition(7, place, 0.0, "item") for place in (1, 2, 4))
END = FeedPosition(9, 0, 0.0, "last")
ENTERS = RowMove("enter", "key", None)


@pytest.fixture
def table() -> MemoryTable:
    return new_table()


def messages(
    table: MemoryTable,
    monkeypatch: pytest.MonkeyPatch,
    verdicts: Sequence[Verdict],
    *,
    missed: bool = False,
    reset: bool = False,
) -> DueMessages:
    """The messages of three changes, with the effect of each on the rows of a view."""
    view = FrozenView(1, "All", [], None, {}, NOW, "ann")
    webhook = Webhook.from_item(stored("w1", view=view, events=("enter", "leave", "update")))
    changes = tuple(Change(num, 2, "update", "ann", NOW, None, {}, NOW) for num in (11, 12, 13))
    page = FeedPage(changes, END, reset, catalog_of(table), FOLLOWING, ended=False, overdue=(8,))
    rows = view.rows(page.catalog, NOW).fingerprint
    monkeypatch.setattr(due_messages, "moves_of", lambda *_: list(verdicts))
    return messages_on(table, webhook, Outbox(START, NOW, missed=missed, rows=rows), page)


@pytest.mark.parametrize(
    ("verdicts", "sent", "position"),
    [
        ([ENTERS, ENTERS, ENTERS], [11, 12, 13], END),
        ([ENTERS, ENTERS, Unjudged.YET], [11, 12], FOLLOWING[1]),
        ([ENTERS, Unjudged.YET, ENTERS], [11], FOLLOWING[0]),
        ([Unjudged.YET, ENTERS, ENTERS], [], START),
    ],
)
def test_a_page_ends_before_the_first_change_that_cannot_be_judged_yet(
    table: MemoryTable,
    monkeypatch: pytest.MonkeyPatch,
    verdicts: Sequence[Verdict],
    sent: Sequence[int],
    position: FeedPosition,
) -> None:
    found = messages(table, monkeypatch, verdicts)
    assert [one.delivery.num for one in found.messages] == sent
    assert all(one.delivery.row == RowKeys("key", None) for one in found.messages)
    assert found.page.position == position
    assert len(found.page.events) == len(found.page.ends) == len(sent)
    is_cut = position != END
    assert (found.page.ended, found.page.held, found.page.overdue) == (is_cut, is_cut, () if is_cut else (8,))


def test_a_change_that_is_never_judged_is_a_reset_at_its_place(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = messages(table, monkeypatch, [ENTERS, Unjudged.FOREVER, None])
    assert [(one.delivery.event, one.delivery.number, one.delivery.place) for one in found.messages] == [
        ("enter", 7, 1),
        ("reset", 7, 2),
    ]
    assert not any(one.is_reset_of_page for one in found.messages)


@pytest.mark.parametrize("state", [{"missed": True}, {"reset": True}])
def test_missed_changes_are_a_reset_before_all_others(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch, state: dict[str, bool]
) -> None:
    found = messages(table, monkeypatch, [None, None, ENTERS], **state)
    assert [(one.delivery.event, one.delivery.number, one.delivery.place) for one in found.messages] == [
        ("reset", 6, 3),
        ("enter", 7, 4),
    ]
    assert [one.is_reset_of_page for one in found.messages] == [True, False]
    assert found.messages[0].delivery.id == "6_3r", "the first outbox of a webhook has no version in it"
