"""One viewer's worst beside another tenant, in virtual time: the real handlers on a table in memory, in an account whose
concurrency is limited.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median
from typing import Any, Final, NamedTuple

from devtools.bench import issues
from devtools.bench.fair import attack
from devtools.bench.fair.account import Account, Concurrency, Limits, User
from devtools.bench.fair.attack import KINDS, Rates
from devtools.bench.timeline import Timeline
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.virtual import virtual
from gridview.commands.actor import Actor, Role
from gridview.live.push_shares import Share
from gridview.live.token_buckets import TokenBucket
from infra.event_sources import StreamRecords
from infra.functions import FUNCTIONS
from infra.settings import Settings, quota_defaults

CONCURRENCIES: Final = (10, 1_000)
"""The concurrency of a new account, and of one that AWS has raised."""

TIMED: Final = ("page", "write", "feed", "push")
"""The things that another tenant waits for."""

DEAR_CPU: Final = 0.25
"""Seconds of processor of a dear query: those of the dearest at a million issues (docs/performance.md), doubled."""

_TENANTS: Final = ("noisy", "quiet")
_PROJECT: Final = "shared"
_PATH: Final = f"/v1/projects/{_PROJECT}"
_VIEWER: Final[User] = ("noisy", "mallory", Role.VIEWER)
_COLLEAGUE: Final[User] = ("noisy", "carol", Role.EDITOR)
_OTHER: Final[User] = ("quiet", "olga", Role.EDITOR)
_BUSY: Final = 5.0
"""Seconds for which the viewer is at it before the other tenant is timed."""
_STUCK: Final = 5
"""The viewer's sockets that take no message."""
_OPEN_BEFORE: Final = 340
"""Sockets of the viewer where nothing limits them."""


