"""If-Match: strong comparison, lists, the asterisk, and malformed values."""

from typing import Any

import pytest

from gridview.commands.preconditions import check, etag, expected_versions
from gridview.support.errors import InvalidRequest, VersionMismatch

NONE: frozenset[int] = frozenset()


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("*", None),
        (" * ", None),
        ('"3"', {3}),
        (' "3" ', {3}),
        ('"3","4"', {3, 4}),
        ('"3" , "4", W/"5"', {3, 4, 5}),
        # A CDN that compresses an answer weakens its tag.
        ('W/"3"', {3}),
        ('"abc"', NONE),
        ('""', NONE),
        ('"a,b"', NONE),
        ('"03"', NONE),
        ('"-3"', NONE),
        ('"1234567890123456789012345"', NONE),
    ],
)
def test_the_versions_that_a_header_names(header: str | None, expected: Any) -> None:
    found: Any = expected_versions(header)
    assert found == expected


@pytest.mark.parametrize(
    "header",
    [
        "",
        "3",
        '"3',
        '3"',
        '"',
        "'3'",
        '"3" "4"',
        '"3",',
        ',"3"',
        '*, "3"',
        'w/"3"',
        "W/3",
        '"3""4"',
        '"3 "',
        '"\u0663"',
    ],
)
def test_a_malformed_header_is_refused(header: str) -> None:
    with pytest.raises(InvalidRequest):
        expected_versions(header)


def test_a_write_goes_through_at_a_version_that_is_named_or_when_none_is() -> None:
    for expected in (None, frozenset({6, 7})):
        check(expected, 7, pytest.fail)
    for expected in (frozenset({6}), NONE):
        with pytest.raises(VersionMismatch, match="version 7") as refused:
            check(expected, 7, lambda: {"version": 7, "name": "x"})
        assert refused.value.current == {"version": 7, "name": "x"}


def test_the_tag_of_a_version_names_that_version() -> None:
    assert expected_versions(etag(12)) == frozenset({12})
