"""What is stored of sockets, and which reads must not be late."""

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands.actor import Role
from gridview.encoding import keys
from gridview.live.socket_store import owner_of
from gridview.live.sockets import IDLE_SECONDS, MAX_SECONDS, Owner, Socket


def test_the_owner_of_a_socket_is_read_consistently() -> None:
    owners = MemoryTable()
    place = keys.socket_owner("c1"), keys.SOCKET
    assert owner_of(owners, "c1") is None
    for project in ("35e9", "77aa"):
        owners.put({keys.PK: place[0], keys.SK: place[1], "tenant": "0807", "project": project})
    owners.stale(lambda _, states: states)
    assert owners.get(*place) != owners.get(*place, consistent=True)
    assert owner_of(owners, "c1") == Owner("0807", "77aa")


@pytest.mark.parametrize(
    ("heard", "ends"),
    [(0.0, IDLE_SECONDS), (60.0, 60.0 + IDLE_SECONDS), (MAX_SECONDS - IDLE_SECONDS + 1, MAX_SECONDS)],
)
def test_a_socket_ends_when_it_is_idle_or_old(heard: float, ends: float) -> None:
    socket = Socket("0807", "35e9", "c1", "ann", "Ann", Role.VIEWER, until=1e9, begun=0.0, heard=heard)
    assert socket.ends == ends
    assert socket.why_ended(ends - 0.001) is None
    assert socket.why_ended(ends) is not None
