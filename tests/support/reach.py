"""A function's reach: the table as its role lets it be seen. Each call of it is put to IAM's rules before it is done."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
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
"""The functions that serve callers, and so have session grants."""
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
    """The grants as a policy has them."""
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
    """The table as this function sees it: a call that its role does not allow is denied. `asked_for` gathers what it asks for.

    What serves callers is held to the policies of both settings: to those of its role, and to those of its session role, where the
    session of the tenant whom the call is made for has to allow it and no other may.
    """
    spec = FUNCTIONS[function]
    return _within(function, spec.grants, spec.session_grants, table, asked_for)


def within_reach_of_owners(table: Table, asked_for: set[Asked]) -> Watched:
    """The table as the socket function sees it in nobody's name: whose a socket is, and nothing else."""
    return _within("socket", FUNCTIONS["socket"].tenantless_grants, (), table, asked_for)


def _within(
    function: str,
    grants: Iterable[Grant],
    of_session: Iterable[Grant],
    table: Table,
    asked_for: set[Asked],
) -> Watched:
    granted, by_session = statements(grants), statements(of_session)

    @lru_cache(maxsize=4096)
    def allowed(asked: Asked) -> bool:
        asked_for.add(asked)
        return iam.allows(granted, asked) and (
            not by_session or (iam.allows(by_session, asked) and not others_may(by_session, asked))
        )

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        for plain in requests(attempted):
            asked = of_tenant(plain, sessions.tenant()) if by_session else plain
            if not allowed(asked):
                raise denied(function, asked)
        return perform()

    return Watched(table, around)


def denied(function: str, asked: Asked) -> ClientError:
    """What DynamoDB answers whom a policy does not allow something."""
    message = f"{function} is not authorized to perform: {asked}"
    return ClientError({"Error": {"Code": "AccessDeniedException", "Message": message}}, "Call")


def ask(
    operation: str, partitions: Sequence[str] = (), attributes: Iterable[str] = (), resource: str = TABLE
) -> Asked:
    """A request of DynamoDB, as IAM sees it."""
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
    """What a call of the table asks of DynamoDB."""
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
        spans = [key for key in attempted.keys if key[1] == keys.GSI1]
        items = [key for key in attempted.keys if key[1] != keys.GSI1]
    if items:
        yield ask("BatchGetItem", [pk for pk, _ in items])
    for partition, index in spans:
        yield ask("Query", [partition], resource=INDEX if index else TABLE)


def _writes(transaction: Iterable[Write]) -> Iterator[Asked]:
    """Each write by itself. Where AWS is not explicit whether a condition sees the keys of one write or of all, either way has to
    be allowed: so each with all the keys, too.
    """
    writes = list(transaction)
    everywhere = [written_key(write)[0] for write in writes]
    for write in writes:
        operation = _WRITTEN[write.kind]
        attributes = {*write.request.get("Item", write.request.get("Key", {}))}
        attributes |= {*write.request.get("ExpressionAttributeNames", {}).values()}
        yield ask(operation, [written_key(write)[0]], attributes)
        yield ask(operation, everywhere, attributes)
