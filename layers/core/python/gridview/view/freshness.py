"""The lag of the index: noted by the stream consumer, returned with every answer.

A project's note has the time at which the consumer finished a batch with the project's changes, and how old the newest
change was then. The heartbeat's note has the same of the heartbeat. Each note is one item in its own partition, outside
GSI1.

- Each container writes a note at most once a second. A project's note expires after a week without a write.
- While a project's changes are taken in on time, the heartbeat's note shows the same. A container then writes the
  project's note once an hour.
- Upkeep writes into the heartbeat's note which canary it saw (`canary`), so the consumer leaves that in place.
- The lag is reported with answers. It also decides how far back they look for new issues and which versions their tokens
  name.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import Condition, Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.catalog import Catalog
from gridview.support import clock
from gridview.support.errors import Overloaded
from gridview.view import beats
from gridview.view.block_cache import BlockCache
from gridview.view.index_clock import sighting_in

_REMEMBERED_DAYS = 7
_SECONDS_BETWEEN = 1.0
_ON_TIME = 2.0
"""Seconds: a change that was taken in within them is on time."""
_SECONDS_ON_TIME = 3_600.0
"""Seconds between a container's notes of a project that is on time, and was so before."""
_KEPT = 1_000
"""Projects for which a container remembers when it wrote its last note."""

UNNOTICED = 1.5 * beats.SECONDS
"""Seconds after a heartbeat in which the next one should have been taken in. Only then does a stopped index look late."""

OF_BEAT = (keys.LAG_OF_BEAT, keys.LAG)
"""The key of the heartbeat's note."""

_NOTES = dict[str, float]
"""Partition key of a note -> when the newest change or heartbeat that it covers was made, in seconds since 1970."""


class Notes:
    """The notes that one container of the stream consumer writes."""

    def __init__(self, seconds_between: float = _SECONDS_BETWEEN) -> None:
        self._seconds_between = seconds_between
        self._written: dict[str, Note] = {}

    def note(self, table: Table, records: Iterable[Mapping[str, Any]]) -> None:
        """Note that all of these stream records have been processed: 1 write unit for each note that is due, in turn."""
        now = clock.seconds()
        for partition, made in _newest(list(records)).items():
            note = Note(now, max(now - made, 0.0))
            if self._is_due(partition, note):
                if len(self._written) >= _KEPT:
                    self._written.clear()
                self._written[partition] = note
                self._write(table, partition, note)

    def _is_due(self, partition: str, note: "Note") -> bool:
        last = self._written.get(partition)
        if last is None:
            return True
        quiet = partition != keys.LAG_OF_BEAT and max(last.lag, note.lag) <= _ON_TIME
        between = _SECONDS_ON_TIME if quiet else self._seconds_between
        return not 0 <= note.taken_in - last.taken_in < between

    def _write(self, table: Table, partition: str, note: "Note") -> None:
        noted = {
            "taken_in": round(note.taken_in * 1_000),
            "lag": round(note.lag * 1_000),
            keys.TTL_ATTRIBUTE: clock.expiry(_REMEMBERED_DAYS),
        }
        with suppress(Overloaded):  # the next batch will note it
            if partition == keys.LAG_OF_BEAT:
                _write_beside(table, noted)
            else:
                table.put({keys.PK: partition, keys.SK: keys.LAG, **noted})


def _write_beside(table: Table, noted: Mapping[str, Any]) -> None:
    """Write the heartbeat's note beside the sighting of the canary, unless a later note is there."""
    later = Condition(
        "attribute_not_exists(taken_in) OR taken_in <= :taken_in", values={":taken_in": noted["taken_in"]}
    )
    with suppress(ConditionFailed):
        table.update(keys.LAG_OF_BEAT, keys.LAG, later, assign=noted)


