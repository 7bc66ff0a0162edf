"""The files of an import, which let it be killed at any moment and run again.

`<name>.progress.json` says which batches were sent, and which of them the API has acknowledged. It is replaced as a whole, so a
kill leaves the old file or the new one. `<name>.rejected.ndjson` has a line for each refused row. It is written before its batch
is marked as acknowledged, and a row that is already there is not written again.
"""

import json
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from devtools import files
from devtools.failure import Failure
from devtools.importer.batches import Batch, Refusal
from gridview.schema.remembered import KEPT_DAYS
from gridview.support import clock

_FORMAT = 1

REMEMBERED: Final = int(KEPT_DAYS * 86_400) - 3_600
"""Seconds for which a batch can be sent again safely: an hour less than the API remembers its Idempotency-Key."""


@dataclass(slots=True)
class Progress:
    """The progress of an import.

    `source` is a fingerprint of the file's content and of the plan. `project_created` is the instant at which the
    project was made. It distinguishes a deleted project from its successor with the same id.
    """

    source: str
    project_created: str
    import_id: str
    created: int = 0
    refused: int = 0
    complete: bool = False
    again: bool = False
    """Whether the import was started with --again."""
    acknowledged: list[list[int]] = field(default_factory=list)
    """Batches, as ascending ranges [first, last]."""
    unanswered: dict[str, list[int]] = field(default_factory=dict)
    """The other batches that were sent: by index, the first row, the last row, and the second of the first attempt."""
    existing: list[list[int]] = field(default_factory=list)
    """Rows that the user found in the project, as ranges [first, last]. They are not sent again."""

    def has(self, index: int) -> bool:
        """Whether a batch has been acknowledged."""
        return _contain(self.acknowledged, index)

    def begin(self, batch: Batch) -> None:
        """Mark a batch as sent, unless it is already."""
        if batch.sent:
            rows = [batch.sent[0].number, batch.sent[-1].number]
            self.unanswered.setdefault(str(batch.index), [*rows, int(clock.seconds())])

    def in_doubt(self) -> list[list[int]]:
        """The rows of batches that may be done or not, and that the API would take for new ones, as ranges [first, last]."""
        before = clock.seconds() - REMEMBERED
        return _joined([first, last] for first, last, at in self.unanswered.values() if at < before)

    def settle(self, existing: Iterable[tuple[int, int]]) -> None:
        """Say which rows in doubt exist in the project. The others will be sent as new ones."""
        self.existing += map(list, existing)
        before = clock.seconds() - REMEMBERED
        self.unanswered = {index: sent for index, sent in self.unanswered.items() if sent[-1] >= before}

    def exists(self, row: int) -> bool:
        """Whether the user found a row in the project."""
        return _contain(self.existing, row)

    def acknowledge(self, index: int, *, created: int, refused: int) -> None:
        """Mark a batch as acknowledged."""
        self.unanswered.pop(str(index), None)
        self.created += created
        self.refused += refused
        self.acknowledged = _joined([*self.acknowledged, [index, index]])

    def save(self, path: Path) -> None:
        """Replace the file."""
        try:
            files.write_json(path, {"format": _FORMAT, **asdict(self)})
        except OSError as error:
            raise Failure(f"{path} cannot be written: {error.strerror}.") from error

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """The progress in the file; None when there is no file."""
        try:
            content = json.loads(path.read_text())
            if content.pop("format") != _FORMAT:
                raise ValueError
            return cls(**content)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Failure(
                f"{path} is not the progress file of an import; remove it to begin again."
            ) from error


def _contain(ranges: Iterable[list[int]], number: int) -> bool:
    return any(first <= number <= last for first, last in ranges)


def _joined(ranges: Iterable[list[int]]) -> list[list[int]]:
    """The same numbers as ascending ranges with gaps between them."""
    joined: list[list[int]] = []
    for first, last in sorted(ranges):
        if joined and first == joined[-1][1] + 1:
            joined[-1][1] = last
        else:
            joined.append([first, last])
    return joined


@dataclass(frozen=True, slots=True)
class Files:
    """The files of an import: its progress and its refused rows."""

    progress: Path
    rejects: Path


def files_for(source: Path, label: str, *, folders: Sequence[Path], rejects: Path | None) -> Files:
    """The two files of an import, in the first writable folder.

    The last folder is made if it is missing. `label` distinguishes imports of one file.
    """
    folder = next((folder for folder in folders[:-1] if may_write(folder)), folders[-1])
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"{folder} cannot be made: {error.strerror}.") from error
    if not may_write(folder):
        raise Failure(f"{folder} cannot be written to: say with --progress where to keep the progress file.")
    stem = f"{source.name}.{label}"
    return Files(folder / f"{stem}.progress.json", rejects or folder / f"{stem}.rejected.ndjson")


def may_write(folder: Path) -> bool:
    """Whether files may be made in a folder.

    Root could write anywhere, but avoids folders without write permission for anyone.
    """
    writable_bits = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
    return bool(folder.stat().st_mode & writable_bits) and os.access(folder, os.W_OK)


class Rejects:
    """The file of the refused rows. The first refused row creates it."""

    def __init__(self, path: Path, *, fresh: bool) -> None:
        """`fresh` forgets the lines of an earlier import. Otherwise they stay, except a line that a kill cut off."""
        self.path = path
        self._rows: set[int] = set()
        try:
            if fresh:
                path.unlink(missing_ok=True)
            elif path.exists():
                self._take_over()
        except OSError as error:
            raise Failure(f"{path} cannot be used for the refused rows: {error.strerror}.") from error

    def _take_over(self) -> None:
        whole = 0
        with self.path.open("r+b") as file:
            try:
                for line in file:
                    if line.endswith(b"\n"):
                        self._rows.add(json.loads(line)["row"])
                        whole += len(line)
            except (ValueError, KeyError, TypeError) as error:
                raise Failure(
                    f"{self.path} holds something else than refused rows; move it away or give --rejects."
                ) from error
            file.truncate(whole)

    def write(self, refusals: Iterable[Refusal]) -> None:
        """Append the rows that are not there yet."""
        new = [refusal for refusal in refusals if refusal.row not in self._rows]
        if not new:
            return
        self._rows.update(refusal.row for refusal in new)
        try:
            with self.path.open("ab") as file:
                file.write(b"".join(_line(refusal) for refusal in new))
        except OSError as error:
            raise Failure(f"{self.path} cannot be written to: {error.strerror}.") from error


def _line(refusal: Refusal) -> bytes:
    content: dict[str, Any] = {"row": refusal.row, "reason": refusal.reason}
    if refusal.errors:
        content["errors"] = refusal.errors
    content["values"] = refusal.values
    # json, not orjson: a row can be refused for half a surrogate pair, which only an escape can spell.
    return json.dumps(content, default=str).encode() + b"\n"
