"""The claims of docs/sort-strings.md, proven against comparisons that share no code with the encoding."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridview.encoding import option_ranks, sort_strings, values
from tests.support.depth import one_of

GOLDEN = Path(__file__).parent / "golden" / "sort_strings.json"
SPECIFICATION = Path(__file__).parents[3] / "docs" / "sort-strings.md"

GOLDEN_DIGESTS = {1: (69, "0c980c1a86e2fae72478344b2279341fcf95d6d7798afe2c9a87241241e06c0b")}
"""Per version of the specification: the initial number of golden examples, and their digest."""

property_test = settings(max_examples=one_of(100, thorough=300))

COMPOSITE = "composite"
"""The examples' name for a string of several keys."""

OPTION_RANKS = option_ranks.reorder([None] * 200)
LARGEST_NUM = 99_999_999


class Kind(NamedTuple):
    """One field type: the encoding of its API values, their comparison key, and values to try."""

    body: Callable[[Any], str]
    comparable: Callable[[Any], Any]
    nasty: list[Any]
    some: st.SearchStrategy[Any]


def reference_text(value: str) -> list[int]:
    """API.md, "Field types", to the letter: the code points that the order of a text uses."""
    decomposed = unicodedata.normalize("NFKD", value)
    unmarked = [c for c in decomposed if unicodedata.combining(c) == 0]
    return [ord(c) for c in "".join(unmarked).casefold()][:240]


def reference_user(value: str) -> list[int]:
    """The specification, "user": the code points that begin in the first 1,008 bytes, in which a control takes two."""
    looked_at, begins = [], 0
    for code in map(ord, value.casefold()):
        if begins < 1008:
            looked_at.append(code)
        begins += 2 if code < 0x20 else len(chr(code).encode())
    return looked_at


def words(text: str) -> list[str]:
    """The parts of a text between its white space."""
    return text.split()


ACUTE = "\N{COMBINING ACUTE ACCENT}"
ASTRAL = "\U0010ffff"
EXPANDING = "\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}"
"""One character that NFKD expands to eighteen."""

NASTY_TEXTS = [
    # nearly nothing, and letters that are the same or nearly so
    *("", " ", "  ", ACUTE, "\N{NO-BREAK SPACE}", "\N{ZERO WIDTH SPACE}"),
    *("a", "A", "á", "a" + ACUTE, "aa", "ab", "a b", "a-b", "b", "Z", "é", "e", "f", "É"),
    *("ß", "ss", "SS", "ẞ", "ﬁ", "fi", "FI", "İ", "i", "ı", "I", "Σ", "σ", "ς", "\N{KELVIN SIGN}", "k"),
    *("漢字", "かな", "カナ", "ｶﾅ", "ガ", "カ", "각", "𝔘𝔫𝔦", "uni", "𐐀", "𐐨"),
    # separators, escapes and other controls, alone and where a body or a number could be mistaken to end
    *("\x00", "\x01", "\x02", "\x03", "\x1f", "\x7f", "\x80", "\t", "\n", "\r\n", "\x01\x01", "\x02A"),
    *("a\x00", "a\x01", "a\x0100000001", "a\x0199999999", "a\x02", "a\x1f", "a ", "a!", "a\x01b", "a\x02b"),
    *("\x02@", "@", "A\x01", "\x1fA", "_", "\x02_", "~", "a~", "1", "10", "2", "00000001"),
    # where UTF-16 and UTF-8 order differ
    *("\ud7ff", "\ue000", "\ufffd", "\uffff", "\U00010000", "😀", "😀😀", ASTRAL),
    # around the 240 characters that count
    *("x" * 239, "x" * 240, "x" * 241, "x" * 240 + "a", "x" * 240 + "b", "x" * 239 + "\x01", "x" * 239 + "y"),
    *("ß" * 120, "ss" * 120 + "t", EXPANDING * 13, EXPANDING * 14, ASTRAL * 240, "x" * 240 + ACUTE),
    *("x" * 1024, "X" * 1024, "\x01" * 1024, ASTRAL * 1024, EXPANDING * 1024, "ß" * 1024, ACUTE * 1024),
    *("á" * 1024, "ΐ" * 1024),
]

