"""Requests for saved views: the length of a name, and the schemas."""

import pytest

from gridview.query.view_request import ViewCreate, ViewPatch
from gridview.schema.catalog import Catalog
from gridview.support.errors import InvalidRequest
from gridview.support.validation import parse

CATALOG = Catalog("0807", "35e9", 1, (), (), 1)


@pytest.mark.parametrize("model", [ViewCreate, ViewPatch])
def test_the_name_of_a_view_has_1_to_256_characters(model: type[ViewCreate | ViewPatch]) -> None:
    for name in ("n", "n" * 256):
        assert parse(model, {"name": name}, CATALOG).name == name
    for name in ("", "n" * 257):
        with pytest.raises(InvalidRequest) as refused:
            parse(model, {"name": name}, CATALOG)
        assert [error.field for error in refused.value.errors] == ["name"]


def test_a_part_of_a_view_is_described_alike_for_its_creation_and_its_change() -> None:
    created, changed = (model.model_json_schema()["properties"] for model in (ViewCreate, ViewPatch))
    assert {name: one.get("description") for name, one in created.items()} == {
        name: one.get("description") for name, one in changed.items() if name in created
    }
    assert "colors" in created["color_by"]["description"]
