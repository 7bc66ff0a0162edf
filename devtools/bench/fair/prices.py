"""The cost of a refused request: write units, read units and CPU time of the real handlers on DynamoDB Local.

Write units are counted as AWS counts them, also if a condition fails: the engine reports none then. CPU time is the
time of this process, with the real clients of DynamoDB and of the management API.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from statistics import median
from typing import Any, Final, NamedTuple
from unittest import mock

from botocore.credentials import Credentials
from typing_extensions import override

from devtools.bench import issues
from devtools.bench.capacity import CountedClient, Units
from devtools.bench.fair import attack
from devtools.bench.fair.account import write_units
from devtools.failure import Failure
from devtools.local import engine, table
from devtools.local.environment import DUMMY_ACCOUNT
from devtools.proof.faults.lambdas import Functions
from devtools.proof.faults.watched import Attempted, Watched
from gridview.api.work_shares import WorkShares
from gridview.commands.actor import Actor, Role
from gridview.dynamodb.expressions import PRESENT
from gridview.dynamodb.table import Table
from gridview.encoding import keys, live_keys
from gridview.live.open_polls import OpenPolls
from gridview.live.poll_limits import MOST_IN_FLIGHT
from gridview.live.wire import ApiGatewayWire
from gridview.query.planner import WHOLE
from gridview.schema.store import Catalogs
from gridview.schema.user_jobs import MOST_EXPORTS_OF_USER, MOST_OF_USER

MOST_WRITE_UNITS: Final = 1
MOST_CPU_SECONDS: Final = 0.002

_TENANT: Final = "bench"
_PROJECT: Final = "prices"
_PATH: Final = f"/v1/projects/{_PROJECT}"
_POLLS: Final = 90
_REPEAT: Final = 40
_WARM: Final = 10
_LONG: Final = 0.35
"""Seconds of work: a hundredth of a container's time takes longer than any refusal to make up for them."""
_HOUR: Final = 3_600

