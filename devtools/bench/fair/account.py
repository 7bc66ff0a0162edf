"""An AWS account in virtual time: functions with a concurrency, the table's stream, and connections of sockets."""

import json
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from math import ceil
from random import Random
from typing import Any, Final, NamedTuple

from greenlet import getcurrent

from devtools.bench.timeline import Timeline
from devtools.failure import Failure
from devtools.local import matching
from devtools.local.delivery import sequence_number
from devtools.local.passes import no_poison
from devtools.proof.faults.adversary import record
from devtools.proof.faults.lambdas import Answer, Functions
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.strands import Strand, Strands, current
from devtools.proof.faults.watched import Attempted
from gridview.api.work_shares import WorkShares
from gridview.commands.actor import Role
from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import item_size, item_to_wire
from gridview.live.known_owners import KnownOwners
from gridview.live.open_polls import OpenPolls
from gridview.live.wire import SECONDS as SLOW_SECONDS
from gridview.live.wire import Gone, Slow
from gridview.schema.store import Catalogs
from infra.functions import FUNCTIONS
from infra.limits import BATCH_SIZE

CALL_SECONDS: Final = 0.005
CALL_CPU: Final = 0.001
REQUEST_CPU: Final = 0.005
"""CPU time of a request, without its calls."""
START_SECONDS: Final = 0.3
"""Until a new execution environment takes its first event."""
POST_SECONDS: Final = 0.01
POST_CPU: Final = 0.001
REQUESTS_PER_SECOND: Final = 10
"""Requests that Lambda lets one execution take: an account's concurrency times ten is its limit of requests a
second.
"""
STREAM_SECONDS: Final = 0.1
"""From a write until Lambda gives its record to a function."""

_RETRIES: Final = (1.0, 2.0, 4.0)
"""Seconds that the page waits before it sends a refused request again (`web/src/api/patience.ts`)."""
_STREAM_RETRIES: Final = (0.2, 0.4, 0.8, 1.6)
_UNIT_BYTES: Final = 1024

User = tuple[str, str, Role]


class Concurrency:
    """Lambda's concurrency of an account: reserved by functions, or shared by the others.

    Each execution also takes ten requests a second at most, however short they are; so an account of ten takes 100.
    """

    def __init__(self, account: int, reserved: Mapping[str, int]) -> None:
        pools = {"": account - sum(reserved.values()), **reserved}
        self._free = Counter(pools)
        self._per_second = {pool: REQUESTS_PER_SECOND * most for pool, most in pools.items()}
        self._left: dict[str, float] = dict(self._per_second)
        self._counted: defaultdict[str, float] = defaultdict(float)
        self._reserved = frozenset(reserved)
        self.throttled: Counter[str] = Counter()
        """Invocations that were refused, by function."""
        self.too_fast = 0
        """Those of them that came beyond the requests a second."""
        self.asked = 0
        """Invocations, begun or refused."""

    def enter(self, function: str, now: float) -> bool:
        """Whether an invocation may begin; it then has to `leave`."""
        pool = function if function in self._reserved else ""
        most = self._per_second[pool]
        left = min(self._left[pool] + (now - self._counted[pool]) * most, most)
        self._left[pool], self._counted[pool] = left, now
        self.asked += 1
        if self._free[pool] <= 0 or left < 1:
            self.throttled[function] += 1
            self.too_fast += left < 1
            return False
        self._left[pool] -= 1
        self._free[pool] -= 1
        return True

    def leave(self, function: str) -> None:
        """End an invocation."""
        self._free[function if function in self._reserved else ""] += 1


class Limits(NamedTuple):
    """Limits that a deployment derives from the account's concurrency.

    - polls: the open polls of a tenant.
    - long_query_percent: the percentage of a query container's time for a user.
    - push_window: the seconds for which pushes wait for each other.
    """

    polls: int
    long_query_percent: int
    push_window: float


