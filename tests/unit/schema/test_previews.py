"""What a bulk change would do, as a part of a job's item: its size has a bound."""

from gridview.encoding.attribute_values import item_size
from gridview.schema.previews import EMPTY, MAX_EXAMPLE_BYTES, MAX_EXAMPLES


def test_examples_are_the_first_new_values() -> None:
    preview = EMPTY
    for num in range(1, 2 * MAX_EXAMPLES):
        preview = preview.with_issue([{"num": num, "field": "name", "old": "a", "new": "b"}])
        assert preview.has_room == (num < MAX_EXAMPLES)
    assert [one["num"] for one in preview.examples] == [*range(1, MAX_EXAMPLES + 1)]
    assert preview.changed == 2 * MAX_EXAMPLES - 1


def test_examples_that_are_too_large_are_left_out_and_counted() -> None:
    options = ["x" * 256] * 200
    preview = EMPTY
    for num, new in enumerate([["a"], options, ["b"], options, options], 1):
        preview = preview.with_issue([{"num": num, "field": "tags", "old": None, "new": new}])
    assert [one["num"] for one in preview.examples] == [1, 2, 3]
    assert preview.changed == 5
    assert item_size([*preview.examples]) <= MAX_EXAMPLE_BYTES
