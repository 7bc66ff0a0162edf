"""The stored items of sockets, and the reads that must be consistent."""

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands.actor import Role
from gridview.encoding import keys, live_keys
from gridview.live.socket_store import owner_of
from gridview.live.sockets import IDLE_SECONDS, MAX_SECONDS, Owner, Socket


def test_a_socket_that_has_just_opened_has_an_owner_however_late_copies_of_the_table_are() -> None:
    owners = MemoryTable()
    owners.stale(lambda _, states: states)
    place = live_keys.socket_owner("c1"), live_keys.SOCKET
    owners.put({keys.PK: place[0], keys.SK: place[1], "tenant": "0807", "project": "35e9"})
    assert owners.get(*place) is None
    assert owner_of(owners, "c1") == Owner("0807", "35e9")


@pytest.mark.parametrize(
    ("spoke", "ends"),
    [(0.0, IDLE_SECONDS), (60.0, 60.0 + IDLE_SECONDS), (MAX_SECONDS - IDLE_SECONDS + 1, MAX_SECONDS)],
)
def test_a_socket_ends_when_it_is_idle_or_old(spoke: float, ends: float) -> None:
    socket = Socket(
        tenant="0807",
        project="35e9",
        connection="c1",
        user="ann",
        name="Ann",
        role=Role.VIEWER,
        until=1e9,
        begun=0.0,
        spoke=spoke,
    )
    assert socket.ends == ends
    assert socket.why_ended(ends - 0.001) is None
    assert socket.why_ended(ends) is not None
