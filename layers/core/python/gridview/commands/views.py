"""Creates, reads, changes and deletes saved views. Only its owner sees a private view: for everybody else it
does not exist.

`query.saved_views` checks the look of a view, and `query.view_answers` returns it; the caller passes both in.

The order of the views is in the items that count them: one for the views that everybody sees, and one for each
user's own. A move writes only that item, so two moves cannot leave two views in one place. The view keeps its version,
so a move does not collide with an edit.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

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
    Item,
    Key,
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
from gridview.schema.manual_orders import MANUAL
from gridview.schema.store import retry_lost_races
from gridview.schema.views import (
    MAX_PRIVATE_VIEWS,
    MAX_SHARED_VIEWS,
    PrivateOrder,
    View,
    ViewChange,
    ViewRegister,
    Visibility,
)
from gridview.support import clock
from gridview.support.errors import FieldError, InvalidRequest, LimitExceeded, NotFound
from gridview.support.validation import as_integers, parse

Ready = Callable[[View], tuple[View, dict[str, Any]]]
"""Completes a view, and returns it as the API does, but for its place. LimitExceeded if it is too large."""

ViewToJson = Callable[[View], dict[str, Any]]
"""Returns a view as the API does, but for its place."""

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
    """Create a view, the last one in its order: one read of the orders beside the epoch, and one transaction of
    three items at most.

    Forbidden; LimitExceeded if the project, or the user, has as many views as it may have. A new default
    leaves the one before shared.
    """
    name, visibility = change.name, change.visibility
    if name is None or visibility is None:
        raise ValueError("a new view has a name and a visibility")
    actor.require(WRITES[visibility])

    def made() -> dict[str, Any]:
        books = epoch.beside(table, lambda: _Books.read(table, catalog, actor))
        now = clock.now()
        number = books.next_number()
        version = catalog.first_version
        new = View(number, name, "private", "", change.look, version, now, actor.user, now, actor.user)
        view, answer = ready(new.seen_by(visibility, actor.user))
        books.become(None, view)
        answer = {**answer, "place": books.place(view)}
        transact(table, [put(view.to_item(catalog.tenant, catalog.project), ABSENT), *books.writes()], answer)
        return answer

    return retry_lost_races(made)


def get_view(table: Table, catalog: Catalog, actor: Actor, num: int) -> View:
    """Return the view, strongly consistent: 2 read units, more for one of over 4 KB. NotFound, also for
    another user's private view.
    """
    return _found(table.batch_get(_items_of(catalog, actor, num), consistent=True).items)


def placed_view(
    table: Table, catalog: Catalog, actor: Actor, num: int, to_json: ViewToJson
) -> dict[str, Any]:
    """Return the view as the API does: `get_view` with the orders, 2 read units more."""
    view, books = _with_books(table, catalog, actor, num)
    return {**to_json(view), "place": books.place(view)}


def _with_books(table: Table, catalog: Catalog, actor: Actor, num: int) -> tuple[View, "_Books"]:
    wanted = [*_items_of(catalog, actor, num), *_Books.items_of(catalog, actor)]
    stored = table.batch_get(wanted, consistent=True).items
    books = _Books(table, catalog, actor, stored)
    return _found({key: item for key, item in stored.items() if key in wanted[:2]}), books


def _items_of(catalog: Catalog, actor: Actor, num: int) -> list[Key]:
    partition = keys.views(catalog.tenant, catalog.project)
    return [(partition, keys.shared_view(num)), (partition, keys.private_view(actor.user, num))]


def _found(items: Mapping[Key, Item]) -> View:
    if not items:
        raise NotFound("View not found.")
    # Read while it was becoming shared or private, it may have been seen as both.
    return max(map(View.from_item, items.values()), key=lambda view: view.version)


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
    """Change a view: one transaction, with the writes `beside` it; none if nothing changes. A change of only its
    place is one write of the order, and no new version.

    NotFound, VersionMismatch, Forbidden; LimitExceeded as for a new one; InvalidRequest for a place after the
    last one.

    Needs the role of the view's visibility before the change and after it.
    """

    table, catalog, actor = context.table, context.catalog, context.actor

    def changed() -> dict[str, Any]:
        view, books = context.epoch.beside(table, lambda: _with_books(table, catalog, actor, num))
        after = change.applied_to(view, actor.user)
        for visibility in (view.visibility, after.visibility):
            actor.require(WRITES[visibility])
        _require_seen(change, after)
        check(expected, view.version, lambda: {**to_json(view), "place": books.place(view)})
        writes: list[Write] = []
        if after == view:
            answer = to_json(view)
        else:
            after, answer = ready(after.next_version(actor.user, clock.now()))
            books.become(view, after)
            writes = [*_replacing(catalog, view, after), *beside(view, after)]
        if change.place is not None:
            books.move(after, change.place)
        writes += books.writes()
        if writes:
            table.transact(writes)
        return {**answer, "place": books.place(after)}

    return retry_lost_races(changed, lambda: placed_view(table, catalog, actor, num, to_json))


def _require_seen(change: ViewChange, after: View) -> None:
    """Raise InvalidRequest if the change sorts a private view by hand."""
    if after.owner and any(key == MANUAL for key, *_ in change.look.get("sort", ())):
        raise InvalidRequest(
            "The request is not valid. Fix what `errors` lists.",
            [FieldError("query.sort.0.manual", "is not possible for a private view")],
        )


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
        view, books = epoch.beside(table, lambda: _with_books(table, catalog, actor, num))
        actor.require(WRITES[view.visibility])
        check(expected, view.version, lambda: {**to_json(view), "place": books.place(view)})
        books.become(view, None)
        table.transact([*_replacing(catalog, view, None), *books.writes(), *beside(view, None)])

    retry_lost_races(deleted, lambda: placed_view(table, catalog, actor, num, to_json))


def list_views(
    table: Table,
    catalog: Catalog,
    actor: Actor,
    parameters: Mapping[str, str],
    cursors: Cursors,
    to_json: ViewToJson,
) -> dict[str, Any]:
    """Return a page of the views that the user sees, strongly consistent: the views that everybody sees, then
    their own, each in their order.

    A read unit for each 4 KB of views, and 2 for the orders. A page in the middle of an order reads the whole order.
    A page is shorter if it would pass 4 MB.
    """
    request = parse(ListParameters, {**parameters, **as_integers(parameters, "limit")})
    binding = dumps(["views by place", catalog.tenant, catalog.project, actor.user])
    opened: Any = (False, 0, 0) if request.cursor is None else cursors.open(request.cursor, binding)
    after = _Last(bool(opened[0]), int(opened[1]), int(opened[2]))
    books = _Books.read(table, catalog, actor)
    found = _listed(table, catalog, actor, books, after)
    items, last = first_of(
        found,
        request.limit,
        lambda view: {**to_json(view), "place": books.place(view)},
        lambda view: _Last(bool(view.owner), view.num, books.place(view)),
    )
    return {"items": items, "next": None if last is None else cursors.seal(list(last), binding)}


class _Last(NamedTuple):
    """The last view of a page: whether it is private, its number, and its place, in case it is deleted meanwhile."""

    private: bool
    num: int
    place: int


def _listed(table: Table, catalog: Catalog, actor: Actor, books: "_Books", after: _Last) -> Iterator[View]:
    """Return the views after one: the views that everybody sees, then the user's own, read when they are needed."""
    partition = keys.views(catalog.tenant, catalog.project)
    for own in (False, True)[after.private :]:
        key = partial(keys.private_view, actor.user) if own else keys.shared_view
        found = {view.num: view for view in _stored(table, partition, key)}
        order = books.order(private=own)
        first = 0
        if own == after.private and after.num:
            first = order.index(after.num) + 1 if after.num in order else after.place
        yield from (found[num] for num in order[first:] if num in found)


