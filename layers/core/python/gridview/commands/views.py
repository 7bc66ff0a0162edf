"""Creates, reads, changes and deletes saved views. Only its owner sees a private view: for everybody else it
does not exist.

`query.saved_views` checks and returns the look of a view; the caller passes it in.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gridview.commands.actor import Actor, Role
from gridview.commands.context import WriteContext
from gridview.commands.idempotency import Transact, at_once
from gridview.commands.pages import first_of
from gridview.commands.parameters import ListParameters
from gridview.commands.preconditions import Expected, check
from gridview.dynamodb.expressions import (
    ABSENT,
    Bound,
    Condition,
    Write,
    delete,
    put,
    revision_is,
    version_is,
)
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import CONFIRMED, EpochCheck
from gridview.schema.ids import MAX_VIEW_NUMBER
from gridview.schema.store import retry_lost_races
from gridview.schema.views import (
    MAX_PRIVATE_VIEWS,
    MAX_SHARED_VIEWS,
    PrivateCount,
    View,
    ViewChange,
    ViewRegister,
    Visibility,
)
from gridview.support import clock
from gridview.support.errors import LimitExceeded, NotFound
from gridview.support.validation import as_integers, parse

Ready = Callable[[View], tuple[View, dict[str, Any]]]
"""Completes a view, and returns it as the API does. LimitExceeded if it is too large."""

ViewToJson = Callable[[View], dict[str, Any]]
"""Returns a view as the API does."""

Beside = Callable[[View, View | None], Iterable[Write]]
"""Makes the writes that belong into the transaction in which a view becomes another one, or is deleted (None)."""


def nothing_beside(_: View, after: View | None) -> Iterable[Write]:
    """No further write."""
    del after
    return ()


WRITES: Mapping[Visibility, Role] = {
    "private": Role.VIEWER,
    "shared": Role.EDITOR,
    "default": Role.ADMIN,
}
"""The role that may make, change and delete a view of each visibility."""


def create_view(
    table: Table,
    catalog: Catalog,
    actor: Actor,
    change: ViewChange,
    ready: Ready,
    *,
    transact: Transact = at_once,
    epoch: EpochCheck = CONFIRMED,
) -> dict[str, Any]:
    """Create a view: one read of the counts beside the epoch, and one transaction of three items at most.

    Forbidden; LimitExceeded if the project, or the user, has as many views as it may have. A new default
    leaves the one before shared.
    """
    name, visibility = change.name, change.visibility
    if name is None or visibility is None:
        raise ValueError("a new view has a name and a visibility")
    actor.require(WRITES[visibility])

    def made() -> dict[str, Any]:
        books = epoch.beside(table, lambda: _Books(table, catalog, actor))
        now = clock.now()
        number = books.next_number()
        version = catalog.first_version
        new = View(number, name, "private", "", change.look, version, now, actor.user, now, actor.user)
        view, answer = ready(new.seen_by(visibility, actor.user))
        books.moved(None, view)
        transact(table, [put(view.to_item(catalog.tenant, catalog.project), ABSENT), *books.writes()], answer)
        return answer

    return retry_lost_races(made)


def get_view(table: Table, catalog: Catalog, actor: Actor, num: int) -> View:
    """Return the view, strongly consistent: 2 read units, more for one of over 4 KB. NotFound, also for
    another user's private view.
    """
    partition = keys.views(catalog.tenant, catalog.project)
    wanted = [(partition, keys.shared_view(num)), (partition, keys.private_view(actor.user, num))]
    found = [View.from_item(item) for item in table.batch_get(wanted, consistent=True).items.values()]
    if not found:
        raise NotFound("View not found.")
    # Read while it was being moved, it may have been seen in both places.
    return max(found, key=lambda view: view.version)


def update_view(
    context: WriteContext,
    num: int,
    change: ViewChange,
    expected: Expected,
    ready: Ready,
    to_json: ViewToJson,
    *,
    beside: Beside = nothing_beside,
) -> dict[str, Any]:
    """Change a view: one transaction, with the writes `beside` it; none if nothing changes.

    NotFound, VersionMismatch, Forbidden; LimitExceeded as for a new one.

    Needs the role of the view's visibility before the change and after it.
    """

    table, catalog, actor = context.table, context.catalog, context.actor

    def changed() -> dict[str, Any]:
        view = context.epoch.beside(table, lambda: get_view(table, catalog, actor, num))
        after = change.applied_to(view, actor.user)
        for visibility in (view.visibility, after.visibility):
            actor.require(WRITES[visibility])
        check(expected, view.version, lambda: to_json(view))
        if after == view:
            return to_json(view)
        after, answer = ready(after.next_version(actor.user, clock.now()))
        table.transact([*_replacing(table, catalog, actor, view, after), *beside(view, after)])
        return answer

    return retry_lost_races(changed)


def delete_view(
    table: Table,
    catalog: Catalog,
    actor: Actor,
    num: int,
    expected: Expected,
    to_json: ViewToJson,
    *,
    beside: Beside = nothing_beside,
    epoch: EpochCheck = CONFIRMED,
) -> None:
    """Delete a view: one transaction, with the writes `beside` it. NotFound, VersionMismatch, Forbidden."""

    def deleted() -> None:
        view = epoch.beside(table, lambda: get_view(table, catalog, actor, num))
        actor.require(WRITES[view.visibility])
        check(expected, view.version, lambda: to_json(view))
        table.transact([*_replacing(table, catalog, actor, view, None), *beside(view, None)])

    retry_lost_races(deleted)


def list_views(
    table: Table,
    catalog: Catalog,
    actor: Actor,
    parameters: Mapping[str, str],
    cursors: Cursors,
    to_json: ViewToJson,
) -> dict[str, Any]:
    """Return a page of the views that the user sees, strongly consistent: shared views, then their own, each
    in creation order.

    A read unit for each 4 KB of views. A page is shorter if it would pass 4 MB.
    """
    request = parse(ListParameters, {**parameters, **as_integers(parameters, "limit")})
    binding = dumps(["views", catalog.tenant, catalog.project, actor.user])
    after: Any = (False, 0) if request.cursor is None else cursors.open(request.cursor, binding)
    found = _listed(table, catalog, actor, bool(after[0]), int(after[1]), request.limit + 1)
    items, last = first_of(found, request.limit, to_json, lambda view: (bool(view.owner), view.num))
    return {"items": items, "next": None if last is None else cursors.seal(last, binding)}


def _listed(
    table: Table, catalog: Catalog, actor: Actor, private: bool, after: int, most: int
) -> Iterator[View]:
    """Return the views after one, read as they are asked for: shared views, then the user's own."""
    partition = keys.views(catalog.tenant, catalog.project)
    for own in (False, True)[private:]:
        key = partial(keys.private_view, actor.user) if own else keys.shared_view
        number: int | None = after + 1 if own == private else 1
        while number is not None:
            bound = Bound("between", key(number), key(MAX_VIEW_NUMBER))
            page = table.query(partition, bound=bound, limit=most, consistent=True)
            yield from map(View.from_item, page.items)
            number = page.items[-1]["num"] + 1 if page.last is not None else None


