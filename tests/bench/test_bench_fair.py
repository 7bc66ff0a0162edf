"""The cost of refusals in units, and a local stack that stays usable during one viewer's polls; but not time."""

import pytest

from devtools.bench.fair import local
from devtools.bench.fair.prices import MOST_WRITE_UNITS, Price, prices


@pytest.fixture(scope="module")
def paid() -> list[Price]:
    return prices(repeat=3)


def test_no_refusal_takes_more_than_one_write_unit(paid: list[Price]) -> None:
    assert [one for one in paid if one.write_units > MOST_WRITE_UNITS] == []


def test_each_request_is_refused_with_the_status_of_its_kind(paid: list[Price]) -> None:
    assert [one.status for one in paid] == [
        429,
        429,
        401,
        401,
        429,
        429,
        422,
        429,
        429,
        429,
        429,
        422,
        400,
        403,
        429,
    ]


def test_refusals_without_a_call_to_the_table(paid: list[Price]) -> None:
    free = {one.refusal for one in paid if one.calls == 0}
    assert free == {
        "poll 33 in flight, the next ones",
        "`$connect` with a junk ticket",
        "a write of a viewer",
        "a query beyond the user's share",
    }


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "SECONDS", 3.0)


@pytest.mark.usefixtures("quickly")
def test_another_tenant_works_beside_24_polls_on_a_local_stack() -> None:
    with local.stack() as measured_beside:
        found = measured_beside((local.FORMER,))
    assert found.statuses["poll 429"] > 0
    assert found.statuses["poll 200"] > 0
    assert all(found.seconds[kind] for kind in ("page", "write", "feed", "push"))
