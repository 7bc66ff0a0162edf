"""Case and case-folding of texts as of a version of Unicode, whichever later one the runtime has. Pure.

Unicode never changes the decomposition and the case-folding of a character that a version has. So a formula keeps its
results if characters that its version does not have are left as they are, in texts and in results.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

from gridview.encoding.sort_strings import case_fold

WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""The characters with the property White_Space. Unicode removed and added none since its version 6.3."""

_MOST_FOLDED = 20_000
"""Characters whose case-folded form is remembered."""

_ADDED = {
    "15.0.0": """
        CF3 ECE 10EFD-10EFF 1123F-11241 11B00-11B09 11F00-11F10 11F12-11F3A 11F3E-11F59 1342F 13439-13455
        1B132 1B155 1D2C0-1D2D3 1DF25-1DF2A 1E030-1E06D 1E08F 1E4D0-1E4F9 1F6DC 1F774-1F776 1F77B-1F77F
        1F7D9 1FA75-1FA77 1FA87-1FA88 1FAAD-1FAAF 1FABB-1FABD 1FABF 1FACE-1FACF 1FADA-1FADB 1FAE8
        1FAF7-1FAF8 2B739 31350-323AF
    """,
    "15.1.0": """
        2FFC-2FFF 31EF 2EBF0-2EE5D
    """,
    "16.0.0": """
        897 1B4E-1B4F 1B7F 1C89-1C8A 2427-2429 31E4-31E5 A7CB-A7CD A7DA-A7DC 105C0-105F3 10D40-10D65
        10D69-10D85 10D8E-10D8F 10EC2-10EC4 10EFC 11380-11389 1138B 1138E 11390-113B5 113B7-113C0 113C2
        113C5 113C7-113CA 113CC-113D5 113D7-113D8 113E1-113E2 116D0-116E3 11BC0-11BE1 11BF0-11BF9 11F5A
        13460-143FA 16100-16139 16D40-16D79 18CFF 1CC00-1CCF9 1CD00-1CEB3 1E5D0-1E5FA 1E5FF 1F8B2-1F8BB
        1F8C0-1F8C1 1FA89 1FA8F 1FABE 1FAC6 1FADC 1FADF 1FAE9 1FBCB-1FBEF
    """,
    "17.0.0": """
        88F C5C CDC 1ACF-1ADD 1AE0-1AEB 20C1 2B96 A7CE-A7CF A7D2 A7D4 A7F1 FBC3-FBD2 FD90-FD91 FDC8-FDCE
        10940-10959 10EC5-10EC7 10ED0-10ED8 10EFA-10EFB 11B60-11B67 11DB0-11DDB 11DE0-11DE9 16EA0-16EB8
        16EBB-16ED3 16FF2-16FF6 187F8-187FF 18D09-18D1E 18D80-18DF2 1CCFA-1CCFC 1CEBA-1CED0 1CEE0-1CEF0
        1E6C0-1E6DE 1E6E0-1E6F5 1E6FE-1E6FF 1F6D8 1F777-1F77A 1F8D0-1F8D8 1FA54-1FA57 1FA8A 1FA8E 1FAC8
        1FACD 1FAEA 1FAEF 1FBFA 2B73A-2B73F 2CEA2-2CEAD 323B0-33479
    """,
}
"""The characters that each version added, as ranges of code points. Older versions than these are never asked for."""


class _Folds(dict[str, str]):
    """Case-folded characters by character. Folding a text character by character is faster than folding it whole."""

    def __init__(self, later: re.Pattern[str] | None) -> None:
        super().__init__()
        self._later = later

    def __missing__(self, character: str) -> str:
        if len(self) >= _MOST_FOLDED:
            self.clear()
        stays = self._later is not None and self._later.match(character)
        return self.setdefault(character, character if stays else case_fold(character))


class Characters:
    """Functions of texts as of a version of Unicode."""

    def __init__(self, version: str) -> None:
        self._later = _later_than(version)
        self._folds = _Folds(self._later)

    def fold(self, text: str) -> str:
        """Return the case-folded text, as filters compare it."""
        return text.lower() if text.isascii() else "".join(map(self._folds.__getitem__, text))

    def user(self, text: str) -> str:
        """Return the id of a user in the form that is compared."""
        return text.casefold() if self._later is None else self._mapped(str.casefold, text, self._later)

    def lower(self, text: str) -> str:
        """Return the text in lower case."""
        return text.lower() if self._later is None else self._mapped(str.lower, text, self._later)

    def upper(self, text: str) -> str:
        """Return the text in upper case."""
        return text.upper() if self._later is None else self._mapped(str.upper, text, self._later)

    def _mapped(self, mapping: Callable[[str], str], text: str, later: re.Pattern[str]) -> str:
        if not later.search(text) and not later.search(mapping(text)):
            return mapping(text)
        return "".join(one if later.search(one + mapping(one)) else mapping(one) for one in text)


@lru_cache(maxsize=8)
def characters_of(version: str) -> Characters:
    """Return the functions as of a version of Unicode, as `unicodedata.unidata_version` names it."""
    return Characters(version)


def _later_than(version: str) -> re.Pattern[str] | None:
    """Return a pattern of the characters that the runtime has and a version does not; None if there are none."""
    ranges = [
        f"{chr(int(first, 16))}-{chr(int(last or first, 16))}"
        for added, listed in _ADDED.items()
        if _order(version) < _order(added) <= _order(unicodedata.unidata_version)
        for first, _, last in (one.partition("-") for one in listed.split())
    ]
    return re.compile(f"[{''.join(ranges)}]") if ranges else None


def _order(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall("[0-9]+", version)))
