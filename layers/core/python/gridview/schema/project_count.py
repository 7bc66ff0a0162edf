"""The number of a tenant's projects, in the tenant's own item. Written in the transaction that creates,
deletes or restores one.

So of two creates at the limit one succeeds. A deleted project does not count; restoring it does. Pure.
"""

from gridview.dynamodb.expressions import Condition, Item, Write, put, set_attribute
from gridview.encoding import keys
from gridview.support.errors import LimitExceeded

_PROJECTS = "projects"


def require_room(tenant: Item | None, most: int) -> None:
    """Raise LimitExceeded unless a tenant, by its item, may have one more project. `most`: how many; 0: no limit."""
    if most and _count_in(tenant) >= most:
        raise LimitExceeded(
            f"The tenant has {_count_in(tenant):,} projects; this deployment allows {most:,}. Delete one (DELETE "
            "/v1/projects/{project}), or ask the operator to raise projects-per-tenant."
        )


def one_more(tenant_id: str, tenant: Item | None) -> Write:
    """Return the write that counts one more project, on condition that their number is as it was read."""
    item = {keys.PK: keys.tenant(tenant_id), keys.SK: keys.TENANT_SELF, **(tenant or {})}
    return put({**item, _PROJECTS: _count_in(tenant) + 1}, _unchanged(tenant))


def one_less(tenant_id: str, tenant: Item | None) -> Write:
    """Return the write that counts one project less, on the same condition."""
    own = keys.tenant(tenant_id), keys.TENANT_SELF
    return set_attribute(*own, _PROJECTS, _count_in(tenant) - 1, _unchanged(tenant))


def _unchanged(tenant: Item | None) -> Condition:
    names = {"#projects": _PROJECTS}
    if tenant is None or _PROJECTS not in tenant:
        return Condition("attribute_not_exists(#projects)", names)
    return Condition("#projects = :before", names, {":before": tenant[_PROJECTS]})


def _count_in(tenant: Item | None) -> int:
    return int((tenant or {}).get(_PROJECTS, 0))
