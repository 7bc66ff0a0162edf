"""The codes of currencies."""

import re

from gridview.schema.currencies import CURRENCIES


def test_a_code_is_three_capitals() -> None:
    assert [code for code in CURRENCIES if not re.fullmatch("[A-Z]{3}", code)] == []
