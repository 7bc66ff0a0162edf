"""If-Match: writing only what one has seen."""

from gridview.errors import InvalidRequest, VersionMismatch

Expected = frozenset[int] | None
"""The versions that a write may replace; None: any."""


def expected_versions(if_match: str | None) -> Expected:
    """The versions that an If-Match header names; a weak tag matches nothing (RFC 9110, 13.1.1). InvalidRequest when malformed."""
    if if_match is None or if_match.strip() == "*":
        return None
    versions = set()
    for tag in if_match.split(","):
        opaque = tag.strip().removeprefix("W/")
        if len(opaque) < 2 or not opaque.startswith('"') or not opaque.endswith('"'):
            raise InvalidRequest('If-Match must be an entity tag such as "3".')
        if opaque[1:-1].isascii() and opaque[1:-1].isdigit() and not tag.strip().startswith("W/"):
            versions.add(int(opaque[1:-1][:18]))
    return frozenset(versions)


def check(expected: Expected, version: int) -> None:
    """VersionMismatch when the version found is not one that may be replaced."""
    if expected is not None and version not in expected:
        raise VersionMismatch(f"It is at version {version} now.")


def etag(version: int) -> str:
    """The entity tag of a version."""
    return f'"{version}"'
