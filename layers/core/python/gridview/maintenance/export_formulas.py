"""The formulas of an export as they were when its rows were frozen. Pure.

An export reads rows over many batches, and a formula can change meanwhile. The values of all rows are of the formulas that
were served at the instant of the export, as the rows and their order are.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Self

from gridview.dynamodb.expressions import Item
from gridview.schema.catalog import Catalog
from gridview.schema.computations import FormulaVersion, FormulaVersions, ProjectFormulas
from gridview.schema.computed_fields import served_epoch
from gridview.schema.fields import Field


class FrozenFormula(NamedTuple):
    """The formula of a field: its versions, and the epoch whose versions are served."""

    epoch: int
    versions: FormulaVersions


class FrozenFormulas:
    """Formulas by the internal ids of their fields, with all formulas that they read."""

    def __init__(self, formulas: Mapping[str, FrozenFormula]) -> None:
        self._formulas = formulas
        self._project = ProjectFormulas({key: one.versions for key, one in formulas.items()})
        self._pinned: tuple[Catalog, Catalog] | None = None

    @classmethod
    def of(cls, catalog: Catalog, fields: Iterable[Field]) -> Self:
        """Return the formulas that give the computed ones among the fields their values."""
        found: dict[str, FrozenFormula] = {}
        near = {one.key for one in fields if one.computed}
        while near:
            formulas = {key: catalog.field_of(key) for key in near}
            found |= {key: FrozenFormula(served_epoch(one), one.formulas) for key, one in formulas.items()}
            read = {
                key for one in formulas.values() for version in one.formulas for key in version.formula.uses
            }
            near = {key for key in read - found.keys() if (known := catalog.known(key)) and known.computed}
        return cls(found)

    @property
    def keys(self) -> tuple[str, ...]:
        """The internal ids of the fields."""
        return tuple(sorted(self._formulas))

    def to_items(self) -> Iterator[tuple[str, Item]]:
        """Encode: what is stored of each field, by its internal id."""
        for key in self.keys:
            epoch, versions = self._formulas[key]
            yield key, {"epoch": epoch, "versions": [one.to_item() for one in versions]}

    @classmethod
    def from_items(cls, items: Mapping[str, Mapping[str, Any]]) -> Self:
        """Decode."""
        return cls(
            {
                key: FrozenFormula(int(item["epoch"]), tuple(map(FormulaVersion.from_item, item["versions"])))
                for key, item in items.items()
            }
        )

    def within(self, catalog: Catalog) -> Catalog:
        """Return the definitions with these formulas in the place of the present ones, and without other formulas."""
        if self._pinned is None or self._pinned[0] is not catalog:
            fields = (self._frozen(one) for one in catalog.attributes)
            self._pinned = (
                catalog,
                replace(catalog, attributes=tuple(one for one in fields if one is not None)),
            )
        return self._pinned[1]

    def _frozen(self, field: Field) -> Field | None:
        if not field.computed:
            return field
        found = self._formulas.get(field.key)
        if found is None:
            return None
        computation = self._project.computation(field.key, found.epoch)
        return replace(field, formulas=found.versions, computation=computation)
