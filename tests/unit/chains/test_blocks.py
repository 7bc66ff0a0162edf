"""Blocks: chains without gaps after any additions and removals, within their limits, and exact."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from devtools.local.built_chains import built_chain
from gridview.chains import blocks
from gridview.chains.blocks import (
    FIRST,
    HEAD,
    MAX_BYTES,
    POPULAR,
    Block,
    BlockChange,
    Entry,
    Unreadable,
    changed,
    entry_of,
    fitted,
    merged,
    needs_keys,
    split,
    touched,
    wants_merge,
    wants_split,
)
from gridview.encoding import keys
from gridview.encoding.fences import after, before, body_between
from gridview.encoding.sort_strings import body_of, number_of, sort_string, text
from tests.support.chains import Written, small_blocks

Draw = Callable[[Random, int], str]
"""The body of an issue."""

KINDS: dict[str, tuple[str, Draw]] = {
    "unique": ("a1.1", lambda random, _: f"{random.random():.9f}"),
    "few": ("a1.1", lambda random, _: random.choice(("aa", "bb", "bb", "bb", "cc"))),
    "popular and not": ("a1.1", lambda random, num: "bb" if num % 3 else f"{random.randint(0, 2000):04d}"),
    "dates": ("a1.1", lambda random, _: f"2023-{random.randint(1, 12):02d}-{random.randint(1, 28):02d}"),
    "texts": ("a1.1", lambda random, _: text("".join(random.choices("aé\x00漆 ", k=random.randint(0, 5))))),
    "long texts": (
        "a1.1",
        lambda random, _: text("long " * 45 + random.choice("abcdefghijklmnopqrstuvwxyz")),
    ),
    "empty": ("a1.1", lambda _, __: ""),
    "many options": ("a1.1b", lambda random, _: f"{random.randint(0, 199):03d}zzz"),
    "options, some popular": ("a1.1b", lambda random, _: f"{int(random.random() ** 6 * 200):03d}zzz"),
    "numbers": ("num", lambda _, __: ""),
    "tokens": (
        "a1.1.has",
        lambda random, _: random.choice(("o1", "o1", "o2", "o3")) + random.choice("abcde" * 9),
    ),
}


def found(kind: str, count: int, random: Random) -> list[str]:
    _, draw = KINDS[kind]
    return [sort_string(draw(random, num), num) for num in range(1, count + 1)]


def check(chain: list[Block], found_keys: list[str]) -> None:
    """Check that each key is in the one block that covers it, and in its set."""
    written = Written(chain[0].family, Random(1))  # noqa: S311
    written.blocks, written.keys = chain, set(found_keys)
    written.check()
    for one in chain:
        assert Block.from_item(one.to_item("0807", "35e9")) == one


def check_limits(chain: list[Block]) -> None:
    for one in chain:
        assert len(one.encoded) <= MAX_BYTES
        assert one.detailed or one.size <= blocks.PLAIN_KEYS
        assert len(one.to_item("0807", "35e9")["set"]) == len(one.encoded)
        for body, numbers in (one.sets or {}).items():
            assert one.family == "num" or len(numbers) < POPULAR or body_between(one.lower, one.upper) == body


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 30, 3000])
def test_a_chain_that_is_built_of_all_keys_holds_each_where_it_belongs(kind: str, count: int) -> None:
    random = Random(count)  # noqa: S311
    some = found(kind, count, random)
    chain = built_chain(KINDS[kind][0], sorted(some))
    check(chain, some)
    check_limits(chain)
    assert not any(map(wants_split, chain))
    assert chain[0].id == HEAD
    assert len({one.id for one in chain}) == len({one.write_id for one in chain}) == len(chain)
    assert [Entry.from_item(one.to_item("t", "p")) for one in chain] == list(map(entry_of, chain))
    assert [entry_of(one).detailed for one in chain] == [one.detailed for one in chain]


def test_a_family_without_keys_is_one_empty_block() -> None:
    (head,) = built_chain("a1.1", [])
    assert (head.id, head.lower, head.upper, head.next, head.size) == (HEAD, FIRST, None, None, 0)
    assert head.detailed
    assert head.write_id
    assert Block.from_item(head.to_item("t", "p")) == head


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_a_chain_stays_one_while_keys_come_and_go(
    kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_blocks(monkeypatch)
    random = Random(seed)  # noqa: S311
    family, draw = KINDS[kind]
    written = Written(family, random)
    lengths = []
    for step in range(700):

        def drawn() -> str:
            num = random.randint(1, 250)
            return sort_string(draw(random, num), num)

        written.change(drawn, shrinking=step % 350 > 220)
        lengths.append(len(written.blocks))
        if step % 10 == 0:
            written.check()
    written.check()
    assert max(lengths) > 1 or kind in ("numbers",)
    for key in sorted(written.keys):
        written.remove(key)
        written.check()
    assert all(one.size == 0 for one in written.blocks)
    assert all(Block.from_item(one.to_item("t", "p")) == one for one in written.blocks)


@pytest.mark.parametrize("kind", ["unique", "popular and not", "tokens", "numbers"])
def test_blocks_of_the_real_size_keep_within_their_limits(kind: str) -> None:
    random = Random(7)  # noqa: S311
    family = KINDS[kind][0]
    chain = [Block.head(family)]
    some = found(kind, 4000, random)
    random.shuffle(some)
    put: list[str] = []
    for key in some:
        at = next(at for at, one in enumerate(chain) if one.covers(key))
        one = changed(chain[at], BlockChange(add=frozenset([key])))
        put.append(key)
        chain[at : at + 1] = (
            split(one, [other for other in put if one.covers(other)]) if wants_split(one) else [one]
        )
    check(chain, some)
    check_limits(chain)


def test_a_body_with_many_issues_has_its_own_blocks() -> None:
    bodies = ["a"] * 30 + ["b"] * (POPULAR * 8) + ["c"] * 30
    order = list(range(1, len(bodies) + 1))
    Random(3).shuffle(order)  # noqa: S311
    some = [sort_string(body, num * 97) for body, num in zip(bodies, order, strict=True)]
    chain = built_chain("a1.1", sorted(some))
    check(chain, some)
    own = [entry_of(one) for one in chain if entry_of(one).body == "b"]
    assert sum(one.size for one in own) == POPULAR * 8
    assert len(own) > 1
    assert (own[0].lower, own[-1].upper) == (before("b"), after("b"))
    assert len(chain) == len(own) + 2


def test_the_last_issue_number_can_be_in_its_own_block() -> None:
    some = [sort_string("b", 99_999_999 - num) for num in range(POPULAR)]
    check(built_chain("a1.1", sorted(some)), some)


def test_a_body_gets_its_own_block_when_it_has_become_popular() -> None:
    some = [sort_string("abc"[num % 3], num) for num in range(1, 3 * POPULAR - 2)]
    (block,) = built_chain("a1.1", sorted(some))
    assert not wants_split(block)
    more = [sort_string("b", num) for num in range(5_000, 5_002)]
    block = changed(block, BlockChange(add=frozenset(more)))
    assert wants_split(block)
    chain = split(block)
    check(chain, [*some, *more])
    assert [entry_of(one).body for one in chain] == [None, "b", None]
    assert chain[0].id == block.id


def test_a_block_becomes_plain_with_many_bodies_and_detailed_again_when_it_is_split_into_few() -> None:
    some = [sort_string(f"{num:03d}", num) for num in range(1, 33)]
    (block,) = built_chain("a1.1", some)
    assert block.detailed
    plain = changed(block, BlockChange(add=frozenset([sort_string("999", 40)])))
    assert not plain.detailed
    assert plain.sets is None
    assert set(plain.members) == {*range(1, 33), 40}
    again = split(plain, [*some[:10], sort_string("999", 40)])
    # Members without a key between the fences are left out.
    assert sum(one.size for one in again) == 11
    assert all(one.detailed for one in again)


def test_blocks_of_tokens_and_of_numbers_are_always_detailed() -> None:
    some = sorted(sort_string(f"word{num:04d}", num) for num in range(1, 1000))
    assert all(one.detailed for one in built_chain("a1.1.has", some))
    assert all(
        one.detailed for one in built_chain("num", [sort_string("", num) for num in range(1, 90_000, 2)])
    )


def test_blocks_of_an_order_without_entries_are_always_detailed() -> None:
    some = sorted(sort_string(f"{num % 200:03d}zzz", num) for num in range(1, 2_000))
    chain = built_chain("state.1b", some)
    assert len(chain) > 2
    assert all(one.detailed for one in chain)
    assert not all(one.detailed for one in built_chain("state.1", some))
    merged_ = merged(chain[0], chain[1])
    assert merged_ is None or merged_.detailed
    (first, *_), whole = chain, Block.head("state.1b")
    whole = changed(whole, BlockChange(frozenset(some)))
    assert whole.detailed
    assert wants_split(whole)
    assert not needs_keys(whole)
    cut = split(whole)
    assert all(one.detailed for one in cut)
    check(cut, some)
    check_limits(cut)
    emptied = changed(first, BlockChange(remove=frozenset(filter(first.covers, some))))
    assert emptied.detailed
    assert emptied.size == 0


def test_a_plain_block_of_such_an_order_cannot_be_read() -> None:
    (block,) = built_chain("state.1b", [sort_string("a", 1), sort_string("b", 2)])
    plain = replace(block, sets=None, rest=block.members)
    with pytest.raises(Unreadable):
        Block.from_item(plain.to_item("0807", "35e9"))
    with_entries = replace(plain, family="state.1")
    assert Block.from_item(with_entries.to_item("0807", "35e9")) == with_entries


def test_a_repeated_change_has_no_effect_and_every_write_has_its_own_id() -> None:
    (block,) = built_chain("a1.1", [sort_string("a", 1), sort_string("a", 2), sort_string("b", 3)])
    change = BlockChange(
        frozenset([sort_string("b", 1)]), frozenset([sort_string("a", 1), sort_string("x", 9)])
    )
    once = changed(block, change)
    twice = changed(once, change)
    assert once.sets == twice.sets == {"a": BitMap([2]), "b": BitMap([1, 3])}
    assert block.sets == {"a": BitMap([1, 2]), "b": BitMap([3])}
    assert len({block.write_id, once.write_id, twice.write_id, touched(block).write_id}) == 4
    assert touched(block).sets == block.sets
    assert [one.write_id[0] for one in (block, once, touched(block))] == ["d"] * 3


@pytest.mark.parametrize(("at", "to", "after"), [(0, 3, 3), (5, 3, 5), (5, 8, 8), (5, 0, 5)])
def test_the_position_of_a_block_never_goes_back(at: int, to: int, after: int) -> None:
    (block,) = built_chain("a1.1", [sort_string("a", 1)])
    change = BlockChange(frozenset([sort_string("b", 1)]))
    assert changed(changed(block, change, at), change, to).position == after


def test_an_issue_that_moves_within_a_plain_block_stays_in_it() -> None:
    some = [sort_string(f"{num:03d}", num) for num in range(1, 60)]
    (block,) = built_chain("a1.1", some)
    moved = changed(
        block, BlockChange(frozenset([sort_string("500", 7)]), frozenset([sort_string("007", 7)]))
    )
    assert set(moved.members) == set(range(1, 60))
    assert moved.write_id != block.write_id


def test_neighbours_are_merged_when_they_fit_and_not_when_one_is_a_popular_body_s() -> None:
    some = [sort_string("abc"[num % 3], num) for num in range(1, 100)]
    (whole,) = built_chain("a1.1", sorted(some))
    pair = [
        Block("a1.1", HEAD, FIRST, before("b"), "x", "d1", {"a": (whole.sets or {})["a"]}),
        Block("a1.1", "x", before("b"), None, None, "d2", {body: (whole.sets or {})[body] for body in "bc"}),
    ]
    assert wants_merge(pair[0])
    assert not wants_merge(pair[1])
    joined = merged(*pair)
    assert joined is not None
    check([joined], some)
    assert joined.id == HEAD
    popular = [sort_string("b", num) for num in range(1, POPULAR + 1)]
    chain = built_chain("a1.1", sorted([*popular, sort_string("a", 9_000)]))
    assert [one.size for one in chain[:2]] == [1, POPULAR]
    assert merged(chain[0], chain[1]) is None
    assert not wants_merge(chain[1])


def test_blocks_too_large_together_are_not_merged() -> None:
    some = sorted(sort_string(f"{num * 7919 % 100_003:06d}", num * 13) for num in range(1, 5_000))
    first, second, *_ = built_chain("a1.1", some)
    assert merged(first, second) is None


def test_a_block_of_some_size_is_left_alone_even_if_the_next_one_would_fit() -> None:
    some = [sort_string(f"word{num:04d}", num) for num in range(1, 100)]
    (whole,) = built_chain("a1.1.has", some)
    fence = before("word0060")
    first = fitted(whole, fence, "x")
    second = Block("a1.1.has", "x", fence, None, None, "d2", {})
    assert merged(first, second) is not None
    assert not wants_merge(first)
    assert wants_merge(fitted(first, before("word0020"), "x"))


def test_members_of_a_plain_block_that_have_no_key_any_more_do_not_stop_a_split(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small_blocks(monkeypatch)
    some = [sort_string(f"{num:03d}", num) for num in range(1, 31)]
    (block,) = built_chain("a1.1", some)
    assert blocks.needs_keys(block)
    assert split(block, [])[0].size == 0


@pytest.mark.parametrize(
    ("lower", "upper", "body"),
    [
        (before("a"), after("a"), "a"),
        (before("a"), sort_string("a", 5), "a"),
        (sort_string("a", 5), sort_string("a", 9), "a"),
        (sort_string("a", 5), after("a"), "a"),
        (FIRST, after(""), ""),
        (FIRST, sort_string("", 4), ""),
        (after("a"), before("b"), None),
        (before("a"), None, None),
        (before("a"), before("b"), None),
        (before("a"), after("aa"), None),
        (before("a"), sort_string("a\x02A", 4), None),
        ("a", after("a"), None),
    ],
)
def test_two_fences_determine_whether_only_one_body_fits_between_them(
    lower: str, upper: str | None, body: str | None
) -> None:
    assert body_between(lower, upper) == body


@given(st.text(max_size=4), st.text(max_size=4), st.integers(1, 99_999_999))
def test_fences_enclose_the_keys_of_one_body(one: str, other: str, num: int) -> None:
    body, another = text(one), text(other)
    key = sort_string(another, num)
    assert (before(body) <= key < after(body)) == (body == another)
    if body != another:
        assert (key < before(body)) == (another < body)


@given(
    st.dictionaries(
        st.text(max_size=3).map(text),
        st.sets(st.integers(1, 99_999_999), min_size=1, max_size=40),
        max_size=8,
    )
)
def test_sets_come_back_as_they_were_stored(sets: dict[str, set[int]]) -> None:
    some = sorted(sort_string(body, num) for body, numbers in sets.items() for num in numbers)
    (block,) = built_chain("a1.1.has", some)
    again = Block.from_item(block.to_item("0807", "35e9"))
    assert again == block
    assert again.sets == {body: BitMap(numbers) for body, numbers in sorted(sets.items())}
    assert set(map(body_of, some)) == set(sets)
    assert set(again.members) == set(map(number_of, some))


def test_the_item_of_a_block_is_half_a_read_unit() -> None:
    random = Random(5)  # noqa: S311
    long = "漆" * 230
    some = [
        sort_string(text(long + f"{random.randint(0, 9999)}"), num)
        for num in random.sample(range(1, 10**6), 5000)
    ]
    for one in built_chain("a1.1", sorted(some)):
        item = one.to_item("tenant-of-some-length", "project-of-some-length")
        size = sum(
            len(name) + (len(value) if isinstance(value, bytes) else len(str(value).encode()))
            for name, value in item.items()
        )
        assert size < 4096 + 2 * 1024
        assert item[keys.SORT] == one.lower


@pytest.mark.parametrize("kind", ["unique", "popular and not", "tokens"])
def test_packed_sets_take_little_and_are_read_as_they_were(kind: str) -> None:
    some = sorted(found(kind, 9_000, Random(3)))  # noqa: S311
    built = built_chain(KINDS[kind][0], some)
    stored = [one.to_item("0807", "35e9") for one in built]
    assert sum(len(item["set"]) for item in stored) < 0.6 * sum(one.weight for one in built)
    assert [Block.from_item(item) for item in stored] == built


@pytest.mark.parametrize("kind", ["unique", "tokens"])
def test_a_damaged_set_is_unreadable_and_nothing_worse(kind: str) -> None:
    random = Random(11)  # noqa: S311
    block = built_chain(KINDS[kind][0], sorted(found(kind, 300, random)))[0]
    item = block.to_item("0807", "35e9")
    unreadable = 0
    for _ in range(3_000):
        at = random.randrange(len(item["set"]))
        cut = item["set"][:at], bytes((random.randrange(256),)) * random.randrange(2), item["set"][at + 1 :]
        try:
            Block.from_item({**item, "set": b"".join(cut)})
        except Unreadable:
            unreadable += 1
    assert unreadable
