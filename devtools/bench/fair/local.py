"""One viewer's worst beside another tenant, on a local stack: all that the virtual account has, on this machine's
processors.

The viewer is a process of its own, so its work delays no clock here. All share the machine's processors, unlike AWS's
functions. So this shows whether anyone waits for the viewer's requests to end, and no time of AWS.
"""

import contextlib
import json
import multiprocessing
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import count
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from devtools import page_tools
from devtools.bench import issues
from devtools.bench.fair import attack
from devtools.failure import Failure
from devtools.local import bulk, table, tokens
from gridview.commands.actor import Actor, Role
from gridview.live.change_requests import MAX_WAIT

SECONDS: Final = 8.0
"""For which the other tenant is timed in each run."""

_FORMER_POLLS: Final = 24
FORMER: Final = f"{_FORMER_POLLS} long polls"
"""A kind of load: what delayed another tenant's request by 38 seconds before there were limits."""

_PATH: Final = "/v1/projects/shared"
_SIZE: Final = 100
_WARM: Final = 4.0
_PATIENCE: Final = 60.0
_RETRIES: Final = (1.0, 2.0, *[4.0] * 14)
"""As the page tries again, for a minute."""
_PAUSE: Final = 0.3
_PAUSE_OF_POLLS: Final = 0.1
_STUCK: Final = 5
_MESSAGES_PER_SOCKET: Final = 5
_REFUSALS_PER_SECOND: Final = 20


