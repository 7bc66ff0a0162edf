"""Cursors: opened only unchanged, for their purpose and their query; and rotating the secret."""

import base64
import string
from collections.abc import Sequence
from typing import Any

import pytest

from gridview.encoding.cursors import Cursors
from gridview.support.errors import InvalidRequest

PAYLOAD = [1, 1, False, "v", "2023-05-01\x0100000042", True]
OLD, CURRENT = b"the secret of last year", b"the secret of this year"


def cursors(secrets: Sequence[bytes] = (CURRENT,), purpose: str = "grid") -> Cursors:
    return Cursors(secrets, purpose)


def refuses(opener: Cursors, cursor: str, bound_to: bytes = b"query") -> bool:
    try:
        opener.open(cursor, bound_to)
    except InvalidRequest as error:
        return [one.field for one in error.errors] == ["cursor"]
    return False


@pytest.mark.parametrize("payload", [PAYLOAD, "text", {"a": None}, [], "\u00e4\U0001f600" * 200])
def test_a_cursor_opens_to_what_was_sealed(payload: Any) -> None:
    assert cursors().open(cursors().seal(payload, b"query"), b"query") == payload


def test_the_same_place_gives_the_same_cursor_and_shows_nothing_of_it() -> None:
    one, other = (cursors().seal(PAYLOAD, b"query") for _ in range(2))
    assert one == other
    assert b"2023" not in base64.urlsafe_b64decode(one + "==")
    assert set(one) <= {*string.ascii_letters, *string.digits, "-", "_"}


def test_a_cursor_of_an_earlier_deployment_opens() -> None:
    assert cursors().open("jiPIZTdFidWEqjLodbKsd2cyU7CFBpWYxPZ0", b"query") == [1, "v"]


def test_a_cursor_that_is_too_long_is_refused_though_it_was_sealed() -> None:
    assert not refuses(cursors(), cursors().seal("x" * 18_000, b"query"))
    assert refuses(cursors(), cursors().seal("x" * 18_500, b"query"))


def test_a_change_of_any_character_is_noticed() -> None:
    cursor = cursors().seal(PAYLOAD, b"query")
    for place, there in enumerate(cursor):
        for other in {"A", "z", "-", "=", "."} - {there}:
            assert refuses(cursors(), cursor[:place] + other + cursor[place + 1 :])


def test_a_change_of_any_bit_is_noticed() -> None:
    raw = base64.urlsafe_b64decode(cursors().seal(PAYLOAD, b"query") + "==")
    for bit in range(len(raw) * 8):
        changed = bytearray(raw)
        changed[bit // 8] ^= 1 << bit % 8
        assert refuses(cursors(), base64.urlsafe_b64encode(bytes(changed)).rstrip(b"=").decode())


def test_every_cut_and_every_addition_is_noticed() -> None:
    cursor = cursors().seal(PAYLOAD, b"query")
    assert all(refuses(cursors(), cursor[:length]) for length in range(len(cursor)))
    assert all(
        refuses(cursors(), cursor + added) for added in ("A", "AA", "AAAA", "=", "==", "\n", " ", "\x00")
    )
    assert all(refuses(cursors(), added + cursor) for added in ("A", "=", "\n", " "))


@pytest.mark.parametrize("length", [15, 16, 17])
def test_other_spellings_of_the_same_bytes_are_refused(length: int) -> None:
    cursor = cursors().seal("x" * length, b"query")
    standard = cursor.translate(str.maketrans("-_", "+/"))
    spellings = {cursor + "=" * (-len(cursor) % 4), cursor[:5] + "\n" + cursor[5:], standard} - {cursor}
    unused_bits = {0: 0, 2: 4, 3: 2}[len(cursor) % 4]
    alphabet = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
    last = alphabet.index(cursor[-1])
    spellings |= {cursor[:-1] + alphabet[last | bit] for bit in range(1, 1 << unused_bits)}
    raw = base64.urlsafe_b64decode(cursor + "==")
    for spelling in spellings:
        assert refuses(cursors(), spelling), spelling
    assert any(base64.urlsafe_b64decode(spelling + "==") == raw for spelling in spellings), (
        "there are spellings that a lax decoder takes for the same"
    )


@pytest.mark.parametrize("cursor", ["", "A", "\u00e4", "\ud800", "A" * 9000, "....", "AAAAAAAA"])
def test_a_text_that_is_no_cursor_is_refused(cursor: str) -> None:
    assert refuses(cursors(), cursor)


def test_a_cursor_opens_only_for_its_own_query_and_purpose() -> None:
    cursor = cursors().seal(PAYLOAD, b"query")
    assert refuses(cursors(), cursor, b"another query")
    assert refuses(cursors(purpose="projects"), cursor)


def test_after_a_rotation_the_previous_secret_is_taken_and_the_current_one_given() -> None:
    before = cursors([OLD]).seal(PAYLOAD, b"query")
    rotated = cursors([CURRENT, OLD])
    assert rotated.open(before, b"query") == PAYLOAD
    after = rotated.seal(PAYLOAD, b"query")
    assert after == cursors([CURRENT]).seal(PAYLOAD, b"query")
    assert refuses(cursors([OLD]), after), "of a secret that is not known there yet"


def test_two_rotations_later_the_old_secret_is_refused() -> None:
    before = cursors([OLD]).seal(PAYLOAD, b"query")
    assert refuses(cursors([b"the secret of next year", CURRENT]), before)
    assert refuses(cursors([CURRENT]), before)
