"""The manual orders of saved views: made and removed with their views.

An order begins when its view is sorted by it for the first time. Background work then builds its index. It ends with the
view, or when the view becomes private.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from gridview.commands.attributes import wanted
from gridview.dynamodb.expressions import ABSENT, Write, put, version_is
from gridview.dynamodb.table import Table
from gridview.schema.items import ProjectItems, raise_epoch, to_catalog, to_item
from gridview.schema.manual_orders import MAX_MANUAL_ORDERS, ManualOrder
from gridview.schema.store import Catalogs, read
from gridview.schema.views import View
from gridview.support import clock
from gridview.support.errors import LimitExceeded


@dataclass(frozen=True, slots=True)
class OrdersOfViews:
    """Makes and removes the orders of a project's views.

    `settling`: seconds until no invocation uses older definitions.
    """

    table: Table
    catalogs: Catalogs
    tenant: str
    project: str
    settling: float

    def writes_beside(self, view: View, after: View | None) -> Iterable[Write]:
        """Return the writes that belong into the transaction in which a view becomes another one, or is deleted (None).

        None if its order stays as it is. Else three, on condition that the definitions are unchanged; the definitions
        are read. LimitExceeded if the project has as many orders as it may have.
        """
        ends = not view.owner and (after is None or bool(after.owner))
        begins = after is not None and after.manual and not view.manual
        if not (ends or begins):
            return ()
        items = read(self.table, self.tenant, self.project)
        orders = to_catalog(self.tenant, self.project, items).manual_orders
        order = next((one for one in orders if one.view == view.num), None)
        if begins == (order is not None):
            return ()
        self.catalogs.forget(self.tenant, self.project)
        return self._begun(items, len(orders), view.num) if order is None else self._ended(items, order)

    def _begun(self, items: ProjectItems, count: int, view: int) -> Iterable[Write]:
        if count >= MAX_MANUAL_ORDERS:
            raise LimitExceeded(
                f"A project can have at most {MAX_MANUAL_ORDERS} manual orders. Delete one of their views, or make it private, "
                "first."
            )
        number = items.catalog["next_key"]
        order = ManualOrder.begun(view, number, items.next_epoch, clock.now())
        yield put(to_item(self.tenant, self.project, order), ABSENT)
        yield raise_epoch(items, next_key=number + 1)
        yield wanted(items, self.settling)

    def _ended(self, items: ProjectItems, order: ManualOrder) -> Iterable[Write]:
        gone = order.removed_from(items.next_epoch, clock.now())
        yield put(to_item(self.tenant, self.project, gone), version_is(order.version))
        yield raise_epoch(items)
        yield wanted(items, self.settling)
