"""Consistency tokens: small, of one tenant, unchanged, and good for a minute."""

import pytest

from gridview.encoding.consistency import (
    DELETED,
    MAX_ISSUES,
    SECONDS,
    ConsistencyTokens,
    Recent,
    RecentWrites,
    from_texts,
    issues_in,
    number_in,
    still_good,
    to_texts,
    with_those_of_a_cursor,
    writes_in,
)
from gridview.support.errors import InvalidRequest

NOW = 1_800_000_000.5
TOKENS = ConsistencyTokens([b"a secret"])
WRITES = {7: 1, 8: 127, 9: 128, 300: 12_345, 99_999_999: DELETED}


def refused(text: str, tenant: str = "acme") -> bool:
    try:
        TOKENS.opened(text, tenant)
    except InvalidRequest as error:
        return [one.field for one in error.errors] == ["X-Consistency-Token"]
    return False


def test_a_token_opens_to_the_writes_that_it_was_given_for() -> None:
    token = TOKENS.token("acme", "bridge", WRITES, NOW)
    assert TOKENS.opened(token, "acme") == (RecentWrites("bridge", int(NOW) + SECONDS, WRITES),)
    assert TOKENS.opened(None, "acme") == ()


def test_tokens_are_joined_by_commas() -> None:
    one, other = (TOKENS.token("acme", "bridge", {num: 1}, NOW) for num in (1, 2))
    for joined in (f"{one},{other}", f"{one}, {other}", f" {one} ,\t{other} "):
        assert issues_in(TOKENS.opened(joined, "acme")) == {1, 2}


def test_a_token_is_of_one_tenant_and_secret() -> None:
    token = TOKENS.token("acme", "bridge", WRITES, NOW)
    assert refused(token, "other")
    assert refused(ConsistencyTokens([b"another secret"]).token("acme", "bridge", WRITES, NOW))
    assert ConsistencyTokens([b"a new secret", b"a secret"]).opened(token, "acme")


@pytest.mark.parametrize("text", ["", ",", "A", "\u00e4", "A" * 9000, "AAAAAAAA"])
def test_a_text_that_is_no_token_is_refused(text: str) -> None:
    assert refused(text)


def test_a_change_of_any_character_is_noticed() -> None:
    token = TOKENS.token("acme", "bridge", {7: 1}, NOW)
    for place, there in enumerate(token):
        for other in {"A", "z", "-", "="} - {there}:
            assert refused(token[:place] + other + token[place + 1 :])


def test_tokens_are_small() -> None:
    one = TOKENS.token("acme", "bridge", {123_456: 7}, NOW)
    created = TOKENS.token("acme", "bridge", {999_000 + at: 1 for at in range(MAX_ISSUES)}, NOW)
    scattered = TOKENS.token("acme", "bridge", {2_000 * at: 100 for at in range(1, MAX_ISSUES + 1)}, NOW)
    assert (len(one), len(created), len(scattered)) < (64, 1_400, 2_100)


def test_expired_foreign_and_repeated_writes_are_left_out() -> None:
    good = RecentWrites("bridge", int(NOW) + 1, {1: 1})
    late = RecentWrites("bridge", int(NOW) - 1, {2: 1})
    other = RecentWrites("tay", int(NOW) + 1, {3: 1})
    assert still_good((good, late, other, good._replace(versions={1: 1})), "bridge", NOW) == (good,)


def test_issues_of_several_tokens_are_counted_once() -> None:
    until = int(NOW) + 1
    many = RecentWrites("bridge", until, dict.fromkeys(range(1, MAX_ISSUES + 1), 1))
    again = RecentWrites("bridge", until, {1: 2})
    assert len(issues_in(still_good((many, again), "bridge", NOW))) == MAX_ISSUES
    with pytest.raises(InvalidRequest):
        still_good((many, RecentWrites("bridge", until, {MAX_ISSUES + 1: 1})), "bridge", NOW)


def test_the_newest_writes_of_a_cursor_are_kept_up_to_500_issues() -> None:
    first = int(NOW) + 1

    def writes(until: int, numbers: range) -> RecentWrites:
        return RecentWrites("bridge", until, dict.fromkeys(numbers, 1))

    sent = (writes(first + 9, range(1, 301)),)
    older, newer = writes(first, range(301, 401)), writes(first + 1, range(401, 551))
    gone = writes(first - 2, range(301, 302))
    assert with_those_of_a_cursor(sent, (older, newer, gone), "bridge", NOW) == (*sent, newer)
    assert with_those_of_a_cursor(sent, (older, sent[0]), "bridge", NOW) == (*sent, older)
    assert with_those_of_a_cursor((), (older, newer), "bridge", NOW) == (newer, older)


def test_a_token_of_a_read_contains_the_number_of_the_journal_that_was_seen() -> None:
    for number in (0, 57, 99_999_999_999):
        token = TOKENS.token("acme", "bridge", WRITES, NOW, number)
        assert TOKENS.opened(token, "acme") == (RecentWrites("bridge", int(NOW) + SECONDS, WRITES, number),)
    until = int(NOW) + 1
    seen, written = RecentWrites("bridge", until, {1: 2}, 3), RecentWrites("bridge", until, {2: 3})
    assert (number_in((seen, written)), number_in((written,)), number_in(())) == (3, 0, 0)
    assert writes_in((seen, written)) == (written,)


def test_the_furthest_of_several_places_in_the_journal_is_kept() -> None:
    until = int(NOW) + 1
    near, far, other = (RecentWrites("bridge", until, {}, number) for number in (3, 9, 4))
    with_issues = RecentWrites("bridge", until, {1: 1}, 2)
    nothing = RecentWrites("bridge", until, {}, 0)
    assert still_good((near, far, with_issues, other, nothing), "bridge", NOW) == (far, with_issues)
    assert still_good((nothing,), "bridge", NOW) == ()


def test_a_cursor_in_place_of_a_token_is_opened_by_the_given_function() -> None:
    token = TOKENS.token("acme", "bridge", {1: 1}, NOW)
    other = RecentWrites("bridge", int(NOW), {}, 57)

    def opened(text: str) -> Recent:
        if text != "cursor":
            raise ValueError(text)
        return (other, other)

    assert TOKENS.opened(f"cursor, {token}", "acme", opened)[:2] == (other, other)
    assert issues_in(TOKENS.opened(f"cursor, {token}", "acme", opened)) == {1}
    with pytest.raises(InvalidRequest):
        TOKENS.opened(f"{token},another", "acme", opened)


def test_a_long_walk_gathers_nothing_that_is_said_already() -> None:
    first = int(NOW) + 1
    sent = (RecentWrites("bridge", first + 5, {1: 2, 2: 2}, 9),)
    again = RecentWrites("bridge", first + 4, {1: 2}, 8)
    assert with_those_of_a_cursor(sent, (again, again._replace(versions={}, number=9)), "bridge", NOW) == sent
    for more in (
        again._replace(versions={3: 1}),
        again._replace(number=10),
        again._replace(until=first + 6),
    ):
        assert with_those_of_a_cursor(sent, (more,), "bridge", NOW) == (*sent, more)


def test_a_cursor_carries_them() -> None:
    writes = (RecentWrites("bridge", int(NOW) + 1, WRITES), RecentWrites("bridge", int(NOW) + 2, {1: 2}))
    assert from_texts(to_texts(writes)) == writes
    assert to_texts(()) == []
