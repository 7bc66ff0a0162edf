"""Groups page by page, and the filter of each: every group once, and exactly its issues."""

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from devtools.proof.oracle import world
from gridview.commands import attributes
from gridview.encoding.json_codec import dumps, loads
from gridview.encoding.values import parse_datetime
from gridview.query import aggregate_planner, counting, group_blocks, group_filter, group_request
from gridview.query.counting import grouped_counts
from gridview.query.predicates import parse_filter
from gridview.schema.store import Catalogs
from gridview.support.errors import CursorExpired, InvalidRequest, QueryTooExpensive
from tests.unit.query.test_grouping import ADMIN, CURSORS, PROJECT, SIZES, Loaded, asked, cut

LONG = "x" * 240
OPEN = {"field": "state", "op": "eq", "value": "open"}
COST = {"id": "cost", "name": "Cost", "type": "number"}
NOTE = {"id": "note", "name": "Note", "type": "text"}


def page(loaded: Loaded, **body: Any) -> Any:
    query = group_request.resolve(loaded.catalog, body)
    return loads(dumps(grouped_counts(loaded.context(), query, CURSORS).body))


def pages(loaded: Loaded, **body: Any) -> Iterator[Any]:
    found = page(loaded, **body)
    yield found["groups"]
    while found["next"] is not None:
        assert found["more"]
        found = page(loaded, **body, cursor=found["next"])
        yield found["groups"]
    assert not found["more"]


def everything(loaded: Loaded, **body: Any) -> list[Any]:
    """The groups of all documents, as the API returns them."""
    query = group_request.resolve(loaded.catalog, body)
    filters = group_filter.GroupFilters(query)
    found = group_request.grouped(query, loaded.documents)
    listed = [{**group_request.group_json(query, one), "filter": filters.of(one)} for one in found]
    return list(loads(dumps(listed)))


