"""Reads of directories and blocks: their rounds, the cached parts, and the replacement of an outdated directory."""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from random import Random
from typing import Any

import pytest

from devtools.local.built_chains import built_chain
from devtools.proof.faults.memory_table import MemoryTable
from gridview.chains.blocks import FIRST, HEAD, Block, BlockChange, changed, merged, split
from gridview.chains.directory import WHOLE, Directory, Range, keys_in, range_of
from gridview.derive.sort_entries import sort_entry
from gridview.encoding import derived_keys, keys
from gridview.encoding.sort_strings import number_of, sort_string
from gridview.schema.catalog import Catalog
from gridview.schema.fields import BUILTINS
from gridview.support.errors import Overloaded
from gridview.view.block_cache import BlockCache
from gridview.view.block_reader import BlockReader
from gridview.view.block_reads import Want
from tests.support import chains

CATALOG = Catalog("0807", "35e9", 1, BUILTINS["state"].options, (), 1)
ORDER = "a1.1"
FEW = "a2.1"
NUMBERS = "num"
NOW = inf
"""A time after which no earlier read fits the known journal."""


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    chains.small_blocks(monkeypatch)


def unique(count: int) -> list[str]:
    return [sort_string(f"{num * 37 % 1000:04d}", num) for num in range(1, count + 1)]


def few(count: int) -> list[str]:
    return [sort_string("abc"[num % 7 % 3], num) for num in range(1, count + 1)]


def put_keys(table: MemoryTable, family: str, found: list[str]) -> None:
    for key in found:
        issue = keys.issue(CATALOG.tenant, CATALOG.project, number_of(key))
        table.put(sort_entry(issue, family, key, version=1, revision=1))


def filled(count: int = 200) -> MemoryTable:
    """Three families in blocks: an order of plain ones, one of detailed ones, and the numbers."""
    table = MemoryTable()
    for family, found in ((ORDER, unique(count)), (FEW, few(count))):
        put_keys(table, family, found)
        chains.put_chain(table, CATALOG, built_chain(family, sorted(found)))
    chains.put_chain(
        table, CATALOG, built_chain(NUMBERS, [sort_string("", num) for num in range(1, count + 1)])
    )
    return table


def reader(table: MemoryTable, cache: BlockCache | None = None, since: float = 0.0) -> BlockReader:
    return BlockReader(table.metered(), CATALOG, cache or BlockCache(), since)


def rounds(one: BlockReader) -> int:
    return one._table.meter.rounds


def everything(one: BlockReader, family: str) -> Directory:
    """Read a whole family: sets and keys."""
    directory = one.directories([family])[family]
    one.read(Want(family, entry, range_of(entry)) for entry in directory.entries)
    return directory


def held(one: BlockReader, directory: Directory) -> list[str]:
    """The keys of a family that was read whole; checks that they agree with the sets."""
    found = []
    for entry in directory.entries:
        block = one.block(directory.family, entry)
        assert (block.lower, block.upper, block.detailed) == (entry.lower, entry.upper, entry.detailed)
        between = one.keys(directory.family, entry, WHOLE)
        assert set(block.members) == {number_of(key) for key in between}
        assert between == sorted(between)
        if block.sets is not None:
            assert list(keys_in(block.sets, WHOLE)) == between
        found += between
    return found


def test_directories_of_several_families_take_one_round() -> None:
    one = reader(filled())
    found = one.directories([ORDER, FEW, NUMBERS, "a3.1", ORDER])
    assert rounds(one) == 1
    assert {family: directory.total for family, directory in found.items()} == {
        ORDER: 200,
        FEW: 200,
        NUMBERS: 200,
        "a3.1": 0,
    }
    assert len(found[ORDER].entries) >= 3
    assert not any(entry.detailed for entry in found[ORDER].entries)
    assert all(entry.detailed for entry in found[FEW].entries)
    one.directories([ORDER, "a3.1"])
    assert rounds(one) == 1
    assert one.age == 0.0


def test_a_directory_does_not_transfer_sets_nor_names_of_others() -> None:
    table = filled()
    seen: list[Any] = []
    real = table.read_together

    class Seen(MemoryTable):
        def read_together(self, *args: Any, **more: Any) -> Any:
            found = real(*args, **more)
            seen.extend(found.spans)
            return found

    BlockReader(Seen(), CATALOG, BlockCache(), 0.0).directories([ORDER])
    assert seen
    wanted = {keys.PK, keys.SK, keys.SORT, "size", "upper", "next", "write_id"}
    assert all(item.keys() <= wanted for items in seen for item in items)