NASTY_NUMBERS = [
    *words("""
    0 -0 0.0 -0.00 0e99 1 1.0 1.00 1e0 10e-1 -1 -1.0 2 -2 9 -9 10 -10 11 -11 12 99 100 101 -99 -100 -101
    1000000 -1000000 0.1 -0.1 0.10 0.11 -0.11 0.01 -0.01 0.009 -0.009 123 123.4 -123 -123.4
    1e-130 -1e-130 1.1e-130 -1.1e-130 2e-130 -2e-130 1e-129 -1e-129
    1e125 -1e125 1.1e125 -1.1e125 9.9e125 -9.9e125 1e124 -1e124
    4503599627370496.5 9007199254740992 9007199254740993 9007199254740993.1 0.3 0.30000000000000004
    """),
    *("9" * 38, "9" * 38 + "e88", "9" * 38 + "e-87", "9" * 38 + "e-167", "9" * 37 + "8", "1" * 38, "1" * 37),
    *("-" + "9" * 38, "-" + "9" * 38 + "e88", "-" + "9" * 38 + "e-87", "-" + "9" * 38 + "e-167"),
    *("-" + "9" * 37 + "8", "-" + "1" * 38, "-" + "1" * 37, "0." + "0" * 129 + "1", "-0." + "0" * 129 + "1"),
    *(sign + "1" + point + "0" * 36 + last for sign in ("", "-") for point in ("", ".") for last in "0123"),
]

NASTY_DATES = words("""
    0001-01-01 0001-12-31 0002-01-01 0009-12-31 0010-01-01 0099-12-31 0100-01-01 0999-12-31 1000-01-01
    1582-10-10 1900-02-28 1969-12-31 1970-01-01 2000-02-29 2023-05-01 2023-05-02 2023-10-01 2023-12-31
    2024-02-29 2024-03-01 9999-12-30 9999-12-31
""")

NASTY_DATETIMES = words("""
    0001-01-01T00:00:00Z 0001-01-01T00:00:00.000001Z 0001-01-01T00:00:00-23:59 0001-01-02T00:00:00+23:59
    9999-12-31T23:59:59.999999Z 9999-12-31T23:59:59Z 9999-12-31T23:59:59+23:59 9999-12-31T00:00:00-23:59
    2023-05-01T12:34:56Z 2023-05-01t12:34:56z 2023-05-01T12:34:56.0Z 2023-05-01T12:34:56.000000-00:00
    2023-05-01T14:34:56+02:00 2023-05-01T00:34:56-12:00 2023-05-01T12:34:56.1Z 2023-05-01T12:34:56.09Z
    2023-05-01T12:34:56.100001Z 2023-05-01T12:34:56.999999Z 2023-05-01T12:34:57Z 2023-05-01T18:19:56+05:45
    2023-05-02T00:00:00+14:00 2023-05-01T23:59:59-12:00 2023-05-01T00:00:00Z 1969-12-31T23:59:59.999999Z
    2000-01-01T00:30:00+00:31 1999-12-31T23:59:00Z 1999-12-31T23:58:59.999999Z
""")

NASTY_OPTION_SETS = [
    *([0], [1], [199], [198], [0, 1], [1, 0], [0, 199], [199, 0], [1, 2], [0, 1, 2]),
    *([2, 1, 0], [0, 2], [0, 2, 1], [100], [99, 101], [100, 101]),
    *(list(range(200)), list(range(199)), list(range(1, 200)), list(range(199, -1, -1))),
]

