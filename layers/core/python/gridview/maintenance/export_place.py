"""The progress of an export, as its job notes it, and its frozen rows as they are stored. Pure."""

import zlib
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypeAlias

FrozenRows: TypeAlias = "array[int]"
"""Issue numbers in the order of rows."""


@dataclass(frozen=True, slots=True)
class ExportPlace:
    """The progress of a job. Its rows were frozen at its revision `frozen`, in so many `chunks`, `rows` of
    them in all.

    - `instant`: as of when the values are.
    - `after`: how many rows of the present `chunk` have been taken up.
    - `begun`: whether the head has been written.
    - `upload`: the multipart upload, with the ETags of its `parts`. `tail`: the object with the lines after
      these.
    - `stuck`: since when the next rows wait for the history.
    - `file`: the key of the whole file.
    - `restarts`: how often all lines were written again.
    - `formulas`: the internal ids of the fields whose formulas were frozen with the rows.
    """

    frozen: int = 0
    chunks: int = 0
    rows: int = 0
    instant: str = ""
    chunk: int = 0
    after: int = 0
    begun: bool = False
    upload: str = ""
    parts: tuple[str, ...] = ()
    tail: str = ""
    stuck: str = ""
    file: str = ""
    restarts: int = 0
    formulas: tuple[str, ...] = ()

    def to_item(self) -> dict[str, Any]:
        """Encode as a part of the job's item."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        found |= {"parts": list(self.parts), "formulas": list(self.formulas)}
        return found if self.formulas else {name: one for name, one in found.items() if name != "formulas"}

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode."""
        if not item:
            return cls()
        tuples = {name: tuple(item.get(name, ())) for name in ("parts", "formulas")}
        return cls(**{**item, **tuples})

    @property
    def over(self) -> bool:
        """Whether all rows have been taken up."""
        return self.chunk >= self.chunks

    def taking(self, chunk: FrozenRows, most: int) -> tuple[list[int], Self]:
        """Return up to `most` next rows of the present chunk, and the place after them."""
        taken = chunk[self.after : self.after + most].tolist()
        after = self.after + len(taken)
        following = (
            replace(self, after=after) if after < len(chunk) else replace(self, chunk=self.chunk + 1, after=0)
        )
        return taken, replace(following, stuck="")

    def from_the_beginning(self) -> "ExportPlace":
        """With the same rows, of which nothing is written yet."""
        rows = self.frozen, self.chunks, self.rows, self.instant
        return ExportPlace(*rows, restarts=self.restarts + 1, formulas=self.formulas)


def chunks_of(numbers: FrozenRows, size: int) -> Iterable[bytes]:
    """Return the rows as they are stored, so many at a time: the distance of each number from the one before,
    compressed.
    """
    for begin in range(0, len(numbers), size):
        some = numbers[begin : begin + size]
        distances = array("i", (num - before for num, before in zip(some, (0, *some), strict=False)))
        yield zlib.compress(distances.tobytes(), 1)


def numbers_in(chunk: bytes) -> FrozenRows:
    """Return the rows of a stored chunk."""
    distances = array("i")
    distances.frombytes(zlib.decompress(chunk))
    found, last = array("I"), 0
    for distance in distances:
        last += distance
        found.append(last)
    return found
