"""What is stored of sockets, and which reads must not be late."""

from devtools.proof.faults.memory_table import MemoryTable
from gridview.encoding import keys
from gridview.live.socket_store import owner_of
from gridview.live.sockets import Owner


def test_a_socket_that_has_just_opened_has_an_owner_however_late_copies_of_the_table_are() -> None:
    owners = MemoryTable()
    key = {keys.PK: keys.socket_owner("c1"), keys.SK: keys.SOCKET}
    owners.put({**key, "tenant": "0807", "project": "35e9"})
    owners.stale(lambda _, states: states)
    assert owner_of(owners, "c1") == Owner("0807", "35e9")
    assert owner_of(owners, "c2") is None