NASTY_USERS = [
    *("u", "U", "u1", "U1", "u2", "user@example.com", "USER@EXAMPLE.COM", "é", "É", "e", "e" + ACUTE, ACUTE),
    *("\x00", "\x01", "u\x01", "u\x0100000001", "u ", "u!", "ß", "ss", "\ufffd", "\uffff", "\U00010000"),
    *("x" * 240, "x" * 241, "x" * 256, "ß" * 256, "ΐ" * 256, "\x1f" * 256, ASTRAL * 256),
    # around the 1,008 bytes that count: the next character must not decide whether it is used
    *(ASTRAL * 251 + "xyz" + end for end in ("", "a", "b", "é", ASTRAL, "\x01")),
    *(ASTRAL * 252 + end for end in ("", "a", "b", "é", ASTRAL)),
]

# Few distinct characters, so that generated texts share prefixes and differ by nasty ones.
tricky_characters = st.sampled_from(
    "aAáb\x00\x01\x02\x03\x1f @_~0ßﬁΐ\u0301\u0345\ud7ff\ue000\uffff\U00010000\U0010ffff"
)
any_character = st.characters(exclude_categories=["Cs"])


def texts(limit: int) -> st.SearchStrategy[str]:
    """Texts short and long, some with a common beginning that is longer than the compared part."""
    short = st.text(tricky_characters | any_character, max_size=6)
    filler = st.builds(
        lambda c, n: c * n, tricky_characters, st.sampled_from([0, 1, 119, 120, 239, 240, limit - 6])
    )
    return short | st.builds("{}{}".format, filler, short).map(lambda text: text[:limit])


def decimals() -> st.SearchStrategy[str]:
    """Every number that is accepted, and many near each other."""
    digits = st.text("0123456789", min_size=1, max_size=38) | st.text("09", min_size=1, max_size=38)
    return st.builds(
        lambda sign, digits, adjusted: f"{sign}{digits[0]}.{digits[1:]}0e{adjusted}",
        st.sampled_from(["", "-"]),
        digits.filter(lambda text: text[0] != "0"),
        st.integers(-2, 2) | st.integers(-130, 125),
    )


def option_sets() -> st.SearchStrategy[list[int]]:
    """Positions of distinct options in any order."""
    few = st.lists(st.integers(0, 4), unique=True, min_size=1)
    return few | st.lists(st.integers(0, 199), unique=True, min_size=1, max_size=200)


KINDS = {
    "text": Kind(
        lambda value: sort_strings.text(values.parse_text(value)),
        reference_text,
        NASTY_TEXTS,
        texts(1024),
    ),
    "number": Kind(
        lambda value: sort_strings.number(values.parse_number(value)),
        Decimal,
        NASTY_NUMBERS,
        decimals(),
    ),
    "date": Kind(
        lambda value: sort_strings.date(values.parse_date(value)),
        date.fromisoformat,
        NASTY_DATES,
        st.dates().map(date.isoformat),
    ),
    "datetime": Kind(
        lambda value: sort_strings.datetime(values.parse_datetime(value)),
        # A local time with its offset that datetime cannot hold can still be compared.
        lambda value: datetime.fromisoformat(value.upper()),
        NASTY_DATETIMES,
        st.datetimes(
            datetime(1, 1, 3),
            datetime(9999, 12, 29),
            timezones=st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes))),
        ).map(datetime.isoformat),
    ),
    "bool": Kind(
        lambda value: sort_strings.boolean(values.parse_bool(value)),
        lambda value: [False, True].index(value),
        [False, True],
        st.booleans(),
    ),
    "enum": Kind(
        lambda position: sort_strings.enum(OPTION_RANKS[position]),
        lambda position: position,
        list(range(200)),
        st.integers(0, 199),
    ),
    "multi_enum": Kind(
        lambda positions: sort_strings.multi_enum(OPTION_RANKS[position] for position in positions),
        sorted,
        NASTY_OPTION_SETS,
        option_sets(),
    ),
    "user": Kind(
        lambda value: sort_strings.user(values.parse_user(value)),
        reference_user,
        NASTY_USERS,
        texts(256),
    ),
}

every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


