"""Which items of a restored table change, and how. Pure.

A table of an earlier moment gives out numbers and versions a second time. Clients, sockets and receivers of webhooks
still hold those of the lost writes. So everything that is given out continues beyond all that ever was:

- Versions and epochs continue at the instant of the restore, in milliseconds since 1970. DynamoDB takes at most 1,000
  writes of an item a second, so no version was ever higher, even after another restore.
- Numbers and ids continue after the last that the lost table gave out. If it is gone, issue numbers skip as many as
  the operator says. Ids of comments and views may come again, and their versions begin where all others do.
- Outboxes continue at a place that their journal has not reached. The next turn sends a reset, and goes on at the
  end.

Restored items that had expired, or belong to connections of that moment, are deleted.

Each change can be made again: `changes_to` an item that has changed already is nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from gridview.dynamodb.expressions import Item, Key
from gridview.encoding import derived_keys, keys, live_keys
from gridview.schema.documents import LOST
from gridview.schema.ids import MAX_ISSUE_NUMBER
from gridview.schema.items import FIRST_VERSION
from gridview.schema.remembered import is_unfinished
from gridview.schema.trash import DELETED_AT, is_trashed
from gridview.support import clock

Source = Literal["restored", "lost"]
"""A table: the one that was restored, or the one that it replaces."""

RESTORED: Final = "restored"
"""The attribute of a counter with the version of the restore that raised it, so that it is raised once."""

_COMPOSITES: Final = 1_000
"""As many ids of composite indexes are skipped at most."""

_VERSIONED: Final = (
    keys.PROJECT_PREFIX,
    keys.VIEW_PREFIX,
    keys.COMMENT_PREFIX,
    live_keys.WEBHOOK_PREFIX,
)
"""The partitions in which items have versions that callers name in If-Match. Issues have rules of their own."""

_CONNECTED: Final = (
    live_keys.SOCKETS_PREFIX,
    live_keys.SOCKET_PREFIX,
    live_keys.SEATS_PREFIX,
    live_keys.POLLS_PREFIX,
)
"""The partitions of items that belong to connections."""


class Put(NamedTuple):
    """An item that takes the place of the one under its key."""

    item: Item


class Delete(NamedTuple):
    """The key of an item that goes."""

    pk: str
    sk: str


Change = Put | Delete


@dataclass(frozen=True, slots=True)
class Raise:
    """One restore. `version`: from which versions go on, in milliseconds since 1970; `now`: the instant, in seconds.

    `lost_writes`: no project has given out more issue numbers since the moment. None: the lost table can be read.
    """

    version: int
    now: float
    lost_writes: int | None = None

    def asks(self, item: Item) -> tuple[Source, Key] | None:
        """The other item on which the changes to this one depend, by table and key; None for most."""
        pk, sk = item[keys.PK], item[keys.SK]
        if _is_document(item):
            return None if item["version"] >= self.version else ("restored", (pk, derived_keys.LEDGER))
        if _is_outbox(item):
            return "restored", (derived_keys.journal(*live_keys.parse_outbox(pk)[:2]), derived_keys.FOLD)
        if _is_counter(item) or _is_catalog(item):
            return None if self.lost_writes is not None else ("lost", (pk, sk))
        return None

    def changes_to(self, item: Item, other: Item | None = None) -> list[Change]:
        """The changes that an item needs, in the order in which they are made.

        `other`: the item that `asks` names, None if missing.

        ValueError: there are not enough numbers left.
        """
        if _is_document(item):
            return self._document(item, other)
        if item.get(keys.TTL_ATTRIBUTE, self.now + 1) <= self.now or _goes(item):
            return [Delete(item[keys.PK], item[keys.SK])]
        if _is_catalog(item):
            return self._catalog(item, other)
        if _is_counter(item):
            return self._counter(item, other)
        if _is_outbox(item):
            return self._outbox(item, other)
        if item[keys.PK].startswith(_VERSIONED) and item.get("version", self.version) < self.version:
            return [Put({**item, "version": self.version})]
        return []

    def _document(self, item: Item, ledger: Item | None) -> list[Change]:
        """The document goes last, so that an interrupted pass begins again with it.

        An expired one is left to the table: when it removes the document, the stream has the rest removed.
        """
        before = item["version"]
        if before >= self.version or item.get(keys.TTL_ATTRIBUTE, self.now + 1) <= self.now:
            return []
        # Without `change`, by which an undo takes the version for the one that the change made.
        raised = {name: value for name, value in item.items() if name != "change"}
        raised |= {"version": self.version, LOST: [*item.get(LOST, ()), [before, self.version]]}
        return [*self._ledger(ledger, before), *self._places(item), Put(raised)]

    def _ledger(self, ledger: Item | None, before: int) -> list[Change]:
        """The ledger of the same version follows, so that the next version is one step. Others are repaired later."""
        if ledger is None or ledger["version"] != before:
            return []
        raised = {**ledger, "version": self.version}
        if "report" in ledger and ledger["report"][1] == before:
            raised["report"] = [ledger["report"][0], self.version]
        return [Put(raised)]

    def _places(self, item: Item) -> list[Change]:
        """The place of a deleted issue in the list of the trash names its version."""
        if not is_trashed(item):
            return []
        tenant, project, num = keys.parse_issue(item[keys.PK])
        partition = keys.trash(tenant, project)
        old, new = (
            keys.trash_place(item[DELETED_AT], num, version) for version in (item["version"], self.version)
        )
        place = {
            keys.PK: partition,
            keys.SK: new,
            keys.TTL_ATTRIBUTE: item[keys.TTL_ATTRIBUTE],
        }
        return [Put(place), Delete(partition, old)]

    def _catalog(self, item: Item, lost: Item | None) -> list[Change]:
        if item["epoch"] >= self.version:
            return []
        composite = item.get("next_composite", 1)
        further = composite + min(self.lost_writes or 0, _COMPOSITES)
        if lost is not None:
            further = max(composite, lost.get("next_composite", 1))
        raised = {"epoch": self.version, FIRST_VERSION: self.version, "next_composite": further}
        return [Put({**item, **raised})]

    def _counter(self, item: Item, lost: Item | None) -> list[Change]:
        if item.get(RESTORED) == self.version:
            return []
        last = item["last"]
        if lost is not None:
            last = max(last, lost["last"])
        elif item[keys.SK] == keys.COUNTER:
            last += self.lost_writes or 0
        if last > MAX_ISSUE_NUMBER:
            raise ValueError(
                f"{item[keys.PK]} would reach number {last:,}, but the last number is {MAX_ISSUE_NUMBER:,}"
            )
        return [Put({**item, "last": last, RESTORED: self.version})]

    def _outbox(self, item: Item, head: Item | None) -> list[Change]:
        """A disabled webhook's outbox, which is not due, gets no due."""
        if item.get(RESTORED) == self.version or head is None:
            return []
        beyond = head["last"] + 2
        due: Mapping[str, Any] = {keys.SORT: clock.stored(self.now)} if keys.SORT in item else {}
        position = [beyond, 0, round(self.now * 1_000), ""]
        return [Put({**item, **due, keys.HOLDER: "", "position": position, RESTORED: self.version})]


