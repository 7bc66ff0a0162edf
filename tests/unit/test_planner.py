"""Which plan a query gets, why, and what it may cost."""

from typing import Any

import pytest

from gridview.catalog import Catalog
from gridview.errors import Unprocessable
from gridview.gridrequest import resolve
from gridview.planner import WHOLE, check_budget, in_words, plan

CATALOG = Catalog("0807", "35e9", 1, (), (), 1)
FILTER = {"field": "num", "op": "gt", "value": 1}


@pytest.mark.parametrize(
    ("body", "reasons"),
    [
        ({}, ()),
        ({"sort": [{"field": "name"}]}, ()),
        ({"offset": 0, "count": False, "filter": None, "sort": []}, ()),
        ({"filter": FILTER}, ("a filter",)),
        ({"count": True}, ("an exact count",)),
        ({"offset": 1}, ("an offset",)),
        ({"sort": [{"field": "name"}, {"field": "num"}]}, ("several sort keys",)),
        ({"filter": FILTER, "count": True, "offset": 9}, ("a filter", "an exact count", "an offset")),
    ],
)
def test_a_project_is_read_whole_only_for_what_no_index_answers(body: Any, reasons: tuple[str, ...]) -> None:
    chosen = plan(resolve(CATALOG, body))
    assert chosen.reasons == reasons
    assert chosen.whole == bool(reasons)


def test_up_to_ten_thousand_numbers_are_read_whole_and_no_more() -> None:
    assert WHOLE == 10_000
    check_budget(WHOLE, ("a filter",))
    with pytest.raises(
        Unprocessable, match="10,001 issue numbers, and a filter and an offset can be answered"
    ):
        check_budget(WHOLE + 1, ("a filter", "an offset"))


def test_reasons_are_joined_as_people_do() -> None:
    assert in_words(("a",)) == "a"
    assert in_words(("a", "b")) == "a and b"
    assert in_words(("a", "b", "c")) == "a, b and c"