def assert_agree(a: tuple[Any, int, str], b: tuple[Any, int, str]) -> None:
    """Two (comparable, number, sort string): the strings compare as the pairs before them, as bytes too."""
    assert (a[2] < b[2]) == (a[:2] < b[:2])
    assert (a[2] > b[2]) == (a[:2] > b[:2])
    assert (a[2] == b[2]) == (a[:2] == b[:2])
    assert (a[2].encode() < b[2].encode()) == (a[2] < b[2])
    assert a[2] == b[2] or not b[2].startswith(a[2])


def assert_well_formed(body: str, num: int, sort_string: str) -> None:
    assert len(sort_string.encode()) < 1024
    assert set(filter(lambda c: c < " ", sort_string)) <= {"\x01", "\x02"}
    assert sort_string.count("\x01") == 1
    assert sort_strings.number_of(sort_string) == num
    assert sort_strings.body_of(sort_string) == body
    # The range that a search for one value reads, which contains no sort string of another value.
    assert body + "\x01" < sort_string < body + "\x02"


@every_kind
def test_every_pair_of_nasty_values_compares_as_its_sort_strings(kind: Kind) -> None:
    nums = [1, 9, 10, LARGEST_NUM]
    encoded = [
        (kind.comparable(value), num, sort_strings.sort_string(kind.body(value), num))
        for place, value in enumerate(kind.nasty)
        for num in {nums[0], nums[place % 4]}
    ]
    for a, b in product(encoded, repeat=2):
        assert_agree(a, b)
    for direction in (False, True):
        by_string = sorted(encoded, key=lambda entry: entry[2], reverse=direction)
        assert by_string == sorted(encoded, key=lambda entry: entry[:2], reverse=direction)


@every_kind
def test_every_nasty_value_has_a_well_formed_sort_string(kind: Kind) -> None:
    for value, num in product(kind.nasty, [1, 42, LARGEST_NUM]):
        body = kind.body(value)
        assert_well_formed(body, num, sort_strings.sort_string(body, num))


@every_kind
@property_test
@given(data=st.data())
def test_any_two_values_compare_as_their_sort_strings(kind: Kind, data: st.DataObject) -> None:
    nums = st.integers(1, 12) | st.integers(1, LARGEST_NUM)
    pair = []
    for label in ("a", "b"):
        value = data.draw(kind.some | st.sampled_from(kind.nasty), label)
        num = data.draw(nums, f"number of {label}")
        body = kind.body(value)
        pair.append((kind.comparable(value), num, sort_strings.sort_string(body, num)))
        assert_well_formed(body, num, pair[-1][2])
    assert_agree(*pair)


@property_test
@given(texts(1024), texts(1024))
def test_folding_works_character_by_character(a: str, b: str) -> None:
    folded = sort_strings.case_fold(a)
    assert folded == "".join(map(sort_strings.case_fold, a))
    assert sort_strings.case_fold(folded) == folded
    assert sort_strings.case_fold(a + b) == folded + sort_strings.case_fold(b)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Crème Brûlée", "creme brulee"),
        ("Straße", "strasse"),
        ("İSTANBUL", "istanbul"),
        ("ﬁn", "fin"),
        ("Å", "a"),
        ("ｶﾞ", "カ"),
        ("ΑΣ", "ας".casefold()),
        ("\N{COMBINING ACUTE ACCENT}", ""),
        ("\N{COMBINING GREEK YPOGEGRAMMENI}", ""),
        ("\N{DEVANAGARI VOWEL SIGN AA}", "\N{DEVANAGARI VOWEL SIGN AA}"),
        ("a\tB", "a\tb"),
        ("ABC xyz", "abc xyz"),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert sort_strings.case_fold(text) == folded


def test_a_text_that_folds_to_nothing_still_has_a_sort_string_before_all_others() -> None:
    nothing = sort_strings.sort_string(sort_strings.text("\N{COMBINING ACUTE ACCENT}"), LARGEST_NUM)
    assert nothing == "\x0199999999"
    assert nothing < sort_strings.sort_string(sort_strings.text("\x00"), 1)


