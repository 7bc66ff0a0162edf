"""Issues as they were at an instant, with who had written them by then."""

from typing import Any

import pytest

from devtools.proof.faults.adversary import record
from gridview.dynamodb.expressions import Item
from gridview.encoding import keys
from gridview.journal.history import recorded_change
from gridview.maintenance.as_of import Unrecorded, document_at
from gridview.schema.history import Change

WRITERS = ("ann", "bob", "cyd", "bob")


def at(second: int) -> str:
    return f"2026-11-21T08:00:{second:02d}.000000Z"


def versions() -> list[Item]:
    """An issue that a different user writes each ten seconds."""
    return [
        {
            keys.PK: keys.issue("acme", "bridge", 7),
            keys.SK: keys.project("acme", "bridge"),
            "num": 7,
            "name": f"by {user}",
            "state": "o1",
            "fields": {},
            "version": number,
            "created": at(10),
            "created_by": WRITERS[0],
            "updated": at(10 * number),
            "updated_by": user,
        }
        for number, user in enumerate(WRITERS, 1)
    ]


def changes(documents: list[Item]) -> list[Change]:
    """Their changes, newest first."""
    made = []
    for number, (before, after) in enumerate(zip([None, *documents], documents, strict=False), 1):
        found = recorded_change(record(number, before, after))
        assert found is not None
        made.append(found.change)
    return made[::-1]


@pytest.mark.parametrize("version", [1, 2, 3, 4])
@pytest.mark.parametrize("known", [1, 2, 3, 4])
def test_a_version_has_its_writer_also_if_its_own_change_is_forgotten(version: int, known: int) -> None:
    """`known`: how many of the newest changes are remembered."""
    documents = versions()
    newest = changes(documents)[:known]
    instant = at(10 * version + 5)
    if len(documents) - known > version:
        with pytest.raises(Unrecorded):
            document_at(documents[-1], lambda: newest, instant)
        return
    found: Any = document_at(documents[-1], lambda: newest, instant)
    assert found == documents[version - 1]
