"""The behaviour of its table on which the core relies: the real one over moto and the one in memory. And DynamoDB's bad
days.

The tests that use a table are the conformance suite: over moto by both transports, and over DynamoDB Local by
`tests/engine/test_storage_engine.py`.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from devtools.local.table import create_table_input
from devtools.proof.faults.memory_table import MemoryTable
from gridview.chains import blocks
from gridview.chains.blocks import Block, BlockChange
from gridview.dynamodb import client, expressions
from gridview.dynamodb.errors import ConditionFailed, ItemTooLarge, TransactionFailed
from gridview.dynamodb.expressions import ABSENT, PRESENT, Bound, Condition, Span, version_is
from gridview.dynamodb.signed_client import SignedClient
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.support.errors import Overloaded

NAME = "gridview"
Item = dict[str, Any]


@pytest.fixture(params=["direct", "botocore", "memory"])
def table(request: pytest.FixtureRequest) -> Iterator[Table]:
    if request.param == "memory":
        yield MemoryTable()
        return
    with mock_aws():
        direct = request.param == "direct"
        made = Table(NAME, transport=client.Transport(direct))
        assert isinstance(made._client, SignedClient) == direct
        made._client.create_table(**create_table_input(NAME))
        yield made.metered()


@pytest.fixture
def exact() -> Table:
    """For behaviour in which moto differs from DynamoDB."""
    return MemoryTable()


def item(pk: str, sk: str, sort: str | None = None, **attributes: Any) -> Item:
    placed = {} if sort is None else {keys.SORT: sort}
    return {keys.PK: pk, keys.SK: sk, **placed, **attributes}


# One interface


def test_an_item_comes_back_as_it_was_put(table: Table) -> None:
    everything = item(
        "a", "b", "c", text="", number=Decimal("1.50"), whole=7, huge=Decimal("1E+120"), flag=True, none=None,
        raw=b"\x00\xff", fields={"a1": ["x", 1, {}], "a2": {}},
    )  # fmt: skip
    table.put(everything)
    assert table.get("a", "b") == everything
    assert table.get("a", "b", consistent=True) == everything
    assert table.get("a", "c") is None
    with pytest.raises(TypeError):
        table.put(item("a", "b", number=1.5))


@pytest.mark.parametrize(
    ("condition", "holds_for_nothing", "holds_at"),
    [
        (ABSENT, True, ()),
        (PRESENT, False, (1, 2, 3)),
        (version_is(2), False, (2,)),
        (Condition("attribute_not_exists(PK) OR version <= :v", values={":v": 2}), True, (1, 2)),
        (
            Condition(
                "attribute_exists(PK) AND attribute_not_exists(closed) AND #v <= :v",
                {"#v": "version"},
                {":v": 2},
            ),
            False,
            (1, 2),
        ),
        (Condition("version = :v", values={":v": "2"}), False, ()),
        (Condition("nothing = :v", values={":v": 2}), False, ()),
        (Condition("#f.#k >= :v", {"#f": "fields", "#k": "a1"}, {":v": 2}), False, (2, 3)),
        (Condition("attribute_not_exists(#f.#k)", {"#f": "fields", "#k": "a2"}), True, (1, 2, 3)),
        (Condition("(version < :a OR version > :b) AND attribute_exists(PK)", values={":a": 2, ":b": 2}), False, (1, 3)),
    ],
)  # fmt: skip
def test_conditions(
    table: Table, condition: Condition, holds_for_nothing: bool, holds_at: tuple[int, ...]
) -> None:
    new = item("a", "b", written=True)
    for version in (None, 1, 2, 3):
        writes: tuple[tuple[Callable[[], None], Item | None], ...] = (
            (lambda: table.put(new, condition), new),
            (lambda: table.delete("a", "b", condition), None),
        )
        for write, written in writes:
            old = None if version is None else item("a", "b", version=version, fields={"a1": version})
            if old is not None:
                table.put(old)
            elif table.get("a", "b") is not None:
                table.delete("a", "b")
            if holds_for_nothing if version is None else version in holds_at:
                write()
                assert table.get("a", "b") == written
            else:
                with pytest.raises(ConditionFailed) as failed:
                    write()
                assert failed.value.item == old
                assert table.get("a", "b") == old


def test_a_repeat_of_the_same_write_is_not_a_lost_race(table: Table) -> None:
    block = blocks.changed(Block.head("a1.1"), BlockChange(frozenset({"x\x0100000001", "y\x0100000002"})))
    stored = block.to_item("acme", "bridge")
    table.put(stored, ABSENT)
    with pytest.raises(ConditionFailed) as failed:
        table.put(stored, ABSENT)
    assert failed.value.is_repeat_of(stored)
    assert not failed.value.is_repeat_of(blocks.touched(block).to_item("acme", "bridge"))
    table.delete(stored[keys.PK], stored[keys.SK])
    with pytest.raises(ConditionFailed) as gone:
        table.put(stored, PRESENT)
    assert not gone.value.is_repeat_of(stored)


def test_adding_counts_and_keeps_the_rest(table: Table) -> None:
    with pytest.raises(ConditionFailed):
        table.add("a", "counter", "last", 1, PRESENT)
    table.put(item("a", "counter", last=5, other="x"))
    assert table.add("a", "counter", "last", 3, PRESENT) == 8
    assert table.get("a", "counter") == item("a", "counter", last=8, other="x")


def test_adding_makes_an_item_that_expires(table: Table) -> None:
    room = Condition("attribute_not_exists(PK) OR #n <= :room", {"#n": "n"}, {":room": 2})
    assert table.add("a", "counter", "n", 2, room, expires=1_800_000_000) == 2
    assert table.add("a", "counter", "n", 3, room, expires=1_800_000_001) == 5
    with pytest.raises(ConditionFailed):
        table.add("a", "counter", "n", 1, room, expires=1_800_000_002)
    assert table.get("a", "counter") == item("a", "counter", n=5, ttl=1_800_000_001)


def test_an_update_changes_an_item_in_place_and_returns_it(table: Table) -> None:
    with pytest.raises(ConditionFailed):
        table.update("a", "head", PRESENT, add={"last": 1})
    table.put(item("a", "head", last=5, gone="x", kept="y"))
    updated = table.update(
        "a",
        "head",
        Condition("#last = :expected", {"#last": "last"}, {":expected": 5}),
        add={"last": 2, "waiting": -3},
        assign={"size": 1},
        default={"kept": "z", "sort": "now"},
        drop=["gone"],
    )
    assert updated == item("a", "head", last=7, waiting=-3, size=1, kept="y", sort="now")
    assert table.get("a", "head") == updated


def test_many_items_by_key_in_one_round_and_none_that_is_not_there(table: Table) -> None:
    table.batch_put([item(f"p{num}", "s", num=num, fields={"a1": num, "a2": num}) for num in range(230)])
    before = table.meter.rounds
    wanted = [(f"p{num}", "s") for num in range(229, -20, -1)]
    found = table.batch_get(wanted, consistent=True)
    assert found.left == frozenset()
    assert found.items == {
        (f"p{num}", "s"): item(f"p{num}", "s", num=num, fields={"a1": num, "a2": num}) for num in range(230)
    }
    assert table.meter.rounds == before + 1
    assert table.batch_get([]).items == {}
    narrow = table.batch_get(wanted[:1], paths=[("num",), ("fields", "a2"), ("fields", "a9")])
    assert list(narrow.items.values()) == [item("p229", "s", num=229, fields={"a2": 229})]


def test_a_partition_of_the_table_in_the_order_of_its_sort_keys(table: Table) -> None:
    table.batch_put([item("p", sk) for sk in ("c", "a", "é", "b", "😀", "\uffff", "B")] + [item("q", "a")])
    assert [one[keys.SK] for one in table.query_all("p", consistent=True)] == [
        "B", "a", "b", "c", "é", "\uffff", "😀",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (None, "bcde"),
        (Bound(">", "c"), "de"),
        (Bound(">=", "c"), "cde"),
        (Bound("<", "c"), "b"),
        (Bound("<=", "c"), "bc"),
        (Bound("begins_with", "d"), "d"),
        (Bound(">", "cc"), "de"),
        (Bound("<", "b"), ""),
    ],
)
def test_a_range_of_the_index_both_ways_in_pages(table: Table, bound: Bound | None, expected: str) -> None:
    table.batch_put([item(f"p{sort}", "order", sort, num=1) for sort in "debc"])
    table.batch_put([item("px", "order"), item("py", "other", "c")])
    for forward in (True, False):
        wanted = expected if forward else expected[::-1]
        for limit in (None, 1, 2, 9):
            page = table.query("order", index=True, bound=bound, forward=forward, limit=limit)
            assert "".join(one[keys.SORT] for one in page.items) == wanted[:limit]
            assert page.examined == len(wanted[:limit])
            if limit is not None and limit < len(wanted):
                assert page.last == wanted[limit - 1]
            if limit is None or limit > len(wanted):
                assert page.last is None


@pytest.mark.parametrize("index", [False, True])
def test_a_range_in_which_nothing_can_be_is_not_asked_for(table: Table, index: bool) -> None:
    """DynamoDB refuses a range whose end is before its beginning."""
    table.batch_put([item("p", sort, sort) for sort in "bc"])
    before = len(table.meter.calls)
    partition = "b" if index else "p"
    assert table.query(partition, index=index, bound=Bound("between", "c", "b")) == ([], 0, None)
    assert len(table.meter.calls) == before
    assert [
        one[keys.SK] for one in table.query(partition, index=index, bound=Bound("between", "b", "b")).items
    ] == ["b"]


def test_ranges_of_the_index_side_by_side_in_one_round(table: Table) -> None:
    table.batch_put([item(f"p{sort}", "order", sort, num=1, name="x") for sort in "abcdef"])
    bounds = [
        Bound("between", "b", "c"),
        Bound("between", "cc", "d"),
        Bound("between", "e", "z"),
        Bound("between", "x", "z"),
    ]
    before = table.meter.rounds, len(table.meter.calls)
    pages = table.query_ranges("order", bounds, paths=[("num",)])
    assert [[one[keys.SORT] for one in page.items] for page in pages] == [["b", "c"], ["d"], ["e", "f"], []]
    assert pages[0].items[0] == item("pb", "order", "b", num=1)
    assert [page.last for page in pages] == [None] * 4
    assert table.meter.rounds == before[0] + 1
    assert [call.round for call in table.meter.calls[before[1] :]] == [table.meter.rounds] * 4


def test_items_and_spans_of_the_index_side_by_side_in_one_round(table: Table) -> None:
    table.batch_put([item(f"p{sort}", "order", sort, num=1, name="x") for sort in "abc"])
    table.put(item("q", "other", "b"))
    wanted = [("pa", "order"), ("none", "order"), ("q", "other"), ("pa", "order")]
    spans = [
        Span("order", Bound("between", "b", "c")),
        Span("other"),
        Span("order", Bound(">=", "c")),
        Span("?"),
    ]
    before = table.meter.rounds
    found = table.read_together(wanted, spans, paths=[("num",)])
    assert found.items == {
        ("pa", "order"): item("pa", "order", "a", num=1, name="x"),
        ("q", "other"): item("q", "other", "b"),
    }
    assert [[one[keys.SORT] for one in items] for items in found.spans] == [["b", "c"], ["b"], ["c"], []]
    assert found.spans[0][0] == item("pb", "order", "b", num=1)
    assert table.meter.rounds == before + 1
    assert table.read_together([], []) == ({}, [])
    assert table.meter.rounds == before + 1


def test_a_span_continues_after_a_megabyte_though_two_items_have_one_place(table: Table) -> None:
    table.batch_put([item(f"p{num}", "order", f"{num // 2}", name="x" * 300_000) for num in range(12)])
    spans = [Span("order"), Span("order", Bound("between", "1", "4")), Span("order", Bound(">", "2"))]
    listed = table.read_together([], spans, paths=()).spans
    assert [sorted(int(one[keys.PK][1:]) for one in items) for items in listed] == [
        list(range(12)),
        list(range(2, 10)),
        list(range(6, 12)),
    ]
    assert all(one[keys.SORT] <= two[keys.SORT] for items in listed for one, two in pairwise(items))


def test_a_filter_is_applied_to_what_was_examined(table: Table) -> None:
    table.batch_put(
        [item(f"p{num}", "order", f"{num}", num=num, fields={"a1": 1} if num % 3 else {}) for num in range(9)]
    )
    only = Condition("attribute_not_exists(#a.#b)", {"#a": "fields", "#b": "a1"})
    page = table.query("order", index=True, limit=5, only=only, paths=[("num",)])
    assert page.items == [item("p0", "order", "0", num=0), item("p3", "order", "3", num=3)]
    assert (page.examined, page.last) == (5, "4")


def test_the_index_gives_what_it_projects_and_nothing_else(table: Table) -> None:
    table.put(item("p", "order", "x", num=1, fields={"a": 1}, revision=5, ttl=9))
    (found,) = table.query("order", index=True).items
    assert found == item("p", "order", "x", num=1, fields={"a": 1})
    (bare,) = table.query("order", index=True, paths=()).items
    assert bare == item("p", "order", "x")


def test_a_query_reads_a_megabyte(table: Table) -> None:
    table.batch_put([item(f"p{num}", "order", f"{num:02d}", name="x" * 300_000) for num in range(8)])
    page = table.query("order", index=True)
    # DynamoDB does not specify whether the item that crosses the limit is among them.
    assert len(page.items) == page.examined
    assert page.examined in (3, 4)
    assert page.last is not None
    assert page.last == page.items[-1][keys.SORT]
    rest = table.query("order", index=True, bound=Bound(">", page.last), limit=2)
    assert rest.items[0][keys.SORT] == f"{page.examined:02d}"


def test_a_whole_partition_is_read_call_after_call(table: Table) -> None:
    table.batch_put([item("p", f"{num:02d}", name="x" * 300_000) for num in range(8)])
    assert [one[keys.SK] for one in table.query_all("p")] == [f"{num:02d}" for num in range(8)]


def test_a_whole_partition_of_the_index_is_read_call_after_call(table: Table) -> None:
    table.batch_put([item("p", f"{num:02d}", "a", name="x" * 300_000) for num in range(3)])
    table.batch_put([item(f"p{num}", "order", f"{num:02d}", name="x" * 300_000) for num in range(8)])
    before = table.meter.rounds
    assert [one[keys.PK] for one in table.query_all("order", index=True)] == [f"p{num}" for num in range(8)]
    assert table.meter.rounds > before + 1
    for one in table.query_all("order", index=True, paths=()):
        assert "name" not in one


def test_a_transaction_is_all_or_nothing_and_names_what_failed(table: Table) -> None:
    for name in ("a", "d"):
        table.put(item(name, "s", version=1))
    with pytest.raises(TransactionFailed) as failed:
        table.transact(
            [
                expressions.put(item("b", "s"), ABSENT),
                expressions.put(item("a", "s", version=2), version_is(7)),
                expressions.delete("d", "s", ABSENT),
            ]
        )
    assert failed.value.failed == (1, 2)
    assert table.get("b", "s") is None
    table.transact(
        [
            expressions.put(item("b", "s"), ABSENT),
            expressions.set_attribute("a", "s", "closed", True),
            expressions.delete("d", "s"),
        ]
    )
    assert table.get("a", "s") == item("a", "s", version=1, closed=True)
    assert table.get("b", "s") == item("b", "s")
    assert table.get("d", "s") is None


def test_a_transaction_is_not_half_done_when_an_item_is_too_large(table: Table) -> None:
    with pytest.raises(ItemTooLarge):
        table.transact([expressions.put(item("a", "s")), expressions.put(item("b", "s", name="x" * 410_000))])
    assert table.get("a", "s") is None
    assert table.get("b", "s") is None


def test_a_transaction_takes_an_item_once(table: Table) -> None:
    with pytest.raises(ClientError) as error:
        table.transact([expressions.put(item("a", "s")), expressions.delete("a", "s")])
    assert error.value.response["Error"]["Code"] == "ValidationException"
    assert table.get("a", "s") is None


def test_an_item_has_at_most_400_kb(exact: Table) -> None:
    fits = item("a", "s", name="x" * (400 * 1024 - len("PKaSKsname")))
    exact.put(fits)
    assert exact.get("a", "s") == fits
    with pytest.raises(ItemTooLarge):
        exact.put({**fits, "name": fits["name"] + "x"})
    with pytest.raises(ItemTooLarge):
        exact.put(item("b", "s", fields={"a1": ["é" * 205_000]}), ABSENT)
    with pytest.raises(ItemTooLarge):
        exact.update("a", "s", PRESENT, assign={"more": 1})
    assert exact.get("a", "s") == fits
    assert exact.get("b", "s") is None


@pytest.mark.parametrize("around", [lambda value: [value], lambda value: {"a": value}], ids=["list", "map"])
def test_a_value_has_at_most_31_levels(exact: Table, around: Callable[[Any], Any]) -> None:
    deepest: Any = "x"
    for _ in range(31):
        deepest = around(deepest)
    fits, deeper = item("a", "s", value=deepest), item("a", "s", value=around(deepest))
    for write in (
        exact.put,
        lambda one: exact.transact([expressions.put(one)]),
        lambda one: exact.batch_put([one]),
    ):
        write(fits)
        with pytest.raises(ClientError) as error:
            write(deeper)
        assert error.value.response["Error"]["Code"] == "ValidationException"
        assert exact.get("a", "s") == fits
    with pytest.raises(ClientError):
        exact.update("a", "s", PRESENT, assign={"value": around(deepest)})


def test_attributes_are_taken_out_of_an_item_and_all_else_stays(table: Table) -> None:
    whole = item("a", "s", "x", name="n", fields={"a1": 1, "a2": {"b": [1]}, "a3": None}, version=7)
    table.put(whole)
    table.remove("a", "s", [("fields", "a1"), ("fields", "a9"), ("name",), ("gone",)])
    assert table.get("a", "s") == item("a", "s", "x", fields={"a2": {"b": [1]}, "a3": None}, version=7)
    with pytest.raises(ConditionFailed):
        table.remove("a", "t", [("fields", "a1")])
    assert table.get("a", "t") is None


def test_the_index_follows_what_is_done_to_an_item(table: Table) -> None:
    def shown() -> list[tuple[str, str]]:
        return [(one[keys.PK], one[keys.SORT]) for one in table.query("order", index=True).items]

    table.put(item("p", "order", "b"))
    table.put(item("q", "order", "a"))
    assert shown() == [("q", "a"), ("p", "b")]
    table.put(item("p", "order", "0"))
    assert shown() == [("p", "0"), ("q", "a")]
    table.put(item("p", "order", ttl=5))
    table.transact([expressions.put(item("r", "order", "c")), expressions.delete("q", "order")])
    assert shown() == [("r", "c")]
    table.remove("r", "order", [(keys.SORT,)])
    assert shown() == []


def test_two_items_of_one_place_in_an_order_are_both_there(table: Table) -> None:
    table.batch_put([item(pk, "order", "same") for pk in "abc"])
    page = table.query("order", index=True)
    assert sorted(one[keys.PK] for one in page.items) == ["a", "b", "c"]
    assert (page.examined, page.last) == (3, None)


@pytest.mark.parametrize(
    "condition",
    [
        Condition("contains(#f.#k, :v)", {"#f": "fields", "#k": "a1"}, {":v": "x"}),
        Condition("contains(#f.#k, :v) OR version = :n", {"#f": "fields", "#k": "a2"}, {":v": "x", ":n": 3}),
        Condition("attribute_exists(#f.#k) AND NOT_A_NAME = :v", {"#f": "fields", "#k": "a1"}, {":v": 1}),
        Condition("revision = :r AND attribute_not_exists(intent)", values={":r": 1}),
        Condition("revision = :r AND attribute_exists(intent)", values={":r": 1}),
        Condition("#f = :v", {"#f": "fields"}, {":v": {"a1": ["x"]}}),
    ],
    ids=lambda condition: condition.expression,
)
def test_a_filter_holds_as_dynamodb_has_it(table: Table, condition: Condition) -> None:
    places = [
        item("1", "s", "1", fields={"a1": ["x", "y"], "a2": "axb"}, version=1),
        item("2", "s", "2", fields={"a1": ["xy"]}, version=3, revision=1),
        item("3", "s", "3", fields={"a1": ["x"]}, version=True, revision=1, intent={}),
        item("4", "s", "4", version=Decimal("3.0"), revision=1, intent=None),
    ]
    expected = {
        "contains(#f.#k, :v)": "13",
        "contains(#f.#k, :v) OR version = :n": "124",
        "attribute_exists(#f.#k) AND NOT_A_NAME = :v": "",
        "revision = :r AND attribute_not_exists(intent)": "2",
        "revision = :r AND attribute_exists(intent)": "34",
        "#f = :v": "3",
    }[condition.expression]
    for one in places:
        table.put(one)
    found = ""
    for one in places:
        try:
            table.delete(one[keys.PK], one[keys.SK], condition)
        except ConditionFailed:
            continue
        found += one[keys.PK]
    assert found == expected


BUGS: dict[str, Callable[[Table], Any]] = {
    "an index is never read consistently": lambda table: table.query("order", index=True, consistent=True),
    "a partition key of nothing": lambda table: table.put(item("", "s")),
    "a sort key of nothing": lambda table: table.get("a", ""),
    "one item twice": lambda table: table.batch_put([item("a", "s"), item("a", "s")]),
    "nothing to delete": lambda table: table.delete("a", "", PRESENT),
    "truths have no order": lambda table: table.delete("a", "s", Condition("v > :v", values={":v": True})),
}


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_an_invalid_request_raises_the_validation_error(exact: Table, bug: Callable[[Table], Any]) -> None:
    with pytest.raises(ClientError) as refusal:
        bug(exact)
    assert refusal.value.response["Error"]["Code"] == "ValidationException"


def test_a_table_in_memory_gives_its_index_what_it_is_let_have_in_order_for_each_item() -> None:
    table = MemoryTable()
    table.put(item("p", "order", "1"))
    table.lag()
    for sort in ("2", "3"):
        table.put(item("p", "order", sort))
    table.put(item("q", "order", "9"))

    def shown() -> str:
        return "".join(one[keys.SORT] for one in table.query("order", index=True).items)

    assert table.waiting == [("p", "order"), ("q", "order")]
    seen = [shown()]
    for pk in ("q", "p", "p"):
        table.catch_up((pk, "order"))
        seen.append(shown())
    assert seen == ["1", "19", "29", "39"]
    assert table.waiting == []
    table.delete("p", "order")
    assert shown() == "39"
    table.catch_up_with_all()
    assert shown() == "9"


def test_a_table_in_memory_reads_what_was_there_a_moment_ago_unless_it_is_asked_for_consistency() -> None:
    table = MemoryTable()
    table.put(item("a", "s", version=1))
    table.stale(lambda _, states: states)
    table.put(item("a", "s", version=2))
    table.delete("a", "s")
    old = item("a", "s", version=1)
    assert table.get("a", "s") == old
    assert table.batch_get([("a", "s")]).items == {("a", "s"): old}
    assert list(table.query_all("a")) == [old]
    assert table.get("a", "s", consistent=True) is None
    assert table.batch_get([("a", "s")], consistent=True).items == {}
    assert list(table.query_all("a", consistent=True)) == []
    table.stale(None)
    assert table.get("a", "s") is None


def test_calls_are_metered_in_rounds(table: Table) -> None:
    start = table.meter.rounds, len(table.meter.calls)
    table.put(item("a", "s"))
    table.get("a", "s")
    table.query("a")
    table.batch_get([("a", "s")])
    calls = table.meter.calls[start[1] :]
    assert [call.operation for call in calls] == ["put_item", "get_item", "query", "batch_get_item"]
    assert [call.round - start[0] for call in calls] == [1, 2, 3, 4]
    assert [call.items for call in calls[1:]] == [1, 1, 1]
    assert table.metered().meter.calls == []


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("", 0), ("é€", 5), (b"abc", 3), (True, 1), (None, 1),
        (0, 1), (1, 2), (12, 2), (123, 3), (1234, 3), (-1, 3), (-123, 4), (100, 2), (10_100, 3),
        (Decimal("1.5"), 3), (Decimal("12.5"), 3), (Decimal("-1.25"), 4), (Decimal("0.1"), 2), (Decimal("0.01"), 2),
        (Decimal("1E+10"), 2), (Decimal("1E+11"), 2), (int("12345678901234567890123456789012345678"), 20),
        ([], 3), (["a", "b"], 7), ({}, 3), ({"a": 1}, 7), ({"a": {"b": [1, "x"]}}, 18),
    ],
)  # fmt: skip
def test_half_a_read_unit_reads_four_kilobytes(exact: Table, value: Any, size: int) -> None:
    room = 4096 - len("PKaSKsvaluefill") - size
    for filling, units in ((room, 0.5), (room + 1, 1.0)):
        exact.put(item("a", "s", value=value, fill="x" * filling))
        read = exact.metered()
        read.get("a", "s")
        read.get("a", "s", consistent=True)
        assert [call.capacity for call in read.meter.calls] == [units, 2 * units]


def test_reads_cost_what_dynamodb_reports(exact: Table) -> None:
    """By item for BatchGetItem, by page for Query: of all projected attributes, whatever the request selects."""
    exact.batch_put(
        [
            item(f"p{num}", "order", f"{num}", num=num, name="x" * 2_000, hidden="y" * 5_000)
            for num in range(5)
        ]
    )
    some = [(f"p{num}", "order") for num in range(3)]
    reads: tuple[tuple[Callable[[Table], object], float, int], ...] = (
        (lambda table: table.get("none", "s"), 0.5, 0),
        (lambda table: table.get("none", "s", consistent=True), 1.0, 0),
        (lambda table: table.batch_get([("none", "s"), ("none", "t")]), 0.0, 0),
        (lambda table: table.batch_get([*some, ("none", "s")]), 3.0, 3),
        (lambda table: table.batch_get(some, consistent=True, paths=[("num",)]), 6.0, 3),
        (lambda table: table.query("none"), 0.0, 0),
        (lambda table: table.query("p0"), 1.0, 1),
        (lambda table: table.query("p0", consistent=True, limit=1), 2.0, 1),
        (lambda table: table.query("order", index=True), 1.5, 5),
        (lambda table: table.query("order", index=True, limit=2, paths=()), 0.5, 2),
        (lambda table: table.query("order", index=True, only=Condition("num > :n", values={":n": 8})), 1.5, 5),
        (lambda table: table.query_ranges("order", [Bound("<", "1"), Bound(">", "3")]), 1.0, 2),
        (lambda table: table.read_together(some, [Span("order", Bound(">=", "2"))]), 4.0, 6),
        (lambda table: table.scan(), 4.5, 5),
    )  # fmt: skip
    for read, units, items in reads:
        metered = exact.metered()
        read(metered)
        found = sum(call.items for call in metered.meter.calls)
        assert (metered.meter.capacity, found) == (units, items)


# DynamoDB's bad days


class Script:
    """A DynamoDB client with scripted answers."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[Any] = []

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            self.requests.append(request)
            answer = self.answers.pop(0)
            if callable(answer):
                answer = answer(request)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call


