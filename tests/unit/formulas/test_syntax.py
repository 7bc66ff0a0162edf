"""The text of formulas: tokens, ranks of operators, escapes, and the places and reasons of errors."""

import pytest

from gridview.formulas.lexer import MAX_FORMULA_LENGTH
from gridview.formulas.parser import MAX_NESTING, MAX_NODES
from tests.support.formulas import refused, value


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("10 - (4 - 3)", 9),
        ("100 / 10 / 5", 2),
        ("-2 * 3", -6),
        ("2 - -3", 5),
        ("--2", 2),
        ("-(2 + 3)", -5),
        ('1 + 2 & "x" & 3 * 4', "3x12"),
        ('"a" & "b" = "ab"', True),
        ("1 + 1 = 2", True),
        ("1 < 2 = TRUE", True),
        ("1 <> 2", True),
        ("1 != 2", True),
        ("2>=2", True),
        ("2<=1", False),
        ("\n sum( 1 ,\t2 )\r\n", 3),
        ("If(true, 1, 2)", 1),
        ("if(FALSE(), 1, 2)", 2),
        ("ISBLANK(blank)", True),
        ("1E2 + 1e-1 + 0.5", 100.6),
        ("007.50", 7.5),
        ("{cost} + {Quantity}", 15.5),
    ],
)
def test_operators_bind_by_their_ranks(source: str, expected: object) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r'"a\"b"', 'a"b'),
        (r"'it\'s'", "it's"),
        ("'say \"hi\"'", 'say "hi"'),
        (r'"a\\b"', "a\\b"),
        (r'"a\nb\tc\rd"', "a\nb\tc\rd"),
        ('"a\nb"', "a\nb"),
        ('"{cost}"', "{cost}"),
        ('"😀" & "é"', "😀é"),
    ],
)
def test_texts_are_in_quotes(source: str, expected: str) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    ("source", "position", "reason"),
    [
        ("", 0, "The formula is empty."),
        ("  ", 0, "The formula is empty."),
        ("1 +", 3, "The formula ends here, but a value, a field or a function is expected."),
        ("(1 + 2", 6, "The formula ends here, but a comma or ) is expected."),
        ("1 2", 2, "This does not fit here, but an operator is expected."),
        ("1)", 1, "This does not fit here, but an operator is expected."),
        ("* 2", 0, "This does not fit here, but a value, a field or a function is expected."),
        ("SUM(1,)", 6, "This does not fit here, but a value, a field or a function is expected."),
        ("SUM(,1)", 4, "This does not fit here, but a value, a field or a function is expected."),
        ("SUM(1 2)", 6, "This does not fit here, but a comma or ) is expected."),
        ("TRUE(1)", 5, "This does not fit here, but a comma or ) is expected."),
        (
            "cost * 2",
            0,
            "COST is no field and no value. Write fields in braces, texts in quotes, functions with (.",
        ),
        ('1 + "abc', 4, 'The text has no closing ". Add it, or write \\" for a quote inside a text.'),
        ("1 + 'abc", 4, "The text has no closing '. Add it, or write \\' for a quote inside a text."),
        ("1 + {cost", 4, "The field has no closing }. Add it, or write \\} for a brace in its name."),
        ("1 ; 2", 2, "This character has no meaning here. Put texts in quotes and fields in braces."),
        (r'"ab\q"', 3, r"This escape is unknown. Write one of \\, \", \', \n, \t, \r; \\ is a backslash."),
        (r"{co\st}", 3, r"This escape is unknown. Write one of \\, \}; \\ is a backslash."),
        ("1 + 1E126", 4, "The number must be smaller in magnitude than 1E+126."),
        ("1E-131", 0, "The number must be zero or at least 1E-130 in magnitude."),
        ("1" * 39, 0, "The number must have at most 38 significant digits."),
        ("1" * 1_001, 0, "The number must be a number of at most 1,000 characters."),
    ],
)
def test_an_error_has_its_place_and_says_what_to_do(source: str, position: int, reason: str) -> None:
    assert refused(source) == (position, reason)


def test_the_longest_formula() -> None:
    assert value("1" + " " * (MAX_FORMULA_LENGTH - 1)) == 1
    place, reason = refused("1" + " " * MAX_FORMULA_LENGTH)
    assert place == MAX_FORMULA_LENGTH
    assert reason == "The formula is longer than 8,192 characters. Shorten it."


def test_the_largest_formula() -> None:
    largest = "+".join(["1"] * (MAX_NODES // 2))
    assert value(largest) == MAX_NODES // 2
    place, reason = refused(largest + "+1+1")
    assert place == len(largest)
    assert reason == "The formula has more than 200 fields, values, functions and operators. Split it."


@pytest.mark.parametrize(("before", "after"), [("(", ")"), ("-", ""), ("ABS(", ")"), ("1 + (", ")")])
def test_the_deepest_formula(before: str, after: str) -> None:
    levels = MAX_NESTING // (2 if before == "1 + (" else 1)
    assert isinstance(value(before * levels + "1" + after * levels), int)
    place, reason = refused(before * (levels + 1) + "1" + after * (levels + 1))
    assert 0 < place <= len(before) * (levels + 1)
    assert reason == "The formula is nested deeper than 50 levels. Simplify it."


@pytest.mark.parametrize("before", ["(", "-", "NOT(", '"a" & (', "IF(TRUE, "])
def test_no_formula_exhausts_the_stack(before: str) -> None:
    assert (
        refused(before * (8_000 // len(before)))[1]
        == "The formula is nested deeper than 50 levels. Simplify it."
    )
