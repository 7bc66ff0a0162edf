"""The functions of formulas: how many parameters they take."""

from gridview.formulas.definition import define
from tests.support.formulas import SCOPE, refused


def test_a_switch_has_a_pattern_and_a_result_at_least() -> None:
    assert define('SWITCH({level}, "Low", 1)', SCOPE).type == "number"
    assert refused('SWITCH({level}, "Low")') == (
        0,
        "SWITCH has another number of parameters than 2. Write SWITCH(value, pattern, result, …, [default]).",
    )
