"""The table of `./dev bench --page`; the browser that measures is not started here."""

from typing import Any

import pytest

from devtools.bench.page import report

GOOD: dict[str, Any] = {
    "cold": 812.4,
    "warm": 391.0,
    "footersCold": 640.0,
    "footersWarm": 120.0,
    "script": 275_900,
    "requests": 11,
    "end": 143.6,
    "longest": 33.4,
    "p99": 16.8,
    "median": 16.7,
    "heap": 14_200_000,
    "axe": [],
    "boardCold": 930.0,
    "boardDrag": 42.4,
    "boardP99": 33.4,
    "boardAxe": [],
    "live": 431.0,
    "stored": 21_340.0,
}


def test_the_table_has_theirs_what_we_wanted_and_ours() -> None:
    head, line, *rows = report.table(GOOD, 300_000).splitlines()
    assert head == "| | NocoDB | wanted | here, at 300,000 rows |"
    assert line.count("|") == head.count("|")
    assert [row.split(" | ")[-1] for row in rows] == [
        "0.81 s / 0.39 s |",
        "0.64 s / 0.12 s |",
        "276 KB (11 requests) |",
        "144 ms |",
        "33 ms; 17 ms; 17 ms |",
        "14 MB |",
        "none |",
        "0.93 s |",
        "42 ms |",
        "33 ms |",
        "none |",
        "0.43 s |",
        "21.34 s, with progress and types |",
    ]


@pytest.mark.parametrize(
    ("figure", "value", "shown"),
    [
        ("cold", 1_001.0, "**1.00 s / 0.39 s**"),
        ("warm", 501.0, "**0.81 s / 0.50 s**"),
        ("footersCold", 1_001.0, "**1.00 s / 0.12 s**"),
        ("footersWarm", 301.0, "**0.64 s / 0.30 s**"),
        ("script", 500_001, "**500 KB (11 requests)**"),
        ("end", 250.2, "**250 ms**"),
        ("longest", 66.7, "**67 ms; 17 ms; 17 ms**"),
        ("p99", 25.1, "**33 ms; 25 ms; 17 ms**"),
        ("heap", 60_000_001, "**60 MB**"),
        ("axe", [{"id": "color-contrast", "impact": "serious"}], "**color-contrast (serious)**"),
        ("boardCold", 1_201.0, "**1.20 s**"),
        ("boardDrag", 151.0, "**151 ms**"),
        ("boardP99", 51.0, "**51 ms**"),
        ("live", 2_001.0, "**2.00 s**"),
        ("boardAxe", [{"id": "list", "impact": "serious"}], "**list (serious)**"),
    ],
)
def test_a_miss_is_bold(figure: str, value: Any, shown: str) -> None:
    assert shown in report.table(GOOD | {figure: value}, 300_000)
    assert report.table(GOOD | {figure: value}, 300_000).count("**") == 2
