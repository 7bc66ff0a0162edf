"""A cursor of the changes used as a consistency token: it names all changes before it."""

import pytest

from gridview.encoding.consistency import RecentWrites, still_good
from gridview.encoding.cursors import Cursors
from gridview.journal.feed_cursors import AHEAD_SECONDS, FeedCursor
from gridview.journal.feed_positions import FeedPosition
from gridview.schema.catalog import Catalog
from gridview.schema.history import FEED_DAYS

FEED = Cursors([b"a secret"], "changes")
CATALOG = Catalog("0807", "35e9", 1, (), (), 1)
NOW = 1_800_000_000
AHEAD = {7: 3, 9: 12}


def held(cursor: FeedCursor, tenant: str = CATALOG.tenant, project: str = CATALOG.project) -> object:
    return FeedCursor.held(cursor.sealed(FEED, CATALOG), FEED, tenant, project)


def at(number: int, place: int = 0) -> FeedCursor:
    return FeedCursor(FeedPosition(number, place, NOW), 4, "rows", AHEAD, NOW + AHEAD_SECONDS)


def test_a_cursor_covers_the_journal_up_to_its_place_and_the_versions_ahead() -> None:
    until = NOW + FEED_DAYS * 86_400
    ahead = RecentWrites(CATALOG.project, NOW + AHEAD_SECONDS, AHEAD, 0)
    assert held(at(58)) == (RecentWrites(CATALOG.project, until, {}, 57), ahead)


def test_a_place_within_an_item_covers_all_of_it() -> None:
    assert held(at(58, 1)) == (
        RecentWrites(CATALOG.project, NOW + FEED_DAYS * 86_400, {}, 58),
        RecentWrites(CATALOG.project, NOW + AHEAD_SECONDS, AHEAD, 0),
    )


def test_it_is_good_for_as_long_as_there_may_be_anything_that_the_index_lacks() -> None:
    journal, ahead = FeedCursor.held(at(58).sealed(FEED, CATALOG), FEED, CATALOG.tenant, CATALOG.project)
    for seconds, good in (
        (61, (journal, ahead)),
        (AHEAD_SECONDS + 1, (journal,)),
        (FEED_DAYS * 86_400 + 1, ()),
    ):
        assert still_good((journal, ahead), CATALOG.project, NOW + seconds) == good


@pytest.mark.parametrize(("tenant", "project"), [("other", CATALOG.project), (CATALOG.tenant, "other")])
def test_it_is_of_one_tenant_and_project(tenant: str, project: str) -> None:
    with pytest.raises(ValueError, match="not a cursor"):
        held(at(58), tenant, project)