_CLIENTS: Final = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Taking(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Taking)
print(server.server_port, flush=True)
server.serve_forever()
"""
"""A management API whose clients take each message. It is a process of its own: its time is not that of a refusal."""


class Price(NamedTuple):
    """The cost of a kind of refusal: units and calls at most, CPU time as the median."""

    refusal: str
    status: int
    write_units: int
    read_units: float
    calls: int
    cpu_seconds: float

    @property
    def is_cheap(self) -> bool:
        """Whether it meets the targets."""
        return self.write_units <= MOST_WRITE_UNITS and self.cpu_seconds <= MOST_CPU_SECONDS


class Refusal(NamedTuple):
    """A request that is refused. `prepare` is called before each one, and not measured."""

    name: str
    ask: Callable[[], int]
    prepare: Callable[[], None] = lambda: None


def prices(size: int = WHOLE + 100, repeat: int = _REPEAT) -> list[Price]:
    """The price of each kind of refusal, in a project that has more issues than a query may read whole."""
    with engine.running(in_memory=True) as running, _management_api() as address:
        table.ensure(running.client(), _TENANT)
        environment = {**DUMMY_ACCOUNT, "AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI": address}
        with mock.patch.dict(os.environ, environment):
            client = CountedClient(running.client(), Credentials("local", "local"))
            caller = _Caller(client)
            issues.load(caller.stored, Actor(_TENANT, "gridview.bench", Role.ADMIN), _PROJECT, size)
            return [_price(caller, refusal, repeat) for refusal in _refusals(caller)]


class _Caller:
    """A container of each function, and the cost of its calls."""

    def __init__(self, client: CountedClient) -> None:
        self.client = client
        self.stored = Table(_TENANT, client)  # type: ignore[arg-type]
        self.write_units = 0
        self.wire = _Remembering()
        self._watched = Watched(self.stored, self._around)
        self._given: dict[str, Any] = {"owners": self._watched, "wire": self.wire}
        self.forget_refusals()
        self.functions = Functions(self._watched, Catalogs(), given=self._given)
        self._connections = count(1)

    def forget_refusals(self) -> None:
        """Let the next poll meet a container that has refused none."""
        self._given["open_polls"] = OpenPolls(_POLLS)

    def use_up_share(self, user: str) -> None:
        """Let a container have worked for a user for so long that it refuses queries for ten seconds."""
        shares = self._given["work_shares"] = WorkShares(1)
        with shares.working(Actor(_TENANT, user, Role.VIEWER)):
            time.sleep(_LONG)

    def request(self, user: str, asked: attack.Asked, *, query: str = "", role: Role = Role.VIEWER) -> Any:
        """The answer to a request below the project's path."""
        caller = _TENANT, user, role
        return self.functions.request(caller, asked.method, _PATH + asked.path, asked.body, query=query)

    def ticket(self, user: str) -> str:
        """A new ticket."""
        return str(self.request(user, attack.Asked("POST", "/tickets")).body["ticket"])

    def connect(self, ticket: str) -> int:
        """The status of an attempt to connect."""
        return self._event(self._name(), "CONNECT", queryStringParameters={"ticket": ticket})

    def connected(self, user: str) -> str:
        """An open socket of a user."""
        name = self._name()
        if self._event(name, "CONNECT", queryStringParameters={"ticket": self.ticket(user)}) != 200:
            raise Failure(f"{user} cannot open a socket.")
        return name

    def say(self, connection: str, **message: Any) -> int:
        """The status of the error that a message gets; 200: none."""
        self.wire.last = b"{}"
        self._event(connection, "MESSAGE", body=json.dumps(message))
        error = json.loads(self.wire.last).get("error")
        return int(error["status"]) if error else 200

    def set_socket(self, connection: str, **values: int) -> None:
        """Change attributes of a socket."""
        self.stored.update(
            live_keys.sockets(_TENANT), live_keys.socket(_PROJECT, connection), PRESENT, assign=values
        )

    def set_starts(self, user: str, spent: int) -> None:
        """Let a user's bucket of starts be full again at an instant."""
        place = live_keys.seats(_TENANT), live_keys.seat(user)
        self.stored.put({keys.PK: place[0], keys.SK: place[1], "spent": spent})

    def _event(self, connection: str, kind: str, **more: Any) -> int:
        context = {"routeKey": "r", "eventType": kind, "connectionId": connection, "requestId": "r"}
        event = {"requestContext": context, "isBase64Encoded": False, **more}
        return int(self.functions.socket(event)["statusCode"])

    def _name(self) -> str:
        return f"p{next(self._connections):014d}="

    def _around(self, call: Attempted, perform: Callable[[], Any]) -> Any:
        if call.writes:
            self.write_units += write_units(call)
        return perform()


class _Remembering(ApiGatewayWire):
    """The real wire, which remembers the last message."""

    last = b"{}"

    @override
    def post(self, connection: str, frame: bytes) -> None:
        self.last = frame
        super().post(connection, frame)


def _refusals(caller: _Caller) -> Iterator[Refusal]:
    yield from _refused_polls(caller)
    yield Refusal("`$connect` with a junk ticket", lambda: caller.connect("A" * 200))
    yield from _refused_sockets(caller)
    yield _refused_job(caller, f"export {MOST_EXPORTS_OF_USER + 1} of a user", MOST_EXPORTS_OF_USER, _EXPORT)
    yield _refused_job(caller, f"job {MOST_OF_USER + 1} of a user", MOST_OF_USER, _CHANGE)
    yield _refused_request(caller, "a query that would read too much", _DEAR)
    yield _refused_request(caller, "a query of an unknown field", attack.REFUSED[2])
    yield _refused_request(caller, "a write of a viewer", attack.REFUSED[0])
    yield _refused_query(caller)


def _refused_request(caller: _Caller, name: str, asked: attack.Asked) -> Refusal:
    return Refusal(name, lambda: int(caller.request("mallory", asked).status))


def _refused_query(caller: _Caller) -> Refusal:
    caller.use_up_share("long")
    asked = attack.DEAREST[0]
    return Refusal("a query beyond the user's share", lambda: int(caller.request("long", asked).status))


def _refused_job(caller: _Caller, name: str, most: int, asked: attack.Asked) -> Refusal:
    def ask() -> int:
        return int(caller.request(f"jobs-{most}", asked, role=Role.EDITOR).status)

    for _ in range(most):
        _require(ask(), 202)
    return Refusal(name, ask)


