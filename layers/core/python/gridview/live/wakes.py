"""The projects in stream records whose sockets are to be sent changes. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gridview.encoding import derived_keys, keys
from gridview.live.sockets import Owner, Socket, Subscription
from gridview.schema import ids

FollowedView = tuple[str | None, int]
"""A saved view: its number, and the only user who sees it; None: everyone in the project."""


class Wake(NamedTuple):
    """A project with commits: the last journal number, if any. `views`: only these views have changed; None:
    more than that.

    `first`: the sequence number of its first record.
    """

    upto: int | None = None
    views: frozenset[FollowedView] | None = None
    first: str = ""

    def concerns(self, socket: Socket, subscription: Subscription) -> bool:
        """Return whether a subscription may be sent something for this: for a view, only its followers."""
        if self.views is None:
            return True
        if "view" not in subscription.rows:
            return False
        num = ids.view_number(subscription.rows["view"])
        return not self.views.isdisjoint({(None, num), (socket.user, num)})

    def joined(self, later: "Wake") -> "Wake":
        """Return this one and a later one of the same project."""
        numbers = [one.upto for one in (self, later) if one.upto is not None]
        views = None if self.views is None or later.views is None else self.views | later.views
        return Wake(max(numbers, default=None), views, self.first)


def wakes_in(records: Sequence[Mapping[str, Any]]) -> dict[Owner, Wake]:
    """Return the projects that stream records are about, with the commits of each."""
    found: dict[Owner, Wake] = {}
    for record in records:
        key = record["dynamodb"]["Keys"]
        partition, sort_key = key[keys.PK]["S"], key[keys.SK]["S"]
        first = record["dynamodb"]["SequenceNumber"]
        if derived_keys.is_journal(partition):
            if not sort_key.isdecimal():
                continue  # the head of the journal, or a mark
            owner, wake = Owner(*derived_keys.parse_journal(partition)), Wake(int(sort_key), None, first)
        elif sort_key == keys.CATALOG:
            owner, wake = Owner(*keys.parse_project(partition)), Wake(None, None, first)
        elif keys.is_views(partition) and sort_key.startswith(("shared/", "private/")):
            views = frozenset({keys.parse_view(sort_key)})
            owner, wake = Owner(*keys.parse_views(partition)), Wake(None, views, first)
        else:
            continue
        found[owner] = found[owner].joined(wake) if owner in found else wake
    return found