class Setting(NamedTuple):
    """A case: the account's concurrency, the kinds of load, and whether limits hold. `seconds` are the timed ones."""

    concurrency: int
    kinds: Collection[str] = KINDS
    limited: bool = True
    rates: Rates = Rates()
    seconds: int = 10
    size: int = 100


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of each kind. A kind that never came has the length of the whole run.

    `asked`: invocations a second of everyone, of which Lambda has refused `throttled`, and of these `too_fast` because of the
    account's requests a second.
    """

    seconds: Mapping[str, Sequence[float]]
    asked: float
    throttled: float
    too_fast: float

    def median(self, kind: str) -> float:
        """The median of a kind."""
        return median(self.seconds[kind])

    def worst(self, kind: str) -> float:
        """The worst of a kind."""
        return max(self.seconds[kind])


def measured(setting: Setting, seed: int = 0, table: MemoryTable | None = None) -> Timed:
    """Return the waits of the other tenant. `table`: from `loaded`, which is not changed."""
    time = Timeline()
    stored = loaded(setting.size) if table is None else table.copy()
    with virtual(time, seed, {} if setting.limited else _UNLIMITED):
        account = Account(time, stored, _concurrency(setting), _limits(setting), seed)
        end = _BUSY + setting.seconds
        scene = _Scene(account, setting, end)
        scene.begin()
        time.run()
        account.kill()
    never = [_BUSY + setting.seconds]
    seconds = {kind: scene.other.seconds[kind] or never for kind in TIMED}
    found = account.concurrency
    return Timed(seconds, found.asked / end, sum(found.throttled.values()) / end, found.too_fast / end)


def loaded(size: int) -> MemoryTable:
    """A table with a project of each of the two tenants."""
    table = MemoryTable()
    for tenant in _TENANTS:
        issues.load(table, Actor(tenant, "gridview.bench", Role.ADMIN), _PROJECT, size)
    return table


class _Scene:
    def __init__(self, account: Account, setting: Setting, end: float) -> None:
        self.account = account
        self.setting = setting
        self.end = end
        self.other = _Other(account, end)
        self._numbers = count(1)
        self._open: list[str] = []

    def begin(self) -> None:
        """Begin all of it."""
        for kind in self.setting.kinds:
            {
                "polls": self._poll,
                "sockets": self._follow,
                "queries": self._query,
                "refusals": self._be_refused,
            }[kind]()
        self.account.every(1.0, self._edit, self.end)
        self.other.begin()

    def _edit(self) -> None:
        """A colleague of the viewer changes an issue, so there is a change to push."""
        num = 1 + next(self._numbers) % self.setting.size
        fields = {"name": f"edit {self.account.time.passed:.3f}"}
        self.account.patiently(_COLLEAGUE, "PATCH", f"{_PATH}/issues/{num}", fields)

    def _poll(self) -> None:
        account = self.account
        cursor: list[str] = []

        def poll() -> None:
            if not cursor:
                cursor.append(account.patiently(_VIEWER, "GET", f"{_PATH}/changes").body["next"])
            account.request(_VIEWER, "GET", f"{_PATH}/changes", query=attack.poll_query(cursor[0]))

        account.every(1 / self.setting.rates.polls, poll, self.end)

    def _follow(self) -> None:
        account, rates = self.account, self.setting.rates
        wanted = attack.SOCKETS if self.setting.limited else _OPEN_BEFORE

        def connect() -> None:
            connection = f"c{next(self._numbers):014d}="
            if account.connect(_VIEWER, _PATH, connection):
                self._open.append(connection)
                for number in range(attack.SUBSCRIPTIONS):
                    rows = attack.rows_of(len(self._open) * attack.SUBSCRIPTIONS + number)
                    account.say(connection, do="subscribe", id=f"s{number}", since=None, filter=rows)
                if len(self._open) % (wanted // _STUCK) == 0:
                    account.wire.stuck.add(connection)

        def say() -> None:
            if self._open:
                place = next(self._numbers) % min(len(self._open), wanted)
                account.say(
                    self._open[-1 - place], do="look", num=1 + next(self._numbers) % self.setting.size
                )

        def connect_all() -> None:
            for _ in range(wanted):
                account.begin(connect)
            account.every(1 / rates.connects, connect, self.end)

        account.begin(connect_all)
        account.every(1 / rates.messages, say, self.end)

    def _query(self) -> None:
        account = self.account

        def query() -> None:
            for asked in attack.dear_requests():
                if account.time.passed >= self.end:
                    return
                answer = account.request(_VIEWER, asked.method, _PATH + asked.path, asked.body, cpu=DEAR_CPU)
                if answer.status in (429, 503):
                    account.time.sleep(self.setting.rates.again)

        for _ in range(self.setting.rates.parallel):
            account.begin(query)

    def _be_refused(self) -> None:
        account, requests = self.account, attack.refused_requests()

        def ask() -> None:
            asked = next(requests)
            account.request(_VIEWER, asked.method, _PATH + asked.path, asked.body)

        def junk() -> None:
            connection = f"j{next(self._numbers):014d}="
            account.socket_event(connection, "$connect", queryStringParameters={"ticket": "junk"})

        def export() -> None:
            """An export holds an invocation of upkeep all the time, turn after turn."""
            while account.time.passed < self.end:
                account.invoke("upkeep", lambda _: account.time.sleep(1.0))
                account.time.sleep(0.1)

        account.every(1 / self.setting.rates.refusals, ask, self.end)
        account.every(1 / self.setting.rates.refusals, junk, self.end)
        for _ in range(_deployed(self.setting).workers):
            account.begin(export)


class _Other:
    """The other tenant's user, who is timed."""

    def __init__(self, account: Account, end: float) -> None:
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self._account = account
        self._end = end
        self._written: dict[str, float] = {}
        """When the answer to each write came, by the id of its change."""
        self._seen: dict[str, dict[str, float]] = {"feed": {}, "push": {}}

    def begin(self) -> None:
        """Begin the timed requests."""
        self._account.begin(self._listen)
        self._account.begin(self._follow)
        self._account.begin(self._work)

    def _work(self) -> None:
        account, time = self._account, self._account.time
        time.sleep(_BUSY)
        for num in count(1):
            if time.passed >= self._end:
                return
            self._timed("page", "POST", "/grid", {"sort": [{"field": issues.DATE}]})
            version = self._timed("write", "PATCH", f"/issues/{num}", {"name": f"edit {num}"})["version"]
            self._written[f"{num}.{version}"] = time.seconds
            self._note(f"{num}.{version}")
            account.time.sleep(account.chance.uniform(0.4, 1.0))

    def _timed(self, kind: str, method: str, path: str, body: Any) -> Any:
        began = self._account.time.seconds
        answer = self._account.patiently(_OTHER, method, _PATH + path, body)
        self.seconds[kind].append(self._account.time.seconds - began)
        return answer.body

    def _follow(self) -> None:
        """Long polls, one after the other."""
        cursor = self._account.patiently(_OTHER, "GET", f"{_PATH}/changes").body["next"]
        while self._account.time.passed < self._end + _BUSY:
            query = f"since={cursor}&wait=5"
            answer = self._account.patiently(_OTHER, "GET", f"{_PATH}/changes", query=query)
            cursor = answer.body["next"]
            self._came("feed", answer.body["items"])
            if "retry-after" in answer.headers and not answer.body["items"]:
                self._account.time.sleep(float(answer.headers["retry-after"]))

    def _listen(self) -> None:
        """A socket that follows the project."""
        connection = "other0000000000="
        self._account.wire.takes[connection] = lambda frame: self._came(
            "push", json.loads(frame).get("items", ())
        )
        while not self._account.connect(_OTHER, _PATH, connection):
            self._account.time.sleep(1.0)
        self._account.say(connection, do="subscribe", id="all", since=None)

    def _came(self, kind: str, items: Sequence[Mapping[str, Any]]) -> None:
        for item in items:
            self._seen[kind].setdefault(item.get("id", ""), self._account.time.seconds)
            self._note(item.get("id", ""))

    def _note(self, change: str) -> None:
        """Note how late a change came, once both its answer and itself have come."""
        written = self._written.get(change)
        for kind, seen in self._seen.items():
            if written is not None and change in seen:
                self.seconds[kind].append(max(seen.pop(change) - written, 0.0))


