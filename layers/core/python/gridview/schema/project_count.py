"""How many projects a tenant has: a number in the tenant's own item, written in the transaction that creates, deletes
or restores one.

So of two creates at the limit one succeeds. A deleted project does not count; restoring it does. Pure.
"""

from gridview.dynamodb.expressions import Condition, Item, Write, put
from gridview.encoding import keys
from gridview.support.errors import Unprocessable

_PROJECTS = "projects"


def require_room(tenant: Item | None, most: int) -> None:
    """Unprocessable unless a tenant, by its item, may have one more project. `most`: how many; 0: no limit."""
    if most and _count_in(tenant) >= most:
        raise Unprocessable(
            f"The tenant has {_count_in(tenant):,} projects; this deployment allows {most:,}. "
            "Delete one (DELETE /v1/projects/{project}), or ask the operator to raise projects-per-tenant."
        )


def recounted(tenant_id: str, tenant: Item | None, change: int) -> Write:
    """The write of a tenant's item with so many projects more, on condition that their number is as it was read."""
    names = {"#projects": _PROJECTS}
    unchanged = Condition("attribute_not_exists(#projects)", names)
    if tenant is not None and _PROJECTS in tenant:
        unchanged = Condition("#projects = :before", names, {":before": tenant[_PROJECTS]})
    item = {keys.PK: keys.tenant(tenant_id), keys.SK: keys.TENANT_SELF, **(tenant or {})}
    return put({**item, _PROJECTS: _count_in(tenant) + change}, unchanged)


def _count_in(tenant: Item | None) -> int:
    return int((tenant or {}).get(_PROJECTS, 0))