def scripted(*answers: Any) -> tuple[Table, Script]:
    script = Script(*answers)
    client: Any = script
    return Table(NAME, client), script


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gridview.dynamodb.table.time.sleep", lambda _: None)


def refused(code: str, message: str = "no") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "PutItem")


def cancelled(reason: Any) -> ClientError:
    """The cancellation of a transaction by its second write."""
    error = refused("TransactionCanceledException")
    error.response["CancellationReasons"] = [{"Code": "None"}, reason]
    return error


def some(count: int) -> Callable[[Any], Any]:
    """An answer of BatchGetItem with the first requested keys; the others are unprocessed."""

    def answer(request: Any) -> Any:
        wanted = request["RequestItems"][NAME]["Keys"]
        return {
            "Responses": {NAME: wanted[:count]},
            "UnprocessedKeys": {NAME: {"Keys": wanted[count:]}} if wanted[count:] else {},
        }

    return answer


KEYS = [(f"p{num}", "s") for num in range(5)]


def test_unprocessed_keys_of_a_batch_are_requested_again() -> None:
    table, script = scripted(some(2), some(0), some(2), some(1))
    found = table.batch_get(KEYS, paths=[("num",)])
    assert found.items.keys() == set(KEYS)
    assert found.left == frozenset()
    requests = [request["RequestItems"][NAME] for request in script.requests]
    assert [len(request["Keys"]) for request in requests] == [5, 3, 3, 1]
    assert all(request["ProjectionExpression"] for request in requests)
    assert table.meter.rounds == 4