def test_blocks_and_the_sort_entries_of_plain_ones_take_one_round() -> None:
    one = reader(filled())
    directories = one.directories([ORDER, FEW])
    first, second, *_ = directories[ORDER].entries
    assert second.upper is not None
    bodies = Range(sort_string("0100", 1), sort_string("0500", 1))
    one.read(
        [
            Want(ORDER, first),
            Want(ORDER, second, bodies, members=False),
            *(Want(FEW, entry, WHOLE) for entry in directories[FEW].entries),
        ]
    )
    assert rounds(one) == 2
    assert set(one.block(ORDER, first).members) == {
        number_of(key) for key in unique(200) if range_of(first).covers(key)
    }
    within = bodies.overlap(range_of(second))
    assert one.keys(ORDER, second, bodies) == sorted(key for key in unique(200) if within.covers(key))
    assert [key for entry in directories[FEW].entries for key in one.keys(FEW, entry, WHOLE)] == sorted(
        few(200)
    )
    with pytest.raises(KeyError):
        one.block(ORDER, second)
    assert one.keys(ORDER, second, Range("9", "8")) == []


def test_the_upper_end_of_a_range_is_not_in_it() -> None:
    one = reader(filled())
    entry = one.directories([ORDER])[ORDER].entries[1]
    inside = [key for key in sorted(unique(200)) if range_of(entry).covers(key)]
    one.read([Want(ORDER, entry, Range(inside[2], inside[5]))])
    assert one.keys(ORDER, entry, Range(inside[2], inside[5])) == inside[2:5]
    assert one.keys(ORDER, entry, Range(inside[3], inside[4])) == inside[3:4]


def test_a_block_that_was_read_is_not_read_again() -> None:
    one = reader(filled())
    directory = everything(one, ORDER)
    before = rounds(one)
    one.read(Want(ORDER, entry, range_of(entry)) for entry in directory.entries)
    one.read([])
    assert rounds(one) == before
    assert held(one, directory) == sorted(unique(200))


def test_a_warm_container_reads_nothing_while_the_journal_has_the_changes() -> None:
    table, clock = filled(), Clock()
    cache = BlockCache(clock=clock)
    everything(reader(table, cache), ORDER)
    clock.now += 600
    warm = reader(table, cache)
    directory = everything(warm, ORDER)
    assert held(warm, directory) == sorted(unique(200))
    assert (rounds(warm), warm.reads.blocks, warm.age) == (0, 0, 600)
    assert warm.reads.cached > 0


def test_a_directory_is_read_again_once_the_journal_is_known_only_from_later_on() -> None:
    """Also after a quarter of an hour. Blocks stay."""
    table, clock = filled(), Clock()
    cache = BlockCache(clock=clock)
    everything(reader(table, cache), ORDER)
    clock.now += 2
    renewed = reader(table, cache, since=NOW)
    directory = everything(renewed, ORDER)
    assert held(renewed, directory) == sorted(unique(200))
    assert (renewed.reads.blocks, renewed.reads.ranges) == (0, len(directory.entries))
    assert (rounds(renewed), renewed.age) == (2, 0.0)
    clock.now += 899
    assert reader(table, cache).directories([ORDER])[ORDER].age == 899
    clock.now += 1
    old = reader(table, cache)
    everything(old, ORDER)
    assert (rounds(old), old.reads.blocks, old.reads.ranges) == (2, 0, len(directory.entries))


def test_only_what_changed_is_read_again() -> None:
    table, cache = filled(), BlockCache()
    directory = everything(reader(table, cache), FEW)
    block = built_chain(FEW, sorted(few(200)))[0]
    item = table.get(*_key(FEW, directory.entries[0].id))
    assert item is not None
    block = changed(Block.from_item(item), BlockChange(add=frozenset([sort_string("a", 900)])))
    chains.put_chain(table, CATALOG, [block])
    again = reader(table, cache, since=NOW)
    assert 900 in again.block(FEW, everything(again, FEW).entries[0]).members
    assert again.reads.blocks == 1


def _key(family: str, block_id: str) -> tuple[str, str]:
    return derived_keys.block("0807", "35e9", family, block_id), derived_keys.directory(
        "0807", "35e9", family
    )


def test_a_cache_holds_so_many_bytes_and_forgets_what_was_not_used_for_longest() -> None:
    cache = BlockCache(size=3_000)
    one, two, three = (replace(Block.head(FEW), write_id=f"d{at}") for at in range(3))
    for at, block in enumerate((one, two)):
        cache.keep_block(f"p{at}", block, 500)
    assert cache.block("p0", "d0") is one
    cache.keep_block("p2", three, 500)
    assert cache.block("p1", "d1") is None
    assert cache.block("p0", "d0") is one
    assert cache.block("p2", "d2") is three
    assert cache.block("p0", "d2") is None
    assert cache.used <= 3_000
    cache.keep_block("p3", one, 5_000)
    assert cache.used == 0