def _newest(records: Iterable[Mapping[str, Any]]) -> _NOTES:
    """The notes that records give rise to: one for each project with issues among them, and one for the heartbeat."""
    newest: _NOTES = {}
    for record in records:
        stream = record["dynamodb"]
        try:
            tenant, project, _ = keys.parse_issue(stream["Keys"][keys.PK]["S"])
        except ValueError:
            continue
        made = _made(stream)
        if made is not None:
            partition = keys.lag(tenant, project)
            newest[partition] = max(newest.get(partition, 0.0), made)
    beat = beats.beaten(records)
    return newest if beat is None else {**newest, keys.LAG_OF_BEAT: beat}


def _made(stream: Mapping[str, Any]) -> float | None:
    """Return when a change was made: the record has whole seconds, and its document may have the exact instant."""
    whole = stream.get("ApproximateCreationDateTime")
    if whole is None:
        return None
    try:
        updated = clock.instant(stream["NewImage"]["updated"]["S"])
    except (KeyError, ValueError):
        updated = 0.0
    return max(float(whole), updated)


class Note(NamedTuple):
    """The time at which the consumer last took something in, in seconds since 1970, and its age then, in seconds."""

    taken_in: float
    lag: float

    @property
    def made(self) -> float:
        """The time at which it was made, in seconds since 1970."""
        return self.taken_in - self.lag


class Lag(NamedTuple):
    """The known lag of a project's index at the instant `at`.

    `note` is of the project's own changes; None if none was taken in for a week. `beat` is of the heartbeat; None before
    the first.
    """

    at: float
    note: Note | None
    beat: Note | None

    @property
    def seconds(self) -> float | None:
        """The lag in seconds; None if it is not known yet.

        It is the age of the newest change, unless a heartbeat that was put later has been taken in. It is longer if the
        next heartbeat should already have been taken in.
        """
        if self.beat is None:
            return None if self.note is None else self.note.lag
        newest = self.beat
        if self.note is not None and self.note.taken_in > self.beat.made:
            newest = self.note
        return max(newest.lag, self.at - self.beat.made - UNNOTICED)

    @property
    def milliseconds(self) -> int | None:
        """The same in milliseconds, as in answers."""
        return None if self.seconds is None else round(self.seconds * 1_000)

    def sentence(self) -> str:
        """The lag in words."""
        if self.note is None:
            said = "The index has processed no change of this project for a week"
        else:
            ago = max(self.at - self.note.taken_in, 0.0)
            said = (
                f"The index processed changes of this project {_words(ago)} ago, "
                f"the newest of them {_words(self.note.lag)} after it was made"
            )
        return f"{said}." if self.seconds is None else f"{said}; its lag is {_words(self.seconds)}."


def _words(seconds: float) -> str:
    return f"{seconds:,.1f} s" if seconds < 10 else f"{seconds:,.0f} s"


def read(table: Table, catalog: Catalog, cache: BlockCache) -> Lag:
    """Return the present lag: 0.5 read units, and 0.5 more if the container has no recent copy of the heartbeat's note."""
    own, of_beat = (keys.lag(catalog.tenant, catalog.project), keys.LAG), OF_BEAT
    kept = cache.beat()
    items = table.batch_get([own] if kept else [own, of_beat]).items
    if kept is None:
        kept = keep_beat(cache, items.get(of_beat))
    beat, at = kept
    return Lag(at, _note(items.get(own)), beat)


def keep_beat(cache: BlockCache, item: Item | None) -> tuple[Note | None, float]:
    """Keep the heartbeat's note of the stream and its sighting of GSI1; returns the note and the present instant."""
    kept = _note(item), clock.seconds()
    cache.keep_beat(kept)
    cache.sighting = sighting_in(item) or cache.sighting
    return kept


def kept(cache: BlockCache) -> float | None:
    """The lag in seconds that a container knows without reading, by the heartbeat; None if it has none at hand."""
    found = cache.beat()
    if found is None:
        return None
    beat, at = found
    return Lag(at, None, beat).seconds


def _note(item: Item | None) -> Note | None:
    return (
        None
        if item is None or "taken_in" not in item
        else Note(item["taken_in"] / 1_000, item["lag"] / 1_000)
    )
