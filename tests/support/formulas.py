"""A project for tests of formulas: its fields, an issue, and the value that a formula has for it."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from gridview.encoding.values import datetime_json
from gridview.formulas.definition import define
from gridview.formulas.errors import FormulaError
from gridview.formulas.evaluation import Computed, evaluator_of
from gridview.formulas.formula import Formula
from gridview.formulas.scope import FormulaInput, FormulaScope
from gridview.formulas.tree import ValueType

LEVELS = {"o1": "Low", "o2": "High", "o3": 'a "b"'}
LABELS = {"o1": "steel", "o2": "paint", "o3": "wood"}

FIELDS = (
    FormulaInput("name", "name", "Name", ValueType.TEXT, builtin=True),
    FormulaInput(
        "state", "state", "State", ValueType.ENUM, builtin=True, options={"o1": "open", "o2": "closed"}
    ),
    FormulaInput("created", "created", "Created", ValueType.DATETIME, builtin=True),
    FormulaInput("created_by", "created_by", "Created by", ValueType.USER, builtin=True),
    FormulaInput("num", "num", "Number", ValueType.NUMBER, builtin=True),
    FormulaInput("a1", "cost", "Unit price", ValueType.NUMBER),
    FormulaInput("a2", "qty", "Quantity", ValueType.NUMBER),
    FormulaInput("a3", "discount", "Discount", ValueType.NUMBER),
    FormulaInput("a4", "start", "Start", ValueType.DATE),
    FormulaInput("a5", "end", "End", ValueType.DATE),
    FormulaInput("a6", "note", "Note", ValueType.TEXT),
    FormulaInput("a7", "code", "Code", ValueType.TEXT),
    FormulaInput("a8", "done", "Done", ValueType.BOOL),
    FormulaInput("a9", "never", "Never", ValueType.BOOL),
    FormulaInput("a10", "level", "Level", ValueType.ENUM, options=LEVELS),
    FormulaInput("a11", "labels", "Labels", ValueType.MULTI_ENUM, options=LABELS),
    FormulaInput("a12", "owner", "Owner", ValueType.USER),
    FormulaInput("a13", "moment", "Moment", ValueType.DATETIME),
    FormulaInput("a14", "empty", "Empty", ValueType.TEXT),
    FormulaInput("a15", "nobody", "Nobody", ValueType.USER),
    FormulaInput("a16", "tags", "Tags", ValueType.MULTI_ENUM, options=LABELS),
)
SCOPE = FormulaScope(FIELDS)

DOCUMENT: Mapping[str, Any] = {
    "num": 7,
    "name": "Forth Rail Bridge",
    "state": "o1",
    "created": "2023-05-01T22:30:00.000000Z",
    "created_by": "ann",
    "fields": {
        "a1": Decimal("12.5"),
        "a2": 3,
        "a4": "2024-01-31",
        "a6": "  Señal roja ",
        "a7": "A-0042",
        "a8": True,
        "a10": "o2",
        "a11": ["o1", "o2"],
        "a12": "ann",
        "a13": "2024-02-29T23:59:59.999999Z",
    },
}
"""An issue without a discount, an end, `never`, `empty`, `nobody` and tags."""


def with_values(**values: Any) -> dict[str, Any]:
    """The issue with other values, by the id of attributes; None: no value."""
    keys = {one.id: one.key for one in FIELDS}
    fields = {**DOCUMENT["fields"], **{keys[name]: value for name, value in values.items()}}
    return {**DOCUMENT, "fields": {key: value for key, value in fields.items() if value is not None}}


def computed(source: str, document: Mapping[str, Any] = DOCUMENT, scope: FormulaScope = SCOPE) -> Computed:
    """What a formula is for an issue, after a round through the stored form."""
    formula = define(source, scope)
    stored = json.loads(json.dumps(formula.to_item()))
    assert Formula.from_item(stored) == formula
    return evaluator_of(Formula.from_item(stored), {})(document)


def value(source: str, document: Mapping[str, Any] = DOCUMENT, scope: FormulaScope = SCOPE) -> Any:
    """The value of a formula for an issue as a test writes it: an int or a float for its exact decimal digits."""
    found = computed(source, document, scope)
    assert found.unavailable is None, found
    if isinstance(found.value, Decimal):
        assert found.value.is_zero() or found.value.as_tuple().digits[-1] != 0
        return str(found.value) if len(found.value.as_tuple().digits) > 15 else json.loads(f"{found.value:f}")
    if isinstance(found.value, str) and found.value.endswith("Z") and "T" in found.value:
        return datetime_json(found.value)
    return found.value


def reason(source: str, document: Mapping[str, Any] = DOCUMENT, scope: FormulaScope = SCOPE) -> str | None:
    """Why a formula has no value for an issue."""
    found = computed(source, document, scope)
    assert found.value is None
    return found.unavailable and str(found.unavailable)


def refused(source: str, scope: FormulaScope = SCOPE) -> tuple[int, str]:
    """The place and the reason for which a formula is refused."""
    with pytest.raises(FormulaError) as refusal:
        define(source, scope)
    assert str(refusal.value) == refusal.value.reason
    return refusal.value.position, refusal.value.reason