@pytest.mark.parametrize(
    ("body", "size"),
    [
        (sort_strings.text("\U0010ffff" * 1024), 960),
        (sort_strings.text("\x1f" * 1024), 480),
        (sort_strings.user("\U0010ffff" * 256), 1008),
        (sort_strings.user("a" * 5 + "\u0390" * 251), 1009),
        (sort_strings.user("a" * 3 + "\U0010ffff" * 253), 1011),
        (sort_strings.number(Decimal("-" + "9" * 38)), 43),
        (sort_strings.multi_enum(OPTION_RANKS), 800),
    ],
    ids=["text", "text of controls", "user", "user of Greek", "longest user", "number", "multi_enum"],
)
def test_the_largest_bodies_have_the_sizes_that_the_specification_adds_up(body: str, size: int) -> None:
    assert len(body.encode()) == size


def test_the_order_of_numbers_does_not_depend_on_the_form_they_were_read_in() -> None:
    forms = ["1", "1.0", "1.000e0", "10e-1", "0.1e1"]
    assert {sort_strings.number(Decimal(form)) for form in forms} == {">5001"}
    assert {sort_strings.number(Decimal(form)) for form in ["0", "-0", "0e-500", "0.000"]} == {"="}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e126", "1e-131", "1" + "0" * 37 + "1"])
def test_a_number_that_cannot_be_stored_has_no_sort_string(number: str) -> None:
    with pytest.raises(ValueError, match=r"finite|out of range"):
        sort_strings.number(Decimal(number))


@pytest.mark.parametrize(
    ("encode", "stored"),
    [
        (sort_strings.date, "2023-5-1"),
        (sort_strings.date, "2023-05-01\n"),
        (sort_strings.date, "2023-05-01T12:34:56.000000Z"),
        (sort_strings.date, "２０２３-05-01"),
        (sort_strings.datetime, "2023-05-01T12:34:56Z"),
        (sort_strings.datetime, "2023-05-01T12:34:56.000000+00:00"),
        (sort_strings.enum, "i0"),
        (sort_strings.enum, "I000"),
        (sort_strings.enum, "i0000"),
        (sort_strings.multi_enum, ["i000", "1"]),
    ],
)
def test_a_value_that_is_not_in_its_stored_form_is_refused(encode: Callable[[Any], str], stored: Any) -> None:
    with pytest.raises(ValueError, match="stored form"):
        encode(stored)


def test_a_set_of_options_has_from_1_to_200_of_them() -> None:
    for wrong in ([], [*OPTION_RANKS, "zzzz"]):
        with pytest.raises(ValueError, match="out of range"):
            sort_strings.multi_enum(wrong)


def test_issue_numbers_are_eight_digits_from_1() -> None:
    assert sort_strings.issue_number(1) == "00000001"
    assert sort_strings.issue_number(LARGEST_NUM) == "99999999"
    for wrong in (0, -1, LARGEST_NUM + 1):
        with pytest.raises(ValueError, match="out of range"):
            sort_strings.issue_number(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        *("", "00000001", "a\x010000001", "a\x01000000001", "a\x0100000000", "a\x010000000x"),
        *("a\x0100000001\n", "a\x01٠٠٠٠٠٠٠١"),
    ],
)
def test_a_text_that_is_no_sort_string_is_refused(wrong: str) -> None:
    for read in (sort_strings.number_of, sort_strings.body_of):
        with pytest.raises(ValueError, match="not a sort string"):
            read(wrong)


def encode_example(type_name: str, value: Any, num: int) -> str:
    """The sort string of an example, whose value is as in the API, except that options are given as ranks."""
    return sort_strings.sort_string(encoded_body(type_name, value), num)


def encoded_body(type_name: str, value: Any) -> str:
    if type_name == COMPOSITE:
        return sort_strings.composite(map(key_part, value))
    ranked: dict[str, Callable[[Any], str]] = {
        "enum": sort_strings.enum,
        "multi_enum": sort_strings.multi_enum,
    }
    return ranked.get(type_name, KINDS[type_name].body)(value)


