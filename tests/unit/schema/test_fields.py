"""What the type of a field decides."""

from gridview.schema.fields import BUILTINS, WRITERS, Field, FieldType


def test_fields_of_few_values_and_the_users_who_write_get_no_sort_entries() -> None:
    few = {kind for kind in FieldType if not Field("own", "a1", "Own", kind).gets_entries}
    assert few == {FieldType.BOOL, FieldType.ENUM}
    assert {key for key, field in BUILTINS.items() if not field.gets_entries} == {"state", *WRITERS}