def test_cached_data_of_one_tenant_are_never_shown_to_another() -> None:
    table, cache = filled(), BlockCache()
    everything(reader(table, cache), ORDER)
    for other in (replace(CATALOG, tenant="0808"), replace(CATALOG, project="35ea")):
        stranger = BlockReader(table.metered(), other, cache, 0.0)
        assert stranger.directories([ORDER])[ORDER].entries == ()
        assert rounds(stranger) == 1


def test_sort_strings_that_the_index_had_not_all_of_are_kept_no_longer_than_directories() -> None:
    """The journal has the missing ones, for as long as they are used."""
    table, cache = filled(), BlockCache()
    key = unique(200)[0]
    table.delete(keys.issue("0807", "35e9", number_of(key)), derived_keys.order("0807", "35e9", ORDER))
    everything(reader(table, cache), ORDER)
    put_keys(table, ORDER, [key])
    kept = reader(table, cache)
    directory = everything(kept, ORDER)
    (entry,) = (one for one in directory.entries if range_of(one).covers(key))
    assert key not in kept.keys(ORDER, entry, WHOLE)
    again = reader(table, cache, since=NOW)
    assert held(again, everything(again, ORDER)) == sorted(unique(200))


def test_the_sort_strings_of_a_part_of_a_block_serve_that_part_and_those_of_a_block_each_part() -> None:
    table = filled()
    first = reader(table).directories([ORDER])[ORDER].entries[0]
    part, beyond = Range(FIRST, unique(200)[5]), Range(FIRST, unique(200)[6])

    def ranges_read(cache: BlockCache, between: Range, since: float = 0.0) -> int:
        one = reader(table, cache, since)
        one.read([Want(ORDER, first, between, members=False)])
        within = between.overlap(range_of(first))
        assert one.keys(ORDER, first, between) == [key for key in sorted(unique(200)) if within.covers(key)]
        return one.reads.ranges

    cache = BlockCache()
    assert [ranges_read(cache, one) for one in (part, part, beyond, WHOLE, WHOLE)] == [1, 0, 1, 1, 0]
    assert ranges_read(cache, part, NOW) == 1
    whole = BlockCache()
    assert [ranges_read(whole, one) for one in (WHOLE, part, beyond)] == [1, 0, 0]
    assert ranges_read(whole, part, NOW) == 1


@pytest.mark.parametrize("family", [ORDER, FEW])
@pytest.mark.parametrize(("members", "ranged"), [(True, True), (True, False), (False, True)])
def test_a_reader_has_only_what_it_read(family: str, *, members: bool, ranged: bool) -> None:
    one = reader(filled())
    entry = one.directories([family])[family].entries[0]
    want = Want(family, entry, WHOLE if ranged else None, members=members)
    assert not one.has(want)
    one.read([want])
    assert one.has(want)


# Directories that are outdated


def rewritten(table: MemoryTable, family: str, *old: Block, new: list[Block]) -> None:
    for block in old:
        chains.drop(table, CATALOG, block)
    chains.put_chain(table, CATALOG, new)


def stored(table: MemoryTable, family: str) -> list[Block]:
    """The chain as it is in the table."""
    found = {
        block.id: block
        for (pk, sk), item in table.items.items()
        if sk == derived_keys.directory("0807", "35e9", family)
        for block in [Block.from_item(item)]
    }
    chain = [found[HEAD]]
    while chain[-1].next is not None:
        chain.append(found[chain[-1].next])
    return chain


