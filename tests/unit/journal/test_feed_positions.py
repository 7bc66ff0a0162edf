"""The versions in the items of a journal, and the positions after them."""

from gridview.derive.issue_changes import IssueChange
from gridview.journal.feed_positions import FeedPosition, FeedVersion, versions_from
from gridview.journal.items import JournalItem

NOW = 1_800_000_000.0
ITEM = JournalItem(58, NOW, (IssueChange(7, 3, True, 1, {}, 2),))


def test_the_positions_after_a_version_and_its_removal_name_their_item() -> None:
    made, gone = (FeedPosition(58, place, NOW, ITEM.id) for place in (1, 2))
    found = [*versions_from([ITEM], FeedPosition(58, 0, NOW))]
    assert found == [FeedVersion(7, 3, made), FeedVersion(7, 3, gone, after=True)]
    assert [*versions_from([ITEM], made)] == found[1:]
    assert [*versions_from([ITEM], gone)] == []
