"""Lines of CSV, by the same cases as the page's, and by the cells that a spreadsheet makes of them."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridview.maintenance.csv_lines import guarded, line

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "golden" / "csv_lines.json").read_text("utf-8"))
TEXTS = st.text(alphabet="=+-@＝＋－＠;\t\r\n \"',()|!a1\u00a0\u3000\ufeff", max_size=12)


@pytest.mark.parametrize(("text", "safe"), GOLDEN["guarded"])
def test_a_text_is_guarded_as_the_page_guards_it(text: str, safe: str) -> None:
    assert guarded(text) == safe


@pytest.mark.parametrize("case", GOLDEN["lines"])
def test_a_line_is_written_as_the_page_writes_it(case: dict[str, Any]) -> None:
    assert line(case["cells"], raw=True) == case["raw"]
    assert line(case["cells"], raw=False) == case["guarded"]


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_a_raw_line_is_read_as_it_was(cells: list[str]) -> None:
    assert list(csv.reader(io.StringIO(line(cells, raw=True), newline=""), strict=True)) == [cells]


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_a_guarded_line_is_read_as_the_guarded_cells(cells: list[str]) -> None:
    read = list(csv.reader(io.StringIO(line(cells, raw=False), newline=""), strict=True))
    assert read == [[guarded(cell) for cell in cells]]


@given(st.lists(TEXTS, min_size=1, max_size=3), st.sampled_from(",;\t"))
def test_no_delimiter_makes_a_formula_of_a_text(cells: list[str], delimiter: str) -> None:
    """With any delimiter of a spreadsheet, no cell of it begins like a call, a number or a reference."""
    for row in csv.reader(io.StringIO(line(cells, raw=False), newline=""), delimiter=delimiter):
        for cell in row:
            found = cell.strip(' "\u00a0\u3000\ufeff\r\n')
            assert not re.match(r"[=@＝＠]", found), (cells, row)
            if re.match(r"[+\-＋－]", found):
                assert not re.search(r"[(|!]", found), (cells, row)
