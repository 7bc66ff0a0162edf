"""Generated identifiers."""

from gridview.schema.ids import ATTRIBUTE, RESERVED_FIELDS, attribute_id_from


def test_an_id_that_is_made_from_a_long_name_keeps_its_number_within_the_length_of_an_id() -> None:
    name = "x" * 70
    first = attribute_id_from(name, ())
    taken = {first, *(attribute_id_from(name, {first})[:-1] + str(number) for number in range(2, 10))}
    tenth = attribute_id_from(name, taken)
    assert (first, tenth) == ("x" * 64, f"{'x' * 61}_10")
    assert ATTRIBUTE.fullmatch(tenth)


def test_a_reserved_id_is_never_made() -> None:
    for reserved in RESERVED_FIELDS:
        assert attribute_id_from(reserved.title(), ()) == f"{reserved}_2"
