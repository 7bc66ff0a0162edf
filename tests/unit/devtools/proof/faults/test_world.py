"""The parts of the simulator: the stream, the adversary, and the judges, who must be able to find a fault."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from botocore.exceptions import ClientError
from pyroaring import BitMap

from devtools.local.delivery import sequence_number
from devtools.proof.faults import chains_truth, people, points, project, truth
from devtools.proof.faults.adversary import Invocation, Verdict
from devtools.proof.faults.drawn import Drawn, Weather
from devtools.proof.faults.isolation import trespass
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.questions import Questioner
from devtools.proof.faults.strands import Killed, Pool, wait
from devtools.proof.faults.stream import Stream, key_of
from devtools.proof.faults.virtual import Clock, virtual
from devtools.proof.faults.watched import Around, Attempted, Watched
from devtools.proof.faults.world import Difference, Run, World
from devtools.proof.oracle.world import Question
from gridview.chains import blocks
from gridview.chains.blocks import Block
from gridview.derive.images import Poison
from gridview.derive.ledger import NUMBER
from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import ABSENT, Item
from gridview.encoding import derived_keys, keys
from gridview.schema.store import Catalogs
from gridview.support.errors import Overloaded

# The stream


def stream_of_one_shard() -> Stream:
    return Stream(Random(1), 1)  # noqa: S311


def document(num: int, version: int) -> Item:
    key = keys.issue("t", "p", num)
    return {keys.PK: key, keys.SK: keys.project("t", "p"), "num": num, "version": version}


def test_reordering_keeps_the_order_of_records_of_each_issue() -> None:
    stream = stream_of_one_shard()
    for version in range(1, 30):
        for num in (1, 2, 3):
            stream.append(None, document(num, version), reorder=True)
    (shard,) = stream.shards
    numbers = [int(sequence_number(one)) for one in shard.records]
    assert numbers != sorted(numbers)
    for num in (1, 2, 3):
        own = [one for one in shard.records if key_of(one) == keys.issue("t", "p", num)]
        assert [int(one["dynamodb"]["NewImage"]["version"]["N"]) for one in own] == list(range(1, 30))


def test_nothing_comes_before_what_was_delivered() -> None:
    stream = stream_of_one_shard()
    for num in range(1, 6):
        stream.append(None, document(num, 1))
    (shard,) = stream.shards
    given = shard.batch(3)
    for num in range(6, 20):
        stream.append(None, document(num, 1), reorder=True)
    assert shard.records[:3] == given


def test_the_children_of_a_shard_are_delivered_when_it_is_exhausted() -> None:
    stream = stream_of_one_shard()
    for num in range(1, 9):
        stream.append(None, document(num, 1))
    (parent,) = stream.shards
    children = stream.split(parent)
    for num in range(1, 9):
        stream.append(document(num, 1), document(num, 2))
    assert all(child.records for child in children)
    assert [shard.open_to_deliver for shard in stream.shards] == [True, False, False]
    parent.settle(parent.batch(7), None)
    assert [shard.open_to_deliver for shard in stream.shards] == [True, False, False]
    parent.settle(parent.batch(7), None)
    assert [shard.open_to_deliver for shard in stream.shards] == [False, True, True]
    grandchildren = stream.split(children[0])
    stream.append(None, document(1, 3))
    assert not any(shard.open_to_deliver for shard in grandchildren)


def test_the_next_batch_begins_at_the_reported_record() -> None:
    stream = stream_of_one_shard()
    for num in range(1, 6):
        stream.append(None, document(num, 1))
    (shard,) = stream.shards
    batch = shard.batch(4)
    shard.settle(batch, sequence_number(batch[2]))
    assert shard.batch(4) == shard.records[2:]
    shard.most = 1
    assert len(shard.batch(4)) == 1


# The adversary


def work(table: MemoryTable) -> Callable[[Around], Any]:
    def run(around: Around) -> str:
        seen = table.seen_through(around)
        for sort_key in ("1", "2", "3"):
            seen.put({keys.PK: "p", keys.SK: sort_key}, ABSENT)
            seen.get("p", sort_key)
        return "done"

    return run


def stored(table: MemoryTable) -> str:
    return "".join(sort_key for _, sort_key in table.items)


def test_an_invocation_stops_before_every_call() -> None:
    table = MemoryTable()
    run = Invocation(work(table))
    seen = []
    while not run.ended:
        assert run.call is not None
        seen.append((run.call.operation, stored(table)))
        run.step()
    assert [operation for operation, _ in seen] == ["put", "get"] * 3
    assert [before for _, before in seen] == ["", "1", "1", "12", "12", "123"]
    assert run.result == "done"


def test_a_killed_invocation_stops_but_its_sent_requests_may_land() -> None:
    table = MemoryTable()
    run = Invocation(work(table))
    run.step(then=1)
    (sent,) = run.kill()
    assert isinstance(run.raised, Killed)
    assert stored(table) == "1"
    sent.land()
    assert stored(table) == "12"
    sent.land()  # its condition no longer holds, and no caller gets an answer


def side_by_side(table: MemoryTable, at_once: int, *rows: str) -> Callable[[Around], Any]:
    """Writes each row of letters in a thread of its own, one letter after the other."""

    def run(around: Around) -> list[str]:
        seen = table.seen_through(around)

        def write(row: str) -> str:
            for letter in row:
                seen.put({keys.PK: "p", keys.SK: letter}, ABSENT)
            return row.upper()

        with Pool(at_once) as pool:
            return list(pool.map(write, rows))

    return run


def order_of(run: Invocation) -> str:
    """The letters in the order in which they are written."""
    found = ""
    while run.call is not None:
        found += run.call.key[1]
        run.step()
    return found


@pytest.mark.parametrize(
    ("at_once", "choose", "order"),
    [
        (1, min, "abcdef"),
        (3, min, "acebdf"),
        (3, max, "efcdab"),
        (2, min, "acbdef"),
        (2, max, "cdefab"),
    ],
)
def test_parallel_threads_take_turns_as_chosen(
    at_once: int, choose: Callable[[range], int], order: str
) -> None:
    run = Invocation(
        side_by_side(MemoryTable(), at_once, "ab", "cd", "ef"), choose=lambda count: choose(range(count))
    )
    assert len(run.pending) == at_once
    assert order_of(run) == order
    assert run.result == ["AB", "CD", "EF"]


def test_a_kill_ends_all_that_runs_side_by_side_and_any_of_it_may_have_left() -> None:
    table = MemoryTable()
    run = Invocation(side_by_side(table, 3, "ab", "cd", "ef"), choose=lambda _: 1)
    run.step(then=1)
    sent = run.kill()
    assert isinstance(run.raised, Killed)
    assert run.ended
    assert stored(table) == "ce"
    assert [one.attempted.key[1] for one in sent] == ["d", "a", "f"]
    sent[1].land()
    assert stored(table) == "ace"


def test_a_failure_in_one_thread_is_raised_after_the_others_have_ended() -> None:
    table = MemoryTable()
    run = Invocation(side_by_side(table, 3, "ab", "cd", "ef"))
    run.step(Verdict.REFUSED)
    run.finish()
    assert isinstance(run.raised, Overloaded)
    assert stored(table) == "cdef"


def test_threads_wait_for_what_others_promise() -> None:
    table = MemoryTable()

    def work(around: Around) -> list[Item | None]:
        seen = table.seen_through(around)
        with Pool(2) as pool:
            beside = [pool.submit(seen.get, "p", letter) for letter in "ab"]
            seen.put({keys.PK: "p", keys.SK: "b"})
            wait(beside[:1])
            assert beside[0].done()
            return [one.result() for one in beside]

    run = Invocation(work, choose=lambda count: count - 1)
    assert [one.attempted.operation for one in run.pending] == ["put", "get", "get"]
    run.finish()
    assert run.result == [None, None]
    assert run.raised is None


@pytest.mark.parametrize(
    ("verdict", "raised", "left"),
    [
        (Verdict.DONE, None, "123"),
        (Verdict.TWICE, ConditionFailed, "1"),
        (Verdict.REFUSED, Overloaded, ""),
        (Verdict.LOST, Overloaded, "1"),
        (Verdict.DENIED, ClientError, ""),
    ],
)
def test_verdicts(verdict: Verdict, raised: type[Exception] | None, left: str) -> None:
    table = MemoryTable()
    run = Invocation(work(table))
    run.step(verdict)
    run.finish()
    assert type(run.raised) is (raised or type(None))
    assert stored(table) == left


def test_a_batch_may_be_done_in_parts_each_of_which_is_a_call() -> None:
    table = MemoryTable()
    calls: list[Attempted] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        calls.append(attempted)
        return perform()

    seen = Watched(table, around, lambda _: 2)
    items = [{keys.PK: f"p{num}", keys.SK: "s"} for num in range(5)]
    seen.batch_put(items)
    wanted = [(f"p{num}", "s") for num in range(7)]
    assert seen.batch_get(wanted, consistent=True).items.keys() == {*wanted[:5]}
    assert [len(call.keys) for call in calls] == [2, 2, 1, 2, 2, 2, 1]
    calls.clear()
    fetched = seen.batch_get(wanted, enough=lambda found: len(found) >= 3)
    assert (len(fetched.items), len(fetched.left), len(calls)) == (4, 3, 2)


# The judges


@pytest.fixture
def world() -> Iterator[World]:
    """Three issues, one of them without values and one removed, with all that is derived from them."""
    clock = Clock()
    with virtual(clock, 0):
        table, tenant = project.in_memory(0)
        world = World(Random(0), clock, table, tenant, project.PROJECT)  # noqa: S311
        for word, num in (("create", 1), ("create", 2), ("create", 3), ("clear", 2), ("remove", 3)):
            points.do(world, word, num)
            world.drain(Catalogs())
        world.fold_all()
        truth.assert_derived(world)
        yield world


def key(num: int) -> str:
    return keys.issue("acme", project.PROJECT, num)


def entry(world: World, num: int, order_id: str) -> Item:
    found = world.engine.get(key(num), derived_keys.order("acme", project.PROJECT, order_id), consistent=True)
    assert found is not None
    return found


def ledger(world: World, num: int) -> Item:
    found = world.engine.get(key(num), derived_keys.LEDGER, consistent=True)
    assert found is not None
    return found


def without(item: Item, *names: str) -> Item:
    return {name: value for name, value in item.items() if name not in names}


def block(world: World, family: str, name: str = blocks.HEAD) -> Item:
    found = world.engine.get(
        derived_keys.block("acme", project.PROJECT, family, name),
        derived_keys.directory("acme", project.PROJECT, family),
        consistent=True,
    )
    assert found is not None
    return found


def rewritten(world: World, family: str, **instead: Any) -> None:
    """Change the first block of a family."""
    found = Block.from_item(block(world, family))
    world.engine.put(replace(found, **instead).to_item("acme", project.PROJECT))


def put_back(world: World, family: str, **instead: Any) -> None:
    """Add another block after the only one of a family."""
    one = Block.from_item(block(world, family))
    other: dict[str, Any] = {"id": "1", "lower": "z", "upper": None, "next": None, "sets": {}, **instead}
    world.engine.put(replace(one, upper="z", next="1").to_item("acme", project.PROJECT))
    world.engine.put(replace(one, **other).to_item("acme", project.PROJECT))


SPOILT_BLOCKS: dict[str, Callable[[World], Any]] = {
    "a chain is gone": lambda world: world.engine.delete(
        block(world, "num")[keys.PK], block(world, "num")[keys.SK]
    ),
    "an issue is missing": lambda world: rewritten(world, "num", sets={"": BitMap((1,))}),
    "an issue too many": lambda world: rewritten(world, "num", sets={"": BitMap((1, 2, 3))}),
    "an issue under another body": lambda world: rewritten(world, "a4.1.has", sets={"o2": BitMap((1,))}),
    "a word too many": lambda world: rewritten(
        world, "name.1.has", sets={"m": BitMap((1,)), "n": BitMap((1, 2))}
    ),
    "numbers without bodies": lambda world: rewritten(
        world, "num", sets=None, rest=BitMap((1, 2)), write_id="p1"
    ),
    "a write id of bodies": lambda world: world.engine.put({**block(world, "a1.1"), "write_id": "p1"}),
    "a size that is none": lambda world: world.engine.put({**block(world, "num"), "size": 3}),
    "a chain that ends early": lambda world: rewritten(world, "num", upper="x", next="1"),
    "a chain that begins late": lambda world: rewritten(world, "num", lower="\x01\x01"),
    "a gap": lambda world: put_back(world, "num", lower="zz"),
    "blocks that overlap": lambda world: put_back(world, "num", lower="a"),
    "a link that goes back": lambda world: put_back(world, "num", upper="zz", next="0"),
    "an end without a fence": lambda world: put_back(world, "num", upper="zz"),
    "a block that no link leads to": lambda world: world.engine.put(
        replace(Block.from_item(block(world, "num")), id="1", lower="z", sets={}).to_item(
            "acme", project.PROJECT
        )
    ),
    "a family that there is not": lambda world: world.table.put(
        replace(Block.from_item(block(world, "num")), family="a77.1", sets={}).to_item(
            "acme", project.PROJECT
        )
    ),
}


@pytest.mark.parametrize("spoil", SPOILT_BLOCKS.values(), ids=SPOILT_BLOCKS.keys())
def test_every_damage_of_blocks_is_found(world: World, spoil: Callable[[World], Any]) -> None:
    spoil(world)
    with pytest.raises(Difference):
        truth.assert_derived(world)


def test_a_directory_that_lists_what_was_there_before_is_found(world: World) -> None:
    assert world.memory is not None
    world.memory.lag()
    rewritten(world, "num", write_id="d1")
    with pytest.raises(Difference):
        truth.assert_derived(world)
    world.memory.catch_up_with_all()
    truth.assert_derived(world)


def test_blocks_of_a_project_that_is_no_more_are_found(world: World) -> None:
    with pytest.raises(Difference):
        chains_truth.assert_blocks(world, None)


def test_an_issue_in_a_block_that_the_journal_does_not_name_is_found_as_it_is_written(world: World) -> None:
    world.watch_blocks = chains_truth.watch_blocks
    item = block(world, "a1.1")
    world.table.put(item)
    assert not world.differences
    found = Block.from_item(item)
    for wrong in (
        {"sets": {**(found.sets or {}), "2024-01-01": BitMap((1,))}},
        {"sets": None, "rest": BitMap((1, 2))},
        {"upper": "2023-06-01"},
    ):
        world.table.put(replace(found, **wrong).to_item("acme", project.PROJECT))
        assert world.differences.pop(), wrong
        world.table.put(item)


def test_a_directory_may_be_listed_as_it_was_a_moment_ago(world: World) -> None:
    memory = world.memory
    assert memory is not None
    back = 0
    memory.stale(lambda _, count: min(back, count))
    directory = derived_keys.directory("acme", project.PROJECT, "num")

    def listed() -> list[str]:
        return [item["write_id"] for item in memory.query(directory, index=True).items]

    first = listed()
    rewritten(world, "num", write_id="d1")
    assert listed() == ["d1"]
    back = 1
    assert listed() == first
    memory.delete(block(world, "num")[keys.PK], directory)
    assert listed() == ["d1"]
    back = 0
    assert listed() == []


def test_a_lagging_index_lists_one_of_the_former_states(world: World) -> None:
    memory = world.memory
    assert memory is not None
    block_key = block(world, "num")[keys.PK], derived_keys.directory("acme", project.PROJECT, "num")
    back = 0
    memory.stale(lambda _, count: min(back, count))
    memory.lag()
    for write_id in ("d1", "d2"):
        rewritten(world, "num", write_id=write_id)
    memory.catch_up(block_key)

    def listed() -> str:
        return str(memory.query(block_key[1], index=True).items[0]["write_id"])

    listings = []
    for back in range(4):  # noqa: B007  (the lambda reads it)
        listings.append(listed())
    first = listings[-1]
    assert listings == ["d1", "d1", first, first]
    assert first not in ("d1", "d2")


SPOILT: dict[str, Callable[[World], Any]] = {
    "an entry is gone": lambda world: world.engine.delete(key(1), entry(world, 1, "a1.1")[keys.SK]),
    "an entry too many": lambda world: world.engine.put(
        {**entry(world, 1, "a1.1"), keys.SK: derived_keys.order("acme", project.PROJECT, "a9.1")}
    ),
    "an entry of something else": lambda world: world.engine.put({**entry(world, 1, "a1.1"), keys.SORT: "x"}),
    "a cleared entry that came back": lambda world: world.engine.put(
        {**without(entry(world, 2, "a1.1"), keys.TTL_ATTRIBUTE), keys.SORT: "2023-05-01\x0100000002"}
    ),
    "an entry that expires": lambda world: world.engine.put(
        {**entry(world, 1, "a1.1"), keys.TTL_ATTRIBUTE: 5}
    ),
    "a tombstone that does not": lambda world: world.engine.put(
        without(entry(world, 2, "a1.1"), keys.TTL_ATTRIBUTE)
    ),
    "an unfinished ledger": lambda world: world.engine.put({**ledger(world, 1), NUMBER: 99}),
    "a ledger of other strings": lambda world: world.engine.put({**ledger(world, 1), "intent": {}}),
    "a ledger of a version to come": lambda world: world.engine.put({**ledger(world, 1), "version": 9}),
    "a removed issue's ledger stays": lambda world: world.engine.put(
        without(ledger(world, 3), keys.TTL_ATTRIBUTE)
    ),
    "a ledger expires": lambda world: world.engine.put({**ledger(world, 1), keys.TTL_ATTRIBUTE: 5}),
    "an entry of a revision to come": lambda world: world.engine.put(
        {**entry(world, 1, "a1.1"), "revision": 99}
    ),
    "something else": lambda world: world.engine.put({keys.PK: key(1), keys.SK: "else"}),
    "a document that was never written": lambda world: world.engine.delete(
        key(1), keys.project("acme", "bridge")
    ),
}


ZETA, HARBOR = project.NEIGHBOURS
OWN, OTHER = (keys.project(*home) for home in (("acme", project.PROJECT), ZETA))


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        (Attempted("get", ((OWN, keys.CATALOG),)), None),
        (Attempted("get", ((OWN, keys.tenant("acme")),)), None),
        (Attempted("get", ((keys.CHECK, keys.JOB),)), None),
        (Attempted("get", ((OTHER, keys.CATALOG),)), "zeta"),
        (Attempted("put", ((keys.project(*HARBOR), keys.CATALOG),)), "harbor"),
        (Attempted("get", ((keys.tenant("zeta"), keys.TENANT_SELF),)), "zeta"),
        (Attempted("put", ((OWN, keys.tenant("zeta")),)), "zeta"),
        (Attempted("query", ((derived_keys.order(*ZETA, "a1.1"), keys.GSI1),)), "zeta"),
        (Attempted("query", ((derived_keys.directory(*ZETA, "num"), keys.GSI1),)), "zeta"),
        (Attempted("put", ((keys.issue("acme", "bridge", 1), derived_keys.order(*ZETA, "a1.1")),)), "zeta"),
        (Attempted("transact", ((OWN, keys.CATALOG), (derived_keys.block(*ZETA, "num", "0"), "x"))), "zeta"),
    ],
)
def test_a_call_is_about_the_items_of_those_for_whom_it_is_made(call: Attempted, wrong: str | None) -> None:
    found = trespass(call, {("acme", "bridge")}, shares=True)
    assert found is None if wrong is None else wrong in (found or "")


@pytest.mark.parametrize(
    ("operation", "shares", "allowed"),
    [("batch_get", True, True), ("batch_get", False, False), ("batch_put", True, False)],
)
def test_only_the_reads_of_a_shared_batch_are_about_several_projects(
    operation: str, shares: bool, allowed: bool
) -> None:
    call = Attempted(operation, ((OWN, keys.CATALOG), (OTHER, keys.CATALOG)))
    for homes in ({("acme", "bridge"), ZETA}, None):
        assert (trespass(call, homes, shares=shares) is None) is allowed


def test_an_invocation_that_reads_what_is_another_tenants_is_found(world: World) -> None:
    def reading(partition: str) -> Run:
        return world.start("reader", lambda table: table.get(partition, keys.CATALOG))

    own = reading(OWN)
    world.finish(own)
    assert own.invocation.result is not None
    with pytest.raises(Difference, match="about items of"):
        world.finish(reading(OTHER))


def test_damage_in_one_project_is_found_only_there(world: World) -> None:
    others = list(project.neighbours(world))
    for here in others:
        points.do(here, "create", 1)
    world.drain(Catalogs())
    for here in (world, *others):
        here.fold_all()
        truth.assert_derived(here)
    starts = [here.catalog().get("start") for here in (world, *others)]
    assert [start.key for start in starts if start is not None] == ["a1", "a5", "a5"]
    world.engine.delete(keys.issue(*ZETA, 1), derived_keys.LEDGER)
    for here in (world, others[1]):
        truth.assert_derived(here)
    with pytest.raises(Difference, match="zeta"):
        truth.assert_derived(others[0])


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT.keys())
def test_every_wrong_derived_item_is_found(world: World, spoil: Callable[[World], Any]) -> None:
    spoil(world)
    with pytest.raises(Difference):
        truth.assert_derived(world)


def test_a_walk_finds_a_missing_and_a_misplaced_issue(world: World) -> None:
    def walk() -> None:
        truth.assert_walk(world, "start", descending=False, nulls_first=False, limit=1)

    world.pass_time(60)  # otherwise the journal of a moment ago would be overlaid on the stored state
    walk()
    found = entry(world, 1, "a1.1")
    world.engine.delete(key(1), found[keys.SK])
    with pytest.raises(Difference):
        walk()
    world.engine.put(found)
    walk()
    points.do(world, "create", 4)
    with pytest.raises(Difference):
        walk()


PAGES: dict[str, list[int]] = {"twice": [1, 1], "not in order": [2, 1]}


@pytest.mark.parametrize("nums", PAGES.values(), ids=PAGES.keys())
def test_a_wrong_page_is_found(world: World, nums: list[int]) -> None:
    catalog = Catalogs().get(world.engine, "acme", project.PROJECT)
    asked = {"sort": [{"field": "num", "direction": "asc", "nulls": "last"}]}

    def page(*nums: int) -> dict[str, Any]:
        return {"rows": [truth.shown(catalog, world.documents[key(num)], None) for num in nums]}

    truth.assert_page(world, catalog, asked, page(1, 2))
    with pytest.raises(Difference):
        truth.assert_page(world, catalog, asked, page(*nums))


def test_a_page_with_a_value_that_an_issue_never_had_is_found(world: World) -> None:
    catalog = Catalogs().get(world.engine, "acme", project.PROJECT)
    asked = {"sort": [{"field": "num", "direction": "asc", "nulls": "last"}]}
    row = truth.shown(catalog, world.documents[key(1)], None)
    for wrong in ({**row, "name": "never"}, {**row, "version": 7}, {**row, "fields": {}}):
        with pytest.raises(Difference):
            truth.assert_page(world, catalog, asked, {"rows": [wrong]})


def test_an_entry_that_no_ledger_names_is_found_as_it_is_written(world: World) -> None:
    found = entry(world, 1, "a1.1")
    truth.watch(world, None, found)
    with pytest.raises(Difference):
        truth.watch(world, None, {**found, keys.SORT: "2024-01-01\x0100000001"})


@pytest.mark.parametrize("name", ["version", "epoch", "revision"])
def test_a_ledger_that_goes_back_is_found_as_it_is_written(world: World, name: str) -> None:
    found = ledger(world, 2)
    truth.watch(world, found, {**found, name: found[name] + 1})
    with pytest.raises(Difference):
        truth.watch(world, {**found, name: found[name] + 1}, found)


def test_dead_letters_that_are_missing_or_too_many_are_found(world: World) -> None:
    drawn = Drawn(world, Weather(lag=False, stale=False, readers=0))
    drawn.judge()
    world.letters.append(Poison(key(1), 1, "nothing"))
    with pytest.raises(Difference):
        drawn.judge()
    world.letters.clear()
    people.spoil(world, key(1))
    with pytest.raises(Difference):
        drawn.judge()


# Questions


def test_in_quiet_an_answer_that_the_documents_do_not_give_is_found(world: World) -> None:
    questioner = Questioner(world, Catalogs(), Random(0))  # noqa: S311
    questioner.ask_in_quiet(world.catalog(), 20)
    world.documents[key(2)] = {**world.documents[key(1)], "num": 2}
    with pytest.raises(Difference):
        questioner.ask_in_quiet(world.catalog(), 20)


def shown_page(world: World, **counts: int) -> dict[str, Any]:
    catalog = world.catalog()
    return {"rows": [truth.shown(catalog, world.documents[key(1)], None)], **counts}


def asked_for(num: int, *, count: bool = False) -> Question:
    only = {"field": "num", "op": "eq", "value": num}
    return Question("walk", {"filter": only, "sort": [], "limit": 3, "count": count})


def test_a_row_that_does_not_pass_the_filter_is_found_at_any_time(world: World) -> None:
    questioner = Questioner(world, Catalogs(), Random(0))  # noqa: S311
    questioner.check(world.catalog(), asked_for(1), shown_page(world))
    with pytest.raises(Difference):
        questioner.check(world.catalog(), asked_for(2), shown_page(world))


def test_a_count_of_more_issues_than_there_ever_were_is_found(world: World) -> None:
    questioner = Questioner(world, Catalogs(), Random(0))  # noqa: S311
    asked, issues = asked_for(1, count=True), len(world.history)
    questioner.check(world.catalog(), asked, shown_page(world, total=2, matched=issues))
    with pytest.raises(Difference):
        questioner.check(world.catalog(), asked, shown_page(world, total=2, matched=issues + 1))


def test_a_group_that_no_issue_was_ever_in_is_found(world: World) -> None:
    questioner = Questioner(world, Catalogs(), Random(0))  # noqa: S311
    asked = Question("groups", {"by": ["num"], "limit": 500, "aggregates": []})
    questioner.check(world.catalog(), asked, {"groups": [{"values": [1], "count": 1}]})
    with pytest.raises(Difference):
        questioner.check(world.catalog(), asked, {"groups": [{"values": [7], "count": 1}]})
