"""Computed fields among the fields of a project: their values, what formulas can name, and what depends on them. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from gridview.schema.catalog import Catalog, Definition
from gridview.schema.computations import LATEST, FormulaVersions, ProjectFormulas
from gridview.schema.fields import NUM, WRITTEN_WITH_EACH_VERSION, Field
from gridview.schema.generations import IndexState

if TYPE_CHECKING:
    from gridview.formulas.scope import FormulaScope


def with_computations(fields: Mapping[str, Field]) -> dict[str, Field]:
    """Return the fields by internal key, those with a formula ready to compute.

    An indexed one has the values of its served index, others those of the newest formulas.
    """
    versions = {key: one.formulas for key, one in fields.items() if one.formulas}
    formulas = ProjectFormulas(versions)
    return {key: _ready(one, formulas) if key in versions else one for key, one in fields.items()}


def _ready(field: Field, formulas: ProjectFormulas) -> Field:
    return replace(field, computation=formulas.computation(field.key, served_epoch(field)))


def served_epoch(field: Field) -> int:
    """Return the epoch of the formulas that give a computed field the values that it is served with."""
    served = field.indexes.ready
    return LATEST if served is None else served.begun


def scope_of(fields: Iterable[Field]) -> "FormulaScope":
    """Return the fields as formulas name them. Deleted ones that can be restored are in it, but have no name."""
    from gridview.formulas.scope import FormulaInput, FormulaScope
    from gridview.formulas.tree import ValueType

    number = FormulaInput(NUM, NUM, "Number", ValueType.NUMBER, builtin=True)
    return FormulaScope(
        [
            number,
            *(
                FormulaInput(
                    one.key,
                    one.id,
                    one.name,
                    ValueType(one.type.value),
                    one.builtin,
                    {option.id: option.value for option in one.live_options},
                    one.formulas[-1].formula if one.formulas else None,
                    one.deletion is not None,
                )
                for one in fields
            ),
        ]
    )


def dependents_of(catalog: Catalog, key: str) -> list[Definition]:
    """Return the formulas that read a computed field, directly or through others, and the composite indexes over any
    of these and the field. Deleted formulas that can be restored are among them.
    """
    found: dict[str, Field] = {}
    near = [key]
    while near:
        read = [one for at in near for one in catalog.readers_of(at) if one.key not in found]
        found |= {one.key: one for one in read}
        near = [one.key for one in read]
    found.pop(key, None)
    over = (one for at in (key, *found) for one in catalog.composites_over(at))
    return [*found.values(), *{one.key: one for one in over}.values()]


def may_change(catalog: Catalog, columns: Iterable[str], changed: Collection[str]) -> bool:
    """Return whether a change of fields may change the value of a computed one among `columns`, directly or through other
    formulas. All fields are internal ids.
    """
    own = {*changed, *WRITTEN_WITH_EACH_VERSION}
    computed = (field for key in columns if (field := catalog.living(key)) is not None and field.computed)
    return any(path[-1] in own for field in computed for path in field.paths)


def needed_formulas(
    catalog: Catalog, field: Field, versions: FormulaVersions, *, rebuilt: bool = False
) -> FormulaVersions:
    """Return those of a field's versions that are needed: by an index that is served or being built, and the newest.

    `rebuilt`: all indexes that are being built start over with the newest version.
    """
    states = (IndexState.READY,) if rebuilt else (IndexState.READY, IndexState.BUILDING)
    epochs = {LATEST} | {
        index.begun
        for one in (field, *dependents_of(catalog, field.key))
        for index in one.indexes.generations
        if index.state in states
    }
    needed = {
        max((at for at, one in enumerate(versions) if one.since <= epoch), default=0) for epoch in epochs
    }
    return tuple(one for at, one in enumerate(versions) if at in needed)