@pytest.mark.parametrize("size", SIZES)
def test_pages_of_groups_are_all_groups_and_their_filters_mean_their_issues(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, ...]
) -> None:
    cut(monkeypatch, *size)
    walked = filtered = 0
    for seed in range(3):
        random = Random(f"pages {size} {seed}")  # noqa: S311
        project = world.make(random, sizes=(60, 120))
        loaded = Loaded(project.attributes, project.states)
        loaded.fill(
            {
                **loaded.issue(num, project.stamps[num].created, **body),
                "updated": parse_datetime(project.stamps[num].updated),
                "created_by": project.stamps[num].created_by,
                "updated_by": project.stamps[num].updated_by,
            }
            for num, body in project.issues.items()
        )
        for _ in range(8):
            body = asked(random, loaded, project)
            expected = everything(loaded, **body)
            body["limit"] = max(random.choice((2, 7, 30)), len(expected) // 9)
            found = list(pages(loaded, **body))
            assert [one for groups in found for one in groups] == expected, (seed, body)
            assert all(len(groups) == body["limit"] for groups in found[:-1])
            walked += len(found) > 2
            for group in random.sample(expected, min(5, len(expected))):
                if group["filter"] is not None:
                    only = parse_filter(loaded.catalog, group["filter"])
                    assert sum(map(only.matches, loaded.documents)) == group["count"], (body, group)
                    filtered += 1
    assert walked > 5
    assert filtered > 50


@pytest.mark.parametrize(
    "by", ["num", {"field": "num", "width": 3}, {"field": "num", "width": Decimal("0.4")}]
)
def test_a_page_of_issue_numbers_starts_at_its_cursor(monkeypatch: pytest.MonkeyPatch, by: Any) -> None:
    loaded = Loaded([])
    loaded.fill(loaded.issue(num) for num in range(1, 201))
    made: list[Any] = []

    def counted(of: Callable[..., Any]) -> Callable[..., Any]:
        def label(*given: Any) -> Any:
            made.append(given)
            return of(*given)

        return label

    monkeypatch.setattr(
        group_blocks.Division, "label_of_value", counted(group_blocks.Division.label_of_value)
    )
    monkeypatch.setattr(group_blocks, "of_range", counted(group_request.of_range))
    found, body = [], {"by": [by], "limit": 10}
    for groups in pages(loaded, **body):
        found += groups
        assert len(made) <= 10 + 3
        made.clear()
    assert found == everything(loaded, **body)


def test_a_page_takes_the_blocks_from_its_cursor_on(monkeypatch: pytest.MonkeyPatch) -> None:
    cut(monkeypatch, 120, 6, 10, 32)
    loaded = Loaded([COST])
    loaded.fill(loaded.issue(num, fields={"cost": num * 7 % 311}) for num in range(1, 301))
    found = page(loaded, by=["cost"], limit=100)
    context = loaded.context()
    query = group_request.resolve(loaded.catalog, {"by": ["cost"], "limit": 5, "cursor": found["next"]})
    answer, _ = grouped_counts(context, query, CURSORS)
    assert len(answer["groups"]) == 5
    assert context.table.meter.rounds == 2
    assert len([call for call in context.table.meter.calls if call.round == 2]) <= 2


def test_a_page_after_another_takes_no_more_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a text each also have the last group of the page before."""
    cut(monkeypatch, 120, 6, 10, 3)
    loaded = Loaded([NOTE])
    loaded.fill(loaded.issue(num, fields={"note": f"n{num % 40 + 10}"}) for num in range(1, 401))
    cursor, rounds = None, []
    for _ in range(3):
        context = loaded.context()
        query = group_request.resolve(loaded.catalog, {"by": ["note"], "limit": 5, "cursor": cursor})
        cursor = grouped_counts(context, query, CURSORS).body["next"]
        rounds.append(context.table.meter.rounds)
    assert rounds == [3, 3, 3]


def test_texts_that_begin_alike_for_as_long_as_the_order_looks_are_walked_too() -> None:
    loaded = Loaded([NOTE])
    notes = [f"{LONG}{ending}" for ending in "edcba"] + ["y", "w", None]
    loaded.fill(
        loaded.issue(num, fields={"note": note} if note else {}) for num, note in enumerate(notes * 3, 1)
    )
    for by in (["note"], ["note", "state"], ["state", "note"]):
        expected = everything(loaded, by=by)
        for limit in (1, 2, 3, 7):
            found = pages(loaded, by=by, limit=limit)
            assert [one for groups in found for one in groups] == expected


def test_a_cursor_is_as_long_as_the_longest_values_make_it() -> None:
    loaded = Loaded([NOTE, {"id": "who", "name": "Who", "type": "user"}])
    notes, people = ["\x01" * 239, "\U0001f600" * 239], ["\x02" * 256, "\U0001f600" * 256]
    loaded.fill(
        loaded.issue(num, fields={"note": notes[num % 2], "who": people[num // 2 % 2]}) for num in range(1, 9)
    )
    by = ["note", "who", "who"]
    assert [one for groups in pages(loaded, by=by, limit=1) for one in groups] == everything(loaded, by=by)


def test_a_cursor_belongs_to_its_question() -> None:
    loaded = Loaded([COST])
    loaded.fill(loaded.issue(num, fields={"cost": num}) for num in range(1, 9))
    cursor = page(loaded, by=["cost"], filter=OPEN, limit=3)["next"]
    spelled = dict(reversed(OPEN.items()))
    further = page(loaded, by=[{"field": "cost"}], filter=spelled, limit=2, cursor=cursor)
    assert [one["values"] for one in further["groups"]] == [[4], [5]]
    for other in (
        {"by": ["cost"]},
        {"by": ["state"], "filter": OPEN},
        {"by": ["cost", "state"], "filter": OPEN},
    ):
        with pytest.raises(InvalidRequest, match="does not belong to this query"):
            page(loaded, **other, cursor=cursor)


def test_a_cursor_expires_when_options_are_reordered() -> None:
    loaded = Loaded([{"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b", "c"]}])
    loaded.fill(loaded.issue(num, fields={"kind": "abc"[num % 3]}) for num in range(1, 9))
    cursor = page(loaded, by=["kind"], limit=1)["next"]
    options = [{"id": "o3", "value": "c"}, {"id": "o1", "value": "a"}, {"id": "o2", "value": "b"}]
    attributes.update_attribute(
        loaded.table, Catalogs(), ADMIN, PROJECT, "kind", {"options": options}, None, settling=0
    )
    with pytest.raises(CursorExpired):
        page(loaded, by=["kind"], limit=1, cursor=cursor)


# Filters


def nested(depth: int, condition: Any = OPEN) -> Any:
    return condition if depth == 0 else {"or": [nested(depth - 1, condition)]}


def filters_of(loaded: Loaded, only: Any) -> list[Any]:
    return [group["filter"] for group in page(loaded, by=["cost"], filter=only)["groups"]]


def test_a_filter_is_the_requests_own_narrowed_to_the_group() -> None:
    loaded = Loaded([COST])
    loaded.fill([loaded.issue(1, fields={"cost": 5})])
    five = {"field": "cost", "op": "eq", "value": 5}
    assert filters_of(loaded, None) == [five]
    assert filters_of(loaded, OPEN) == [{"and": [OPEN, five]}]
    assert filters_of(loaded, {"and": [OPEN, OPEN]}) == [{"and": [OPEN, OPEN, five]}]
    cheap = {"field": "cost", "op": "lt", "value": 10**30}
    assert filters_of(loaded, cheap) == [{"and": [cheap, five]}]
    dear = {**cheap, "value": 10**30 + 1}
    assert filters_of(loaded, dear) == [
        {"and": [{**dear, "value": "1.000000000000000000000000000001E+30"}, five]}
    ]
    assert filters_of(loaded, {"not": {"not": OPEN}}) == [{"and": [{"not": {"not": OPEN}}, five]}]


def test_there_is_no_filter_where_it_would_pass_the_limits_of_filters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded = Loaded([COST])
    loaded.fill([loaded.issue(1, fields={"cost": 5})])
    many: Any = [OPEN] * 49
    for fits in (nested(4), {"and": [nested(4)]}, {"or": many}, {"and": many}):
        (found,) = filters_of(loaded, fits)
        assert parse_filter(loaded.catalog, found).matches(loaded.documents[0])
    for too_much in (nested(5), {"or": [*many, OPEN]}, {"and": [*many, OPEN]}):
        assert filters_of(loaded, too_much) == [None]
    monkeypatch.setattr(group_filter, "MAX_OWN_BYTES", 10)
    assert filters_of(loaded, OPEN) == [None]


@pytest.mark.parametrize(
    "number", ["9007199254740993", "0.1", "-12.5", "1E-130", "12345678901234567890.123456789"]
)
def test_a_number_in_a_filter_survives_a_client_that_reads_it_in_binary(number: str) -> None:
    loaded = Loaded([COST])
    loaded.fill([loaded.issue(1, fields={"cost": number})])
    query = group_request.resolve(loaded.catalog, {"by": ["cost"]})
    answer, _ = grouped_counts(loaded.context(), query, CURSORS)
    found = json.loads(dumps(answer["groups"]))[0]["filter"]
    only = parse_filter(loaded.catalog, loads(json.dumps(found)))
    assert only.matches(loaded.documents[0])


def test_an_option_that_no_value_may_have_any_more_has_no_filter() -> None:
    loaded = Loaded([{"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b"]}])
    issue = loaded.issue(1, fields={"kind": "b"})
    only: dict[str, Any] = {"options": [{"id": "o1", "value": "a"}]}
    attributes.update_attribute(loaded.table, Catalogs(), ADMIN, PROJECT, "kind", only, None, settling=0)
    loaded.fill([issue])
    (group,) = page(loaded, by=["kind"])["groups"]
    assert (group["values"], group["filter"]) == (["b"], None)


def test_a_page_has_a_group_however_small_an_answer_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = Loaded([COST])
    loaded.fill(loaded.issue(num, fields={"cost": num}) for num in range(1, 4))
    monkeypatch.setattr(counting, "MAX_RESPONSE_BYTES", 1)
    assert [[one["values"] for one in groups] for groups in pages(loaded, by=["cost"])] == [
        [[1]],
        [[2]],
        [[3]],
    ]


def ranked(loaded: Loaded, **body: Any) -> list[Any]:
    return [(one["values"], one["count"]) for groups in pages(loaded, **body) for one in groups]


def costs(*numbers: Any) -> Loaded:
    loaded = Loaded(
        [
            {"id": "cost", "name": "Cost", "type": "number"},
            {"id": "kind", "name": "Kind", "type": "text"},
        ]
    )
    return loaded.fill(
        loaded.issue(num, fields={"kind": f"k{num % 5}", **({} if one is None else {"cost": one})})
        for num, one in enumerate(numbers, 1)
    )


def test_bins_begin_at_their_bounds_and_are_open_at_both_ends() -> None:
    loaded = costs("-0.5", 0, "99.99", 100, 1000, "1E+125", None)
    body = {"by": [{"field": "cost", "bins": [0, 100, 1000]}]}
    assert ranked(loaded, **body) == [
        ([{"from": None, "to": 0}], 1),
        ([{"from": 0, "to": 100}], 2),
        ([{"from": 100, "to": 1000}], 1),
        ([{"from": 1000, "to": None}], 2),
        ([None], 1),
    ]
    filters = [one["filter"] for groups in pages(loaded, **body) for one in groups]
    assert filters[:2] == [
        {"field": "cost", "op": "lt", "value": 0},
        {"and": [{"field": "cost", "op": "gte", "value": 0}, {"field": "cost", "op": "lt", "value": 100}]},
    ]


def test_ranges_of_a_width_are_floored_and_only_those_with_issues_are_listed() -> None:
    loaded = costs("-0.1", "0.2", "0.29", "7.5")
    assert ranked(loaded, by=[{"field": "cost", "width": "0.1"}]) == [
        ([{"from": Decimal("-0.1"), "to": 0}], 1),
        ([{"from": Decimal("0.2"), "to": Decimal("0.3")}], 2),
        ([{"from": Decimal("7.5"), "to": Decimal("7.6")}], 1),
    ]
    assert ranked(loaded, by=[{"field": "num", "width": 3}]) == [
        ([{"from": 0, "to": 3}], 2),
        ([{"from": 3, "to": 6}], 2),
    ]


def test_a_range_with_bounds_of_too_many_digits_has_no_filter() -> None:
    (group,) = page(costs("1E+125"), by=[{"field": "cost", "width": 7}])["groups"]
    assert group["filter"] is None
    assert group["count"] == 1


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_groups_ordered_by_an_aggregate_have_those_without_last_and_ties_in_the_order_of_the_fields(
    limit: int,
) -> None:
    loaded = costs(5, -9, None, 7, 5, 0, 4, None)  # k1 5+0, k2 -9+4, k3 none, k4 7, k0 5
    body = {"by": ["kind"], "aggregates": [{"field": "cost", "function": "sum"}], "limit": limit}
    for direction, expected in (("asc", "k2 k0 k1 k4 k3"), ("desc", "k4 k0 k1 k2 k3")):
        found = ranked(loaded, **body, order={"by": 0, "direction": direction})
        assert [values[0] for values, _ in found] == expected.split()
    by_count = ranked(loaded, **body, order={"by": "count", "direction": "desc"})
    assert by_count == [(["k1"], 2), (["k2"], 2), (["k3"], 2), (["k0"], 1), (["k4"], 1)]


def test_more_groups_than_may_be_ordered_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aggregate_planner, "MAX_RANKED", 4)
    loaded = costs(*range(10))
    with pytest.raises(QueryTooExpensive, match="more than 4 groups"):
        page(loaded, by=["kind"], order={"by": "count"})
    monkeypatch.setattr(aggregate_planner, "MAX_RANKED", 5)
    assert len(ranked(loaded, by=["kind"], order={"by": "count"})) == 5


@pytest.mark.parametrize(
    ("by", "order", "place"),
    [
        ({"field": "cost", "bins": [1, 1]}, None, "by.0.bins"),
        ({"field": "cost", "bins": []}, None, "by.0.bins"),
        ({"field": "cost", "bins": list(range(101))}, None, "by.0.bins"),
        ({"field": "cost", "bins": ["x"]}, None, "by.0.bins.0"),
        ({"field": "cost", "width": 0}, None, "by.0.width"),
        ({"field": "cost", "width": 1, "bins": [1]}, None, "by.0.width"),
        ({"field": "kind", "width": 1}, None, "by.0.width"),
        ("kind", {"by": 2}, "order.by"),
        ("kind", {"by": 1}, "order.by"),
        ("kind", {"by": "sum"}, "order.by"),
        ("kind", {"by": True}, "order.by"),
        ("kind", {"by": "count", "direction": "up"}, "order.direction"),
    ],
)
def test_wrong_ranges_and_orders_name_their_place(by: Any, order: Any, place: str) -> None:
    body = {
        "by": [by],
        "aggregates": [{"field": "cost", "function": one} for one in ("sum", "median")],
        **({} if order is None else {"order": order}),
    }
    with pytest.raises(InvalidRequest) as error:
        group_request.resolve(costs().catalog, body)
    assert [one.field for one in error.value.errors] == [place]
