"""Writes every part of the pages that code makes."""

from devtools.docs.api_page import API_PAGE, SCHEMAS_PAGE, api_page, schemas_page
from devtools.docs.markers import filled
from devtools.docs.values import values
from devtools.paths import ROOT
from infra import runbook
from infra.openapi.document import document


def pages() -> list[str]:
    """The paths of the pages that may have markers: all but the decisions, which are records."""
    files = (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))
    return sorted(str(path.relative_to(ROOT)) for path in files)


def write() -> None:
    """Write the reference of the API, the table of alarms and the marked numbers, and print each page that changed."""
    runbook.main()
    _replace(API_PAGE, api_page(document()))
    _replace(SCHEMAS_PAGE, schemas_page(document()))
    known = values()
    for path in pages():
        _replace(path, filled((ROOT / path).read_text("utf-8"), known))


def _replace(path: str, text: str) -> None:
    file = ROOT / path
    if not file.exists() or file.read_text("utf-8") != text:
        file.write_text(text, "utf-8")
        print(f"{path}: written")
