"""Formulas of many levels on DynamoDB Local, which refuses values of more than 32."""

import pytest

from devtools.local.engine import Engine
from tests.engine.local import stack

_LONG = " & ".join(["{Name}"] * 100)
_DEEP = "IF(FALSE(), 1, " * 49 + "2" + ")" * 49


@pytest.mark.parametrize(
    ("formula", "kind", "value"),
    [(_LONG, "text", "x" * 100), (_DEEP, "number", 2)],
    ids=["long", "deep"],
)
def test_a_formula_of_many_levels_is_stored(
    engine: Engine, table_name: str, tenant: str, formula: str, kind: str, value: object
) -> None:
    with stack(engine, table_name, tenant) as running:
        project = "/v1/projects/deep"
        running.api.made("/v1/projects", {"name": "Deep", "id": "deep"})
        made = running.api.made(
            f"{project}/attributes", {"id": "many", "name": "Many", "type": kind, "formula": formula}
        )
        assert made["formula"] == formula
        issue = running.api.made(f"{project}/issues", {"name": "x"})
        assert issue["fields"]["many"] == value