def _replacing(
    table: Table, catalog: Catalog, actor: Actor, view: View, after: View | None
) -> Sequence[Write]:
    """Return the writes that replace a view, or remove it."""
    tenant, project = catalog.tenant, catalog.project
    before = version_is(view.version)
    if after is not None and after.visibility == view.visibility:
        return [put(after.to_item(tenant, project), before)]
    books = _Books(table, catalog, actor)
    books.moved(view, after)
    partition = keys.views(tenant, project)
    if after is not None and after.sort_key == view.sort_key:
        return [put(after.to_item(tenant, project), before), *books.writes()]
    placed = [] if after is None else [put(after.to_item(tenant, project), ABSENT)]
    return [delete(partition, view.sort_key, before), *placed, *books.writes()]


class _Books:
    """The counts of a project's views, and the default before, as a transaction changes them. 2 read units, 3
    with a default.
    """

    def __init__(self, table: Table, catalog: Catalog, actor: Actor) -> None:
        self._place = catalog.tenant, catalog.project
        self._user = actor.user
        self._now = clock.now()
        partition = keys.views(*self._place)
        register, own = (partition, keys.VIEW_REGISTER), (partition, keys.private_views(actor.user))
        stored = table.batch_get([register, own], consistent=True).items
        self._register = self._register_before = ViewRegister.from_item(stored.get(register))
        self._own = self._own_before = PrivateCount.from_item(stored.get(own), actor.user)
        self._table = table
        self._demoted: View | None = None

    def next_number(self) -> int:
        """Return the number of a new view, given out if its transaction is carried out."""
        if self._register.last >= MAX_VIEW_NUMBER:
            raise LimitExceeded(
                f"The project has used all view numbers, up to {MAX_VIEW_NUMBER:,}. It takes no more views."
            )
        self._register = replace(self._register, last=self._register.last + 1)
        return self._register.last

    def moved(self, view: View | None, after: View | None) -> None:
        """Count a view elsewhere. LimitExceeded where there is no room for it."""
        shared, own = (_counted(view, after, private=private) for private in (False, True))
        self._register = replace(self._register, shared=self._register.shared + shared)
        self._own = replace(self._own, count=self._own.count + own)
        if shared > 0 and self._register.shared > MAX_SHARED_VIEWS:
            raise LimitExceeded(
                f"A project can have at most {MAX_SHARED_VIEWS} shared views. Delete one first."
            )
        if own > 0 and self._own.count > MAX_PRIVATE_VIEWS:
            raise LimitExceeded(
                f"A user can have at most {MAX_PRIVATE_VIEWS} private views in a project. Delete one first."
            )
        default = self._register.default
        if after is not None and after.visibility == "default":
            if default not in (0, after.num):
                self._demote(default)
            self._register = replace(self._register, default=after.num)
        elif view is not None and view.num == default:
            self._register = replace(self._register, default=0)

    def _demote(self, num: int) -> None:
        item = self._table.get(keys.views(*self._place), keys.shared_view(num), consistent=True)
        if item is not None:  # else it is going this moment, and this transaction does not hold
            self._demoted = View.from_item(item)

    def writes(self) -> Iterator[Write]:
        """Return the writes of the changed items, each on condition that nobody else has changed it."""
        if self._register != self._register_before:
            raised = replace(self._register, revision=self._register.revision + 1)
            yield put(raised.to_item(*self._place), _unchanged(self._register_before.revision))
        if self._own != self._own_before:
            counted = replace(self._own, revision=self._own.revision + 1)
            yield put(counted.to_item(*self._place), _unchanged(self._own_before.revision))
        if self._demoted is not None:
            shared = self._demoted.seen_by("shared", self._user).next_version(self._user, self._now)
            yield put(shared.to_item(*self._place), version_is(self._demoted.version))


def _counted(view: View | None, after: View | None, *, private: bool) -> int:
    """Return how many more views of the kind there are."""
    was, becomes = (one is not None and (one.visibility == "private") == private for one in (view, after))
    return becomes - was


def _unchanged(revision: int) -> Condition:
    return revision_is(revision) if revision else ABSENT
