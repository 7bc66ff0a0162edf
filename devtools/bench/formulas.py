"""CPU time of formulas: 20 for a new issue, 10 on a result page of 100 rows, and the worst that can be defined.

Nothing of it depends on a table.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, Final, NamedTuple

from gridview.formulas.definition import define
from gridview.formulas.errors import FormulaError
from gridview.formulas.evaluation import Evaluator, evaluator_of, evaluators_of
from gridview.formulas.formula import Formula
from gridview.formulas.parser import MAX_NODES
from gridview.formulas.scope import FormulaInput, FormulaScope
from gridview.formulas.tree import ValueType

_FIELDS: Final = (
    FormulaInput("a1", "cost", "Cost", ValueType.NUMBER),
    FormulaInput("a2", "qty", "Quantity", ValueType.NUMBER),
    FormulaInput("a3", "level", "Level", ValueType.ENUM, options={"o1": "Low", "o2": "Medium", "o3": "High"}),
    FormulaInput("a4", "labels", "Labels", ValueType.MULTI_ENUM, options={"o1": "red", "o2": "blue"}),
    FormulaInput("a5", "start", "Start", ValueType.DATE),
    FormulaInput("a6", "end", "End", ValueType.DATE),
    FormulaInput("a7", "note", "Note", ValueType.TEXT),
    FormulaInput("a9", "part", "Part", ValueType.TEXT),
    FormulaInput("a8", "done", "Done", ValueType.BOOL),
    FormulaInput("name", "name", "Name", ValueType.TEXT, builtin=True),
    FormulaInput("created", "created", "Created", ValueType.DATETIME, builtin=True),
)
SCOPE: Final = FormulaScope(_FIELDS)

FIFTEEN: Final = (
    "ROUND({cost} * {qty} * (1 + 0.19) - ({cost} + 5) / 2, 2)",
    'IF(AND({done}, {cost} > 100), "large, " & {name}, LEFT({name}, 20) & "...")',
    "IF({qty} = 0, 0, ROUND({cost} / {qty} * 100 + 0.5, 1))",
    'SWITCH({level}, "Low", {cost}, "Medium", {cost} * 2, "High", {cost} * 3, {qty})',
    'DATETIME_DIFF(COALESCE({end}, {start}), {start}, "day") * {cost} + {qty} - 1 + {cost} * 2',
    'DATEADD({start}, IF({level} = "High", 7, IF({level} = "Low", 28, 14)), "day") > {end}',
    'CONCAT({name}, " (", TEXT({qty}), ", ", UPPER(LEFT({note}, 3)), ", ", YEAR({start}), ")")',
    'OR(CONTAINS({name}, "bridge"), CONTAINS({note}, "bridge"), HAS({labels}, "red"), COUNT({labels}) > 1)',
    "SUM({cost}, {qty}, 1, 2, 3) / AVERAGE({cost}, {qty}, 1, 2, 3) + MOD({qty}, 7)",
    "MAX({cost}, {qty}, 10) - MIN({cost}, {qty}, 10) + ABS({cost} - {qty}) * 2 + 1",
)
"""Formulas of 13 to 17 nodes, of every kind."""

DOCUMENT: Final[Mapping[str, Any]] = {
    "num": 7,
    "name": "Forth Rail Bridge, southern approach",
    "created": "2023-05-01T12:34:56.000000Z",
    "fields": {
        "a1": Decimal("1234.56"),
        "a2": 17,
        "a3": "o2",
        "a4": ["o1", "o2"],
        "a5": "2023-05-01",
        "a6": "2023-11-30",
        "a7": "Rivets of the second span, painted",
        "a8": True,
    },
}

_LONGEST: Final = "\N{GREEK SMALL LETTER IOTA WITH DIALYTIKA AND TONOS}" * 1_024
_DIGITS: Final = Decimal("1.2345678901234567890123456789012345678")
HARD_DOCUMENT: Final[Mapping[str, Any]] = {
    "num": 7,
    "name": _LONGEST,
    "created": "2023-01-31T12:34:56.123456Z",
    "fields": {
        "a1": _DIGITS,
        "a2": -_DIGITS / 3,
        "a3": "o3",
        "a4": ["o1", "o2"],
        "a5": "0001-01-31",
        "a6": "9999-12-31",
        "a7": "a" * 1_024,
        "a9": "a" * 300 + "b" + "a" * 200,
        "a8": True,
    },
}
"""A document whose values take long."""

_HARD: Final[Mapping[str, tuple[str, str, str]]] = {
    # a text around them, what is repeated, and what joins it
    "products": ("{}", "{cost}", " * "),
    "quotients": ("{}", "{cost}", " / "),
    "square roots": ("SUM({})", "SQRT({cost})", ", "),
    "powers": ("SUM({})", "POWER({cost}, 97)", ", "),
    "high powers": ("SUM({})", "POWER(1.0000001, 9999)", ", "),
    "remainders": ("SUM({})", "MOD(9E125, {cost})", ", "),
    "roundings": ("SUM({})", "ROUND({cost}, 7)", ", "),
    "comparisons of texts": ("OR({})", "{name} < {note}", ", "),
    "searches": ("OR({})", "CONTAINS({name}, {note})", ", "),
    "searches of long parts": ("OR({})", "FIND({part}, {note}) = 0.5", ", "),
    "upper case": ("OR({})", "ISBLANK(UPPER({name}))", ", "),
    "long texts": ("LEFT({}, 9)", "{note}", " & "),
    "numbers in texts": ("LEFT({}, 9)", "{qty}", " & "),
    "numbers of texts": ("SUM({})", 'VALUE("1234567.891")', ", "),
    "substitutions": ("OR({})", 'ISBLANK(SUBSTITUTE({note}, "a", "bc"))', ", "),
    "differences": ("SUM({})", 'DATETIME_DIFF({end}, {start}, "month")', ", "),
    "later dates": ("OR({})", 'DATEADD({start}, 1, "month") = {end}', ", "),
    "days of the week": ("SUM({})", 'WEEKDAY({created}, "+01:00")', ", "),
    "dates of texts": ("OR({})", 'DATE("2024-02-29") = {end}', ", "),
    "trims": ("OR({})", "ISBLANK(TRIM({note}))", ", "),
}


class Figures(NamedTuple):
    """Milliseconds of CPU time. `worst` has one for each kind of formulas as large as can be defined."""

    issue: float
    page: float
    worst: Mapping[str, float]


def measure(repeat: int = 200) -> Figures:
    """Return the figures: the best of three runs of so many repetitions."""
    twenty = [evaluator_of(define(one, SCOPE), {}) for one in FIFTEEN * 2]

    def issue() -> None:
        for evaluate in twenty:
            evaluate(DOCUMENT)

    def page() -> None:
        for _ in range(100):
            for evaluate in twenty[:10]:
                evaluate(DOCUMENT)

    worst = {name: _milliseconds(partial(one, HARD_DOCUMENT), repeat // 10) for name, one in hard()}
    return Figures(_milliseconds(issue, repeat), _milliseconds(page, max(1, repeat // 50)), worst)


def hard() -> Iterator[tuple[str, Evaluator]]:
    """Return formulas of each kind, as large as can be defined: each reads two others of the kind."""
    for name, (around, repeated, sign) in _HARD.items():
        one = _largest(SCOPE, around, repeated, sign, [])
        read = [FormulaInput(f"a{at}", f"f{at}", f"F{at}", one.type, formula=one) for at in (21, 22)]
        scope = FormulaScope((*_FIELDS, *read))
        whole = _largest(scope, around, repeated, sign, ["{f21}", "{f22}"])
        yield name, evaluators_of({"a21": one, "a22": one, "a23": whole})["a23"]


def _largest(scope: FormulaScope, around: str, repeated: str, sign: str, others: list[str]) -> Formula:
    """Return the formula that repeats a part as often as the limits allow."""
    low, high = 1, MAX_NODES
    while low < high:
        middle = (low + high + 1) // 2
        try:
            define(around.format(sign.join((*others, *[repeated] * middle))), scope)
        except FormulaError:
            high = middle - 1
        else:
            low = middle
    return define(around.format(sign.join((*others, *[repeated] * low))), scope)


def _milliseconds(work: Callable[[], object], repeat: int) -> float:
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        for _ in range(repeat):
            work()
        best = min(best, time.process_time() - began)
    return best * 1_000 / repeat
