"""Texts case-folded and split into words, as filters and word indexes see them. Pure."""

import re
import unicodedata
from functools import lru_cache

from gridview.encoding import sort_strings

REMEMBERED = 512
"""The number of cached case-folded texts: enough for the texts of one issue."""

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_OF_WORDS = frozenset("LMN")
"""Unicode categories of word characters: letters, marks, digits and other numbers."""

case_folded = lru_cache(maxsize=REMEMBERED)(sort_strings.case_fold)
"""`sort_strings.case_fold`, cached: case-folding a long text is the costliest step, and several conditions inspect one
text in a row.
"""


@lru_cache(maxsize=REMEMBERED)
def words(text: str) -> frozenset[str]:
    """Return the words of a text, case-folded: runs of letters, marks and digits in any script."""
    whole = case_folded(text)
    return frozenset(_ASCII_WORD.findall(whole) if whole.isascii() else _spaced(whole).split())


def inner_words(text: str) -> frozenset[str]:
    """Return the case-folded words that every text containing this one must have as words: all that do not touch
    its ends.
    """
    return frozenset(filter(None, _spaced(case_folded(text)).split(" ")[1:-1]))


def is_of_word(character: str) -> bool:
    """Return whether a character belongs to a word: a letter, a mark or a digit in any script."""
    return unicodedata.category(character)[0] in _OF_WORDS


def is_mark(character: str) -> bool:
    """Return whether a character is a mark, which belongs to the character before it: an accent, a vowel sign."""
    return unicodedata.category(character)[0] == "M"


def _spaced(whole: str) -> str:
    """Return a case-folded text with a space in place of each character that belongs to no word."""
    return "".join(one if is_of_word(one) else " " for one in whole)
