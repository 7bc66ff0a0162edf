"""Sockets: clients connect, say what they follow and where they look, and are sent changes as they are
committed.

Invoked by the WebSocket API and by the table's stream. Each minute it also ends due sockets, and sends
changes that were not sent in time.
"""

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from gridview.api.config import required, session_role, stack_metrics, stack_transport, works_alone
from gridview.api.sealing import CursorSource
from gridview.dynamodb.table import Table
from gridview.live.known_owners import KnownOwners
from gridview.live.socket_calls import SocketCalls
from gridview.live.socket_messages import error_frame
from gridview.live.tickets import TICKET_SECONDS, TICKETS
from gridview.live.wakes import wakes_in
from gridview.live.wire import ApiGatewayWire, Gone, Slow, SocketWire
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import Overloaded, RequestError, problem, problem_type

_MARGIN = 4.0
"""Seconds before the end of an invocation by which its work is done."""

logger = Logger()
metrics = stack_metrics()
transport = stack_transport(logger)
table = Table(required("TABLE_NAME"), session_role=session_role(), transport=transport)
owners = Table(required("TABLE_NAME"), transport=transport)
catalogs = Catalogs()
cursor_source = CursorSource()
wire: SocketWire = ApiGatewayWire()
known_owners = KnownOwners()
alone = works_alone()


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Take an event of the WebSocket API, a batch of stream records, or the task that ends due sockets."""
    calls = SocketCalls(
        table,
        owners,
        catalogs,
        cursor_source.seals(TICKETS, TICKET_SECONDS),
        cursor_source.cursors("changes"),
        cursor_source.tokens(),
        wire,
        clock.seconds() + context.get_remaining_time_in_millis() / 1000 - _MARGIN,
        _count,
        known_owners,
    )
    _count("Requests")
    if "Records" in event:
        return _committed(calls, event["Records"])
    if event.get("task") == "end":
        return {"ended": calls.end_due(), "settled": calls.settle()}
    return _called(calls, event)


def _count(name: str) -> None:
    metrics.add_metric(name=name, unit=MetricUnit.Count, value=1)


def _committed(calls: SocketCalls, records: list[dict[str, Any]]) -> dict[str, Any]:
    """Send changes to the sockets of all projects. Reports as failed the first record of the projects that
    wait for a missing number.
    """
    wakes = wakes_in(records)
    push = calls.committed_in_turn if alone else calls.committed
    failed = sorted((wakes[owner].first for owner in push(wakes)), key=int)
    if failed:
        logger.warning("some changes were not sent to sockets yet", extra={"first_failed": failed[0]})
    return {"batchItemFailures": [{"itemIdentifier": first} for first in failed[:1]]}


def _called(calls: SocketCalls, event: Mapping[str, Any]) -> dict[str, Any]:
    """Take a call of the WebSocket API. Only the answer to $connect counts: another status than 200 refuses
    the connection.
    """
    asked = event["requestContext"]
    connection: str = asked["connectionId"]
    logger.append_keys(route=asked["routeKey"], connection=connection)
    match asked["eventType"]:
        case "CONNECT":
            return _connected(calls, connection, event)
        case "DISCONNECT":
            calls.closed(connection)
        case _:
            _spoke(calls, connection, event)
    return {"statusCode": 200}


def _connected(calls: SocketCalls, connection: str, event: Mapping[str, Any]) -> dict[str, Any]:
    try:
        calls.opened(connection, (event.get("queryStringParameters") or {}).get("ticket", ""))
    except RequestError as error:
        refusal = problem(error)
        logger.info("refused", extra={"problem": refusal["type"]})
        return {"statusCode": problem_type(error).status}
    _count("SocketsOpened")
    return {"statusCode": 200}


def _spoke(calls: SocketCalls, connection: str, event: Mapping[str, Any]) -> None:
    try:
        calls.spoke(connection, event.get("body") or "", is_base64=event["isBase64Encoded"])
    except Exception:
        # The client receives an error, and the invocation ends normally: nothing would repeat it.
        logger.exception("message failed")
        _count("ServerErrors")
        try:
            wire.post(connection, error_frame(Overloaded("The message could not be processed; try again.")))
        except (Gone, Slow):
            return


for _table in (table, owners):
    _table.connect()
cursor_source.prime()
