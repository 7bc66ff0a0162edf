"""Reads the input: CSV and NDJSON, gzipped or not, as a stream of rows in bounded memory.

Everything that can be wrong with a file ends in `Failure` with one sentence that names the file and, if possible, the line.
Sound rows that the API refuses are none of this module's business.
"""

import csv
import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from devtools.failure import Failure
from gridview.encoding import json_codec
from gridview.encoding.values import json_number

Cell = str | bool | int | Decimal | list[str] | None
"""A CSV cell is a string; NDJSON also has booleans, exact numbers and lists of strings.

None and `""` are "no value".
"""

Format = Literal["csv", "ndjson"]

MAX_LINE = 16_000_000
"""Bytes of a line: far more than an issue can hold (400 KB). It bounds the memory for a file that is no text.
"""

MAX_COLUMNS = 2_000
"""Columns of a file. A project takes 400 attributes; a types file must skip the rest."""

_GZIP_MAGIC = b"\x1f\x8b"
_SUFFIXES: dict[str, Format] = {".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson"}
_REPORT_EVERY = 500


class Row(NamedTuple):
    """One row. `number` is 1 for the first row of data.

    A column that the row lacks is not among its cells.
    """

    number: int
    cells: dict[str, Cell]


Report = Callable[[int], None]
"""Called now and then with the number of bytes read."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file whose rows can be read several times."""

    path: Path
    format: Format
    delimiter: str = ","

    @property
    def size(self) -> int:
        """Bytes of the file as stored, compressed or not."""
        return self.path.stat().st_size

    def rows(self, limit: int | None = None, report: Report = lambda _: None) -> Iterator[Row]:
        """Yield the rows in order, at most `limit`."""
        try:
            with self.path.open("rb") as raw:
                yield from islice(self._rows(_plain(raw, self.path), raw, report), limit)
        except OSError as error:  # gzip.BadGzipFile is one
            raise Failure(f"{self.path} cannot be read: {error.strerror or error}.") from error
        except (EOFError, zlib.error) as error:
            raise Failure(f"{self.path} is a damaged or incomplete gzip file.") from error

    def _rows(self, stream: IO[bytes], raw: IO[bytes], report: Report) -> Iterator[Row]:
        lines = _lines(stream, self.path)
        records = self._csv(lines) if self.format == "csv" else self._ndjson(lines)
        for number, cells in enumerate(records, 1):
            if number % _REPORT_EVERY == 0:
                report(raw.tell())
            yield Row(number, cells)
        report(self.size)

    def _csv(self, lines: Iterable[str]) -> Iterator[dict[str, Cell]]:
        csv.field_size_limit(MAX_LINE)
        reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
        try:
            header = next(filter(None, reader), None)
            if header is None:
                raise Failure(f"{self.path} is empty.")
            self._check_header(header)
            for values in reader:
                if not values:  # a blank line
                    continue
                if len(values) != len(header):
                    raise Failure(
                        f"{self.path}, line {reader.line_num}: the row has {len(values)} cells, but the header has {len(header)}."
                    )
                yield dict(zip(header, values, strict=True))
        except csv.Error as error:
            raise Failure(f"{self.path}, line {reader.line_num}: this is not CSV ({error}).") from error

    def _check_header(self, header: list[str]) -> None:
        if any(not column.strip() for column in header):
            raise Failure(
                f"{self.path}: column {[not c.strip() for c in header].index(True) + 1} has no name in the header."
            )
        repeated = next((column for place, column in enumerate(header) if column in header[:place]), None)
        if repeated is not None:
            raise Failure(f"{self.path}: the header names the column {repeated!r} twice.")
        _check_width(len(header), self.path)

    def _ndjson(self, lines: Iterable[str]) -> Iterator[dict[str, Cell]]:
        empty = True
        for line_number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            empty = False
            place = f"{self.path}, line {line_number}"
            try:
                record = json.loads(
                    line, parse_float=json_number, parse_constant=_refuse_constant, object_pairs_hook=_object
                )
            except _RepeatedError as error:
                raise Failure(f"{place}: the property {error} occurs twice.") from error
            except (ValueError, RecursionError) as error:
                raise Failure(f"{place}: this is not JSON.") from error
            if not isinstance(record, dict):
                raise Failure(f"{place}: this is JSON, but not an object.")
            if "" in record:
                raise Failure(f"{place}: a property has no name.")
            _check_width(len(record), self.path)
            yield {column: _cell(value) for column, value in record.items()}
        if empty:
            raise Failure(f"{self.path} is empty.")


def open_source(path: Path, form: Format | None = None, delimiter: str = ",") -> Source:
    """The source of a file. Without `form` the name decides the format. Failure when there is no such file."""
    if not path.exists():
        raise Failure(f"There is no file {path}.")
    if not path.is_file():
        raise Failure(f"{path} is not a file.")
    name = path.with_suffix("") if path.suffix == ".gz" else path
    found = form or _SUFFIXES.get(name.suffix.lower())
    if found is None:
        raise Failure(f"{path} is neither .csv nor .ndjson (.gz or not). Name its format with --format.")
    return Source(path, found, delimiter)


class _RepeatedError(Exception):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise _RepeatedError(repr(next(name for place, name in enumerate(names) if name in names[:place])))
    return found


def _refuse_constant(_: str) -> None:
    raise ValueError


def _cell(value: Any) -> Cell:
    """A value of no field type (an object, a list of lists) becomes its own JSON text."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return value or None
    if isinstance(value, dict | list):
        return _text(value) if value else None
    return value  # type: ignore[no-any-return]  # what is left of JSON: a string, number, boolean or null


def _text(value: Any) -> str:
    try:
        return json_codec.dumps(value).decode()
    except TypeError:
        # A lone surrogate, which the API refuses, or more levels than the API reads.
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _check_width(columns: int, path: Path) -> None:
    if columns > MAX_COLUMNS:
        raise Failure(f"{path} has {columns:,} columns; at most {MAX_COLUMNS:,} can be read.")


def _plain(raw: IO[bytes], path: Path) -> IO[bytes]:
    magic = raw.read(len(_GZIP_MAGIC))
    raw.seek(0)
    if magic == _GZIP_MAGIC:
        return gzip.open(raw)  # type: ignore[return-value]  # a GzipFile does all that is asked of it here
    if path.suffix == ".gz" and magic:
        raise Failure(f"{path} is named .gz but is not a gzip file.")
    return raw


def _lines(stream: IO[bytes], path: Path) -> Iterator[str]:
    # Decoded line by line, so that the line in the message is the one that is wrong. A newline byte is never
    # part of another character in UTF-8, so this splits nothing; csv puts quoted line breaks together again.
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise Failure(f"{path}, line {number}: longer than {MAX_LINE:,} bytes.")
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise Failure(f"{path}, line {number}: this is not UTF-8 text.") from error
        # UTF-16 without a byte order mark reads as UTF-8 with these. A value may have one, a head does not.
        if number == 1 and "\0" in text:
            raise Failure(f"{path}, line {number}: this is not UTF-8 text.")
        yield text