class Account:
    """The functions on a table in memory. Each environment has one invocation at a time, and caches of its own."""

    def __init__(
        self, time: Timeline, table: MemoryTable, concurrency: Concurrency, limits: Limits, seed: int
    ) -> None:
        self.time = time
        self.chance = Random(seed)  # noqa: S311 - meant to be the same every time
        """When requests come, and which ones."""
        self.concurrency = concurrency
        self.wire = Wire(self)
        self.table = table.seen_through(self._around)
        self._outside = getcurrent()
        self._limits = limits
        self._idle: defaultdict[str, list[Functions]] = defaultdict(list)
        self._cpu_free: defaultdict[Strands, float] = defaultdict(float)
        self._later: dict[Strands, float] = {}
        """The processor's time that a request still needs, once it has made a call."""
        self._numbers = count(1)
        self._streams = [
            _Stream(self, "maintain", STREAM_SECONDS),
            _Stream(self, "socket", STREAM_SECONDS + limits.push_window),
        ]
        table.set_listener(self._record_change)

    def begin(self, work: Callable[[], None]) -> None:
        """Do some work side by side with all other work."""
        strands = Strands()
        strands.outside = self._outside  # also where one piece of work begins another

        def started() -> None:
            work()
            self._cpu_free.pop(strands, None)

        strand = Strand(strands, started)
        strands.alive.append(strand)
        self.time.wake(strand, 0)

    def every(self, seconds: float, work: Callable[[], None], until: float) -> None:
        """Begin some work again and again, on average each so many seconds, without waiting for earlier work."""

        def loop() -> None:
            while self.time.passed < until:
                self.time.sleep(seconds * self.chance.uniform(0, 2))
                self.begin(work)

        self.begin(loop)

    def request(
        self,
        user: User,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: str = "",
        cpu: float = REQUEST_CPU,
    ) -> Answer:
        """The answer to a request, sent once; 503 if Lambda has no concurrency for it.

        `cpu`: beyond `REQUEST_CPU`, it is used from the first call on. So a request that is refused without a call uses none of it.
        """
        function = matching.match(method, path).function

        def answered(environment: Functions) -> Answer:
            self.work(REQUEST_CPU)
            strand = current()
            if strand is not None:
                self._later[strand.strands] = cpu - REQUEST_CPU
            answer = environment.request(user, method, path, body, query=query)
            if strand is not None:
                self._later.pop(strand.strands, None)
            return answer

        found = self.invoke(function, answered)
        return Answer(503, {}) if found is None else found

    def patiently(self, user: User, method: str, path: str, body: Any = None, *, query: str = "") -> Answer:
        """The answer to a request that is sent again as the page does. Failure if it is refused otherwise."""
        for tries in count():
            answer = self.request(user, method, path, body, query=query)
            if answer.status < 300:
                return answer
            if answer.status not in (429, 503):
                raise Failure(f"{method} {path} answered {answer.status}: {answer.body}")
            self.time.sleep(_RETRIES[min(tries, len(_RETRIES) - 1)])
        raise AssertionError

    def socket_event(self, connection: str, route: str, **more: Any) -> int:
        """The status that the socket function returns for an event of the WebSocket API; 503: throttled."""
        kind = {"$connect": "CONNECT", "$disconnect": "DISCONNECT"}.get(route, "MESSAGE")
        context = {"routeKey": route, "eventType": kind, "connectionId": connection, "requestId": "r"}
        event = {"requestContext": context, "isBase64Encoded": False, **more}
        found = self.invoke("socket", lambda environment: environment.socket(event))
        return 503 if found is None else int(found["statusCode"])

    def say(self, connection: str, **message: Any) -> None:
        """Send a message over a socket."""
        self.socket_event(connection, "$default", body=json.dumps(message))

    def connect(self, user: User, path: str, connection: str) -> bool:
        """Open a socket with a new ticket; whether it is open."""
        ticket = self.patiently(user, "POST", f"{path}/tickets").body["ticket"]
        self.wire.open.add(connection)
        if self.socket_event(connection, "$connect", queryStringParameters={"ticket": ticket}) == 200:
            return True
        self.wire.open.discard(connection)
        return False

    def invoke(self, function: str, work: Callable[[Functions], Any]) -> Any:
        """Return the result of `work` in an environment of a function; None: throttled."""
        if not self.concurrency.enter(function, self.time.seconds):
            return None
        try:
            if not self._idle[function]:
                self.time.sleep(START_SECONDS)
            environment = self._idle[function].pop() if self._idle[function] else self._environment(function)
            result = work(environment)
            self._idle[function].append(environment)
            return result
        finally:
            self.concurrency.leave(function)

    def work(self, cpu: float) -> None:
        """Let the invocation that calls this use its processor."""
        strand = current()
        if strand is not None:
            self.time.sleep(self._reach(strand, cpu) - self.time.seconds)

    def kill(self) -> None:
        """End what waits for records."""
        for stream in self._streams:
            stream.kill()

    def _environment(self, function: str) -> Functions:
        given: dict[str, Any] = {}
        if function == "live":
            given = {"open_polls": OpenPolls(self._limits.polls)}
        elif function == "query":
            given = {"work_shares": WorkShares(self._limits.long_query_percent)}
        elif function == "socket":
            given = {"owners": self.table, "wire": self.wire, "known_owners": KnownOwners()}
        return Functions(
            self.table, Catalogs(), left=lambda: float(FUNCTIONS[function].timeout_seconds), given=given
        )

    def _reach(self, strand: Strand, cpu: float) -> float:
        """When the processor of a strand's invocation has done so much for it."""
        reached = max(self.time.seconds, self._cpu_free[strand.strands]) + cpu
        self._cpu_free[strand.strands] = reached
        return reached

    def _around(self, _: Attempted, perform: Callable[[], Any]) -> Any:
        strand = current()
        if strand is not None:
            cpu = CALL_CPU + self._later.pop(strand.strands, 0.0)
            self.time.sleep(self._reach(strand, cpu) - self.time.seconds + CALL_SECONDS)
        return perform()

    def _record_change(self, before: Any, after: Any) -> None:
        change = record(next(self._numbers), before, after)
        place = after or before
        if keys.is_issue(place[keys.PK]) and keys.is_project(place[keys.SK]):
            self._streams[0].send(change)
        elif derived_keys.is_journal(place[keys.PK]) and after is not None:
            self._streams[1].send(change)


