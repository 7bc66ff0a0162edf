"""docs/api.md and docs/api-schemas.md are the pages that the OpenAPI document makes, and README leads to every page."""

import json
import re

from devtools.docs.api_page import API_PAGE, GUIDES, SCHEMAS_PAGE, api_page, schemas_page
from gridview.commands.actor import Role
from gridview.encoding.json_codec import dumps
from gridview.support.errors import PROBLEMS
from infra.openapi.document import document
from infra.routes import ROUTES
from tests.unit.test_docs import ROOT, text_of

PAGE = text_of(API_PAGE)
SCHEMAS = text_of(SCHEMAS_PAGE)
DOCUMENT = json.loads(dumps(document()))


def test_the_pages_are_what_the_document_makes() -> None:
    assert api_page(DOCUMENT) == PAGE, "run ./dev python -m devtools.docs"
    assert schemas_page(DOCUMENT) == SCHEMAS, "run ./dev python -m devtools.docs"


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


def test_a_header_with_several_meanings_has_a_line_for_each_kind_of_call() -> None:
    asked, given = (
        re.findall(
            r"^- `([^`]+)`(?:, ([^:]+))?: ", PAGE.split(f"### Headers of {title}")[1].split("#")[0], re.M
        )
        for title in ("requests", "answers")
    )
    assert [kind for name, kind in asked if name == "X-Consistency-Token"] == [
        "other calls",
        "`POST /v1/projects/{project}/undo`",
    ]
    assert [kind for name, kind in given if name == "X-Consistency-Token"] == [
        "reads",
        "writes",
        "`GET /v1/projects/{project}/changes`",
    ]
    assert [kind for name, kind in given if name == "ETag"] == [""]


def test_every_problem_type_is_in_the_table_or_below_it() -> None:
    refusals = PAGE.split("### Refusals")[1].split("###")[0]
    assert {kind.name for kind in PROBLEMS.values()} - set(re.findall(r"\[([\w-]+)\]", refusals)) <= {
        "computed-field"
    }


def test_every_schema_has_one_line_below_its_kind() -> None:
    sections = dict(part.split("\n", 1) for part in re.split(r"^## ", SCHEMAS, flags=re.MULTILINE)[1:])
    lines = {title: re.findall(r"^`(\w+)`: \S", text, re.MULTILINE) for title, text in sections.items()}
    assert sorted(name for names in lines.values() for name in names) == sorted(
        DOCUMENT["components"]["schemas"]
    )
    assert {route.body for route in ROUTES if route.body} == {*lines["Bodies"]}
    assert {route.answer for route in ROUTES if route.answer} <= {*lines["Answers"], *lines["Lists"]}
    assert "`CommentPage`: `IssueComment`.<br>" in sections["Lists"]
    assert "`IssueGroups`: `groups`, `more`, `next`, " in sections["Answers"]
    assert "`FieldType`: one of `text`, `number`, " in sections["Parts"]


def test_every_name_of_the_pages_is_one_of_the_document() -> None:
    """The names in the fixed sentences too: these would be outdated after a rename otherwise."""
    names = set(re.findall(r"`(\w[\w-]*)\??`", PAGE + SCHEMAS))
    whole = json.dumps(DOCUMENT)
    assert {name for name in names if not re.search(rf"\b{re.escape(name)}\b", whole)} == set()


def test_the_readme_leads_to_every_page() -> None:
    linked = set(re.findall(r"\((docs/[\w-]+\.md)[)#]", text_of("README.md")))
    assert {str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md")} - linked == set()
