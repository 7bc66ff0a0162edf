"""The check of a formula: fields, options, types, and what each refusal says."""

import pytest

from gridview.formulas.definition import define
from gridview.formulas.errors import FormulaError
from gridview.formulas.functions import FUNCTIONS, Word
from gridview.formulas.scope import FormulaInput, FormulaScope
from gridview.formulas.tree import ValueType
from tests.support.formulas import FIELDS, SCOPE, refused, value

AS_TEXT = " TEXT() makes a text of other values."
TYPES = ". A formula is a text, a number, a date, a datetime, or true or false."
BY_SWITCH = " Compare it with =, or choose a text for each with SWITCH()."
OF_SETS = " Use HAS() or COUNT()."
COMPARED = "a text, a number, a date, a datetime, true or false, an option or a user"
SHOWN = "a text, a number, a date, a datetime or true or false"


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("1", "number"),
        ('"a"', "text"),
        ("{start}", "date"),
        ("{created}", "datetime"),
        ("{done}", "bool"),
        ("{cost} & {qty}", "text"),
        ("IF({done}, 1, BLANK())", "number"),
        ("IF({done}, BLANK(), 1)", "number"),
        ("IF({done}, 1)", "number"),
        ("IF({done}, {start}, {created})", "datetime"),
        ("IF({done}, {created}, {start})", "datetime"),
        ("COALESCE(BLANK(), {start})", "date"),
        ('SWITCH({level}, "Low", BLANK(), "High", 2)', "number"),
        ('SWITCH({level}, "Low", "x", {note})', "text"),
        ("MIN({start}, {end})", "date"),
        ("MAX({start}, {created})", "datetime"),
        ('DATEADD({start}, 1, "days")', "date"),
        ('DATEADD({start}, 1, "hours")', "datetime"),
        ('DATEADD({created}, 1, "days")', "datetime"),
        ("DATE(2024, 1, 2)", "date"),
        ('DATE("2024-01-02")', "date"),
        ('DATE({created}, "+02:00")', "date"),
        ("HAS({labels}, 'steel')", "bool"),
        ("COUNT({labels})", "number"),
        ("{start} < {created}", "bool"),
        ("BLANK() = BLANK()", "bool"),
        ("-BLANK()", "number"),
    ],
)
def test_the_type_of_a_formula_follows_from_its_parts(source: str, kind: str) -> None:
    assert define(source, SCOPE).type == kind


@pytest.mark.parametrize(
    ("source", "position", "reason"),
    [
        ("1 + {note}", 4, "+ takes a number here, but this is a text. VALUE() reads a number."),
        ("{done} * 2", 0, "* takes a number here, but this is true or false."),
        ("-{note}", 1, "The minus sign takes a number here, but this is a text. VALUE() reads a number."),
        ("UPPER({cost})", 6, "UPPER takes a text here, but this is a number. TEXT() makes a text of it."),
        (
            "IF({cost}, 1, 2)",
            3,
            "IF takes true or false here, but this is a number. Compare it, for example with >.",
        ),
        ('IF({done}, 1, "a")', 14, "IF needs parts of one type, but has a number and a text." + AS_TEXT),
        ("IF({done}, 1, {start})", 14, "IF needs parts of one type, but has a number and a date."),
        (
            'SWITCH({cost}, 1, "a", 2, 3)',
            26,
            "SWITCH needs parts of one type, but has a text and a number." + AS_TEXT,
        ),
        ('SWITCH({cost}, "a", 1)', 15, "= needs parts of one type, but has a number and a text." + AS_TEXT),
        (
            'SWITCH(BLANK(), "a", 1, 2, 3)',
            24,
            "SWITCH needs parts of one type, but has a text and a number." + AS_TEXT,
        ),
        ("COALESCE({cost}, {start})", 17, "COALESCE needs parts of one type, but has a number and a date."),
        ("{cost} = {note}", 9, "= needs parts of one type, but has a number and a text." + AS_TEXT),
        ("{cost} < {start}", 9, "< needs parts of one type, but has a number and a date."),
        (
            "{done} < TRUE",
            0,
            "< takes a text, a number, a date or a datetime here, but this is true or false.",
        ),
        ("MAX({note})", 4, "MAX takes a number, a date or a datetime here, but this is a text."),
        ("YEAR({cost})", 5, "YEAR takes a date or a datetime here, but this is a number."),
        ("YEAR({note})", 5, "YEAR takes a date or a datetime here, but this is a text."),
        ("{level}", 0, "The formula is an option" + TYPES),
        ("{owner}", 0, "The formula is a user" + TYPES),
        ("BLANK()", 0, "The formula never has a value" + TYPES),
        ("IF({done}, BLANK())", 0, "The formula never has a value" + TYPES),
        ("{level} & 1", 0, "& takes " + SHOWN + " here, but this is an option." + BY_SWITCH),
        ("TEXT({labels})", 5, "TEXT takes " + SHOWN + " here, but this is a set of options." + OF_SETS),
        ("LOWER({owner})", 6, "LOWER takes a text here, but this is a user." + BY_SWITCH),
        (
            '{labels} = "steel"',
            0,
            "= takes " + COMPARED + " here, but this is a set of options." + OF_SETS,
        ),
        ("IF({level}, 1, 2)", 3, "IF takes true or false here, but this is an option."),
        ('{level} = "high"', 10, "The field Level has no option high. Write one as the field lists it."),
        ('"open" = {level}', 0, "The field Level has no option open. Write one as the field lists it."),
        ('HAS({labels}, "tin")', 14, "The field Labels has no option tin. Write one as the field lists it."),
        ("HAS({labels}, {note})", 14, "HAS takes an option here, as a text in quotes."),
        ('HAS({level}, "Low")', 4, "HAS takes a set of options here, but this is an option."),
        ('HAS(BLANK(), "Low")', 13, "HAS takes a field of options. Write one in braces."),
        ("{level} = {note}", 10, 'An option is compared with a text in quotes that names one, like "Low".'),
        ("{level} = {state}", 10, 'An option is compared with a text in quotes that names one, like "Low".'),
        ("{note} = {level}", 9, 'An option is compared with a text in quotes that names one, like "Low".'),
        ("{owner} = {note}", 10, "= needs parts of one type, but has a user and a text."),
        (
            'DATEADD({start}, 1, "decades")',
            20,
            "A unit of time is one of second, minute, hour, day, week, month, quarter, year.",
        ),
        ("DATEADD({start}, 1, {note})", 20, "DATEADD takes a unit of time here, as a text in quotes."),
        ('YEAR({created}, "Europe/London")', 16, "An offset from UTC is a text like +02:00."),
        ('YEAR({created}, "+24:00")', 16, "An offset from UTC is a text like +02:00."),
        ("DATE(2024, 1)", 0, "DATE has another number of parameters than 2. Write DATE(year, month, day)."),
        ('DATE("2024", 1)', 0, "DATE has another number of parameters than 2. Write DATE(text)."),
        (
            "DATE(BLANK(), 1, 2, 3)",
            0,
            "DATE has another number of parameters than 4. Write DATE(year, month, day).",
        ),
        ("IF({done})", 0, "IF has another number of parameters than 1. Write IF(condition, then, [else])."),
        ("SUM()", 0, "SUM has another number of parameters than 0. Write SUM(number, …)."),
        ("NOPE(1)", 0, "There is no function NOPE."),
        ("1 + concatenate(1)", 4, "There is no function CONCATENATE. Here it is CONCAT."),
        ("{price}", 0, "The project has no field price. Write the id or the name of a field."),
        ("NEG(1)", 0, "There is no function NEG."),
    ],
)
def test_a_refusal_names_the_place_and_what_to_do(source: str, position: int, reason: str) -> None:
    assert refused(source) == (position, reason)


