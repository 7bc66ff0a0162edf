"""A part of a pass over the issues of a project: derives again what the present definitions ask for."""

from collections.abc import Callable, Container, Mapping, Sequence
from typing import NamedTuple

from gridview.chains.blocks import Block
from gridview.chains.fence_cache import Fences
from gridview.derive.families import NUMBERS
from gridview.derive.images import Image, Poison, Underivable
from gridview.derive.ledger import Ledger
from gridview.derive.work import Subject, Superseded
from gridview.dynamodb.errors import ConditionFailed, ItemTooLarge
from gridview.dynamodb.expressions import Item, Key
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.sort_strings import sort_string
from gridview.fsck.block_membership import BlockMembership, SuspectKey
from gridview.fsck.chain_repair import Chain, straighten
from gridview.journal import maintainer
from gridview.journal.history import remove_values
from gridview.maintenance.removal import remove_histories
from gridview.schema.catalog import Catalog
from gridview.schema.manual_orders import is_rank
from gridview.schema.store import Catalogs, current_catalog, require_deleted
from gridview.schema.trash import is_trashed
from gridview.support import backoff
from gridview.support.concurrency import in_threads
from gridview.support.errors import Overloaded


def pass_over(
    table: Table,
    catalogs: Catalogs,
    fences: Fences,
    tenant: str,
    project: str,
    numbers: Sequence[int],
    send_poison: Callable[[Poison], None],
    relieve: Callable[[], None] = lambda: None,
) -> int:
    """Re-derive the issues with these numbers, and remove values of deleted attributes from them and their
    histories. Returns their number.

    Issues of a deleted project are removed instead, trashed ones too, with their history; the stream consumer
    then removes their derived items. Safe to repeat.

    An issue costs strongly consistent reads of its document and its ledger, and the writes of
    `maintainer.carry_out` if something differs. While attributes are being removed it also costs a read of
    its history. If the table refuses a call, Overloaded: assume that nothing was done. `relieve` is called at
    the end, so that not too much waits for the fold.
    """
    documents: dict[str, Item] = {}
    failed: dict[str, Exception | None] = {}
    left = [keys.issue(tenant, project, num) for num in numbers]
    for _ in backoff.attempts():
        present = _present(table, catalogs, (tenant, project), left)
        documents |= present.documents
        for poison in present.poison:
            send_poison(poison)
        failed |= dict.fromkeys(left) | maintainer.derive(table, present.subjects, touch=False)
        left = [issue for issue in left if isinstance(failed[issue], Superseded)]
        if not left:
            break
    for issue, error in failed.items():
        if isinstance(error, ItemTooLarge | Underivable):
            send_poison(Poison(issue, int(documents[issue]["version"]), str(error)))
    if any(isinstance(error, Overloaded | Superseded) for error in failed.values()):
        raise Overloaded("Other requests keep changing an issue. Try again.")
    after = current_catalog(table, catalogs, tenant, project)
    _bring_numbers_right(table, after, fences, numbers, documents, relieve)
    return len(documents)


class _Present(NamedTuple):
    """The present documents of issues that are not in the trash, by key; the subjects to derive; and issues
    that nothing can be derived from.
    """

    documents: Mapping[str, Item] = {}
    subjects: Sequence[Subject] = ()
    poison: Sequence[Poison] = ()


def _present(table: Table, catalogs: Catalogs, owner: tuple[str, str], issues: Sequence[str]) -> _Present:
    """Return the present issues, without the values of deleted attributes. Trashed issues lose such values
    too.

    None for a deleted project; its issues and their histories are removed.
    """
    partition = keys.project(*owner)
    catalog = current_catalog(table, catalogs, *owner)
    if catalog is None:
        require_deleted(table, *owner)
    wanted: list[Key] = [
        (issue, sort_key) for issue in issues for sort_key in (partition, derived_keys.LEDGER)
    ]
    found = table.batch_get(wanted, consistent=True).items
    stored = {issue: found[issue, partition] for issue in issues if (issue, partition) in found}
    current = {issue: document for issue, document in stored.items() if not is_trashed(document)}
    if catalog is None:
        remove_histories(table, *owner, [keys.parse_issue(issue).num for issue in issues])
        in_threads(lambda issue: table.delete(issue, partition), stored)
        return _Present(current)
    in_threads(lambda document: _remove_dead_values(table, catalog, document), stored.values())
    if any(not is_rank(field.key) for field in catalog.deleting):
        in_threads(
            lambda issue: remove_values(table, *owner, keys.parse_issue(issue).num, catalog.removed), issues
        )
    subjects, poison = [], []
    for issue, document in current.items():
        try:
            image = Image.of(document)
        except Underivable as error:
            poison.append(Poison(issue, 0, str(error)))
        else:
            subjects.append(
                Subject(catalog, image, Ledger.from_item(found.get((issue, derived_keys.LEDGER))))
            )
    return _Present(current, subjects, poison)


def _bring_numbers_right(
    table: Table,
    catalog: Catalog | None,
    fences: Fences,
    numbers: Sequence[int],
    present: Container[str],
    relieve: Callable[[], None],
) -> None:
    """Correct the family of issue numbers. It has no generations to rebuild, so each pass checks it.

    A strongly consistent read of its block, and more only if it is wrong.
    """
    if catalog is None:
        return
    tenant, project = catalog.tenant, catalog.project
    membership = BlockMembership(table, fences, tenant, project)
    expected = {_place(num): keys.issue(tenant, project, num) in present for num in numbers}
    if 1 in numbers:
        chain = Chain(table, tenant, project, NUMBERS)
        straighten(chain, fences)
        counter = table.get(keys.project(tenant, project), keys.COUNTER, consistent=True) or {}
        blocks = [Block.from_item(item) for item in chain.all().values()]
        expected |= {
            _place(num): False
            for block in blocks
            for num in block.members
            if num > int(counter.get("last", 0))
        }
    membership.amend(membership.doubtful(expected))
    relieve()


def _place(num: int) -> SuspectKey:
    return SuspectKey(num, NUMBERS, sort_string("", num))


def _remove_dead_values(table: Table, catalog: Catalog, document: Item) -> None:
    """Remove the values of permanently deleted attributes.

    The version stays: nobody can see the difference, or lose a race because of it.
    """
    fields = document.get("fields")
    dead = [key for key in fields if catalog.removed(key)] if isinstance(fields, dict) else []
    if not dead:
        return
    try:
        table.remove(document[keys.PK], document[keys.SK], [("fields", key) for key in dead])
    except ConditionFailed:
        return  # removed meanwhile
