"""The records of decisions: each says whether it holds, names what superseded it, and is listed once in the index."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.unit.test_docs import ROOT

DECISIONS = ROOT / "docs/decisions"
IN_FORCE = sorted(DECISIONS.glob("[0-9]*.md"))
ARCHIVED = sorted((DECISIONS / "archive").glob("*.md"))

_LINK = r"\[[^\[\]]+\]\([^()\s]+\)"
_HOLDS = re.compile(rf"Status: holds(?:\.|, but for \S.*? \(see ({_LINK}(?:, {_LINK})*)\)\.)")
_SUPERSEDED = re.compile(rf"Status: superseded (?:by ({_LINK})(?:\.|: \S.*\.)|without a successor: \S.*\.)")
_ENTRY = re.compile(r"- \[(\d{4})\]\(([^()]+)\)(, superseded)?: [A-Z`](?:(?!\. ).)+\.")
"""A line of the index: number, file, and one sentence."""


def status_of(record: str) -> str:
    """The paragraph directly under the title of a record."""
    title, empty, status, *rest = record.splitlines()
    assert re.match(r"# \d{4}: \S", title), title
    assert empty == ""
    assert not rest or rest[0] == "", "the status is one line"
    return status


def named_in(links: str | None, record: Path) -> list[Path]:
    """The files that the links of a record lead to."""
    return [(record.parent / target).resolve() for target in re.findall(r"\]\(([^()#\s]+)", links or "")]


def number_of(record: Path) -> int:
    return int(record.name[:4])


@pytest.mark.parametrize("record", IN_FORCE, ids=lambda one: one.stem[:4])
def test_a_record_says_whether_it_holds_and_what_superseded_a_part_of_it(record: Path) -> None:
    status = status_of(record.read_text("utf-8"))
    form = _HOLDS.fullmatch(status)
    assert form, status
    for later in named_in(form[1], record):
        assert later.is_file()
        if later.parent == DECISIONS:
            assert number_of(later) > number_of(record), "a decision is superseded by a later one"
        else:
            assert later.parent == ROOT / "docs", "what holds today is in a record that holds, or in a page"


@pytest.mark.parametrize("record", ARCHIVED, ids=lambda one: one.stem[:4])
def test_a_record_of_the_archive_names_its_successor_or_says_why_there_is_none(record: Path) -> None:
    status = status_of(record.read_text("utf-8"))
    form = _SUPERSEDED.fullmatch(status)
    assert form, status
    for later in named_in(form[1], record):
        assert later in IN_FORCE
        assert number_of(later) > number_of(record)


def test_a_number_names_one_record_and_so_does_its_title() -> None:
    records = [*IN_FORCE, *ARCHIVED]
    assert len(records) > len(ARCHIVED) > 0
    assert len({number_of(one) for one in records}) == len(records)
    for record in records:
        assert record.read_text("utf-8").startswith(f"# {record.name[:4]}: "), record.name


def test_the_index_lists_each_record_once_in_a_sentence_the_newest_of_a_subject_first() -> None:
    listed = []
    for subject in (DECISIONS / "README.md").read_text("utf-8").split("\n## ")[1:]:
        entries = [_ENTRY.fullmatch(row) for row in subject.splitlines() if row.startswith("- ")]
        rows = [entry for entry in entries if entry]
        assert len(rows) == len(entries) > 0, subject
        assert all(int(newer[1]) > int(older[1]) for newer, older in pairwise(rows)), subject
        for row in rows:
            record = DECISIONS / row[2]
            assert record.name.startswith(f"{row[1]}-"), row[0]
            assert (record in ARCHIVED) is bool(row[3]), row[0]
            listed.append(record)
    assert sorted(listed) == sorted([*IN_FORCE, *ARCHIVED])


@pytest.mark.parametrize(
    "status",
    [
        "Status: holds",
        "Status: holds, but for the price.",
        "Status: holds, but for the price (see 0048).",
        "Status: superseded by [0048](0048-changes-listed-in-groups.md).",
        "Since 0048 it holds.",
    ],
)
def test_another_form_of_status_is_none_of_a_record_that_holds(status: str) -> None:
    assert _HOLDS.fullmatch(status) is None


@pytest.mark.parametrize(
    "status", ["Status: holds.", "Status: superseded.", "Status: superseded without a successor: ."]
)
def test_another_form_of_status_is_none_of_the_archive(status: str) -> None:
    assert _SUPERSEDED.fullmatch(status) is None
