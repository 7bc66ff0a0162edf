"""What the type of a field decides."""

import pytest

from gridview.schema.fields import BUILTINS, WRITERS, Field, FieldType
from gridview.schema.generations import Indexes


def test_fields_of_few_values_and_the_users_who_write_get_no_sort_entries() -> None:
    few = {kind for kind in FieldType if not Field("own", "a1", "Own", kind).gets_entries}
    assert few == {FieldType.BOOL, FieldType.ENUM}
    assert {key for key, field in BUILTINS.items() if not field.gets_entries} == {"state", *WRITERS}


@pytest.mark.parametrize(
    ("key", "indexes", "searched"),
    [
        ("name", Indexes(), False),
        ("name", Indexes().on(2), True),
        ("a1", Indexes().on(2), False),
        ("a1", Indexes().on(2, words=True), True),
        ("a1", Indexes().on(2, words=True).off(3), False),
    ],
)
def test_the_words_of_names_and_of_searched_texts_are_indexed(
    key: str, indexes: Indexes, searched: bool
) -> None:
    assert Field(key, key, key, FieldType.TEXT, indexes=indexes).searched == searched
