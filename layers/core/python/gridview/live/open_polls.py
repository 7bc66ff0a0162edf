"""The open polls of a tenant in the table: one item for each user who waits, with an attribute for each open poll.

A poll that finds nothing joins the list, looks at the tenant's items each second, and leaves at its end. A poll whose
function was stopped stays listed until it is known to be dead. No write waits for another one: DynamoDB changes
single attributes of an item.
"""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from gridview.commands.actor import Actor
from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import Condition
from gridview.dynamodb.table import Table
from gridview.encoding import keys, live_keys
from gridview.live.poll_limits import Poll, granted_wait, in_flight, may_stay, pause_after
from gridview.support import clock
from gridview.support.aws import FAILURES
from gridview.support.errors import Overloaded, TooManyPolls

_LOOK = 1.0
"""Seconds between two looks at the list."""

_REFUSED = 1.0
"""Seconds for which a container remembers that a user has too many polls in flight."""

_COUNT = "polls"
_ENTRY = "poll-"
_KEPT_DAYS = 1 / 24


class OpenPolls:
    """Lets polls wait. Containers share the list, which is in the table."""

    def __init__(self, most_of_tenant: int) -> None:
        self._most = most_of_tenant
        self._refused: dict[tuple[str, str], float] = {}
        """By tenant and user: until when more polls are refused without a call."""

    def require_room(self, actor: Actor) -> None:
        """Raise TooManyPolls if this container has refused a poll of the user within the last second. No call."""
        if clock.seconds() < self._refused.get((actor.tenant, actor.user), 0.0):
            raise _too_many(self._most)

    @contextmanager
    def polling(self, table: Table, actor: Actor, wait: int) -> Iterator["OpenPoll"]:
        """A poll that may wait so many seconds. One that waits costs 2 write units, and each second half a read unit
        for each 4 KB of the tenant's users who wait.
        """
        poll = OpenPoll(table, actor, wait, self._most, self._refused)
        try:
            yield poll
        finally:
            poll.leave()


class OpenPoll:
    """A poll. It is listed from its first wait on."""

    def __init__(
        self, table: Table, actor: Actor, wait: int, most: int, refused: dict[tuple[str, str], float]
    ) -> None:
        self._table = table
        self._actor = actor
        self._wait = wait
        self._most = most
        self._refused = refused
        self._key = live_keys.polls(actor.tenant), actor.user
        self._begun = clock.seconds()
        self._own: Poll | None = None
        self._is_only_one = False
        self._looked = 0.0
        self._until = self._begun

    @property
    def pause(self) -> int:
        """Seconds to pause before the next poll, if this one ends now without changes; 0: none."""
        return pause_after(self._wait, clock.seconds() - self._begun)

    def until(self, now: float) -> float:
        """Until when to wait (`changes.Until`). TooManyPolls: the user has too many in flight; 1 write unit."""
        if not self._wait:
            return now
        if self._own is None:
            self._until = self._joined(now)
        elif now - self._looked >= _LOOK and not self._may_stay(self._own, now):
            self._until = now
        return self._until

    def leave(self) -> None:
        """Take the poll off the list: 1 write unit. The last one of its user removes the item."""
        if self._own is None:
            return
        own, self._own = self._own, None
        name = _name(own)
        with suppress(Overloaded, *FAILURES):
            if self._is_only_one and self._removed(name):
                return
            _drop(self._table, self._key, [name])

    def _joined(self, now: float) -> float:
        """Join the list. Returns until when the poll may wait."""
        own = Poll(int(now * 1000), secrets.token_hex(4), self._actor.user)
        try:
            listed = self._add(own, now)
            if listed is None:
                _forget_before(self._refused, now)
                self._refused[self._actor.tenant, self._actor.user] = now + _REFUSED
                raise _too_many(self._most)
            self._own = own
            _drop_dead(self._table, self._key, listed, now)
            others = [one for one in self._listed(now) if one != own]
        except (Overloaded, *FAILURES):
            # The poll can't be counted, so it doesn't wait. Its client pauses.
            return now
        self._looked = now
        self._is_only_one = all(one.user != own.user for one in others)
        granted = granted_wait(self._wait, len(others), self._most)
        return min(self._begun + self._wait, now + granted)

    def _add(self, own: Poll, now: float) -> Mapping[str, Any] | None:
        """Return the user's item with this poll; None if there is no room for it."""
        for _ in range(2):
            try:
                return self._table.update(
                    *self._key,
                    _room_for(own, in_flight(self._most)),
                    add={_COUNT: 1},
                    assign={_name(own): own.started, keys.TTL_ATTRIBUTE: clock.expiry(_KEPT_DAYS)},
                )
            except ConditionFailed as error:
                found = error.item or {}
                if _name(own) in found:  # the SDK repeated a request whose answer was lost
                    return found
                if not _drop_dead(self._table, self._key, found, now):
                    return None
        return None

    def _may_stay(self, own: Poll, now: float) -> bool:
        self._looked = now
        try:
            listed = self._listed(now)
        except (Overloaded, *FAILURES):
            return True  # until its time is over
        self._is_only_one = all(one.user != own.user or one == own for one in listed)
        return may_stay(own, listed, self._most)

    def _listed(self, now: float) -> list[Poll]:
        """Return the tenant's open polls: one Query."""
        page = self._table.query(self._key[0])
        return [one for item in page.items for one in _polls_in(item) if not one.is_dead(now)]

    def _removed(self, name: str) -> bool:
        alone = Condition(
            "#count = :one AND attribute_exists(#poll)", {"#count": _COUNT, "#poll": name}, {":one": 1}
        )
        try:
            self._table.delete(*self._key, alone)
        except ConditionFailed:
            return False
        return True


def _room_for(own: Poll, most: int) -> Condition:
    return Condition(
        "attribute_not_exists(#poll) AND (attribute_not_exists(PK) OR #count < :most)",
        {"#poll": _name(own), "#count": _COUNT},
        {":most": most},
    )


def _drop_dead(table: Table, key: tuple[str, str], item: Mapping[str, Any], now: float) -> bool:
    """Take dead polls off a user's list: 1 write unit if there are some. Returns whether there were any."""
    dead = [_name(one) for one in _polls_in({keys.SK: key[1], **item}) if one.is_dead(now)]
    if dead:
        _drop(table, key, dead)
    return bool(dead)


def _drop(table: Table, key: tuple[str, str], names: list[str]) -> None:
    """Take listed polls off a user's list; if another request took one of them off first, none."""
    placed = {f"#d{place}": name for place, name in enumerate(names)}
    all_there = Condition(" AND ".join(f"attribute_exists({one})" for one in placed), placed)
    with suppress(ConditionFailed):
        table.update(*key, all_there, add={_COUNT: -len(names)}, drop=names)


def _polls_in(item: Mapping[str, Any]) -> Iterator[Poll]:
    return (
        Poll(started, name.removeprefix(_ENTRY), item[keys.SK])
        for name, started in item.items()
        if name.startswith(_ENTRY)
    )


def _name(poll: Poll) -> str:
    return _ENTRY + poll.id


def _forget_before(refused: dict[tuple[str, str], float], now: float) -> None:
    for who in [one for one, until in refused.items() if until <= now]:
        del refused[who]


def _too_many(most_of_tenant: int) -> TooManyPolls:
    return TooManyPolls(
        f"You have {in_flight(most_of_tenant)} requests for changes in flight. Wait a second, then send the next one.",
        headers={"Retry-After": "1"},
    )