_EXPORT: Final = attack.Asked("POST", "/export", {"format": "csv"})
_CHANGE: Final = attack.Asked(
    "POST",
    "/issues/update-matching",
    {"filter": {"field": "name", "op": "eq", "value": "none"}, "set": {"name": "other"}},
)
_DEAR: Final = attack.Asked("POST", "/grid", {"sort": [{"field": "kind"}]})


def _refused_polls(caller: _Caller) -> Iterator[Refusal]:
    changes = attack.Asked("GET", "/changes")
    cursor = caller.request("polls", changes).body["next"]
    query = attack.poll_query(cursor)

    def fill() -> None:
        now = int(time.time() * 1000)
        polls = {f"poll-{number:08x}": now for number in range(MOST_IN_FLIGHT)}
        place = {keys.PK: live_keys.polls(_TENANT), keys.SK: "polls"}
        caller.stored.put({**place, "polls": MOST_IN_FLIGHT, **polls})

    def fill_and_forget() -> None:
        fill()
        caller.forget_refusals()

    def poll() -> int:
        return int(caller.request("polls", changes, query=query).status)

    name = f"poll {MOST_IN_FLIGHT + 1} in flight"
    yield Refusal(f"{name}, the first of a second in a container", poll, fill_and_forget)
    yield Refusal(f"{name}, the next ones", poll, fill)


def _refused_sockets(caller: _Caller) -> Iterator[Refusal]:
    later = int((time.time() + _HOUR) * 1000)
    used = caller.ticket("used")
    _require(caller.connect(used), 200)
    yield Refusal("`$connect` with a used ticket", lambda: caller.connect(used))

    said, rows = caller.connected("says"), [caller.connected("rows") for _ in range(5)]
    caller.set_socket(said, spent=later)
    yield Refusal("a message beyond the bucket", lambda: caller.say(said, do="look", num=1))

    def just_looked() -> None:
        caller.set_socket(rows[0], spent=0, looked=int(time.time() * 1000))

    yield Refusal("a look within a second", lambda: caller.say(rows[0], do="look", num=1), just_looked)
    for number in range(attack.ROWS):
        connection = rows[number // attack.SUBSCRIPTIONS]
        asked = {"id": f"s{number}", "filter": attack.rows_of(number)}
        _require(caller.say(connection, do="subscribe", **asked), 200)
    full = {"do": "subscribe", "id": "more", "filter": {"field": "name", "op": "eq", "value": "more"}}
    yield Refusal(
        f"row subscription {attack.ROWS + 1} of a user",
        lambda: caller.say(rows[-1], **full),
        lambda: caller.set_socket(rows[-1], spent=0),
    )

    begins, ticket = caller.connected("starts"), caller.ticket("starts")
    caller.set_starts("starts", later)
    yield Refusal("`$connect` beyond the bucket of starts", lambda: caller.connect(ticket))
    start = {"do": "subscribe", "id": "s"}
    yield Refusal(
        "a subscription beyond the bucket of starts",
        lambda: caller.say(begins, **start),
        lambda: caller.set_socket(begins, spent=0),
    )


def _price(caller: _Caller, refusal: Refusal, repeat: int) -> Price:
    written, read, calls, cpu, status = [], [], [], [], 0
    for _ in range(_WARM + repeat):
        refusal.prepare()
        caller.write_units, caller.client.units = 0, Units()
        began = time.process_time()
        status = refusal.ask()
        cpu.append(time.process_time() - began)
        if status < 400:
            raise Failure(f"Not refused, but {status}: {refusal.name}")
        written.append(caller.write_units)
        read.append(caller.client.units.read)
        calls.append(caller.client.units.calls)
    return Price(
        refusal.name,
        status,
        max(written[_WARM:]),
        max(read[_WARM:]),
        max(calls[_WARM:]),
        median(cpu[_WARM:]),
    )


def _require(status: int, wanted: int) -> None:
    if status != wanted:
        raise Failure(f"{status} instead of {wanted} while refusals were prepared.")


@contextlib.contextmanager
def _management_api() -> Iterator[str]:
    command = [sys.executable, "-c", _CLIENTS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"http://127.0.0.1:{(process.stdout or sys.stdin).readline().strip()}"
        finally:
            process.kill()
