"""Texts as filters and indexes of words look at them: folded, and cut into words. Pure."""

import re
import unicodedata
from functools import lru_cache

from gridview.encoding import sort_strings

REMEMBERED = 512
"""Texts that are remembered folded: those of one issue."""

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_OF_WORDS = frozenset("LMN")
"""The classes of characters that words are made of: letters, marks, digits and other numbers."""

folded = lru_cache(maxsize=REMEMBERED)(sort_strings.fold)
"""`sortstrings.fold`. Folding a long text takes longer than all else, and several conditions look at one text after the other."""


@lru_cache(maxsize=REMEMBERED)
def words(text: str) -> frozenset[str]:
    """The words of a text, folded: runs of letters, marks and digits in any script."""
    whole = folded(text)
    return frozenset(_ASCII_WORD.findall(whole) if whole.isascii() else _spaced(whole).split())


def inner_words(text: str) -> frozenset[str]:
    """The words of a text, folded, that are words of every text that contains it: those that do not reach its ends."""
    return frozenset(filter(None, _spaced(folded(text)).split(" ")[1:-1]))


def _spaced(whole: str) -> str:
    """A folded text with a space for each character that is not of a word."""
    return "".join(one if unicodedata.category(one)[0] in _OF_WORDS else " " for one in whole)