def _concurrency(setting: Setting) -> Concurrency:
    chosen = _deployed(setting)
    found = {name: chosen.reserved(name) for name in ("live", "socket")} if setting.limited else {}
    return Concurrency(setting.concurrency, {name: most for name, most in found.items() if most})


def _deployed(setting: Setting) -> Settings:
    """The settings that the app chooses for an account of this concurrency."""
    return Settings(account_concurrency=setting.concurrency, **quota_defaults(setting.concurrency))


def _limits(setting: Setting) -> Limits:
    chosen = _deployed(setting)
    (pushes,) = (one for one in FUNCTIONS["socket"].event_sources(chosen) if isinstance(one, StreamRecords))
    if not setting.limited:
        return Limits(10**9, 100, pushes.window_seconds)
    return Limits(chosen.open_polls, chosen.work_share, pushes.window_seconds)


def _one_by_one(owners: Sequence[Any], whole: Share, work: Any) -> dict[Any, Any]:
    """Pushes as they were before tenants shared a batch's time."""
    return {owner: work(owner, whole.begun()) for owner in owners}


_UNLIMITED: Final[Mapping[str, Any]] = {
    "live.poll_limits.MOST_OF_USER": 10**9,
    "live.open_polls.in_flight": lambda _: 10**9,
    "live.poll_limits.SHORTEST": 20.0,
    "live.seats.MAX_USER_SOCKETS": 10**9,
    "live.seats.MAX_USER_ROWS": 10**9,
    "live.seat_store.START_BUCKET": TokenBucket(10**9, 1_000),
    "live.socket_calls._SUBSCRIBE_SECONDS": 5.0,
    "live.socket_store.take_message": lambda *_: None,
    "live.socket_calls.shared_out": _one_by_one,
    "live.socket_calls.BATCH_SECONDS": 25.0,
    "live.socket_calls.AT_ONCE": 8,
}
"""Replacements that take the limits away."""
