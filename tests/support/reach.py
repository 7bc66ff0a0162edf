"""A function's reach: the table through its role. IAM's rules check each call before it is carried out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from botocore.exceptions import ClientError

from devtools.proof.faults.watched import Attempted, Watched, written_key
from gridview.dynamodb import sessions
from gridview.dynamodb.expressions import Key, Write
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from infra.functions import FUNCTIONS
from infra.grants import ATTRIBUTES, PARTITIONS, Grant
from tests.support import iam
from tests.support.iam import Asked, Statement

TABLE = "table"
INDEX = f"{TABLE}/index/{keys.GSI1}"
SERVING = tuple(name for name, spec in FUNCTIONS.items() if spec.session_grants)
"""The functions that serve callers, and therefore have session grants."""
TENANT_TAG = f"aws:PrincipalTag/{sessions.TAG}"

_WRITTEN = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}
_OPERATIONS = {
    "put": "PutItem",
    "delete": "DeleteItem",
    "add": "UpdateItem",
    "update": "UpdateItem",
    "remove": "UpdateItem",
}


def statements(grants: Iterable[Grant]) -> tuple[Statement, ...]:
    """The grants as statements of a policy."""
    return tuple(
        {
            "Effect": grant.effect,
            "Action": list(grant.actions),
            "Resource": INDEX if grant.on_index else TABLE,
            "Condition": grant.conditions,
        }
        for grant in grants
    )


def within_reach(function: str, table: Table, asked_for: set[Asked]) -> Watched:
    """The table for this function: a call that its role does not allow is denied. `asked_for` collects its requests.

    A function that serves callers must satisfy the policies of both settings: those of its role, and those of its
    session role. A session of the caller's tenant must allow the call, and no other session may.
    """
    return _within(function, table, asked_for, _may, in_session=function in SERVING)


def within_reach_of_owners(table: Table, asked_for: set[Asked]) -> Watched:
    """The table for the socket function outside any tenant's session: only the owners of sockets."""
    return _within("socket", table, asked_for, _may_for_nobody, in_session=False)


def _within(
    function: str,
    table: Table,
    asked_for: set[Asked],
    may: Callable[[str, Asked], bool],
    *,
    in_session: bool,
) -> Watched:
    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        for plain in requests(attempted):
            asked = of_tenant(plain, sessions.tenant()) if in_session else plain
            asked_for.add(asked)
            if not may(function, asked):
                raise denied(function, asked)
        return perform()

    return Watched(table, around)


# Kept from test to test, since most have the same requests.


@lru_cache(maxsize=50_000)
def _may(function: str, asked: Asked) -> bool:
    granted, by_session = _policies(function)
    return iam.allows(granted, asked) and (
        not by_session or (iam.allows(by_session, asked) and not others_may(by_session, asked))
    )


@lru_cache(maxsize=50_000)
def _may_for_nobody(function: str, asked: Asked) -> bool:
    return iam.allows(statements(FUNCTIONS[function].tenantless_grants), asked)


@cache
def _policies(function: str) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
    """The statements of its role, and of its session role."""
    return statements(FUNCTIONS[function].grants), statements(FUNCTIONS[function].session_grants)


def denied(function: str, asked: Asked) -> ClientError:
    """DynamoDB's answer to a caller whose policy does not allow the request."""
    message = f"{function} is not authorized to perform: {asked}"
    return ClientError({"Error": {"Code": "AccessDeniedException", "Message": message}}, "Call")


def ask(
    operation: str, partitions: Sequence[str] = (), attributes: Iterable[str] = (), resource: str = TABLE
) -> Asked:
    """A request to DynamoDB, as IAM sees it."""
    context = {PARTITIONS: tuple(partitions), ATTRIBUTES: tuple(sorted(attributes))}
    return Asked(f"dynamodb:{operation}", resource, tuple((key, of) for key, of in context.items() if of))


def of_tenant(asked: Asked, tenant: str) -> Asked:
    """The same request in a session that is tagged with this tenant."""
    context = dict(asked.context) | {TENANT_TAG: (tenant,)}
    return asked._replace(context=tuple(context.items()))


def others_may(granted: Iterable[Statement], asked: Asked) -> bool:
    """Whether these statements allow the same request in a session of another tenant, or in one without a tenant."""
    context = dict(asked.context)
    (own,) = context.pop(TENANT_TAG)
    untagged = asked._replace(context=tuple(context.items()))
    others = (of_tenant(asked, other) for other in (own[:-1], f"{own}0", f"0{own}"))
    return any(iam.allows(granted, other) for other in (untagged, *others))


def requests(attempted: Attempted) -> Iterator[Asked]:
    """The requests to DynamoDB that a call of the table makes."""
    named = attempted.condition.names.values() if attempted.condition else ()
    match attempted.operation:
        case "get":
            yield ask("GetItem", [attempted.key[0]])
        case "scan":
            yield ask("Scan")
        case "batch_get" | "query" | "read_together":
            yield from _reads(attempted)
        case "transact":
            yield from _writes(attempted.transaction)
        case "put":
            assert attempted.item is not None
            yield ask("PutItem", [attempted.key[0]], {*attempted.item, *named})
        case "batch_put":
            yield ask("BatchWriteItem", [pk for pk, _ in attempted.keys])
        case other:
            changed = {path[0] for path in attempted.paths}
            yield ask(_OPERATIONS[other], [attempted.key[0]], {keys.PK, keys.SK, *changed, *named})


def _reads(attempted: Attempted) -> Iterator[Asked]:
    if attempted.operation == "query":
        spans, items = list(attempted.keys), list[Key]()
    else:
        spans = [key for key in attempted.keys if key[1] in (keys.GSI1, "")]
        items = [key for key in attempted.keys if key not in spans]
    if items:
        yield ask("BatchGetItem", [pk for pk, _ in items])
    for partition, index in spans:
        yield ask("Query", [partition], resource=INDEX if index else TABLE)


def _writes(transaction: Iterable[Write]) -> Iterator[Asked]:
    """Each write by itself, also with the keys of all. AWS does not specify whether a condition sees the keys of one
    write or of all, so both must be allowed.
    """
    writes = list(transaction)
    everywhere = [written_key(write)[0] for write in writes]
    for write in writes:
        operation = _WRITTEN[write.kind]
        attributes = {*write.request.get("Item", write.request.get("Key", {}))}
        attributes |= {*write.request.get("ExpressionAttributeNames", {}).values()}
        yield ask(operation, [written_key(write)[0]], attributes)
        yield ask(operation, everywhere, attributes)
