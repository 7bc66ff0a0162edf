"""The query parameters of lists."""

from gridview.commands.parameters import ListParameters, UsersParameters


def test_a_result_page_has_100_items_if_the_caller_gives_no_limit() -> None:
    for model in (ListParameters, UsersParameters):
        assert model.model_validate({}).limit == 100
        assert model.model_json_schema()["properties"]["limit"]["default"] == 100
