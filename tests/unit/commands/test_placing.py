"""Rows that are placed in a manual order by several transactions."""

import pytest

from gridview.commands import issues, placing
from gridview.commands.context import WriteContext
from gridview.commands.placing import Placing
from gridview.commands.placing_request import OrderRequest
from gridview.encoding.consistency import Recent
from gridview.schema.manual_orders import ManualOrder
from gridview.schema.placements import Neighbors, RankedRow
from tests.support.remembered import ADA, catalog_of, made, seen

ORDER = ManualOrder.begun(1, 9, 1, "2024-01-01T00:00:00.000000Z")


@pytest.mark.parametrize(
    ("anchor", "placed"),
    [
        ({"after": 1}, [1, 5, 4, 3, 2, 6]),
        ({"before": 1}, [5, 4, 3, 2, 1, 6]),
        ({"after": None}, [5, 4, 3, 2, 1, 6]),
        ({"before": None}, [1, 6, 5, 4, 3, 2]),
    ],
)
def test_later_rows_of_a_request_follow_the_earlier_ones(
    monkeypatch: pytest.MonkeyPatch, anchor: dict[str, int | None], placed: list[int]
) -> None:
    monkeypatch.setattr(placing, "TOGETHER", 2)
    table = made()
    context = WriteContext(table, catalog_of(table), ADA)
    for num in range(6):
        issues.create_issue(context, {"name": f"issue {num}"})

    def rows() -> list[RankedRow]:
        found = [RankedRow(num, ORDER.value_in(document)) for num, document in seen(table).items()]
        return sorted(found, key=lambda row: row.rank)

    def rows_beside(beside: RankedRow | None, limit: int, recent: Recent, *, backward: bool) -> Neighbors:
        found = rows()[::-1] if backward else rows()
        first = 0 if beside is None else found.index(beside) + 1
        return Neighbors(found[first : first + limit], frozenset())

    request = OrderRequest.model_validate({"nums": [5, 4, 3, 2], **anchor})
    answer = Placing(context, ORDER, rows_beside).place(request)
    assert [row.num for row in answer] == [5, 4, 3, 2]
    assert [row.num for row in rows()] == placed