def test_unprocessed_keys_are_requested_again_also_beside_spans() -> None:
    table, script = scripted(some(2), some(1), some(9))
    assert table.read_together(KEYS, []).items.keys() == set(KEYS)
    assert len(script.requests) == 3
    table, script = scripted(*[some(0)] * 100)
    with pytest.raises(Overloaded):
        table.read_together(KEYS, [])
    assert len(script.requests) == 9


def test_it_is_not_asked_for_again_when_enough_has_come() -> None:
    table, script = scripted(some(2), some(2))
    found = table.batch_get(KEYS, enough=lambda items: len(items) >= 4)
    assert found.items.keys() == set(KEYS[:4])
    assert found.left == frozenset(KEYS[4:])
    assert len(script.requests) == 2


def test_a_batch_that_never_gets_on_is_given_up() -> None:
    table, script = scripted(*[some(0)] * 100)
    with pytest.raises(Overloaded):
        table.batch_get(KEYS)
    assert len(script.requests) == 8


def test_a_repeated_key_is_asked_for_once() -> None:
    """During a change the index may return an issue at its old and at its new place."""
    table, script = scripted(some(9))
    assert table.batch_get([*KEYS, *KEYS[::-1]]).items.keys() == set(KEYS)
    assert len(script.requests[0]["RequestItems"][NAME]["Keys"]) == len(KEYS)