@pytest.mark.parametrize("source", ["TODAY()", "today() > {start}"])
def test_today_is_refused_with_the_filter_to_use(source: str) -> None:
    assert refused(source) == (
        0,
        "TODAY is not in formulas: a value depends on its issue only."
        ' Filter instead: {"field": "due", "op": "lt", "value": {"today": 0}}.',
    )


def test_now_is_refused_with_the_filter_to_use() -> None:
    assert refused("{created} < NOW()") == (
        12,
        "NOW is not in formulas: a value depends on its issue only."
        ' Filter instead: {"field": "created", "op": "gte", "value": {"now": -3600}}.',
    )


def test_the_type_of_the_field_is_the_type_of_the_formula() -> None:
    assert define("{start}", SCOPE, wanted=ValueType.DATETIME).type is ValueType.DATETIME
    with pytest.raises(FormulaError) as refusal:
        define("1 + {cost}", SCOPE, wanted=ValueType.TEXT)
    assert (
        refusal.value.reason
        == "The formula is a number, but the type of the field is text. Change one of them."
    )
    with pytest.raises(FormulaError):
        define("{created}", SCOPE, wanted=ValueType.DATE)


def test_a_field_is_named_by_its_id_before_its_name() -> None:
    twins = (
        FormulaInput("a1", "cost", "qty", ValueType.NUMBER),
        FormulaInput("a2", "qty", "Same", ValueType.NUMBER),
        FormulaInput("a3", "other", "Same", ValueType.TEXT),
        FormulaInput("a4", "odd", "a } b \\ c", ValueType.TEXT),
    )
    scope = FormulaScope(twins)
    assert define("{qty}", scope).uses == {"a2"}
    assert define(r"{a \} b \\ c}", scope).uses == {"a4"}
    assert refused("1 + {Same}", scope) == (
        4,
        "Several fields have the name Same. Write the id of one of them.",
    )
    assert [scope.label(key) for key in ("a1", "a2", "a3", "a4", "a5")] == [
        "cost",
        "qty",
        "other",
        "a } b \\ c",
        "a5",
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_refuses_a_value_more_and_a_value_less(name: str) -> None:
    function = FUNCTIONS[name]
    too_few = ", ".join(["BLANK()"] * (function.least - 1))
    if name != "DATE":
        assert refused(f"{name}({too_few})") == (
            0,
            f"{name} has another number of parameters than {function.least - 1}. Write {name}({function.parameters}).",
        )
    if not function.repeats:
        words = {Word.UNIT: '"day"', Word.OFFSET: '"+00:00"', Word.OPTION: '"paint"'}
        sets = frozenset((ValueType.MULTI_ENUM,))
        given = [
            words[one] if isinstance(one, Word) else "{labels}" if one == sets else "BLANK()"
            for one in function.takes
        ]
        assert refused(f"{name}({', '.join([*given, '1'])})")[1].startswith(
            f"{name} has another number of parameters than {len(given) + 1}."
        )


def test_a_check_takes_linear_time() -> None:
    nested = "{start}"
    for _ in range(24):
        nested = f"DATE(({nested}))"
    assert value(nested) == "2024-01-31"
    compared = "TRUE"
    for _ in range(24):
        compared = f"(({compared}) = ({{done}}))"
    assert value(compared) is True


def test_every_field_has_a_type_of_formulas() -> None:
    assert {one.type for one in FIELDS} == set(ValueType) - {ValueType.NONE}
