"""The progress of a bulk change, as its job notes it, and the chunks of numbers that it works through. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from pyroaring import BitMap


class Begun(NamedTuple):
    """An issue of a batch: the version that is to be written over (0: none is), and how often it was decided
    again.
    """

    num: int
    version: int
    tries: int


class Again(NamedTuple):
    """An issue that is to be decided, and how often it was before.

    `version`: the version over which a write of a killed worker may still come (0: none may).
    """

    num: int
    tries: int = 0
    version: int = 0

    @property
    def begun(self) -> Begun:
        """The write that may still come."""
        return Begun(self.num, self.version, self.tries)


class Chunk(NamedTuple):
    """Frozen numbers. Only documents decide whether the `undecided` among them match."""

    numbers: BitMap
    undecided: BitMap

    def to_item(self) -> dict[str, bytes]:
        """Encode as a part of an item."""
        return {"numbers": _serialized(self.numbers), "undecided": _serialized(self.undecided)}

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode."""
        return cls(BitMap.deserialize(item["numbers"]), BitMap.deserialize(item["undecided"]))


def chunks_of(numbers: BitMap, undecided: BitMap, size: int) -> Iterable[Chunk]:
    """Return the chunks, of so many numbers each, in order."""
    for at in range(0, len(numbers), size):
        some = numbers[at : at + size]
        yield Chunk(some, some & undecided)


def _serialized(numbers: BitMap) -> bytes:
    copy = BitMap(numbers)
    copy.run_optimize()
    return copy.serialize()


@dataclass(frozen=True, slots=True)
class BulkPlace:
    """The progress of a job. Its numbers were frozen at its revision `frozen`, in so many `chunks`.

    The numbers up to `after` of the present `chunk` have been taken up, by batches up to the number `batch`.
    `again`: issues to decide again. `begun`: the batch whose outcome is not known yet.
    """

    frozen: int = 0
    chunks: int = 0
    chunk: int = 0
    after: int = 0
    batch: int = 0
    again: tuple[Again, ...] = ()
    begun: tuple[Begun, ...] = ()

    def to_item(self) -> dict[str, Any]:
        """Encode as a part of the job's item."""
        return {
            "frozen": self.frozen,
            "chunks": self.chunks,
            "chunk": self.chunk,
            "after": self.after,
            "batch": self.batch,
            "again": [list(one) for one in self.again],
            "begun": [list(one) for one in self.begun],
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode."""
        if not item:
            return cls()
        again = tuple(Again(*one) for one in item["again"])
        begun = tuple(Begun(*one) for one in item["begun"])
        return cls(**{**item, "again": again, "begun": begun})

    def taking(self, chunk: Chunk, most: int) -> tuple[list[Again], Self]:
        """Return up to `most` next issues of the present chunk, the ones to decide again first; and the place
        after them.
        """
        first, rest = list(self.again[:most]), self.again[most:]
        at = chunk.numbers.rank(self.after)
        new = list(chunk.numbers[at : at + most - len(first)])
        taken = [*first, *map(Again, new)]
        return taken, replace(self, again=rest, after=new[-1] if new else self.after)

    def beginning(self, begun: Iterable[Begun]) -> Self:
        """With the next batch begun."""
        return replace(self, batch=self.batch + 1, begun=tuple(begun))

    def ended(self, again: Iterable[Again]) -> Self:
        """Return this place with the batch ended, and with these of its issues to decide again."""
        return replace(self, begun=(), again=(*self.again, *again))

    def in_next_chunk(self) -> Self | None:
        """Return the beginning of the next chunk; None after the last."""
        return replace(self, chunk=self.chunk + 1, after=0) if self.chunk + 1 < self.chunks else None
