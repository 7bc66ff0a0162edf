"""The users of the grid: the caller, by the token, and the users of the caller's tenant by name.

The user directory cannot list the users of one tenant. So each user's name is noted in the table when the
user first asks who they are, as a page does at its start. See docs/decisions/0024-names-of-users.md.
"""

from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from gridview.commands.actor import Actor
from gridview.commands.parameters import UsersParameters
from gridview.dynamodb.expressions import Bound
from gridview.dynamodb.table import Table
from gridview.encoding import keys, sort_strings
from gridview.encoding.cursors import Cursors
from gridview.encoding.fences import before
from gridview.encoding.json_codec import dumps
from gridview.support.validation import as_integers, parse

_COMPARED = 200
"""Characters of a case-folded name that count in the order. With the user's id they fit in a key of 1,024 bytes."""


def me(table: Table, actor: Actor, name: str) -> dict[str, Any]:
    """Return the caller, by name: 0.5 read units. A name that is new is noted for the others of the tenant: 2
    or 3 write units more.
    """
    partition_key, sort_key = keys.user(actor.tenant, actor.user), keys.users(actor.tenant)
    noted = table.get(partition_key, sort_key)
    if noted is None or noted["name"] != name:
        # Without a condition: of two tokens at once either may have the newer name, and the next call
        # corrects it.
        sort = before(_body(name)) + actor.user
        table.put({keys.PK: partition_key, keys.SK: sort_key, keys.SORT: sort, "name": name})
    return {
        "id": actor.user,
        "name": name,
        "tenant": actor.tenant,
        "role": actor.role.name.lower(),
    }


def list_users(table: Table, actor: Actor, parameters: Mapping[str, str], cursors: Cursors) -> dict[str, Any]:
    """Return a page of the tenant's users whose names begin with `prefix`, in name order, as of the index:
    one Query.
    """
    request = parse(UsersParameters, {**parameters, **as_integers(parameters, "limit")})
    beginning = _body(request.prefix)
    binding = dumps([actor.tenant, beginning])
    bound = Bound("begins_with", beginning) if beginning else None
    if request.cursor is not None:
        bound = Bound(">", str(cursors.open(request.cursor, binding)))
    page = table.query(keys.users(actor.tenant), index=True, bound=bound, limit=request.limit + 1)
    found = list(takewhile(lambda item: item[keys.SORT].startswith(beginning), page.items))
    shown = found[: request.limit]
    more = len(found) > len(shown) or (page.last is not None and len(found) == len(page.items))
    return {
        "items": [{"id": keys.parse_user(item[keys.PK]), "name": item["name"]} for item in shown],
        "next": cursors.seal(shown[-1][keys.SORT], binding) if more else None,
    }


def _body(name: str) -> str:
    return sort_strings.text(name)[:_COMPARED]
