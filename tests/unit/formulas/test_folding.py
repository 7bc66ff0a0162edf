"""Arithmetic of literal numbers is computed once, and gives what it would give for each document."""

from decimal import Decimal

import pytest

from gridview.formulas.definition import define
from gridview.formulas.folding import folded
from gridview.formulas.tree import Expression
from tests.support.formulas import SCOPE, computed, value


def tree_of(source: str) -> Expression:
    """The tree of a formula as it is saved."""
    return define(source, SCOPE).tree


@pytest.mark.parametrize(
    ("source", "literal"),
    [
        ("1 + 0.19", "1.19"),
        ("2 * 3 - 4 / 8", "5.5"),
        ("-(2 + 3)", "-5"),
        ("1 / 3", "0.33333333333333333333333333333333333333"),
    ],
)
def test_an_operation_on_literal_numbers_becomes_a_literal_number(source: str, literal: str) -> None:
    tree = folded(tree_of(source))
    assert (tree.kind, tree.value, tree.parts) == ("n", Decimal(literal), ())


def test_only_the_parts_without_a_field_become_literals() -> None:
    product, rest = folded(tree_of("{cost} * (1 + 0.19) - 10 / 4")).parts
    assert [one.value for one in (product.parts[1], rest)] == [Decimal("1.19"), Decimal("2.5")]


@pytest.mark.parametrize("source", ["1 / 0", "0 / 0", "9E125 * 10", "1E-130 / 10"])
def test_an_operation_without_a_value_stays_and_counts_only_where_it_is_needed(source: str) -> None:
    assert folded(tree_of(source)) == tree_of(source)
    assert computed(source).unavailable is not None
    assert value(f"IF({{num}} = -1, {source}, 2)") == 2


def test_a_literal_number_can_be_on_either_side_of_a_field() -> None:
    assert value("100 - {num}") == 93
    assert value("{num} - 100") == -93
    assert value("MOD(100, {num})") == 2
    assert value("MOD({num}, 4)") == 3