def test_unprocessed_writes_of_a_batch_are_sent_again() -> None:
    sent: list[str] = []

    def writing(count: int) -> Callable[[Any], Any]:
        def answer(request: Any) -> Any:
            requests = request["RequestItems"][NAME]
            sent.extend(one["PutRequest"]["Item"][keys.PK]["S"] for one in requests[:count])
            return {"UnprocessedItems": {NAME: requests[count:]} if requests[count:] else {}}

        return answer

    table, _ = scripted(writing(3), writing(0), writing(9))
    table.batch_put([item(f"p{num}", "s") for num in range(7)])
    assert sent == [f"p{num}" for num in range(7)]
    table, _ = scripted(*[writing(0)] * 100)
    with pytest.raises(Overloaded):
        table.batch_put([item("p", "s")])


@pytest.mark.parametrize(
    "error",
    [
        refused("ProvisionedThroughputExceededException"),
        refused("ThrottlingException"),
        refused("RequestLimitExceeded"),
        refused("InternalServerError"),
        refused("TransactionConflictException"),
        EndpointConnectionError(endpoint_url="http://nowhere"),
    ],
    ids=lambda error: (
        type(error).__name__ if not hasattr(error, "response") else error.response["Error"]["Code"]
    ),
)
def test_every_call_to_a_busy_table_is_overloaded(error: Exception) -> None:
    calls: list[Callable[[Table], Any]] = [
        lambda table: table.get("a", "s"),
        lambda table: table.batch_get([("a", "s")]),
        lambda table: table.query("a"),
        lambda table: table.put(item("a", "s"), ABSENT),
        lambda table: table.delete("a", "s"),
        lambda table: table.add("a", "s", "n", 1, PRESENT),
        lambda table: table.update("a", "s", PRESENT, add={"n": 1}),
        lambda table: table.transact([expressions.put(item("a", "s"))]),
        lambda table: table.batch_put([item("a", "s")]),
    ]
    for call in calls:
        table, _ = scripted(error)
        with pytest.raises(Overloaded):
            call(table)


