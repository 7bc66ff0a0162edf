"""Lines of CSV in which no spreadsheet runs what a user typed. Pure.

A spreadsheet runs a cell that begins like a formula. It also makes more cells. With the wrong delimiter it
cuts a file at semicolons or tabs, and then quotes in mid-cell hold no line together. So each *part* of a text
is guarded, at its start and after each semicolon, tab and line break. An apostrophe precedes a part that
begins with `=`, `+`, `-` or `@`, or with the full-width form of one, after any blanks and quotes. Two kinds
of parts are exempt:

- a plain number, such as -5 or 1E-130;
- a list item after the first part, such as "- item": a sign, a blank and words, without what a call needs
  (`(`, `|`, `!`).

`web/src/cells/guard.ts` does the same, and tests hold both to `tests/unit/maintenance/golden/csv_lines.json`.
"""

import re
from collections.abc import Sequence

_BLANK = r" \u00a0\u3000\ufeff"
_SIGN = r"+\-\uff0b\uff0d"
_SEPARATOR = re.compile(r"([;\t\r\n])")
_FORMULA = re.compile(rf'[{_BLANK}"]*[=@{_SIGN}\uff1d\uff20]')
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_ITEM = re.compile(
    rf"[{_BLANK}]*[{_SIGN}][{_BLANK}]+[A-Za-z*\[\u00a1-\u2fff\u3001-\ufdff\U00010000-\U0010ffff][^(|!\uff08\uff5c\uff01]*"
)
"""An item begins with a letter, a check box, or any sign beyond ASCII that is no full-width form of it."""
_RUN_AT_THE_START = re.compile(r"[\t\r\n]")
_QUOTED = re.compile(rf'[",;\t\r\n]|^[{_BLANK}]|[{_BLANK}]$')


def guarded(text: str) -> str:
    """Return the text with an apostrophe before each part that a spreadsheet would run, and before a first
    tab or line break.
    """
    parts = enumerate(_SEPARATOR.split(text))
    safe = "".join(f"'{part}" if _runs(part, follows=at > 0) else part for at, part in parts)
    return f"'{safe}" if _RUN_AT_THE_START.match(text) else safe


def _runs(part: str, *, follows: bool) -> bool:
    harmless = _NUMBER.fullmatch(part) or (follows and _ITEM.fullmatch(part))
    return not harmless and _FORMULA.match(part) is not None


def line(cells: Sequence[str], *, raw: bool) -> str:
    """Return a line of CSV, which a reader takes apart into the same cells, guarded unless `raw`."""
    safe = cells if raw else [guarded(cell) for cell in cells]
    # An empty line would be no row.
    return '""\r\n' if list(safe) == [""] else f"{','.join(map(_quoted, safe))}\r\n"


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell
