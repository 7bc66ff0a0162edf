"""The owner of an item by its keys, and the rule: the work of one project reads and writes no item of another."""

from collections.abc import Collection, Iterable
from functools import lru_cache

from devtools.proof.faults.watched import Attempted
from gridview.dynamodb.expressions import Key

Home = tuple[str, str]
"""A tenant and a project."""

_KINDS = frozenset(
    {"issue", "project", "xvalue", "block", "blocks", "column", "xattrib", "xsorted", "journal", "trash"}
)
"""The first parts of the keys of a project's items."""

_TENANTS = "tenant"


@lru_cache(maxsize=4096)
def _named(part: str) -> Home | None:
    """The tenant and project that a part of a key names; no project in the name of a tenant."""
    kind, _, rest = part.partition("-")
    if kind == _TENANTS:
        return rest, ""
    if kind not in _KINDS:
        return None
    tenant, _, rest = rest.partition(".")
    return tenant, rest.partition(".")[0]


def homes_in(keys: Iterable[Key]) -> set[Home]:
    """The projects whose items these keys are, by both their parts."""
    named = {home for key in keys for home in map(_named, key) if home is not None}
    return {home for home in named if home[1] or not any(home[0] == tenant for tenant, one in named if one)}


def trespass(call: Attempted, allowed: Collection[Home] | None, *, shares: bool) -> str | None:
    """Return why a call is a trespass; None if it is not.

    It may be about items of `allowed` (None: all), of one project at once.

    `shares`: the work is a batch that several projects share, so that a read may be of several.
    """
    homes = homes_in(call.keys)
    if allowed is not None:
        tenants = {tenant for tenant, _ in allowed}
        strange = {one for one in homes if one not in allowed and not (not one[1] and one[0] in tenants)}
        if strange:
            return f"is about items of {sorted(strange)}"
    if len(homes) > 1 and (call.writes or not shares):
        return f"is about items of {sorted(homes)} at once"
    return None
