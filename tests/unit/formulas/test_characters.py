"""Case and folding as of a version of Unicode."""

import re
import sys
import unicodedata
from typing import Any

import pytest

from gridview.encoding.sort_strings import case_fold
from gridview.formulas import characters
from gridview.formulas.characters import WHITE_SPACE, Characters, characters_of
from gridview.formulas.definition import define
from gridview.formulas.evaluation import evaluator_of
from tests.support.depth import one_of
from tests.support.formulas import DOCUMENT, SCOPE

NOW = characters_of(unicodedata.unidata_version)
EVERY = [chr(code) for code in range(0, sys.maxunicode + 1, one_of(7)) if not 0xD800 <= code < 0xE000]


def test_texts_fold_as_filters_fold_them() -> None:
    for start in range(0, len(EVERY), 1_000):
        text = "".join(EVERY[start : start + 1_000])
        assert NOW.fold(text) == case_fold(text)
        assert NOW.lower(text) == text.lower()
        assert NOW.upper(text) == text.upper()
        assert NOW.user(text) == text.casefold()


def test_white_space_is_that_of_unicode() -> None:
    known = set(WHITE_SPACE)
    assert len(known) == 25
    # Python counts four control characters more.
    assert {one for one in map(chr, range(sys.maxunicode + 1)) if one.isspace()} == known | set(
        "\x1c\x1d\x1e\x1f"
    )


def test_the_version_of_this_python_is_known() -> None:
    """If this fails, add the characters of the new version to `_ADDED`, from DerivedAge.txt of Unicode."""
    assert unicodedata.unidata_version in {"14.0.0", *vars(characters)["_ADDED"]}


def test_the_listed_characters_are_assigned_in_their_versions() -> None:
    added: dict[str, str] = vars(characters)["_ADDED"]
    known = re.compile(r"[0-9A-F]{3,6}(?:-[0-9A-F]{3,6})?")
    assert list(added) == ["15.0.0", "15.1.0", "16.0.0", "17.0.0"]
    for version, listed in added.items():
        assert all(known.fullmatch(one) for one in listed.split())
        if tuple(map(int, version.split("."))) > tuple(map(int, unicodedata.unidata_version.split("."))):
            codes = [int(one.partition("-")[0], 16) for one in listed.split()]
            assert all(unicodedata.category(chr(code)) == "Cn" for code in codes)


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch) -> Characters:
    """The functions as of a version that lacks é and ß, and ÿ, whose capital letter Ÿ it has."""
    monkeypatch.setattr(characters, "_ADDED", {unicodedata.unidata_version: "DF E9 178"})
    return Characters("13.0.0")


def test_characters_that_a_version_lacks_stay_as_they_are(older: Characters) -> None:
    assert older.fold("ÉéßA") == "eéßa"
    assert older.lower("ÉÀA") == "Éàa"
    assert older.upper("éßàa") == "éßÀA"
    assert older.upper("ÿa") == "ÿA"
    assert older.user("ßÀ") == "ßà"
    assert older.lower("ΑΣ") == "ας"


def test_a_formula_keeps_the_version_that_it_was_saved_under(monkeypatch: pytest.MonkeyPatch) -> None:
    formula = define('UPPER("é") & IF("É" = "é", 1, 0)', SCOPE)
    assert evaluator_of(formula, {})(DOCUMENT).value == "É1"

    def before(version: str, known: Any = characters.characters_of) -> Characters:
        characters_of.cache_clear()
        monkeypatch.setattr(characters, "_ADDED", {unicodedata.unidata_version: "E9"})
        return Characters("13.0.0")

    monkeypatch.setattr("gridview.formulas.evaluation.characters_of", before)
    assert evaluator_of(formula, {})(DOCUMENT).value == "é0"


def test_folds_are_remembered_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(characters, "_MOST_FOLDED", 10)
    some = Characters(unicodedata.unidata_version)
    text = "".join(map(chr, range(0xC0, 0x180)))
    assert some.fold(text) == case_fold(text)
    assert len(vars(some)["_folds"]) <= 10