def test_a_bug_or_a_lost_permission_is_not_taken_for_load() -> None:
    for code in ("AccessDeniedException", "ValidationException", "ResourceNotFoundException"):
        table, _ = scripted(refused(code))
        with pytest.raises(ClientError):
            table.put(item("a", "s"))


def test_an_item_that_is_too_large_has_its_own_error() -> None:
    table, _ = scripted(refused("ValidationException", "Item size has exceeded the maximum allowed size"))
    with pytest.raises(ItemTooLarge):
        table.put(item("a", "s"))
    table, _ = scripted(
        cancelled({"Code": "ValidationError", "Message": "Item size to update has exceeded it"})
    )
    with pytest.raises(ItemTooLarge):
        table.transact([expressions.put(item("a", "s")), expressions.put(item("b", "s"))])


def test_a_transaction_that_meets_another_fails_though_all_its_conditions_hold() -> None:
    table, _ = scripted(cancelled({"Code": "TransactionConflict"}))
    with pytest.raises(TransactionFailed) as error:
        table.transact([expressions.put(item("a", "s")), expressions.put(item("b", "s"))])
    assert error.value.failed == ()


def test_a_transaction_with_an_invalid_item_is_not_taken_for_load() -> None:
    table, _ = scripted(
        cancelled({"Code": "ValidationError", "Message": "Nesting Levels have exceeded supported limits"})
    )
    with pytest.raises(ClientError):
        table.transact([expressions.put(item("a", "s")), expressions.put(item("b", "s"))])


