"""The judges of a soak: each kind of difference is found, and a sound project has none."""

import random
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from devtools.proof.soak import judging
from devtools.proof.soak.followers import Copied, Copy
from devtools.proof.soak.load import Book, OwnIssue

VALUES = {
    "name": "one",
    "state": "open",
    "qty": 3,
    "cost": Decimal("1.5"),
    "kind": "beam",
    "due": None,
    "note": None,
}
STORED = {"name": "one", "state": "open", "qty": 3, "cost": Decimal("1.5"), "kind": "beam"}
DOCUMENTS = {1: Copied(2, {**STORED, "total": Decimal("4.5")})}
CREATED = {
    "kind": "create",
    "num": 1,
    "version": 1,
    "fields": {name: {"old": None, "new": value} for name, value in (STORED | {"qty": 2}).items()},
}
UPDATED = {"kind": "update", "num": 1, "version": 2, "fields": {"qty": {"old": 2, "new": 3}}}


def copy_of(*events: Mapping[str, Any]) -> Copy:
    copy = Copy()
    for event in events:
        copy.take(event)
    return copy


def answers(values: Mapping[str, Any] = VALUES, *, deleted: bool = False, num: int = 1) -> Book:
    return Book(issues={num: OwnIssue(dict(values), deleted=deleted)})


def test_documents_that_have_what_was_answered_do_not_differ() -> None:
    assert list(judging.differences_of_answers(answers(), DOCUMENTS)) == []
    assert list(judging.differences_of_answers(answers(deleted=True), {})) == []


@pytest.mark.parametrize(
    ("book", "word"),
    [
        (answers({**VALUES, "note": "lost"}), "note of issue 1"),
        (answers({**VALUES, "kind": None}), "kind of issue 1"),
        (answers(deleted=True), "there unasked: [1]"),
        (answers(num=2), "missing: [2]"),
    ],
)
def test_a_lost_write_and_one_that_nobody_made_differ(book: Book, word: str) -> None:
    assert word in " ".join(judging.differences_of_answers(book, DOCUMENTS))


def test_a_feed_with_each_version_once_does_not_differ() -> None:
    deleted = {"kind": "delete", "num": 1, "version": 3, "fields": {"qty": {"old": 3, "new": None}}}
    assert list(judging.differences_of_copy("polls", copy_of(CREATED, UPDATED), DOCUMENTS)) == []
    assert list(judging.differences_of_copy("polls", copy_of(CREATED, UPDATED, deleted), {})) == []


@pytest.mark.parametrize(
    ("events", "word"),
    [
        ((CREATED,), "issue 1 is"),
        ((CREATED, UPDATED, UPDATED), "version 2 of issue 1 came where 3 is next"),
        ((UPDATED,), "version 2 of issue 1 came where 1 is next"),
        ((CREATED, {**UPDATED, "fields": {"qty": {"old": 7, "new": 3}}}), "qty of issue 1 was 7"),
        ((CREATED, {**UPDATED, "kind": "restore"}), "restore of issue 1, which is there"),
        ((CREATED, UPDATED, {"kind": "reset"}), "a reset came"),
    ],
)
def test_a_change_that_is_missing_comes_twice_or_is_wrong_differs(
    events: tuple[Mapping[str, Any], ...], word: str
) -> None:
    assert word in " ".join(judging.differences_of_copy("polls", copy_of(*events), DOCUMENTS))


class Answering:
    """A client whose answers are given by the end of the path."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers

    def require(self, _: str, path: str, *__: Any) -> Any:
        return self._answers[path.rpartition("/")[2].partition("?")[0]]


def histories(*events: Mapping[str, Any]) -> str:
    client: Any = Answering(history={"items": [*events], "next": None})
    return " ".join(judging.differences_of_histories(client, "p", DOCUMENTS, random.Random(1)))  # noqa: S311


def test_a_history_has_each_version_once_and_leads_to_the_document() -> None:
    assert histories(UPDATED, CREATED) == ""
    assert "issue 1 becomes" in histories(CREATED)
    assert "came where" in histories(UPDATED, UPDATED, CREATED)


def sums(summary: Mapping[str, Any], group: Mapping[str, Any], documents: Any = DOCUMENTS) -> str:
    client: Any = Answering(
        summary={"matched": 1, "summaries": [{"field": "total", **summary}]},
        groups={
            "groups": [
                {
                    "values": ["beam"],
                    "count": 1,
                    "aggregates": [{"value": Decimal("4.5")}],
                    **group,
                }
            ]
        },
    )
    return " ".join(judging.differences_of_sums(client, "p", documents))


def test_sums_and_groups_are_those_of_the_documents() -> None:
    right = {"count": 1, "sum": "4.50", "min": Decimal("4.5"), "max": Decimal("4.5")}
    assert sums(right, {}) == ""
    assert "sum of total is 4.51" in sums({**right, "sum": "4.51"}, {})
    assert "2 issues of kind beam" in sums(right, {"count": 2})
    assert "sum of total of kind beam is 4" in sums(right, {"aggregates": [{"value": 4}]})
    assert "the groups are" in sums(right, {"values": ["bolt"], "count": 0})
    stale = {1: Copied(2, {**STORED, "total": Decimal(3)})}
    assert "total of issue 1" in sums(right, {}, stale)


def test_an_import_has_each_row_once() -> None:
    book = Book(imported={"imp": 2})
    rows = [{"name": "Row 0"}, {"name": "Row 1"}]
    assert list(judging.differences_of_imports(importing(rows), book)) == []
    assert list(judging.differences_of_imports(importing([*rows, rows[0]]), book)) == [
        "imp has 3 issues of 2 rows, and 2 were imported"
    ]


def importing(rows: list[dict[str, str]]) -> Any:
    return Answering(grid={"rows": rows, "next": None})
