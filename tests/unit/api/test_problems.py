"""Every error has its place in the one table, and becomes a problem document."""

import pytest

from gridview.support import errors
from gridview.support.errors import PROBLEMS, FieldError, InvalidRequest, RequestError, problem

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, RequestError) and kind is not RequestError
]

CONTRACT = {400, 401, 403, 404, 405, 409, 412, 413, 422, 429, 503}
"""Every status that an error of a request can have."""


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_is_answered_as_the_table_says(kind: type[RequestError]) -> None:
    document = problem(kind("Because."))
    assert document == {
        "type": PROBLEMS[kind].name,
        "title": PROBLEMS[kind].title,
        "status": PROBLEMS[kind].status,
        "detail": "Because.",
    }


def test_a_kind_of_error_made_elsewhere_is_answered_as_the_one_above_it() -> None:
    class Particular(errors.Unprocessable):
        pass

    assert problem(Particular("Because."))["status"] == 422


def test_the_types_and_titles_tell_the_errors_apart() -> None:
    rows = [*PROBLEMS.values(), errors.INTERNAL]
    assert len({row.name for row in rows}) == len({row.title for row in rows}) == len(rows)
    assert {row.status for row in PROBLEMS.values()} == CONTRACT


def test_errors_of_fields_are_listed_in_their_order() -> None:
    failed = InvalidRequest("Because.", [FieldError("fields.b", "is bad"), FieldError("a", "is worse")])
    assert problem(failed)["errors"] == [
        {"field": "fields.b", "message": "is bad"},
        {"field": "a", "message": "is worse"},
    ]