def all_merged(table: MemoryTable, family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gridview.chains.blocks.ROOMY", 10**6)
    monkeypatch.setattr("gridview.chains.blocks.UNPOPULAR", 10**6)
    first, *others = stored(table, family)
    whole = first
    for other in others:
        joined = merged(whole, other)
        assert joined is not None
        whole = joined
    rewritten(table, family, *others, new=[whole])


def all_split(table: MemoryTable, family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gridview.chains.blocks.MAX_BYTES", 60)
    found = unique(200) if family == ORDER else few(200)
    for block in stored(table, family):
        rewritten(table, family, new=split(block, [key for key in found if block.covers(key)]))


@pytest.mark.parametrize("family", [ORDER, FEW])
@pytest.mark.parametrize("upset", [all_merged, all_split])
def test_blocks_that_were_split_or_merged_since_are_put_together(
    family: str, upset: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = filled()
    one = reader(table)
    directory = one.directories([family])[family]
    before = len(stored(table, family))
    upset(table, family, monkeypatch)
    assert len(stored(table, family)) != before
    one.read(Want(family, entry, range_of(entry)) for entry in directory.entries)
    assert held(one, directory) == sorted(unique(200) if family == ORDER else few(200))
    assert one.reads.settled > 0


@pytest.mark.parametrize("family", [ORDER, FEW])
def test_a_few_blocks_in_the_middle_are_settled_too(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = filled()
    one = reader(table)
    directory = one.directories([family])[family]
    all_merged(table, family, monkeypatch)
    entry = directory.entries[2]
    one.read([Want(family, entry)])
    found = unique(200) if family == ORDER else few(200)
    assert set(one.block(family, entry).members) == {
        number_of(key) for key in found if range_of(entry).covers(key)
    }
    assert one.block(family, entry).detailed == entry.detailed


def test_a_block_that_became_another_kind_has_the_form_of_the_directory() -> None:
    table = filled()
    one = reader(table)
    directories = one.directories([FEW, ORDER])
    for block in stored(table, FEW):
        new = replace(block, sets=None, rest=block.members, write_id="pother")
        chains.put_chain(table, CATALOG, [new])
    for block in stored(table, ORDER):
        inside = [key for key in unique(200) if block.covers(key)]
        new = changed(replace(block, sets={}, rest=None), BlockChange())
        sets = {key.split("\x01")[0]: type(block.members)([number_of(key)]) for key in inside}
        chains.put_chain(table, CATALOG, [replace(new, sets=sets, rest=None, write_id="dother")])
    for family, found in ((FEW, few(200)), (ORDER, unique(200))):
        one.read(Want(family, entry, range_of(entry)) for entry in directories[family].entries)
        assert held(one, directories[family]) == sorted(found)


def test_a_listing_with_a_gap_is_completed_by_consistent_reads() -> None:
    table = filled()
    chain = stored(table, ORDER)
    table.lag()
    for block in chain:
        rewritten(table, ORDER, new=split(block, [key for key in unique(200) if block.covers(key)]))
    victim = chain[2]
    joined = replace(
        chain[1], upper=victim.upper, next=victim.next, rest=chain[1].members | victim.members, write_id="p1"
    )
    chains.drop(table, CATALOG, victim)
    chains.put_chain(table, CATALOG, [joined])
    table.catch_up(_key(ORDER, victim.id))
    while _key(ORDER, victim.id) in table.waiting:
        table.catch_up(_key(ORDER, victim.id))
    one = reader(table)
    assert held(one, everything(one, ORDER)) == sorted(unique(200))


@pytest.mark.parametrize("family", [ORDER, FEW])
@pytest.mark.parametrize("seed", range(6))
def test_sets_are_exact_while_the_index_lags(family: str, seed: int) -> None:
    """Writers continue while the index lags; only sort entries are shown at once."""
    random = Random(seed)  # noqa: S311  (the same every time)
    written = chains.Written(family, random)
    table = MemoryTable()
    place = derived_keys.order("0807", "35e9", family)
    chains.put_chain(table, CATALOG, written.blocks)
    table.lag()

    def drawn() -> str:
        body = f"{random.randint(0, 999):04d}" if family == ORDER else random.choice("abcd")
        return sort_string(body, random.randint(1, 150))

    for step in range(500):
        before = {block.id: block for block in written.blocks}
        known = set(written.keys)
        written.change(drawn, shrinking=step % 250 > 170)
        for key in known - written.keys:
            table.delete(keys.issue("0807", "35e9", number_of(key)), place)
        put_keys(table, family, list(written.keys - known))
        after = {block.id: block for block in written.blocks}
        for block_id in before.keys() - after.keys():
            chains.drop(table, CATALOG, before[block_id])
        chains.put_chain(table, CATALOG, [one for one in written.blocks if before.get(one.id) != one])
        for waiting in table.waiting:
            if waiting[1] == place or random.random() < 0.2:
                while waiting in table.waiting:
                    table.catch_up(waiting)
        if step % 5 == 0:
            one = reader(table)
            directory = one.directories([family])[family]
            one.read(Want(family, entry, range_of(entry)) for entry in directory.entries)
            assert held(one, directory) == sorted(written.keys)


def test_a_chain_that_has_lost_a_block_is_given_up() -> None:
    """No crash leaves this state: splits and merges are transactions."""
    table = filled()
    one = reader(table)
    directory = one.directories([ORDER])[ORDER]
    chain = stored(table, ORDER)
    rewritten(table, ORDER, chain[1], new=[])
    with pytest.raises(Overloaded):
        one.read([Want(ORDER, directory.entries[1])])
    with pytest.raises(Overloaded):
        reader(table).directories([ORDER])


def test_an_index_that_is_being_removed_is_empty() -> None:
    table = filled()
    one = reader(table)
    directory = one.directories([ORDER])[ORDER]
    rewritten(table, ORDER, *stored(table, ORDER), new=[])
    one.read(Want(ORDER, entry) for entry in directory.entries)
    assert not any(one.block(ORDER, entry).members for entry in directory.entries)