def _stored(table: Table, partition: str, key: Callable[[int], str]) -> Iterator[View]:
    number: int | None = 1
    while number is not None:
        page = table.query(
            partition, bound=Bound("between", key(number), key(MAX_VIEW_NUMBER)), consistent=True
        )
        yield from map(View.from_item, page.items)
        number = page.items[-1]["num"] + 1 if page.last is not None else None


def _replacing(catalog: Catalog, view: View, after: View | None) -> Sequence[Write]:
    """Return the writes of a view that becomes another one, or goes."""
    tenant, project = catalog.tenant, catalog.project
    before = version_is(view.version)
    if after is not None and after.sort_key == view.sort_key:
        return [put(after.to_item(tenant, project), before)]
    placed = [] if after is None else [put(after.to_item(tenant, project), ABSENT)]
    return [delete(keys.views(tenant, project), view.sort_key, before), *placed]


class _Books:
    """The orders of a project's views, and the default before, as a transaction changes them. 2 read units, 3
    with another default.
    """

    def __init__(self, table: Table, catalog: Catalog, actor: Actor, stored: Mapping[Key, Item]) -> None:
        self._place = catalog.tenant, catalog.project
        self._user = actor.user
        self._now = clock.now()
        register, own = self.items_of(catalog, actor)
        self._register = self._register_before = ViewRegister.from_item(stored.get(register))
        self._own = self._own_before = PrivateOrder.from_item(stored.get(own), actor.user)
        self._table = table
        self._demoted: View | None = None

    @classmethod
    def read(cls, table: Table, catalog: Catalog, actor: Actor) -> Self:
        """Return the orders as they are stored."""
        return cls(
            table, catalog, actor, table.batch_get(cls.items_of(catalog, actor), consistent=True).items
        )

    @staticmethod
    def items_of(catalog: Catalog, actor: Actor) -> list[Key]:
        """Return the keys of the register, and of the order of the user's own views."""
        partition = keys.views(catalog.tenant, catalog.project)
        return [(partition, keys.VIEW_REGISTER), (partition, keys.private_order(actor.user))]

    def next_number(self) -> int:
        """Return the number of a new view, given out if its transaction is carried out."""
        if self._register.last >= MAX_VIEW_NUMBER:
            raise LimitExceeded(
                f"The project has used all view numbers, up to {MAX_VIEW_NUMBER:,}. It takes no more views."
            )
        self._register = replace(self._register, last=self._register.last + 1)
        return self._register.last

    def order(self, *, private: bool) -> tuple[int, ...]:
        """Return the numbers of the user's own views, or of the shared ones, in their order."""
        return self._own.order if private else self._register.order

    def place(self, view: View) -> int:
        """Return the place of a view in its order. A view that was saved after the order was read is the last one."""
        order = self.order(private=bool(view.owner))
        return order.index(view.num) if view.num in order else len(order)

    def become(self, view: View | None, after: View | None) -> None:
        """Make a view another one: it is in the order of its visibility, at first as the last one. LimitExceeded
        where there is no room for it.
        """
        for private in (False, True):
            self._belong(view, after, private=private)
        default = self._register.default
        if after is not None and after.visibility == "default":
            if default not in (0, after.num):
                self._demote(default)
            self._register = replace(self._register, default=after.num)
        elif view is not None and view.num == default:
            self._register = replace(self._register, default=0)

    def move(self, view: View, place: int) -> None:
        """Move a view to a place in its order. InvalidRequest if the order is shorter."""
        private = bool(view.owner)
        others = [num for num in self.order(private=private) if num != view.num]
        if place > len(others):
            raise InvalidRequest(
                "The request is not valid. Fix what `errors` lists.",
                [FieldError("place", f"must be at most {len(others)}")],
            )
        self._set((*others[:place], view.num, *others[place:]), private=private)

    def _belong(self, view: View | None, after: View | None, *, private: bool) -> None:
        was, is_now = (one is not None and bool(one.owner) == private for one in (view, after))
        if view is not None and was and not is_now:
            self._set(tuple(num for num in self.order(private=private) if num != view.num), private=private)
        if after is None or was or not is_now:
            return
        order = (*self.order(private=private), after.num)
        if not private and len(order) > MAX_SHARED_VIEWS:
            raise LimitExceeded(
                f"A project can have at most {MAX_SHARED_VIEWS} shared views. Delete one first."
            )
        if private and len(order) > MAX_PRIVATE_VIEWS:
            raise LimitExceeded(
                f"A user can have at most {MAX_PRIVATE_VIEWS} private views in a project. Delete one first."
            )
        self._set(order, private=private)

    def _set(self, order: tuple[int, ...], *, private: bool) -> None:
        if private:
            self._own = replace(self._own, order=order)
        else:
            self._register = replace(self._register, order=order)

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
            raised_own = replace(self._own, revision=self._own.revision + 1)
            yield put(raised_own.to_item(*self._place), _unchanged(self._own_before.revision))
        if self._demoted is not None:
            shared = self._demoted.seen_by("shared", self._user).next_version(self._user, self._now)
            yield put(shared.to_item(*self._place), version_is(self._demoted.version))


def _unchanged(revision: int) -> Condition:
    return revision_is(revision) if revision else ABSENT
