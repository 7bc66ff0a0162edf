"""If-Match: a write replaces only a version that the client has seen."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from gridview.support.errors import FieldError, InvalidRequest, VersionMismatch

Expected = frozenset[int] | None
"""The versions that a write may replace; None: any."""

_TAG = re.compile(r'(?:W/)?"([!#-~]*)"')
IF_MATCH = re.compile(rf"(?:\*|{_TAG.pattern}(?:[ \t]*,[ \t]*{_TAG.pattern})*)")
"""The header (RFC 9110, 13.1.1), but for characters beyond ASCII in a tag: ours have none."""
_VERSION = re.compile(r"[1-9][0-9]{0,17}")


def expected_versions(if_match: str | None) -> Expected:
    """Return the versions in an If-Match header. InvalidRequest if malformed.

    A weak tag counts as the strong one, unlike in RFC 9110 (13.1.1). A CDN that compresses an answer weakens
    its tag, and the version in it is still the one that the client saw.
    """
    if if_match is None:
        return None
    given = if_match.strip(" \t")
    if given == "*":
        return None
    if not IF_MATCH.fullmatch(given):
        expectation = 'must be an entity tag such as "3", or several separated by commas'
        raise InvalidRequest(f"If-Match {expectation}.", [FieldError("If-Match", expectation)])
    return frozenset(int(tag) for tag in _TAG.findall(given) if _VERSION.fullmatch(tag))


def check(expected: Expected, version: int, current: Callable[[], Mapping[str, Any]]) -> None:
    """Raise VersionMismatch unless the stored version may be replaced. `current` returns the resource as the
    API does.
    """
    if expected is not None and version not in expected:
        raise VersionMismatch(
            f"The resource is at version {version} now. Compare it with `current`, and send its version.",
            current=current(),
        )


def etag(version: int) -> str:
    """Return the entity tag of a version."""
    return f'"{version}"'
