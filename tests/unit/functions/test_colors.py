"""The colors of options and states, on which no issue and no index depends."""

from typing import Any, get_args

import pytest

from gridview.encoding import keys
from gridview.schema.fields import Color
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client

NAMES = ("gray", "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink")


class Palette:
    """The options of an attribute, or the states of a project, at `path`."""

    def __init__(self, api: Client, path: str, name: str) -> None:
        self.api, self.path, self.name = api, path, name

    def put(self, *requested: Any) -> Answer:
        return self.api.patch(self.path, {self.name: list(requested)})

    def colors(self) -> dict[str, str | None]:
        return {one["value"]: one["color"] for one in self.api.get(self.path).body[self.name]}


@pytest.fixture(params=["enum", "multi_enum", "states"])
def palette(request: pytest.FixtureRequest, api: Client) -> Palette:
    """`low` is red, `high` has no color; an issue in each."""
    options = [{"value": "low", "color": "red"}, "high"]
    body = {"id": "plain", "name": "Plain", **({"states": options} if request.param == "states" else {})}
    api.made("/v1/projects", body)
    if request.param == "states":
        of: dict[str, dict[str, Any]] = {one: {"state": one} for one in ("low", "high")}
        found = Palette(api, "/v1/projects/plain", "states")
    else:
        attribute = {"id": "level", "name": "Level", "type": request.param, "options": options}
        api.made("/v1/projects/plain/attributes", attribute)
        of = {
            one: {"fields": {"level": one if request.param == "enum" else [one]}} for one in ("low", "high")
        }
        found = Palette(api, "/v1/projects/plain/attributes/level", "options")
    for one in ("high", "low"):
        api.made("/v1/projects/plain/issues", {"name": one, **of[one]})
    return found


def test_the_palette() -> None:
    assert get_args(Color) == NAMES


def test_every_name_is_a_color_and_any_other_is_refused_with_the_names(palette: Palette) -> None:
    for color in (*NAMES, None):
        assert palette.put({"value": "low", "color": color}, "high").status == 200
        assert palette.colors() == {"low": color, "high": None}
    for wrong in ("Red", "grey", "#ff0000", "", 1, ["red"]):
        ((field, message),) = palette.put({"value": "low", "color": wrong}, "high").errors.items()
        assert field == f"{palette.name}.0.color"
        assert [name for name in NAMES if f"'{name}'" not in message] == []


@pytest.mark.parametrize("low", ["low", {"value": "low"}, {"id": "o1", "value": "low"}], ids=str)
def test_options_sent_without_a_color_keep_it(palette: Palette, low: Any) -> None:
    before = palette.api.get(palette.path).body
    assert palette.put(low, "high").body == before
    assert palette.put("high", low).status == 200
    assert palette.colors() == {"high": None, "low": "red"}


def test_a_renamed_option_keeps_its_color_and_null_takes_it_away(palette: Palette) -> None:
    palette.put({"id": "o1", "value": "lowest"}, "high")
    assert palette.colors() == {"lowest": "red", "high": None}
    palette.put(
        {"id": "o1", "value": "lowest", "color": None}, {"id": "o2", "value": "high", "color": "teal"}
    )
    assert palette.colors() == {"lowest": None, "high": "teal"}


def test_an_answer_can_be_sent_back_unchanged(palette: Palette) -> None:
    answered = palette.api.get(palette.path)
    again = palette.put(*answered.body[palette.name])
    assert (again.status, again.body, again.etag) == (200, answered.body, answered.etag)


def test_a_new_color_rebuilds_no_index_and_touches_no_issue(palette: Palette, account: Cloud) -> None:
    account.derive()
    page = {"sort": "state" if palette.name == "states" else "level", "limit": "1"}
    cursor = palette.api.get("/v1/projects/plain/grid", query=page).body["next"]
    before = dict(account.table.items)
    changed = palette.put("low", {"value": "high", "color": "blue"}).body
    assert (changed["version"], changed.get("build")) == (2, None)
    own = keys.tenant("0807") if palette.name == "states" else keys.attribute("0807", "plain", "level")
    touched = {key for key, item in account.table.items.items() if item != before.get(key)}
    assert touched == {(keys.project("0807", "plain"), sort_key) for sort_key in (own, keys.CATALOG)}
    rest = palette.api.get("/v1/projects/plain/grid", query={**page, "cursor": cursor})
    assert [row["name"] for row in rest.body["rows"]] == ["high"]


def test_other_changes_of_definitions_keep_the_colors(palette: Palette, account: Cloud) -> None:
    account.derive()
    assert palette.api.patch(palette.path, {"name": "Renamed"}).status == 200
    assert palette.put("high", "low").status == 200
    account.upkeep()
    assert palette.colors() == {"high": None, "low": "red"}


def test_definitions_from_before_there_were_colors_have_none(palette: Palette, account: Cloud) -> None:
    items = account.items()
    options = (
        one for item in items for name in ("options", "states") for one in item.get(name, {"L": ()})["L"]
    )
    assert [one["M"].pop("color") for one in options if "color" in one["M"]] == [{"S": "red"}]
    account.put(items)
    assert palette.colors() == {"low": None, "high": None}
    assert palette.put({"value": "low", "color": "pink"}, "high").status == 200
    assert palette.colors() == {"low": "pink", "high": None}