def test_a_transaction_that_the_table_has_no_time_for_is_overloaded() -> None:
    table, _ = scripted(cancelled({"Code": "ThrottlingError"}))
    with pytest.raises(Overloaded):
        table.transact([expressions.put(item("a", "s")), expressions.put(item("b", "s"))])


def test_reads_are_as_consistent_as_they_are_asked_to_be() -> None:
    for consistent in (False, True):
        table, script = scripted(
            {}, some(9), {"Items": [], "ScannedCount": 0}, {"Items": [], "ScannedCount": 0}
        )
        table.get("a", "s", consistent=consistent)
        table.batch_get(KEYS, consistent=consistent)
        table.query("a", consistent=consistent)
        list(table.query_all("a", consistent=consistent))
        get, batch, *queries = script.requests
        assert get["ConsistentRead"] is consistent
        assert batch["RequestItems"][NAME]["ConsistentRead"] is consistent
        assert [query["ConsistentRead"] for query in queries] == [consistent, consistent]


def test_a_table_without_its_own_meter_records_no_calls() -> None:
    """A container keeps it for hours."""
    table, _ = scripted(*[{}] * 50)
    for _ in range(50):
        table.get("a", "s")
    assert table.meter.calls == []


def test_reported_capacity_is_added_up() -> None:
    table, _ = scripted(
        {"ConsumedCapacity": {"CapacityUnits": 1.5}},
        {"ConsumedCapacity": [{"CapacityUnits": 0.5}, {"CapacityUnits": 2}], "Responses": {NAME: []}},
        {},
    )
    metered = table.metered()
    metered.get("a", "s")
    metered.batch_get([("a", "s")])
    metered.get("a", "s")
    assert [call.capacity for call in metered.meter.calls] == [1.5, 2.5, 0.0]
    assert metered.meter.capacity == 4.0
