"""The generations of a field's index: which are written, which one is served, and how one follows another.
Pure.

- *on*: BUILDING, then READY once the pass over all issues is over.
- *rebuilt*: READY + BUILDING, then LEAVING + READY. Also when word search is switched on or off.
- *off*: READY or BUILDING, then LEAVING, then nothing.

The catalog's epoch determines which generations are written and served. Every function knows a change once
the longest function timeout and the longest life of a cached catalog have passed. Then a pass over the issues
(`maintenance.rebuild_pass`) makes the change true, and `after_pass` records that.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self

from gridview.encoding import sort_strings
from gridview.support.errors import IndexBuilding


class IndexNotReady(IndexBuilding):
    """The index that a query needs is being built: of `attribute`, of `composite`, or the manual order of `view`."""

    def __init__(self, attribute: str, composite: str | None = None, *, view: int | None = None) -> None:
        if view is not None:
            missing = f"manual order of v{view}"
        else:
            missing = f"index {f'of {attribute}' if composite is None else composite}"
        super().__init__(f"The {missing} is being built, so it cannot serve queries yet.")
        self.attribute = attribute
        self.composite = composite
        self.view = view


class IndexState(StrEnum):
    """The state of a generation."""

    BUILDING = "building"
    """Written but not served yet."""
    READY = "ready"
    """Written and served."""
    LEAVING = "leaving"
    """Neither written nor served; its entries are being removed."""


@dataclass(frozen=True, slots=True)
class Index:
    """One generation: the version of its sort strings, its state, and the epoch in which it entered that
    state.

    `words`: whether the words of a text are indexed too. `entries`: whether issues also get sort entries, not
    only keys in blocks. `begun`: the epoch in which its build began, 0 if nothing was to build. It has the
    formulas of that epoch (`computations`).
    """

    generation: int
    state: IndexState
    since: int
    spec: int
    words: bool = False
    entries: bool = True
    begun: int = 0

    @property
    def written(self) -> bool:
        """Whether changed issues get entries in this generation."""
        return self.state is not IndexState.LEAVING


ENTRYLESS_SUFFIX = "b"
"""The end of the order id of a generation without sort entries, after its number: its issues are only in
blocks.
"""


def order_id(key: str, generation: int, *, entries: bool) -> str:
    """Name the order of a generation of a field or composite index: its internal id and the generation,
    `a1.1` or `a1.1b`.
    """
    return f"{key}.{generation}{'' if entries else ENTRYLESS_SUFFIX}"


@dataclass(frozen=True, slots=True)
class Indexes:
    """All existing generations of one field, oldest first. The next one gets `next_generation`; no number is
    used twice.
    """

    generations: tuple[Index, ...] = ()
    next_generation: int = 1

    @classmethod
    def complete(cls, *, words: bool = False, entries: bool = True) -> Self:
        """Return the generations of a field that no issue has a value of yet: one, with nothing to build."""
        return cls((Index(1, IndexState.READY, 0, sort_strings.SPEC_VERSION, words, entries),), 2)

    @property
    def written(self) -> tuple[Index, ...]:
        """The generations in which changed issues get entries."""
        return tuple(index for index in self.generations if index.written)

    @property
    def ready(self) -> Index | None:
        """The generation that is served."""
        return self._in(IndexState.READY)

    @property
    def building(self) -> Index | None:
        """The generation that will be served."""
        return self._in(IndexState.BUILDING)

    @property
    def words(self) -> bool:
        """Whether the words of a text are to be indexed, as the generation begun last says."""
        return any(index.words for index in self.written[-1:])

    @property
    def leaving(self) -> tuple[Index, ...]:
        """The generations whose entries are being removed."""
        return tuple(index for index in self.generations if not index.written)

    @property
    def pending(self) -> int:
        """The epoch of the newest change that does not yet hold for all issues; 0 if there is none."""
        return max(
            (index.since for index in self.generations if index.state is not IndexState.READY), default=0
        )

    def on(self, epoch: int, *, words: bool = False, entries: bool = True) -> Self:
        """Indexed from this epoch on, with or without words and sort entries. Nothing changes if it is
        already indexed.
        """
        return self if self.written else self._with_another(epoch, words=words, entries=entries)

    def off(self, epoch: int) -> Self:
        """Not indexed from this epoch on."""
        return replace(
            self,
            generations=tuple(_left(index, epoch) if index.written else index for index in self.generations),
        )

    def searched(self, epoch: int, *, words: bool) -> Self:
        """With or without words from this epoch on. A change rebuilds the index. Nothing changes if the field
        is not indexed.
        """
        return self if self.words is words else self.rebuilt(epoch, words=words)

    def rebuilt(self, epoch: int, *, words: bool | None = None, entries: bool = True) -> Self:
        """Rebuilt from this epoch on; the present generation is served meanwhile. A build in progress starts over.

        `words`: whether the words of a text are indexed from then on; None: as before. `entries`: whether the
        new generation has sort entries.
        """
        if not self.written:
            return self
        kept = tuple(
            _left(index, epoch) if index.state is IndexState.BUILDING else index for index in self.generations
        )
        return replace(self, generations=kept)._with_another(
            epoch, words=self.words if words is None else words, entries=entries
        )

    def after_pass(self, done: int, epoch: int) -> Self:
        """Return the generations after a pass over all issues under the definitions of epoch `done`; they
        hold from `epoch` on.
        """
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
        """Encode as attributes of the stored definition."""
        return {
            "generations": [
                {
                    "generation": index.generation,
                    "state": index.state.value,
                    "since": index.since,
                    "spec": index.spec,
                    "words": index.words,
                    **({} if index.entries else {"entries": False}),
                    **({"begun": index.begun} if index.begun else {}),
                }
                for index in self.generations
            ],
            "next_generation": self.next_generation,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode from the stored definition."""
        stored: Iterable[Mapping[str, Any]] = item["generations"]
        return cls(
            tuple(
                Index(
                    one["generation"],
                    IndexState(one["state"]),
                    one["since"],
                    one["spec"],
                    one["words"],
                    one.get("entries", True),
                    one.get("begun", 0),
                )
                for one in stored
            ),
            item["next_generation"],
        )

    def _in(self, state: IndexState) -> Index | None:
        return next((index for index in self.generations if index.state is state), None)

    def _with_another(self, epoch: int, *, words: bool, entries: bool) -> Self:
        spec = sort_strings.SPEC_VERSION
        another = Index(self.next_generation, IndexState.BUILDING, epoch, spec, words, entries, epoch)
        return replace(
            self, generations=(*self.generations, another), next_generation=self.next_generation + 1
        )


def _left(index: Index, epoch: int) -> Index:
    return replace(index, state=IndexState.LEAVING, since=epoch)