class Caller(NamedTuple):
    """A user of a stack's API. It may be sent to another process."""

    host: str
    token: str

    def ask(self, asked: attack.Asked, query: str = "") -> tuple[int, Mapping[str, str], Any]:
        """Status, headers and body of the answer to a request below the project's path."""
        connection = HTTPConnection(self.host, timeout=_PATIENCE)
        with contextlib.closing(connection):
            headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
            body = None if asked.body is None else json.dumps(asked.body)
            path = f"{_PATH}{asked.path}?{query}" if query else _PATH + asked.path
            connection.request(asked.method, path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
            return answer.status, dict(answer.getheaders()), json.loads(content) if content else None

    def require(self, asked: attack.Asked, query: str = "") -> Any:
        """The body of a good answer; a busy one is asked again, as the page does."""
        for pause in _RETRIES:
            status, _, body = self.ask(asked, query)
            if status < 300:
                return body
            if status not in (429, 503):
                break
            time.sleep(pause)
        raise Failure(f"{asked.method} {asked.path} answered {status}: {body}")


@dataclass(slots=True)
class Timed:
    """Seconds of each kind of wait of the other tenant, and the statuses that the viewer got."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    statuses: Counter[str] = field(default_factory=Counter)

    def median(self, kind: str) -> float:
        """The median of a kind."""
        return median(self.seconds[kind])

    def worst(self, kind: str) -> float:
        """The worst of a kind."""
        return max(self.seconds[kind])


@contextlib.contextmanager
def stack() -> Iterator[Callable[[Sequence[str]], Timed]]:
    """A stack with a project of each of two tenants. The function times one run beside some kinds of load."""
    with tempfile.TemporaryDirectory() as made:
        data = Path(made) / "data"
        with page_tools.empty_stack(data) as running:
            stored = bulk.table_at(running.engine, table.TABLE)
            for tenant in ("noisy", "quiet"):
                issues.load(stored, Actor(tenant, "bench", Role.ADMIN), "shared", _SIZE)
            key, host = tokens.key_in(data), urlsplit(running.api).netloc
            viewer, colleague, other = (
                Caller(host, tokens.issue(key, tenant=tenant, role=role, user=user))
                for tenant, role, user in (
                    ("noisy", "viewer", "mallory"),
                    ("noisy", "editor", "carol"),
                    ("quiet", "editor", "olga"),
                )
            )
            other.require(attack.Asked("POST", "/grid", {}))
            yield lambda kinds: _measured(viewer, colleague, other, kinds)


def _measured(viewer: Caller, colleague: Caller, other: Caller, kinds: Sequence[str]) -> Timed:
    spawning = multiprocessing.get_context("spawn")
    stop, sent = spawning.Event(), spawning.Queue()
    process = spawning.Process(
        target=_attack, args=(viewer, colleague, tuple(kinds), stop, sent), daemon=True
    )
    process.start()
    try:
        if kinds:
            time.sleep(_WARM)
        timed = Timed()
        _Other(other, timed).run(SECONDS)
        stop.set()
        timed.statuses = sent.get(timeout=_PATIENCE)
        return timed
    finally:
        process.kill()
        process.join()


class _Other:
    """The other tenant's user, who is timed."""

    def __init__(self, caller: Caller, timed: Timed) -> None:
        self._caller = caller
        self._timed = timed
        self._is_over = threading.Event()
        self._lock = threading.Lock()
        self._written: dict[str, float] = {}
        self._seen: dict[str, dict[str, float]] = {"feed": {}, "push": {}}

    def run(self, seconds: float) -> None:
        """Work for so many seconds, once feed and socket are followed, then wait for everything on its way."""
        ready = threading.Barrier(3)
        followers = [
            threading.Thread(target=self._until_over, args=(follow, ready), daemon=True)
            for follow in (self._poll, self._listen)
        ]
        for one in followers:
            one.start()
        ready.wait(_PATIENCE)
        end = time.monotonic() + seconds
        for num in count(1):
            if time.monotonic() >= end:
                break
            self._time("page", attack.Asked("POST", "/grid", {"sort": [{"field": issues.DATE}]}))
            edit = attack.Asked("PATCH", f"/issues/{1 + num % _SIZE}", {"name": f"edit {time.time()}"})
            version = self._time("write", edit)["version"]
            self._note(self._written, f"{1 + num % _SIZE}.{version}")
            time.sleep(_PAUSE)
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline and any(
            len(self._timed.seconds[kind]) < len(self._written) for kind in self._seen
        ):
            time.sleep(0.05)
        self._is_over.set()
        for kind in self._seen:
            if not self._timed.seconds[kind]:
                raise Failure(f"None of {len(self._written)} changes came by {kind}.")

    def _until_over(self, follow: Callable[[threading.Barrier], None], ready: threading.Barrier) -> None:
        """Follow; when all is over, the stack may end amid a request."""
        try:
            follow(ready)
        except (OSError, HTTPException, WebSocketException):
            if not self._is_over.is_set():
                raise

    def _time(self, kind: str, asked: attack.Asked) -> Any:
        began = time.monotonic()
        answer = self._caller.require(asked)
        self._timed.seconds[kind].append(time.monotonic() - began)
        return answer

    def _poll(self, ready: threading.Barrier) -> None:
        changes = attack.Asked("GET", "/changes")
        cursor = self._caller.require(changes)["next"]
        ready.wait(_PATIENCE)
        while not self._is_over.is_set():
            answer = self._caller.require(changes, f"since={cursor}&wait=5")
            cursor = answer["next"]
            self._came("feed", answer["items"])

    def _listen(self, ready: threading.Barrier) -> None:
        bought = self._caller.require(attack.Asked("POST", "/tickets"))
        with connect(f"{bought['url']}?ticket={bought['ticket']}", open_timeout=_PATIENCE) as socket:
            socket.send(json.dumps({"do": "subscribe", "id": "all"}))
            socket.recv(timeout=_PATIENCE)
            ready.wait(_PATIENCE)
            while not self._is_over.is_set():
                with contextlib.suppress(TimeoutError):
                    self._came("push", json.loads(socket.recv(timeout=0.5)).get("items", ()))

    def _came(self, kind: str, items: Sequence[Mapping[str, Any]]) -> None:
        for item in items:
            self._note(self._seen[kind], str(item.get("id", "")))

    def _note(self, place: dict[str, float], change: str) -> None:
        """Note when a change was answered or came, and how late it came once both are known."""
        with self._lock:
            place.setdefault(change, time.monotonic())
            for kind, seen in self._seen.items():
                if change in self._written and change in seen:
                    self._timed.seconds[kind].append(max(seen.pop(change) - self._written[change], 0.0))


def _attack(viewer: Caller, colleague: Caller, kinds: Sequence[str], stop: Event, sent: Any) -> None:
    """The viewer's process: it does its worst until the event is set, then puts the statuses that it got."""
    load = _Load(viewer, stop)
    load.begin(lambda: load.every(1.0, lambda: load.edit(colleague)))
    for kind in kinds:
        {
            "polls": lambda: load.many(2 * attack.SOCKETS, load.poll),
            FORMER: lambda: load.many(_FORMER_POLLS, load.poll),
            "sockets": lambda: load.many(attack.SOCKETS, load.follow),
            "queries": lambda: load.many(attack.Rates().parallel, load.query),
            "refusals": lambda: load.begin(lambda: load.every(1 / _REFUSALS_PER_SECOND, load.be_refused)),
        }[kind]()
    stop.wait()
    sent.put(load.statuses)


class _Load:
    def __init__(self, caller: Caller, stop: Event) -> None:
        self.statuses: Counter[str] = Counter()
        self._caller = caller
        self._stop = stop
        self._numbers = count(1)
        self._refused = attack.refused_requests()

    def begin(self, work: Callable[[], None]) -> None:
        """Do some work until the end, side by side with others."""

        def loop() -> None:
            while not self._stop.is_set():
                try:
                    work()
                except (OSError, HTTPException, WebSocketException, Failure):
                    self.statuses["no answer"] += 1
                    time.sleep(0.2)

        threading.Thread(target=loop, daemon=True).start()

    def many(self, times: int, work: Callable[[], None]) -> None:
        """Do the same so many times side by side."""
        for _ in range(times):
            self.begin(work)

    def every(self, seconds: float, work: Callable[[], None]) -> None:
        """Do some work once in so many seconds."""
        while not self._stop.wait(seconds):
            work()

    def edit(self, colleague: Caller) -> None:
        """The viewer's colleague changes an issue."""
        num = 1 + next(self._numbers) % _SIZE
        colleague.ask(attack.Asked("PATCH", f"/issues/{num}", {"name": f"edit {time.time()}"}))

    def poll(self) -> None:
        """Wait for changes that never come, again and again, with a tenth of a second between, whatever pause is asked
        for.
        """
        cursor = self._caller.require(attack.Asked("GET", "/changes"))["next"]
        while not self._stop.is_set():
            status, *_ = self._caller.ask(attack.Asked("GET", "/changes"), attack.poll_query(cursor))
            self.statuses[f"poll {status}"] += 1
            time.sleep(_PAUSE_OF_POLLS)

    def follow(self) -> None:
        """Open a socket, subscribe, and say as much as it takes; one of four takes no message."""
        number = next(self._numbers)
        bought = self._caller.require(attack.Asked("POST", "/tickets"))
        with connect(f"{bought['url']}?ticket={bought['ticket']}", open_timeout=MAX_WAIT) as socket:
            for each in range(attack.SUBSCRIPTIONS):
                rows = attack.rows_of(number * attack.SUBSCRIPTIONS + each)
                socket.send(json.dumps({"do": "subscribe", "id": f"s{each}", "filter": rows}))
            until = time.monotonic() + 2 * _STUCK
            while not self._stop.is_set() and time.monotonic() < until:
                socket.send(json.dumps({"do": "look", "num": 1 + next(self._numbers) % _SIZE}))
                with contextlib.suppress(TimeoutError):
                    while number % (attack.SOCKETS // _STUCK):
                        frame = json.loads(socket.recv(timeout=1 / _MESSAGES_PER_SOCKET))
                        self.statuses[f"frame {frame['error']['status'] if 'error' in frame else 200}"] += 1
                if number % (attack.SOCKETS // _STUCK) == 0:
                    time.sleep(1 / _MESSAGES_PER_SOCKET)

    def query(self) -> None:
        """Put the dearest queries, one after the other."""
        for asked in attack.dear_requests():
            if self._stop.is_set():
                return
            status, *_ = self._caller.ask(asked)
            self.statuses[f"query {status}"] += 1

    def be_refused(self) -> None:
        """Send a request that is refused, and a junk ticket."""
        status, *_ = self._caller.ask(next(self._refused))
        self.statuses[f"refusal {status}"] += 1
