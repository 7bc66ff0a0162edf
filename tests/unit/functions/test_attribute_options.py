"""The options of enums: renamed, added, dropped and moved, and the effect on issues that use them."""

from typing import Any

import pytest

from tests.support.cloud import Cloud
from tests.support.http import Client

KINDS = ("enum", "multi_enum")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def severity(api: Client, project: str, kind: str) -> str:
    """The path of an attribute with the options low (o1), medium (o2), high (o3)."""
    body = {"id": "severity", "name": "Severity", "type": kind, "options": ["low", "medium", "high"]}
    api.made(f"{project}/attributes", body)
    return f"{project}/attributes/severity"


def use(api: Client, project: str, kind: str, *values: str) -> None:
    """Create an issue for each value."""
    for value in values:
        fields = {"severity": value if kind == "enum" else [value]}
        api.made(f"{project}/issues", {"name": value, "fields": fields})


def options(api: Client, path: str, *requested: Any) -> Any:
    answer = api.patch(path, {"options": list(requested)})
    assert answer.status == 200, answer.text
    assert api.get(path).body == answer.body
    return [(one["id"], one["value"]) for one in answer.body["options"]]


def values(api: Client, project: str) -> list[Any]:
    """The values of the issues in the order of the attribute."""
    rows = api.get(f"{project}/grid", query={"sort": "severity"}).body["rows"]
    return [row["fields"].get("severity") for row in rows]


def test_a_rename_shows_in_every_issue_at_once(
    api: Client, account: Cloud, project: str, severity: str, kind: str
) -> None:
    use(api, project, kind, "low", "high")
    account.derive()
    assert options(api, severity, {"id": "o1", "value": "minor"}, "medium", "high")[0] == ("o1", "minor")
    expected = ["minor", "high"]
    assert values(api, project) == (expected if kind == "enum" else [[one] for one in expected])
    wrong = "low" if kind == "enum" else ["low"]
    assert api.patch(f"{project}/issues/1", {"fields": {"severity": wrong}}).errors.keys() == {
        "fields.severity"
    }


def test_a_new_option_takes_its_place_between_the_others(
    api: Client, account: Cloud, project: str, severity: str, kind: str
) -> None:
    use(api, project, kind, "high", "low")
    account.derive()
    assert options(api, severity, "low", "bad", "medium", "high") == [
        ("o1", "low"),
        ("o4", "bad"),
        ("o2", "medium"),
        ("o3", "high"),
    ]
    use(api, project, kind, "bad")
    account.derive()
    expected = ["low", "bad", "high"]
    assert values(api, project) == (expected if kind == "enum" else [[one] for one in expected])


def test_an_option_that_no_issue_uses_can_be_dropped_and_moved(
    api: Client, account: Cloud, project: str, severity: str, kind: str
) -> None:
    use(api, project, kind, "high")
    account.derive()
    assert options(api, severity, "medium", "low", "high") == [
        ("o2", "medium"),
        ("o1", "low"),
        ("o3", "high"),
    ]
    assert options(api, severity, "low", "high") == [("o1", "low"), ("o3", "high")]


def test_an_option_that_an_issue_uses_cannot_be_dropped(
    api: Client, account: Cloud, project: str, severity: str, kind: str
) -> None:
    use(api, project, kind, "medium")
    account.derive()
    before = account.items()
    assert api.patch(severity, {"name": "New", "options": ["low", "high"]}).kind == (409, "conflict")
    assert account.items() == before
    api.patch(f"{project}/issues/1", {"fields": {"severity": None}})
    account.derive()
    assert options(api, severity, "low", "high") == [("o1", "low"), ("o3", "high")]


def test_a_dropped_option_that_a_late_writer_still_used_shows_and_goes_when_it_is_replaced(
    api: Client, account: Cloud, project: str, severity: str, kind: str
) -> None:
    use(api, project, kind, "medium")  # not indexed yet when the option is dropped
    assert options(api, severity, "low", "high") == [("o1", "low"), ("o3", "high")]
    account.derive()
    shown, low = ("medium", "low") if kind == "enum" else (["medium"], ["low"])
    assert values(api, project) == [shown]
    assert api.patch(f"{project}/issues/1", {"name": "x"}).body["fields"] == {"severity": shown}
    assert api.patch(f"{project}/issues/1", {"fields": {"severity": low}}).body["fields"] == {"severity": low}


def test_200_options_are_the_most(api: Client, project: str, severity: str, kind: str) -> None:
    many = [f"v{number}" for number in range(201)]
    body = {"name": "x", "type": kind, "options": many}
    assert api.post(f"{project}/attributes", body).kind == (422, "limit-exceeded")
    assert len(options(api, severity, *many[:200])) == 200
    assert api.patch(severity, {"options": many}).kind == (422, "limit-exceeded")
    full = api.patch(severity, {"options": many[1:]})
    assert len(full.body["options"]) == 200


def test_an_id_that_no_option_has_is_refused(api: Client, severity: str) -> None:
    answer = api.patch(severity, {"options": [{"id": "o9", "value": "x"}, {"id": "", "value": "y"}]})
    assert answer.errors.keys() == {"options.0.id", "options.1.id"}


def test_a_new_attribute_names_no_ids(api: Client, project: str, kind: str) -> None:
    body = {"name": "x", "type": kind, "options": [{"id": "o1", "value": "x"}]}
    assert api.post(f"{project}/attributes", body).errors.keys() == {"options.0.id"}


def test_all_options_of_a_field_without_issues_can_go(api: Client, severity: str) -> None:
    assert options(api, severity) == []
    assert options(api, severity, "low") == [("o4", "low")]


COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


def test_options_that_are_the_same_text_in_two_spellings_are_refused(
    api: Client, account: Cloud, project: str, severity: str, kind: str
) -> None:
    before = account.items()
    body = {"name": "Place", "type": kind, "options": ["x", COMPOSED, DECOMPOSED]}
    for answer in (
        api.post(f"{project}/attributes", body),
        api.patch(severity, {"options": ["x", {"id": "o1", "value": DECOMPOSED}, {"value": COMPOSED}]}),
        api.post("/v1/projects", {"name": "P", "states": ["x", COMPOSED, DECOMPOSED]}),
        api.patch(project, {"states": ["x", DECOMPOSED, COMPOSED]}),
    ):
        assert answer.kind == (409, "conflict")
        ((place, message),) = answer.errors.items()
        assert place.endswith("s.2.value")
        assert "s.1 in Unicode NFC" in message
    assert account.items() == before


def test_a_spelling_is_changed_by_the_options_id_and_names_are_not_compared(
    api: Client, project: str, severity: str
) -> None:
    first = options(api, severity, {"id": "o1", "value": COMPOSED}, "medium", "high")
    assert first[0] == ("o1", COMPOSED)
    assert options(api, severity, {"id": "o1", "value": DECOMPOSED}, "medium", "high")[0] == (
        "o1",
        DECOMPOSED,
    )
    for name in (COMPOSED, DECOMPOSED):
        api.made(f"{project}/attributes", {"name": name, "type": "text"})
        api.made("/v1/projects", {"name": name})
