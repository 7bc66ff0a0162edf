"""The room that an issue has in the index."""

from random import Random

import pytest

from gridview.derive import room
from gridview.derive.room import require_room
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Changes
from gridview.schema.fields import Field, FieldType, Option
from gridview.schema.generations import Indexes
from gridview.support.errors import LimitExceeded

INDEXES = Indexes.complete(words=True)
OPTIONS = (Option("o1", "open", "bzzz"),)
DRAWN = Random(0)  # noqa: S311 - not a secret
TEXTS = tuple(Field(key, key, key, FieldType.TEXT, indexes=INDEXES) for key in ("a1", "a2"))


@pytest.mark.parametrize(("characters", "refused"), [(24_999, False), (25_000, True)])
def test_an_issue_with_long_texts_needs_room(
    monkeypatch: pytest.MonkeyPatch, characters: int, refused: bool
) -> None:
    monkeypatch.setattr(room, "MAX_STRINGS_BYTES", 1_000)
    catalog = Catalog("acme", "bridge", 1, OPTIONS, TEXTS, 3)
    texts = {field.key: "".join(DRAWN.choices("abcdefgh ", k=characters // 2)) for field in TEXTS}
    texts["a2"] += "x" * (characters % 2)
    document = documents.new_document(
        catalog, 1, Changes({"name": "n"}, texts), user="ann", now="2024-01-01T00:00:00.000000Z"
    )
    if refused:
        with pytest.raises(LimitExceeded, match="190 KB"):
            require_room(catalog, document)
    else:
        require_room(catalog, document)