def key_part(key: dict[str, Any]) -> sort_strings.KeyPart:
    body = None if key["value"] is None else encoded_body(key["type"], key["value"])
    return sort_strings.KeyPart(
        body, key.get("descending", False), key.get("nulls_first", False), key.get("size")
    )


def specified_composite(values: list[Any]) -> list[dict[str, Any]]:
    """The keys of the index that the specification shows."""
    text, day = values
    return [{"type": "text", "value": text, "descending": True}, {"type": "date", "value": day}]


def golden() -> dict[str, Any]:
    """The committed examples, in the order in which they were added."""
    document: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"), parse_float=Decimal)
    return document


def test_golden_examples_are_what_the_code_produces() -> None:
    document = golden()
    assert document["version"] == sort_strings.SPEC_VERSION
    assert {example["type"] for example in document["examples"]} == KINDS.keys() | {COMPOSITE}
    for example in document["examples"]:
        produced = encode_example(example["type"], example["value"], example["num"])
        assert produced == example["sort_string"]


def test_golden_examples_change_only_with_the_version() -> None:
    """To change one: raise SPEC_VERSION and the golden version, add a line to GOLDEN_DIGESTS, plan a reindex.

    More examples may be added at the end at any time.
    """
    count, digest = GOLDEN_DIGESTS[sort_strings.SPEC_VERSION]
    examples = json.dumps(golden()["examples"][:count], sort_keys=True)
    assert hashlib.sha256(examples.encode()).hexdigest() == digest


def specified_examples() -> dict[str, list[tuple[Any, int, str]]]:
    """The examples of the specification by type: value, issue number, sort string."""
    found: dict[str, list[tuple[Any, int, str]]] = {}
    kind = ""
    for line in SPECIFICATION.read_text(encoding="utf-8").splitlines():
        if heading := re.fullmatch(r"### `(\w+)`", line):
            kind = heading[1]
        elif row := re.fullmatch(r"\| `(.+)` \| (\d+) \| `(.+)` \|(?:.*\|)?", line):
            shown = row[3].replace("␁", "\x01").replace("␂", "\x02")
            found.setdefault(kind, []).append((json.loads(row[1], parse_float=Decimal), int(row[2]), shown))
    return found


def test_the_specification_shows_examples_of_every_type_and_none_goes_unread() -> None:
    found = specified_examples()
    assert found.keys() == KINDS.keys() | {COMPOSITE}
    assert all(len(examples) >= 2 for examples in found.values())
    rows = re.findall(r"^\|.*␁\d", SPECIFICATION.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == sum(map(len, found.values()))


@pytest.mark.parametrize("kind", [*KINDS, COMPOSITE])
def test_the_examples_of_the_specification_are_what_the_code_produces_in_ascending_order(kind: str) -> None:
    examples = specified_examples()[kind]
    for shown, num, sort_string in examples:
        value = specified_composite(shown) if kind == COMPOSITE else shown
        assert encode_example(kind, value, num) == sort_string
    assert all(a[2] < b[2] for a, b in pairwise(examples))


def test_the_specification_draws_a_true_sort_string_and_states_the_version() -> None:
    document = SPECIFICATION.read_text(encoding="utf-8")
    assert f"version {sort_strings.SPEC_VERSION}." in document
    drawn = re.search(r"^ *(<\S+) (\S) (\d{8})$", document, re.MULTILINE)
    assert drawn
    body = sort_strings.number(Decimal("-123.4"))
    assert "".join(drawn.groups()).replace("␁", "\x01") == sort_strings.sort_string(body, 42)


def test_an_instant_sorts_by_its_place_in_time_not_by_its_text() -> None:
    early, late = "2023-05-01T23:00:00+02:00", "2023-05-01T22:00:00Z"
    assert early > late
    assert KINDS["datetime"].body(early) < KINDS["datetime"].body(late)
    assert datetime.fromisoformat(early) < datetime.fromisoformat(late).astimezone(UTC)
