"""docs/api.md is the page that the OpenAPI document makes, and README leads to every page."""

import json
import re

import pytest

from devtools.docs.api_page import API_PAGE, GUIDES, MOST_WORDS, api_page
from gridview.commands.actor import Role
from gridview.encoding.json_codec import dumps
from infra.openapi.document import document
from infra.routes import ROUTES
from tests.unit.test_docs import ROOT, text_of

PAGE = text_of(API_PAGE)
DOCUMENT = json.loads(dumps(document()))


def test_the_page_is_what_the_document_makes() -> None:
    assert api_page(DOCUMENT) == PAGE, "run ./dev python -m devtools.docs"


def test_the_page_has_each_call_once_below_its_tag() -> None:
    assert set(GUIDES) == {tag["name"] for tag in DOCUMENT["tags"]}
    sections = dict(part.split("\n", 1) for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:])
    for route in ROUTES:
        assert sections[route.tag].count(f"**`{route.key}`**") == 1
    assert PAGE.count("- **`") == len(ROUTES)


def test_a_call_has_its_role_body_headers_and_answers() -> None:
    (call,) = re.findall(
        r"\*\*`PATCH /v1/projects/{project}/issues/{num}`\*\*[^*]*\*(.*?)\n- ", PAGE, re.DOTALL
    )
    role, *parts = " ".join(call.split()).split(". ")
    assert role.strip("*").upper() == Role.EDITOR.name
    assert parts == [
        "Body: `IssuePatch`",
        "Headers: `If-Match`, `X-Change-Id`",
        "Answers: 200 `UpdatedIssue`, 400, 403, 404, 409, 412, 413, 422.",
    ]


def test_the_page_is_short_and_has_the_schemas_of_bodies() -> None:
    assert len(PAGE.split()) <= MOST_WORDS
    schemas = PAGE.split("\n## Schemas\n", 1)[1]
    assert all(f"\n`{route.body}`: " in schemas for route in ROUTES if route.body)


def test_without_room_the_schemas_are_left_to_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    for most, expected in ((100_000, 1), (0, 0)):
        monkeypatch.setattr("devtools.docs.api_page.MOST_WORDS", most)
        assert api_page(DOCUMENT).count("\n## Schemas\n") == expected


def test_every_name_of_the_page_is_one_of_the_document() -> None:
    """The names in the fixed sentences too: these would be outdated after a rename otherwise."""
    names = set(re.findall(r"`(\w[\w-]*)\??`", PAGE))
    whole = json.dumps(DOCUMENT)
    assert {name for name in names if not re.search(rf"\b{re.escape(name)}\b", whole)} == set()


def test_the_readme_leads_to_every_page() -> None:
    linked = set(re.findall(r"\((docs/[\w-]+\.md)[)#]", text_of("README.md")))
    assert {str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md")} - linked == set()
