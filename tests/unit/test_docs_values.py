"""The marked numbers of the pages are those of the code."""

import re
from decimal import Decimal

import pytest

from devtools.checks import _LONG, SUITES
from devtools.docs.command import pages
from devtools.docs.markers import Mark, Value, WrongMark, filled, marks, unused
from devtools.docs.values import values
from gridview.live.retries import DELAYS
from infra.ingress import _ACCESS_LOG
from tests.unit.test_docs import ROOT, text_of

VALUES = values()


@pytest.mark.parametrize("page", pages())
def test_the_marked_numbers_of_a_page_are_those_of_the_code(page: str) -> None:
    assert filled(text_of(page), VALUES) == text_of(page), "run ./dev python -m devtools.docs"


def test_every_value_is_on_a_page() -> None:
    assert unused(map(text_of, pages()), VALUES) == set()
    assert sum(len(marks(text_of(page))) for page in pages()) > 200


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("7", 8, "8"),
        ("7", 1_000_000, "1,000,000"),
        ("1,000", 7, "7"),
        ("$0.20", Decimal("0.40"), "$0.40"),
        ("Seven", 8, "Eight"),
        ("seven", 8, "eight"),
        ("seven", 80, "80"),
    ],
)
def test_a_marked_number_keeps_its_form(before: str, value: Value, after: str) -> None:
    page = f"A user has {before}<!--=polls.user-->, or 3. "
    assert filled(page, {"polls.user": value}) == page.replace(before, after)


def test_markers_in_tables_and_links() -> None:
    page = "| a | [12<!--=least--> to 25<!--=most--> units](x.md) |"
    assert marks(page) == [Mark("12", "least"), Mark("25", "most")]
    assert (
        filled(page, {"least": 1, "most": Decimal("2.5")})
        == "| a | [1<!--=least--> to 2.5<!--=most--> units](x.md) |"
    )


@pytest.mark.parametrize(
    "page",
    [
        "at most <!--=polls.user--> polls",
        "at most 8 <!--=polls.user--> polls",
        "at most 8<!--=Polls user--> polls",
        "`8<!--=polls.user-->` polls",
        "```json\n8<!--=polls.user-->\n```\n",
        "8<!--=polls.users--> polls",
    ],
)
def test_a_wrong_marker_is_refused(page: str) -> None:
    with pytest.raises(WrongMark):
        filled(page, {"polls.user": 8})


def test_the_page_of_webhooks_lists_every_delay() -> None:
    seconds, *others = DELAYS
    minutes = [one // 60 for one in others if one <= 3_600]
    hours = [one // 3_600 for one in others if one > 3_600]
    said = f"sent again after {seconds} seconds, then after {_listed(minutes)} minutes, then after {_listed(hours)} hours"
    assert said in " ".join(text_of("docs/webhooks.md").split())


def _listed(numbers: list[int]) -> str:
    *first, last = map(str, numbers)
    return f"{', '.join(first)} and {last}"


def test_the_page_of_security_says_what_access_logs_contain() -> None:
    assert {"route", "user", "ip"} <= set(_ACCESS_LOG)
    assert "path" not in _ACCESS_LOG
    text = " ".join(text_of("SECURITY.md").split())
    assert (
        "Access logs contain the route, not the path. They also contain the user id and the IP address"
        in text
    )


def test_contributing_lists_the_suites() -> None:
    *most, last = SUITES
    page = text_of("CONTRIBUTING.md")
    assert f"# one suite: {', '.join(most)} or {last};" in page
    assert f"# all suites but {', '.join(sorted(_LONG))}:" in page


def test_what_functions_import_of_the_runtime_is_what_the_pages_say() -> None:
    """botocore, and nothing else of boto3."""
    sources = [*(ROOT / "layers/core").rglob("*.py"), *(ROOT / "functions").rglob("*.py")]
    imports = {
        name
        for path in sources
        for name in re.findall(r"^\s*(?:from|import) (boto\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert imports == {"botocore"}
    for page in ("docs/architecture.md", "layers/vendor/requirements.in"):
        assert "in addition to botocore, which Lambda's runtime has" in text_of(page)
