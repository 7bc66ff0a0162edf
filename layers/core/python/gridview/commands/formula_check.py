"""Checks a formula that is not saved: its type, its text, the fields that it reads, and its values for some issues."""

from typing import Any

from gridview.commands.formulas import defined
from gridview.commands.requests import FormulaCheck
from gridview.dynamodb.table import Table
from gridview.formulas.printing import printed
from gridview.formulas.tree import ValueType
from gridview.schema.catalog import Catalog
from gridview.schema.computations import LATEST, Computation, FormulaVersion, ProjectFormulas
from gridview.schema.computed_fields import scope_of
from gridview.schema.document_store import documents_by_number
from gridview.schema.documents import Document
from gridview.schema.fields import Field, FieldType
from gridview.schema.formats import value_json
from gridview.schema.trash import living
from gridview.support.errors import FieldError, InvalidRequest
from gridview.support.validation import parse

_CHECKED = ""
"""The key of the formula among those of the project."""


def check_formula(table: Table, catalog: Catalog, body: Any) -> dict[str, Any]:
    """Return what a formula is, and its values for the issues of the request that exist. InvalidRequest.

    A read unit for each 4 KB of their documents.
    """
    request = parse(FormulaCheck, body)
    edited = None if request.attribute is None else _computed(catalog, request.attribute)
    key, kind = (None, None) if edited is None else (edited.key, edited.type)
    kind = request.type or kind
    wanted = None if kind is None else ValueType(kind.value)
    formula = defined(catalog, request.formula, key=key, wanted=wanted)
    scope = scope_of((*catalog.builtins, *catalog.attributes))
    field = Field(_CHECKED, _CHECKED, "", FieldType(formula.type.value))
    versions = {one.key: one.formulas for one in catalog.attributes if one.formulas}
    formulas = ProjectFormulas({**versions, _CHECKED: (FormulaVersion(catalog.epoch, formula),)})
    computation = formulas.computation(_CHECKED, LATEST)
    found = documents_by_number(table, catalog.tenant, catalog.project, request.nums) if request.nums else {}
    return {
        "type": str(formula.type),
        "formula": printed(formula.tree, scope),
        "uses": scope.ids(formula.uses),
        "values": [
            _value(field, computation, document)
            for num in request.nums
            if (document := living(found.get(num))) is not None
        ],
    }


def _computed(catalog: Catalog, attribute: str) -> Field:
    field = catalog.get(attribute)
    if field is None or not field.computed:
        errors = [FieldError("attribute", "is not a computed attribute of the project")]
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", errors)
    return field


def _value(field: Field, computation: Computation, document: Document) -> dict[str, Any]:
    value, unavailable = computation.evaluate(document)
    shown = {"num": document["num"], "value": None if value is None else value_json(field, value)}
    return shown if unavailable is None else {**shown, "unavailable": str(unavailable)}
