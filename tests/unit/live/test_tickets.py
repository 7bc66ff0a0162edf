"""Tickets: the parts that a socket gets from one, and the instant from which it opens nothing."""

import pytest

from gridview.commands.actor import Actor, Role
from gridview.encoding.seals import Seals
from gridview.live.tickets import TICKET_SECONDS, TICKETS, Ticket
from gridview.support.errors import Unauthenticated

NOW = 1_780_000_000.0
SEALS = Seals([b"of the tests"], TICKETS)


@pytest.mark.parametrize(
    ("token_ends", "seconds"), [(NOW + 3_600, TICKET_SECONDS), (NOW + 5, 5.0)], ids=["itself", "its token"]
)
def test_a_ticket_is_valid_until_the_instant_at_which_it_or_its_token_ends(
    token_ends: float, seconds: float
) -> None:
    ticket = Ticket.issued(Actor("acme", "ada", Role.EDITOR), "Ada", "bridge", token_ends, NOW)
    text = ticket.sealed(SEALS)
    assert Ticket.opened(text, SEALS, NOW + seconds - 0.001) == ticket
    with pytest.raises(Unauthenticated, match="expired"):
        Ticket.opened(text, SEALS, NOW + seconds)
