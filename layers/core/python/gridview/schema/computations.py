"""The values of computed fields: formulas with the formulas that they read, as of an epoch. Pure.

A changed formula has another version from an epoch on. An index keeps the epoch that it was begun in
(`generations.Index.begun`), and is written, read and checked under the versions of that epoch. So a formula that
is changed is served as before until the new index is built, and all its readers agree.

The language is imported with the first formula: a project without formulas does not pay for it.
"""

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from gridview.formulas.evaluation import Computed, Evaluator
    from gridview.formulas.formula import Formula

LATEST = sys.maxsize
"""The epoch after all others: as of it, formulas have their newest versions."""

Path = tuple[str, ...]


class FormulaVersion(NamedTuple):
    """A formula as it holds from an epoch on."""

    since: int
    formula: "Formula"

    @classmethod
    def from_item(cls, item: Sequence[Any]) -> Self:
        """Decode from the stored definition of a field."""
        from gridview.formulas.formula import Formula

        return cls(int(item[0]), Formula.from_item(item[1]))

    def to_item(self) -> list[Any]:
        """Encode as part of the stored definition of a field."""
        return [self.since, self.formula.to_item()]


FormulaVersions = tuple[FormulaVersion, ...]
"""The versions of a formula that an index may need, oldest first."""


class ProjectFormulas:
    """The formulas of a project's fields, by internal key."""

    def __init__(self, versions: Mapping[str, FormulaVersions]) -> None:
        self._versions = versions
        self._epochs = sorted({one.since for some in versions.values() for one in some})
        self._as_of: dict[int, _FormulasAsOf] = {}

    def computation(self, key: str, epoch: int) -> "Computation":
        """Return the values of a field as of an epoch."""
        place = bisect_right(self._epochs, epoch)
        if place not in self._as_of:
            self._as_of[place] = _FormulasAsOf(dict(self._chosen(epoch)))
        return Computation(key, self, self._as_of[place])

    def _chosen(self, epoch: int) -> Iterator[tuple[str, FormulaVersion]]:
        for key, versions in self._versions.items():
            held = [one for one in versions if one.since <= epoch]
            if held:
                yield key, held[-1]


class _FormulasAsOf:
    """One version of each formula, each made ready to be evaluated when it is needed."""

    def __init__(self, versions: Mapping[str, FormulaVersion]) -> None:
        self.versions = versions
        self._ready: dict[str, Evaluator] = {}

    def closure(self, key: str) -> list[str]:
        """Return the keys of a formula and of all formulas that it reads, each after the ones that it reads."""
        found: dict[str, None] = {}
        begun: set[str] = set()

        def visit(one: str) -> None:
            if (
                one in begun
            ):  # a cycle is only in definitions of which some are newer, and these are read again
                return
            begun.add(one)
            for read in sorted(self.versions[one].formula.uses & self.versions.keys()):
                visit(read)
            found[one] = None

        if key in self.versions:
            visit(key)
        return list(found)

    def evaluator(self, key: str) -> "Evaluator | None":
        """Return a formula ready to be evaluated; None if there is none of this epoch."""
        from gridview.formulas.evaluation import evaluator_of

        for one in self.closure(key):
            if one not in self._ready:
                self._ready[one] = evaluator_of(self.versions[one].formula, self._ready)
        return self._ready.get(key)


class Computation:
    """The values of one computed field, as of an epoch."""

    def __init__(self, key: str, formulas: ProjectFormulas, chosen: _FormulasAsOf) -> None:
        self._key = key
        self._formulas = formulas
        self._chosen = chosen

    def as_of(self, epoch: int) -> "Computation":
        """Return the values of the field as of another epoch."""
        return self._formulas.computation(self._key, epoch)

    @cached_property
    def evaluate(self) -> Callable[[Mapping[str, Any]], "Computed"]:
        """The function from an issue's document to the value in stored form, with the reason if it has none."""
        from gridview.formulas.evaluation import Computed

        found = self._chosen.evaluator(self._key)
        # Definitions of which some are newer may lack a version. They are read again before anything is answered.
        return found or (lambda _: Computed(None))

    @cached_property
    def since(self) -> int:
        """The epoch from which on it computes as it does: that of the newest version in it."""
        return max((self._chosen.versions[one].since for one in self._closure), default=0)

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The paths in a document of the stored values that it reads, itself or through other formulas."""
        from gridview.formulas.tree import BUILTIN

        found = {
            (one.value,) if one.kind == BUILTIN else ("fields", one.value)
            for key in self._closure
            for one in self._chosen.versions[key].formula.tree.walk()
            if one.reads and one.value not in self._chosen.versions
        }
        return tuple(sorted(found))

    @cached_property
    def _closure(self) -> Sequence[str]:
        return self._chosen.closure(self._key)
