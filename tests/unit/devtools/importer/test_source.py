"""Reading files: the rows of sound ones, and the one sentence for broken ones."""

import gzip
from decimal import Decimal
from pathlib import Path

import pytest

from devtools.failure import Failure
from devtools.importer.source import MAX_LINE, Row, open_source


def read(path: Path, content: bytes, limit: int | None = None) -> list[Row]:
    path.write_bytes(content)
    return list(open_source(path).rows(limit))


def test_csv_rows_are_numbered_and_keep_what_is_quoted(tmp_path: Path) -> None:
    rows = read(tmp_path / "a.csv", b'a,b\r\n1,"x, ""y"""\r\n\r\n2,"two\nlines"\r\n')
    assert rows == [Row(1, {"a": "1", "b": 'x, "y"'}), Row(2, {"a": "2", "b": "two\nlines"})]


def test_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    assert read(tmp_path / "a.csv", "\ufeffnäme\nx\n".encode()) == [Row(1, {"näme": "x"})]


def test_gzip_is_recognized_by_its_content_under_any_name(tmp_path: Path) -> None:
    content = gzip.compress(b"a\n1\n2\n")
    assert read(tmp_path / "a.csv.gz", content) == read(tmp_path / "b.csv", content)


def test_limit_stops_reading_before_a_broken_line_after_it(tmp_path: Path) -> None:
    assert len(read(tmp_path / "a.csv", b"a,b\n1,2\n3\n", limit=1)) == 1


def test_ndjson_keeps_types_and_all_digits(tmp_path: Path) -> None:
    line = b'{"t": "x", "n": 0.10000000000000000000000000001, "i": 7, "b": true, "l": ["a", "b"], "z": null, "o": {"k": 1}}'
    (row,) = read(tmp_path / "a.ndjson", line)
    assert row.cells == {
        "t": "x",
        "n": Decimal("0.10000000000000000000000000001"),
        "i": 7,
        "b": True,
        "l": ["a", "b"],
        "z": None,
        "o": '{"k":1}',
    }


def test_progress_is_reported_in_bytes_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a\n" + "1\n" * 2000)
    reported: list[int] = []
    list(open_source(path).rows(report=reported.append))
    assert reported == sorted(reported)
    assert reported[-1] == path.stat().st_size


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"\n\n", "is empty"),
        ("a.ndjson", b"\n", "is empty"),
        ("a.csv", b"a,b\n1,2\n3\n", "line 3: the row has 1 cells, but the header has 2"),
        ("a.csv", b"a,b\n1,2,3\n", "line 2: the row has 3 cells, but the header has 2"),
        ("a.csv", b"a,b,a\n1,2,3\n", "the header names the column 'a' twice"),
        ("a.csv", b"a,,c\n1,2,3\n", "column 2 has no name"),
        ("a.csv", b"a,b\n1,\xff\n", "line 2: this is not UTF-8"),
        ("a.csv", b'a\n"never closed\n', "this is not CSV"),
        ("a.csv", "a\n1\n".encode("utf-16"), "line 1: this is not UTF-8"),
        ("a.csv", "a\n1\n".encode("utf-16-le"), "line 1: this is not UTF-8"),
        ("a.csv", b"a\n" + "é".encode("latin-1") + b"\n", "line 2: this is not UTF-8"),
        ("a.csv.gz", b"a,b\n1,2\n", "is named .gz but is not a gzip file"),
        ("a.csv.gz", gzip.compress(b"a\n" + b"1\n" * 9000, mtime=0)[:-20], "damaged or incomplete gzip"),
        ("a.csv.gz", b"\x1f\x8bnonsense", "cannot be read"),
        ("a.ndjson", b'{"a": 1}\n[1]\n', "line 2: this is JSON, but not an object"),
        ("a.ndjson", b'{"a": 1}\n{"a": \n', "line 2: this is not JSON"),
        ("a.ndjson", b'{"a": NaN}\n', "line 1: this is not JSON"),
        ("a.ndjson", b'{"a": 1, "a": 2}\n', "line 1: the property 'a' occurs twice"),
        ("a.ndjson", b'{"": 1}\n', "line 1: a property has no name"),
        ("a.ndjson", b"[" * 100_000, "line 1: this is not JSON"),
        ("a.csv", b"a\n" + b"x" * (MAX_LINE + 1), "line 2: longer than"),
        ("a.csv", b",".join(b"%d" % n for n in range(3000)) + b"\n", "3,000 columns"),
    ],
)
def test_a_broken_file_ends_in_one_sentence(tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    with pytest.raises(Failure) as stopped:
        read(tmp_path / name, content)
    message = str(stopped.value)
    assert sentence in message
    assert "\n" not in message
    assert message.endswith(".")


def test_a_missing_file_a_folder_and_an_unknown_kind_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n1\n")
    for path, sentence in (
        (tmp_path / "no.csv", "There is no file"),
        (tmp_path, "is not a file"),
        (tmp_path / "a.txt", "--format"),
    ):
        with pytest.raises(Failure, match=sentence):
            open_source(path)
    assert len(list(open_source(tmp_path / "a.txt", "csv").rows())) == 1


def test_numbers_in_an_object_of_ndjson_stay_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_text('{"x": {"k": 1.5, "n": 12345678901, "l": [0.10]}}\n{"x": {"k": "\\ud800"}}\n')
    cells = [row.cells["x"] for row in open_source(path).rows()]
    assert cells == ['{"k":1.5,"n":12345678901,"l":[0.1]}', '{"k":"\ud800"}']
