"""A turn of deliveries: it sends until its seconds are over, and then leaves the rest to another."""

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.encoding import live_keys
from gridview.encoding.seals import Seals
from gridview.live.deliveries import Delivered, DeliveryMeans, take_turn
from gridview.live.sending import Sender
from gridview.live.webhook import SealedSecret, binding_of
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs
from tests.support.derived_project import PROJECT, TENANT, Derived, new_table
from tests.support.receivers import PUBLIC, Receiver, trusting
from tests.support.webhooks import opened, stored

SEALS = Seals([b"of the tests"], "webhooks")


@pytest.fixture
def table() -> MemoryTable:
    """A project with a webhook, and an issue that was created since."""
    table = new_table()
    secret = SealedSecret(SEALS.seal(b"c2VjcmV0", binding_of(TENANT, PROJECT, "w1")))
    table.put(stored("w1", TENANT, PROJECT, secrets=(secret,)))
    table.put(opened("w1", table, TENANT, PROJECT))
    Derived(table).consume(1)
    return table


@pytest.mark.parametrize(("left", "sent"), [(0.001, 1), (0.0, 0)])
def test_a_turn_sends_until_its_time_is_over(table: MemoryTable, left: float, sent: int) -> None:
    receiver, hints = Receiver(), list[Hint]()
    sender = Sender(resolve=lambda *_: [PUBLIC], connect=receiver.connect, context=trusting)
    means = DeliveryMeans(table, Catalogs(), sender, SEALS, lambda hint, _: hints.append(hint))
    partition = live_keys.outbox(TENANT, PROJECT, "w1")
    assert take_turn(means, partition, lambda: left, slow=False) == Delivered(attempts=sent)
    assert len(receiver.received) == sent
    assert [hint.partition for hint in hints] == [partition] * (1 - sent), "another turn continues at once"
