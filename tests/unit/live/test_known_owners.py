"""The owners of connections that a container remembers."""

from gridview.live.known_owners import KnownOwners
from gridview.live.sockets import Owner

ANN, BEN, EVE = (Owner("0807", name) for name in ("35e9", "35ea", "35eb"))


def test_the_owners_of_the_connections_used_last_are_remembered() -> None:
    known = KnownOwners(2)
    known.note("a", ANN)
    known.note("b", BEN)
    assert (known.of("b"), known.of("a"), known.of("c")) == (BEN, ANN, None)
    known.note("c", EVE)
    assert [known.of(one) for one in "abc"] == [ANN, None, EVE], "a was used after b"
