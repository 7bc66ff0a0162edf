"""Requests for a project's activity: the range of time."""

import pytest

from gridview.query.change_request import of_a_project
from gridview.schema.catalog import Catalog
from gridview.support.errors import InvalidRequest

CATALOG = Catalog("0807", "35e9", 1, (), (), 1)
EARLIER, LATER = "2024-01-01T00:00:00Z", "2024-01-01T00:00:01Z"


@pytest.mark.parametrize(
    "given", [{}, {"from": LATER}, {"to": EARLIER}, {"from": EARLIER, "to": LATER}], ids=str
)
def test_both_ends_of_the_time_may_be_open(given: dict[str, str]) -> None:
    request = of_a_project(CATALOG, given)
    assert (request.since is None, request.to is None) == ("from" not in given, "to" not in given)


@pytest.mark.parametrize("to", [EARLIER, LATER])
def test_a_range_of_no_time_is_refused(to: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        of_a_project(CATALOG, {"from": LATER, "to": to})
    assert [(one.field, one.message) for one in refused.value.errors] == [("to", "must be later than from")]
