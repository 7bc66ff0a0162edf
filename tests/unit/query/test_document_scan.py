"""Documents of a set of issues, one by one."""

from gridview.query.document_scan import one_by_one
from gridview.query.plan import Node
from gridview.query.steps import Ask
from gridview.schema.fields import Field, FieldType
from gridview.view.reads import ReadDocuments


def test_only_the_number_the_version_and_the_fields_in_question_are_read() -> None:
    node = Node()
    steps = one_by_one(node, [Field("cost", "a1", "Cost", FieldType.NUMBER)], [1, 2])
    paths = [("num",), ("version",), ("updated",), ("fields", "a1")]
    assert next(steps) == [Ask(node, ReadDocuments((1, 2), paths))]