class _Stream:
    """The one shard of the table's stream for one function, which tenants share: one batch after the other."""

    def __init__(self, account: Account, function: str, delay: float) -> None:
        self._account = account
        self._delay = delay
        self._function = function
        self._records: deque[Any] = deque()
        self._idle: Strand | None = None
        self._strands = Strands()
        self._strands.begin(self._work)
        self._strands.go_on()

    def send(self, change: Any) -> None:
        """Take a record."""
        self._records.append(change)
        if self._idle is not None:
            self._account.time.wake(self._idle, self._delay)
            self._idle = None

    def kill(self) -> None:
        """End it."""
        self._strands.kill()

    def _work(self) -> None:
        while True:
            while not self._records:
                self._idle = current()
                if self._idle is not None:
                    self._idle.stop()
            batch = [self._records.popleft() for _ in range(min(BATCH_SIZE, len(self._records)))]
            self._deliver(batch)

    def _deliver(self, batch: list[Any]) -> None:
        for tries in count():
            answer = self._account.invoke(self._function, partial(self._handle, batch))
            if answer is None:
                self._account.time.sleep(_STREAM_RETRIES[min(tries, len(_STREAM_RETRIES) - 1)])
                continue
            failed = [one["itemIdentifier"] for one in answer["batchItemFailures"]]
            if not failed:
                return
            numbers = list(map(sequence_number, batch))
            batch = batch[numbers.index(min(failed, key=int)) :]

    def _handle(self, batch: list[Any], environment: Functions) -> Any:
        if self._function == "maintain":
            return environment.maintain(batch, no_poison)
        return environment.socket({"Records": batch})


class Wire:
    """The connections of sockets. `stuck` ones take nothing."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self.open: set[str] = set()
        self.stuck: set[str] = set()
        self.takes: dict[str, Callable[[bytes], None]] = {}
        """The handler of the messages to each connection."""

    def post(self, connection: str, frame: bytes) -> None:
        """Send a message. Gone, Slow."""
        self._account.work(POST_CPU)
        if connection not in self.open:
            self._account.time.sleep(POST_SECONDS)
            raise Gone
        if connection in self.stuck:
            self._account.time.sleep(SLOW_SECONDS)
            raise Slow
        self._account.time.sleep(POST_SECONDS)
        take = self.takes.get(connection)
        if take is not None:
            take(frame)

    def end(self, connection: str) -> None:
        """Close a connection; API Gateway then says so to the socket function."""
        self._account.work(POST_CPU)
        self._account.time.sleep(POST_SECONDS)
        if connection in self.open:
            self.open.discard(connection)
            self._account.begin(lambda: self._disconnected(connection))

    def _disconnected(self, connection: str) -> None:
        self._account.socket_event(connection, "$disconnect")


def write_units(call: Attempted) -> int:
    """At least the write units of a call, also of one that is refused; those of deletes and updates are one."""
    if call.transaction:
        return 2 * len(call.transaction)
    if call.item is None:
        return max(1, len(call.keys))
    return ceil(item_size(item_to_wire(call.item)) / _UNIT_BYTES) + (keys.SORT in call.item)
