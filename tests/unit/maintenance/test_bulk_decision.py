"""A bulk change's decision about an issue that a dead worker may have written."""

from typing import Any
from uuid import UUID

import pytest
from pyroaring import BitMap

from gridview.encoding import keys
from gridview.maintenance.bulk_decision import BulkRule, Fate
from gridview.maintenance.bulk_edits import SetValues
from gridview.maintenance.bulk_place import Begun
from gridview.schema import documents
from gridview.schema.documents import Changes
from gridview.schema.trash import DELETED_BY
from tests.support.derived_project import catalog_of, new_table

CHANGE = UUID("5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3")
OTHER = UUID(int=1)


def rule(changes: Changes | None) -> BulkRule:
    edit = None if changes is None else SetValues(changes)
    return BulkRule(catalog_of(new_table()), None, edit, "ann", CHANGE, BitMap(), "job")


def document(version: int, name: str, user: str, change: UUID, **more: Any) -> Any:
    made = documents.new_document(
        catalog_of(new_table()), 1, Changes({"name": name}, {}), user=user, now="2024-01-01T00:00:00.000000Z"
    )
    return made | {"version": version, "updated_by": user, "change": change.bytes} | more


RENAMED = Changes({"name": "wanted"}, {})
DELETED = {DELETED_BY: "ben", keys.TTL_ATTRIBUTE: 1}


@pytest.mark.parametrize(
    ("found", "fate"),
    [
        (document(3, "old", "ben", OTHER), Fate.OPEN),
        (document(4, "wanted", "ann", CHANGE), Fate.WRITTEN),
        (document(4, "wanted", "ben", OTHER), Fate.OPEN),
        (document(4, "old", "ben", OTHER, **DELETED), Fate.GONE),
        (document(5, "wanted", "ben", OTHER), Fate.WRITTEN),
        (document(5, "old", "ben", OTHER), Fate.UNSURE),
        (document(5, "wanted", "ben", OTHER, **DELETED), Fate.UNSURE),
        (None, Fate.GONE),
    ],
)
def test_the_fate_of_an_issue_that_was_to_be_renamed_over_version_3(found: Any, fate: Fate) -> None:
    """Two versions later the job may have written in between: only a document with all values shows that."""
    assert rule(RENAMED).fate(Begun(1, 3, 0), found) is fate


@pytest.mark.parametrize(
    ("found", "fate"),
    [
        (document(4, "old", "ann", CHANGE, **DELETED), Fate.WRITTEN),
        (document(4, "old", "ben", OTHER, **DELETED), Fate.GONE),
        (None, Fate.WRITTEN),
    ],
)
def test_the_fate_of_an_issue_that_was_to_be_deleted_over_version_3(found: Any, fate: Fate) -> None:
    assert rule(None).fate(Begun(1, 3, 0), found) is fate
