"""The generations of a field's index: which are written, which one is served, and how one follows another. Pure.

    on       BUILDING --------------------> READY         the pass over all issues is over
    rebuilt  READY + BUILDING ------------> LEAVING + READY            also when words are to be searched, or no longer
    off      READY or BUILDING -> LEAVING -> nothing

What is written and what is served change with the catalog's epoch. A change is known everywhere when the longest function
timeout and the longest life of a cached catalog have passed; then a pass over the issues (`upkeep`) makes it true, and `after_pass`
says so.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self

from gridview.encoding import sort_strings
from gridview.support.errors import NotReady


class IndexNotReady(NotReady):
    """The index of `attribute`, or the `composite` one, which the query needs, is being built."""

    def __init__(self, attribute: str, composite: str | None = None) -> None:
        index = f"of {attribute}" if composite is None else composite
        super().__init__(f"The index {index} is being built, so nothing can be sorted by it yet.")
        self.attribute = attribute
        self.composite = composite


class IndexState(StrEnum):
    """What is done with a generation."""

    BUILDING = "building"
    """Written, not served yet."""
    READY = "ready"
    """Written and served."""
    LEAVING = "leaving"
    """Neither; its entries are being removed."""


@dataclass(frozen=True, slots=True)
class Index:
    """One generation: the version of the sort strings in it, its state, and the epoch with which it came to that.

    `words`: whether the words of a text are indexed too.
    """

    generation: int
    state: IndexState
    since: int
    spec: int
    words: bool = False

    @property
    def written(self) -> bool:
        """Whether changed issues get entries in it."""
        return self.state is not IndexState.LEAVING


@dataclass(frozen=True, slots=True)
class Indexes:
    """All generations of one field that exist, oldest first. The next one will be `next_generation`: none is given twice."""

    generations: tuple[Index, ...] = ()
    next_generation: int = 1

    @classmethod
    def complete(cls, *, words: bool = False) -> Self:
        """Those of a field that no issue has a value of yet: the first generation, with nothing to build."""
        return cls((Index(1, IndexState.READY, 0, sort_strings.SPEC_VERSION, words),), 2)

    @property
    def written(self) -> tuple[Index, ...]:
        """Those in which changed issues get entries."""
        return tuple(index for index in self.generations if index.written)

    @property
    def ready(self) -> Index | None:
        """The one that is served."""
        return self._in(IndexState.READY)

    @property
    def building(self) -> Index | None:
        """The one that will be served."""
        return self._in(IndexState.BUILDING)

    @property
    def words(self) -> bool:
        """Whether the words of a text are to be indexed: they are in the one that was begun last."""
        return any(index.words for index in self.written[-1:])

    @property
    def leaving(self) -> tuple[Index, ...]:
        """Those whose entries are being removed."""
        return tuple(index for index in self.generations if not index.written)

    @property
    def pending(self) -> int:
        """The epoch of the newest change that is not true of all issues yet; 0 when all are."""
        return max(
            (index.since for index in self.generations if index.state is not IndexState.READY), default=0
        )

    def on(self, epoch: int, *, words: bool = False) -> Self:
        """Indexed from this epoch on, without words or with them; if it is already, nothing changes."""
        return self if self.written else self._with_another(epoch, words=words)

    def off(self, epoch: int) -> Self:
        """Not indexed from this epoch on."""
        return replace(
            self,
            generations=tuple(_left(index, epoch) if index.written else index for index in self.generations),
        )

    def searched(self, epoch: int, *, words: bool) -> Self:
        """With words from this epoch on, or without: built anew if that is not so already. Nothing when it is not indexed."""
        return self if self.words is words else self.rebuilt(epoch, words=words)

    def rebuilt(self, epoch: int, *, words: bool | None = None) -> Self:
        """Built anew from this epoch on, the present one being served meanwhile. One that is being built already is begun anew.

        `words`: whether the words of a text are indexed from then on; None: as before.
        """
        if not self.written:
            return self
        kept = tuple(
            _left(index, epoch) if index.state is IndexState.BUILDING else index for index in self.generations
        )
        return replace(self, generations=kept)._with_another(
            epoch, words=self.words if words is None else words
        )

    def after_pass(self, done: int, epoch: int) -> Self:
        """After a pass over all issues under the definitions of epoch `done`; what follows from that holds from `epoch` on."""
        left = [
            index for index in self.generations if index.state is not IndexState.LEAVING or index.since > done
        ]
        built = self.building
        if built is None or built.since > done:
            return replace(self, generations=tuple(left))
        return replace(
            self,
            generations=tuple(
                replace(index, state=IndexState.READY, since=epoch)
                if index is built
                else _left(index, epoch)
                if index.state is IndexState.READY
                else index
                for index in left
            ),
        )

    def to_items(self) -> dict[str, Any]:
        """The attributes of the stored definition."""
        return {
            "generations": [
                {
                    "generation": index.generation,
                    "state": index.state.value,
                    "since": index.since,
                    "spec": index.spec,
                    "words": index.words,
                }
                for index in self.generations
            ],
            "next_generation": self.next_generation,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """From the stored definition."""
        stored: Iterable[Mapping[str, Any]] = item["generations"]
        return cls(
            tuple(
                Index(
                    one["generation"],
                    IndexState(one["state"]),
                    one["since"],
                    one["spec"],
                    one.get("words", False),
                )
                for one in stored
            ),
            item["next_generation"],
        )

    def _in(self, state: IndexState) -> Index | None:
        return next((index for index in self.generations if index.state is state), None)

    def _with_another(self, epoch: int, *, words: bool) -> Self:
        begun = Index(self.next_generation, IndexState.BUILDING, epoch, sort_strings.SPEC_VERSION, words)
        return replace(self, generations=(*self.generations, begun), next_generation=self.next_generation + 1)


def _left(index: Index, epoch: int) -> Index:
    return replace(index, state=IndexState.LEAVING, since=epoch)
