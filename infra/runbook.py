"""The table of alarms in the runbook, made from the alarms. `./dev python -m infra.runbook` writes it."""

import json
import tempfile
from collections.abc import Mapping

from aws_cdk import App

from infra.alarms import Advice
from infra.paths import ROOT, RUNBOOK
from infra.settings import Settings
from infra.stack import GridviewStack

_BEGIN = "<!-- alarms: made from infra/alarms.py by `./dev python -m infra.runbook` -->\n"
_END = "<!-- end of alarms -->\n"


def advice() -> Mapping[str, Advice]:
    """The advice of every alarm that a deployment can have, by the alarm's name. Takes seconds: constructs the stack."""
    context = json.loads((ROOT / "cdk.json").read_text("utf-8"))["context"]
    with tempfile.TemporaryDirectory(prefix="gridview-runbook-") as folder:
        app = App(outdir=folder, context={**context, "aws:cdk:bundling-stacks": []})
        return GridviewStack(app, settings=Settings(writes_per_second=1)).alarms.advice


def table_of(alarms: Mapping[str, Advice]) -> str:
    """The table in Markdown, one row for each alarm."""
    rows = [
        f"| `{name}` | {one.severity} | {one.notices} | {one.logs} | {one.means} | {one.do} |\n"
        for name, one in alarms.items()
    ]
    return "".join(
        [
            "| alarm | look | who notices | logs | what it means | what to do first |\n",
            "|---|---|---|---|---|---|\n",
            *rows,
        ]
    )


def with_table(page: str, table: str) -> str:
    """The page with this table between its two marks. ValueError if a mark is missing."""
    before, _, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not end:
        raise ValueError(f"{RUNBOOK} lacks a mark: it needs {_BEGIN.strip()} and {_END.strip()}.")
    return before + _BEGIN + table + _END + after


def main() -> None:
    """Write the table into the runbook."""
    page = ROOT / RUNBOOK
    page.write_text(with_table(page.read_text("utf-8"), table_of(advice())), "utf-8")


if __name__ == "__main__":
    main()
