"""Formulas against direct computation, through edits and changed formulas: rows, orders, filters, groups, sums, exports, and
what `./dev fsck` finds.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from gridview.encoding.json_codec import loads
from tests.support.checked import differences_in
from tests.support.cloud import Cloud
from tests.support.depth import one_of
from tests.support.http import Client
from tests.unit.functions.test_export import exported

Values = Mapping[str, Any]
Formulas = Mapping[str, tuple[str, str]]
"""Type and text by id of an attribute."""

COSTS, QUANTITIES, PLACES = (None, -3, 0, 2, 7, 250), (None, 0, 1, 4, 5), (None, "North", "south", "Süd")
FIRST: Formulas = {
    "total": ("number", "{cost} * {qty}"),
    "share": ("number", "{total} / ({qty} - 5)"),
    "label": ("text", 'IF({total} > 5, UPPER({place}), "few")'),
    "large": ("bool", "{share} < -1"),
}
SECOND: Formulas = {**FIRST, "total": ("number", "{cost} - {qty}")}


def computed(values: Values, *, second: bool) -> dict[str, Any]:
    """The values of the formulas, computed directly. Fields without a value are left out."""
    cost, qty, place = (values.get(name) for name in ("cost", "qty", "place"))
    total = None if cost is None or qty is None else cost - qty if second else cost * qty
    share = None if total is None or qty in (None, 5) else Decimal(total) / (qty - 5)
    label = (place.upper() if place else None) if total is not None and total > 5 else "few"
    large = None if total is not None and qty == 5 else share is not None and share < -1
    found = {"total": total, "share": share, "label": label, "large": large}
    return {name: value for name, value in found.items() if value is not None}


class Project:
    """A project whose issues change at random, and the values that it should have."""

    def __init__(self, api: Client, account: Cloud, path: str, random: Random) -> None:
        self.api, self.account, self.path = api, account, path
        self.issues: dict[int, dict[str, Any]] = {}
        self.second = False
        self._random = random
        for name in ("cost", "qty", "place"):
            kind = "text" if name == "place" else "number"
            api.made(f"{path}/attributes", {"id": name, "name": name, "type": kind})
        for _ in range(8):
            self.create()
        for name, (kind, formula) in FIRST.items():
            api.made(f"{path}/attributes", {"id": name, "name": name, "type": kind, "formula": formula})

    def create(self) -> None:
        fields = self._some()
        made = self.api.made(f"{self.path}/issues", {"name": "x", "fields": fields})
        self.issues[made["num"]] = fields

    def act(self) -> None:
        draw = self._random
        what = draw.choice(("create", "edit", "edit", "edit", "delete"))
        num = draw.choice(sorted(self.issues))
        if what == "create":
            self.create()
        elif what == "delete" and len(self.issues) > 4:
            assert self.api.delete(f"{self.path}/issues/{num}").status == 204
            del self.issues[num]
        else:
            fields = self._some()
            assert self.api.patch(f"{self.path}/issues/{num}", {"fields": fields}).status == 200
            self.issues[num] |= fields
        self.account.derive()

    def _some(self) -> dict[str, Any]:
        choice = self._random.choice
        return {"cost": choice(COSTS), "qty": choice(QUANTITIES), "place": choice(PLACES)}

    def settle(self) -> None:
        for _ in range(8):
            self.account.upkeep()
            self.account.derive()
        self.account.fold()

    @property
    def expected(self) -> dict[int, dict[str, Any]]:
        return {num: computed(one, second=self.second) for num, one in sorted(self.issues.items())}


@pytest.fixture
def ran(api: Client, account: Cloud, project: str) -> Callable[[int], Project]:
    """Return a function that makes a project, and changes it under a first and another formula."""

    def run(seed: int) -> Project:
        made = Project(api, account, project, Random(seed))  # noqa: S311
        for _ in range(6):
            made.act()
        made.settle()
        agrees(made)
        exports_agree(made)
        assert differences_in(account.table) == []
        assert api.patch(f"{project}/attributes/total", {"formula": SECOND["total"][1]}).status == 200
        for _ in range(6):  # written for both generations
            made.act()
        agrees(made)
        assert differences_in(account.table) == []
        made.settle()
        made.second = True
        return made

    return run


@pytest.mark.parametrize("seed", range(one_of(1, thorough=20)))
def test_formulas_agree_with_direct_computation(ran: Callable[[int], Project], seed: int) -> None:
    project = ran(seed)
    agrees(project)
    exports_agree(project)
    assert differences_in(project.account.table) == []
    for _ in range(6):
        project.act()
    project.account.fold()
    agrees(project)
    assert differences_in(project.account.table) == []


def agrees(project: Project) -> None:
    """Check rows, orders, filters, groups and sums."""
    expected = project.expected
    rows = grid(project)
    assert {row["num"]: of_formulas(row["fields"]) for row in rows} == expected
    for name in FIRST:
        filled = [num for num, one in expected.items() if name in one]
        order = sorted((place_of(expected[num][name]), num) for num in filled)
        found = [row["num"] for row in grid(project, sort=[{"field": name}])]
        assert found == [*(num for _, num in order), *(num for num in expected if num not in filled)]
        empty = {"field": name, "op": "is_empty"}
        assert [row["num"] for row in grid(project, filter=empty)] == [
            num for num in expected if num not in filled
        ]
        groups = project.api.post(f"{project.path}/groups", {"by": [name]}).body["groups"]
        counts = Counter(str(one.get(name)) for one in expected.values())
        assert sorted(one["count"] for one in groups) == sorted(counts.values())
    above = {"field": "share", "op": "gte", "value": -1}
    assert [row["num"] for row in grid(project, filter=above)] == [
        num for num, one in expected.items() if one.get("share", -2) >= -1
    ]
    asked = {"fields": [{"field": "total", "functions": ["sum", "count", "min", "max"]}]}
    (summary,) = project.api.post(f"{project.path}/summary", asked).body["summaries"]
    totals = [one["total"] for one in expected.values() if "total" in one]
    assert (summary["count"], summary["sum"]) == (len(totals), sum(totals))
    assert (summary["min"], summary["max"]) == (min(totals), max(totals))


def exports_agree(project: Project) -> None:
    query = {
        "sort": [{"field": "total"}, {"field": "num"}],
        "filter": {"field": "large", "op": "eq", "value": False},
    }
    content = exported(project.account, project.api, project.path, "ndjson", query=query)
    found = {one["num"]: of_formulas(one["fields"]) for one in map(loads, content.splitlines())}
    expected = {num: one for num, one in project.expected.items() if one.get("large") is False}
    assert found == expected
    assert list(found) == [row["num"] for row in grid(project, **query)]


def grid(project: Project, **query: Any) -> list[Any]:
    answer = project.api.post(f"{project.path}/grid", query)
    assert answer.status == 200, answer.text
    rows: list[Any] = answer.body["rows"]
    return rows


def place_of(value: Any) -> Any:
    """What decides the place of a value: texts are sorted without case and accents."""
    return value.casefold().replace("ü", "u") if isinstance(value, str) else value


def of_formulas(fields: Values) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in FIRST}
