"""The figures of the page as a table of Markdown, beside NocoDB's and the targets. A miss is bold."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

Figures = Mapping[str, Any]
"""The output of `web/e2e/measure.tool.ts`.

Times are in milliseconds, sizes in bytes; `axe` has a finding's `id` and `impact`.
"""

_KB: Final = 1_000
_MB: Final = 1_000_000


class Mark(NamedTuple):
    """A line of the table. NocoDB 0.301 was measured on PostgreSQL with 100,000 rows of 13 columns, on such a machine."""

    name: str
    theirs: str
    wanted: str
    shown: Callable[[Figures], str]
    met: Callable[[Figures], bool]


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.2f} s"


def _findings(found: Sequence[Mapping[str, Any]]) -> str:
    rules = [f"{finding['id']} ({finding['impact']})" for finding in found]
    return ", ".join(rules) or "none"


def _axe(place: str, others: str, figure: str) -> Mark:
    return Mark(
        f"axe on {place}",
        others,
        "none",
        lambda found: _findings(found[figure]),
        lambda found: not found[figure],
    )


MARKS: Final = (
    Mark(
        "first rows, cold / warm cache",
        "4.3 s / 2.9 s",
        "≤ 1 s / ≤ 0.5 s",
        lambda found: f"{_seconds(found['cold'])} / {_seconds(found['warm'])}",
        lambda found: found["cold"] <= 1000 and found["warm"] <= 500,
    ),
    Mark(
        "a sum and a latest date below columns, under a filter of 40 %, cold / warm",
        "not measured",
        "≤ 1 s / ≤ 0.3 s",
        lambda found: f"{_seconds(found['footersCold'])} / {_seconds(found['footersWarm'])}",
        lambda found: found["footersCold"] <= 1000 and found["footersWarm"] <= 300,
    ),
    Mark(
        "JavaScript, compressed",
        "5.1 MB (486 requests)",
        "≤ 500 KB",
        lambda found: f"{found['script'] / _KB:.0f} KB ({found['requests']} requests)",
        lambda found: found["script"] <= 500 * _KB,
    ),
    Mark(
        "end of the table by the scroll bar, until its rows are there",
        "183 ms",
        "≤ 250 ms",
        lambda found: f"{found['end']:.0f} ms",
        lambda found: found["end"] <= 250,
    ),
    Mark(
        "longest frame over 10,000 rows; p99; median",
        "100 ms; 33 to 50 ms",
        "≤ 50 ms; ≤ 25 ms",
        lambda found: f"{found['longest']:.0f} ms; {found['p99']:.0f} ms; {found['median']:.0f} ms",
        lambda found: found["longest"] <= 50 and found["p99"] <= 25,
    ),
    Mark(
        "heap after it",
        "38 MB",
        "≤ 60 MB",
        lambda found: f"{found['heap'] / _MB:.0f} MB",
        lambda found: found["heap"] <= 60 * _MB,
    ),
    _axe("the grid page", "1 critical, 2 serious rules", "axe"),
    Mark(
        "first cards of a board, cold cache",
        "not measured",
        "≤ 1.2 s",
        lambda found: _seconds(found["boardCold"]),
        lambda found: found["boardCold"] <= 1200,
    ),
    Mark(
        "a dragged card, until it is settled in the page",
        "not measured",
        "≤ 150 ms",
        lambda found: f"{found['boardDrag']:.0f} ms",
        lambda found: found["boardDrag"] <= 150,
    ),
    Mark(
        "frames while a column of a board scrolls, p99",
        "not measured",
        "≤ 50 ms",
        lambda found: f"{found['boardP99']:.0f} ms",
        lambda found: found["boardP99"] <= 50,
    ),
    _axe("a board", "not measured", "boardAxe"),
    Mark(
        "a change made elsewhere, shown in an open page",
        "not within 6 s",
        "≤ 2 s",
        lambda found: _seconds(found["live"]),
        lambda found: found["live"] <= 2000,
    ),
    Mark(
        "10,000 rows of CSV by the page, until stored",
        "7.5 s, every column text",
        "progress; types inferred",
        lambda found: f"{_seconds(found['stored'])}, with progress and types",
        lambda _: True,
    ),
)


def table(figures: Figures, issues: int) -> str:
    """The table, with the findings at so many issues."""
    lines = [f"| | NocoDB | wanted | here, at {issues:,} rows |", "|---|---|---|---|"]
    for mark in MARKS:
        shown = mark.shown(figures)
        lines.append(
            f"| {mark.name} | {mark.theirs} | {mark.wanted} | {shown if mark.met(figures) else f'**{shown}**'} |"
        )
    return "\n".join(lines)
