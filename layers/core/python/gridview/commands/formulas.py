"""The formulas of attributes: defined and changed by requests, and what keeps fields and options from being deleted. Pure."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from gridview.formulas.tree import ChosenOption, ValueType
from gridview.schema.catalog import Catalog, Definition
from gridview.schema.computations import FormulaVersion
from gridview.schema.computed_fields import dependents_of, needed_formulas, scope_of
from gridview.schema.fields import Field, Option
from gridview.support.errors import FieldError, FieldInUse, InvalidRequest, LimitExceeded

if TYPE_CHECKING:
    from gridview.formulas.formula import Formula

MOST_REBUILT = 90
"""The most indexes that one change of a formula rebuilds: all are in one transaction."""


def defined(
    catalog: Catalog, source: str, *, key: str | None = None, wanted: ValueType | None = None
) -> "Formula":
    """Return the formula of a text. `key`: its field's, if that exists; `wanted`: the type that it must have.

    InvalidRequest has the place of the error as `position`, in characters from 0.
    """
    from gridview.formulas.definition import define
    from gridview.formulas.errors import FormulaError

    scope = scope_of((*catalog.builtins, *catalog.attributes, *catalog.hidden))
    try:
        return define(source, scope, key=key, wanted=wanted)
    except FormulaError as error:
        raise InvalidRequest(
            "The formula is not valid. Fix what `errors` lists.",
            [FieldError("formula", error.reason)],
            members={"position": error.position},
        ) from None


def with_formula(catalog: Catalog, field: Field, source: str, epoch: int) -> Field:
    """Return a new field with a formula from an epoch on. InvalidRequest."""
    formula = defined(catalog, source, wanted=ValueType(field.type.value))
    return replace(field, formulas=(FormulaVersion(epoch, formula),))


def with_another_formula(
    catalog: Catalog, field: Field, source: str, epoch: int
) -> tuple[Field, list[Definition]]:
    """Return the field with another formula from an epoch on, and the definitions whose indexes are to be rebuilt.

    Its own index is rebuilt too, and served as before meanwhile. The field as it is if the formula is the same.
    InvalidRequest; LimitExceeded if too much depends on it.
    """
    if not field.computed:
        errors = [FieldError("formula", "cannot be given to an attribute whose values are stored")]
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", errors)
    formula = defined(catalog, source, key=field.key, wanted=ValueType(field.type.value))
    if formula == field.formulas[-1].formula:
        return field, []
    others = [one for one in dependents_of(catalog, field.key) if one.indexes.written]
    if len(others) > MOST_REBUILT:
        raise LimitExceeded(
            f"{len(others)} indexes depend on this formula, of at most {MOST_REBUILT}. Delete some of them first."
        )
    versions = (*field.formulas, FormulaVersion(epoch, formula))
    indexes = field.indexes.rebuilt(epoch, entries=field.gets_entries)
    needed = needed_formulas(catalog, field, versions, rebuilt=True)
    return replace(field, formulas=needed, indexes=indexes), others


def require_unread(catalog: Catalog, field: Field) -> None:
    """Raise FieldInUse if a formula reads the field."""
    _require_none(catalog.readers_of(field.key))


def require_unnamed(catalog: Catalog, field: Field, options: Iterable[Option]) -> None:
    """Raise FieldInUse if a formula names one of these options of the field."""
    named = {ChosenOption(field.key, one.id) for one in options}
    _require_none(
        one
        for one in catalog.readers_of(field.key)
        if any(not named.isdisjoint(version.formula.options) for version in one.formulas)
    )


def _require_none(readers: Iterable[Field]) -> None:
    if dependents := [one.id for one in readers]:
        raise FieldInUse(
            "Formulas read the field, or name the option. Change or permanently delete what `dependents` lists first.",
            members={"dependents": dependents},
        )
