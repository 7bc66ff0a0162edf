"""Seals the secrets of all webhooks again, under the current one of the secrets that open them.

A webhook always opens with the current or the previous secret of the stack. `./dev rotate` rotates that
secret only after a pass that found every webhook under the current one. After a crash the pass is repeated,
and skips webhooks that are done.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import Condition, version_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys, live_keys
from gridview.encoding.seals import Seals
from gridview.live.webhook import SealedSecret, Webhook, binding_of

_WITH_SECRETS: Final = Condition("attribute_exists(#secrets)", {"#secrets": "secrets"})


class Resealed(NamedTuple):
    """A pass: the webhooks that it found and sealed again, and the bindings of webhooks with a secret that
    does not open.
    """

    webhooks: int
    resealed: int
    unopened: tuple[str, ...]


def reseal_webhooks(table: Table, seals: Seals) -> Resealed:
    """Seal the secrets of every webhook under the current secret of `seals`.

    Scans the table: half a read unit for each 4 KB. A webhook under another secret takes a read unit and a
    write unit, and its `version` rises. A secret that does not open stays as it is.
    """
    count = resealed = 0
    unopened: list[str] = []
    for pk, sk in _places(table):
        count += 1
        changed, opened = _reseal(table, seals, pk, sk)
        resealed += changed
        if not opened:
            unopened.append(binding_of(*live_keys.parse_webhooks(pk), sk).decode())
    return Resealed(count, resealed, tuple(unopened))


def _places(table: Table) -> Iterator[tuple[str, str]]:
    """Return the keys of all webhooks."""
    after = None
    while True:
        scanned = table.scan(after=after, only=_WITH_SECRETS)
        for item in scanned.items:
            if live_keys.is_webhooks(item[keys.PK]):
                yield item[keys.PK], item[keys.SK]
        after = scanned.last
        if after is None:
            return


def _reseal(table: Table, seals: Seals, pk: str, sk: str) -> tuple[bool, bool]:
    """Seal the secrets of a webhook again: whether it was written, and whether all of them open. A deleted
    one needs nothing.
    """
    while True:
        item = table.get(pk, sk, consistent=True)
        if item is None:
            return False, True
        webhook = Webhook.from_item(item)
        secrets, opened = _sealed_again(seals, webhook)
        if secrets == webhook.secrets:
            return False, opened
        try:
            table.put(webhook.resealed(secrets).to_item(), version_is(webhook.version))
        except ConditionFailed:
            continue  # someone has changed it: read it again
        return True, opened


def _sealed_again(seals: Seals, webhook: Webhook) -> tuple[tuple[SealedSecret, ...], bool]:
    """Return the secrets of a webhook under the current secret, and whether all of them open."""
    secrets, opened = list(webhook.secrets), True
    for place, one in enumerate(secrets):
        try:
            if not seals.is_current(one.sealed):
                content = seals.open(one.sealed, webhook.binding)
                secrets[place] = one._replace(sealed=seals.seal(content, webhook.binding))
        except ValueError:
            opened = False
    return tuple(secrets), opened
