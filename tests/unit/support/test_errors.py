"""Every error is in the one table, and becomes a problem document."""

import json

import pytest

from gridview.support import errors
from gridview.support.errors import (
    MAX_ERRORS,
    MAX_PROBLEM_BYTES,
    PROBLEMS,
    FieldError,
    InvalidRequest,
    RequestError,
    problem,
)

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, RequestError) and kind is not RequestError
]

CONTRACT = {400, 401, 403, 404, 405, 409, 410, 412, 413, 422, 429, 500, 503}
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
    class Particular(errors.LimitExceeded):
        pass

    assert problem(Particular("Because."))["status"] == 422


def test_errors_differ_in_type_and_title() -> None:
    rows = list(PROBLEMS.values())
    assert len({row.name for row in rows}) == len({row.title for row in rows}) == len(rows)
    assert {row.status for row in PROBLEMS.values()} == CONTRACT


def test_errors_of_fields_are_listed_in_their_order() -> None:
    failed = InvalidRequest("Because.", [FieldError("fields.b", "is bad"), FieldError("a", "is worse")])
    assert problem(failed)["errors"] == [
        {"field": "fields.b", "message": "is bad"},
        {"field": "a", "message": "is worse"},
    ]


def test_a_problem_lists_at_most_100_errors_and_counts_the_others() -> None:
    errors = [FieldError(f"columns.{place}", "is not a field") for place in range(200_000)]
    document = problem(InvalidRequest("Because.", errors, more=7))
    assert document["errors"] == [error._asdict() for error in errors[:MAX_ERRORS]]
    assert document["more"] == 200_000 - MAX_ERRORS + 7
    assert "more" not in problem(InvalidRequest("Because.", errors[:MAX_ERRORS]))


@pytest.mark.parametrize("character", ["x", "\0", '"', "\\", "\N{GRINNING FACE}", "\ud800"])
@pytest.mark.parametrize("room", [MAX_PROBLEM_BYTES, 1_200])
def test_a_problem_never_exceeds_its_size_limit(character: str, room: int) -> None:
    endless = character * 100_000
    document = problem(InvalidRequest("Because.", [FieldError(endless, endless)] * 1000), room)
    listed: list[dict[str, str]] = document.get("errors", [])  # type: ignore[assignment]
    assert len(json.dumps(document | {"request_id": "x" * 36})) <= room
    assert len(listed) + int(str(document["more"])) == 1000
    assert all(len(text) <= 500 for one in listed for text in one.values())
    assert len(json.dumps(problem(InvalidRequest(endless)))) <= MAX_PROBLEM_BYTES


def test_a_text_that_is_cut_ends_with_an_ellipsis() -> None:
    assert problem(InvalidRequest("x" * 1_000))["detail"] == "x" * 1_000
    assert problem(InvalidRequest("x" * 1_001))["detail"] == "x" * 999 + "\N{HORIZONTAL ELLIPSIS}"
