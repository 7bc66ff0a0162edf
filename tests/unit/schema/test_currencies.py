"""The codes of currencies."""

import re

from gridview.schema.currencies import CURRENCIES
from gridview.schema.field_formats import FormatInput, format_errors
from gridview.schema.fields import FieldType


def test_a_code_is_three_capitals() -> None:
    assert [code for code in CURRENCIES if not re.fullmatch("[A-Z]{3}", code)] == []


def test_a_number_is_shown_in_any_currency_with_such_a_code() -> None:
    def errors(code: str) -> list[str]:
        request = FormatInput.model_validate({"as": "currency", "currency": code})
        return [error.field for error in format_errors(FieldType.NUMBER, request)]

    assert [code for code in CURRENCIES if errors(code)] == []
    assert errors("ZZZ") == ["format.currency"]