def note(restore: Raise, name: str, *, done: bool) -> Item:
    """The item by which a table says which restore made it, by a name, and whether all of it has been raised.

    A restore of that table brings the item back, but it has another name itself.
    """
    return {
        keys.PK: keys.RESTORE,
        keys.SK: keys.RESTORE,
        "name": name,
        "version": restore.version,
        "done": done,
    }


def _is_document(item: Item) -> bool:
    return keys.is_issue(item[keys.PK]) and keys.is_project(item[keys.SK])


def _is_catalog(item: Item) -> bool:
    return bool(keys.is_project(item[keys.PK]) and item[keys.SK] == keys.CATALOG)


def _is_outbox(item: Item) -> bool:
    return bool(live_keys.is_outbox(item[keys.PK]) and item[keys.SK] == live_keys.OUTBOX)


def _is_counter(item: Item) -> bool:
    pk, sk = item[keys.PK], item[keys.SK]
    return bool(
        (keys.is_project(pk) and sk == keys.COUNTER)
        or (keys.is_views(pk) and sk == keys.VIEW_REGISTER)
        or (pk.startswith(keys.COMMENT_PREFIX) and "." not in sk)
    )


def _goes(item: Item) -> bool:
    """Whether an item has no meaning after a restore: an item of a connection, or of a batch that was half done.

    Its numbers may have been used since, in versions that clients hold.
    """
    return is_unfinished(item) or item[keys.PK].startswith(_CONNECTED)
