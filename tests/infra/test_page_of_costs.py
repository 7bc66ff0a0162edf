"""The bill of docs/costs.md, the limits of docs/settings.md, and the workflow and the versions of docs/install.md."""

import json
import re
from decimal import Decimal
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from devtools import cli
from infra.paths import ROOT, RUNBOOK
from infra.routes import ROUTES
from infra.settings import Settings
from tests.support.templates import functions_of, resources

PAGE = (ROOT / "docs/costs.md").read_text("utf-8")

IDLE = {("maintain", "Records"), ("upkeep", "JobsDue"), ("upkeep", "CanaryAge"), ("socket", "Requests")}
"""The metrics that an idle stack writes each minute, by function."""

BUSY = IDLE | {
    ("query", "Requests"),
    ("query", "CapacityUnits"),
    ("query", "SequentialCalls"),
    ("command", "Requests"),
    ("live", "Requests"),
    ("socket", "SocketsOpened"),
    ("socket", "Frames"),
    ("deliver", "WebhookAttempts"),
    ("deliver", "WebhookFailures"),
    ("deliver", "DeliveriesGivenUp"),
    ("deliver", "WebhooksDisabled"),
    ("upkeep", "IssuesProcessed"),
}
"""The metrics of a stack with traffic of every kind and no fault."""

NIGHTLY = {"FsckDifferences", "FsckIssues"}

OF_FAULTS = {
    "DeadLetters",
    "FoldOverdue",
    "JobFailures",
    "Late",
    "LostRecords",
    "RedriveCrashes",
    "Refused",
    "ServerErrors",
    "Slow",
    "ThrottledRecords",
    "TransportFallback",
    "UncountedWrites",
}


def _rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0].split("\n### ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _prices() -> dict[str, Decimal]:
    """The page's table of prices, from which all other figures are computed."""
    return {what: Decimal(dollars) for what, dollars, _ in _rows("Prices")}


def test_the_idle_bill_adds_up() -> None:
    *parts, total, without = _rows("The idle bill")
    for _, count, each, month in parts:
        assert int(count) * Decimal(each) == Decimal(month)
    months = [Decimal(month) for *_, month in parts]
    assert sum(months) == Decimal(total[-1])
    assert sum(months[1:]) == Decimal(without[-1])


def test_the_idle_bill_is_made_of_the_prices() -> None:
    prices = _prices()
    each = {
        what.split(",")[0].split(":")[0].split(" (")[0]: Decimal(one)
        for what, _, one, _ in _rows("The idle bill")[:-2]
    }
    assert each["alarms"] == prices["alarm on a metric"]
    assert each["dashboard"] == prices["dashboard"]
    assert each["KMS key of the alarm topic"] == prices["KMS key"]
    assert each["secrets of cursors and of webhooks"] == prices["secret"]
    assert each["metrics that gridview writes while idle"] == prices["metric"]
    assert round(657_000 * prices["SQS request"] / 1_000_000, 2) == each["queues of jobs and webhooks"]
    for what, units in (("heartbeat", 87_600), ("canary", 131_400)):
        cost = round(units * prices["write unit"] / 1_000_000, 2)
        (item,) = re.findall(rf"- \*{what.capitalize()}\*: [^*]*?\({units:,} units\) \$([\d.]+)", PAGE)
        assert Decimal(item) == cost


def test_the_idle_bill_counts_the_metrics_that_the_code_writes() -> None:
    sources = [
        *(ROOT / "functions").glob("*/handler.py"),
        *(ROOT / "layers/core/python/gridview").glob("*/*.py"),
    ]
    text = "\n".join(path.read_text("utf-8") for path in sources)
    written = set(re.findall(r'name="(\w+)",\s*unit=MetricUnit|\b_?count\("(\w+)"\)|\("(\w+)", done\.', text))
    assert {"".join(groups) for groups in written} == {name for _, name in BUSY} | NIGHTLY | OF_FAULTS
    counts = {what: int(count) for what, count, *_ in _rows("The idle bill")[:-2]}
    assert counts["metrics that gridview writes while idle"] == len(IDLE)
    more = (len(BUSY) - len(IDLE)) * _prices()["metric"]
    assert f"gridview writes {len(BUSY)} metrics in place of {len(IDLE)} (${more:.2f} more)" in " ".join(
        PAGE.split()
    )


def test_the_idle_bill_counts_what_the_template_declares(template: dict[str, Any]) -> None:
    counted = {
        what.split(",")[0].split(":")[0]: int(count) for what, count, *_ in _rows("The idle bill")[:-2]
    }
    alarms = resources(template, "AWS::CloudWatch::Alarm").values()
    # An alarm on an expression costs one alarm for each metric of the expression.
    metrics = [
        sum("MetricStat" in one for one in alarm["Metrics"]) if "Metrics" in alarm else 1 for alarm in alarms
    ]
    snapped = [one for one in functions_of(template).values() if "SnapStart" in one]
    assert counted["alarms"] == sum(metrics)
    assert counted["SnapStart"] == len(snapped)
    assert {one["MemorySize"] for one in snapped} == {1769}
    assert counted["KMS key of the alarm topic"] == len(resources(template, "AWS::KMS::Key"))
    assert counted["secrets of cursors and of webhooks"] == len(
        resources(template, "AWS::SecretsManager::Secret")
    )


def test_the_bill_of_a_million_calls_adds_up() -> None:
    operations = {route.operation for route in ROUTES}
    rows = _rows("A million calls")
    assert len(rows) > 10
    for call, *parts, whole in rows:
        assert sum(map(Decimal, parts)) == Decimal(whole), call
        named = re.match(r"`(\w+)`", call)
        assert named is not None
        assert named[1] in operations


def _units() -> dict[str, tuple[Decimal, Decimal]]:
    """The write and read units of each call, as the page lists them below the bill."""
    (part,) = (one for one in PAGE.split("\n\n") if one.startswith("| call | write units |"))
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()[2:]]
    return {call: (Decimal(writes or 0), Decimal(reads)) for call, writes, reads, _ in lines}


def test_the_bill_of_dynamodb_is_that_of_the_units() -> None:
    units, rows, prices = _units(), _rows("A million calls"), _prices()
    priced = {call: Decimal(dynamodb) for call, _, _, dynamodb, *_ in rows if Decimal(dynamodb)}
    listed = [call for call, *_ in rows if call in units]
    assert set(priced) == set(units) == set(listed)
    for call, (writes, reads) in units.items():
        cost = writes * prices["write unit"] + reads * prices["read unit"]
        assert abs(cost - priced[call]) <= Decimal("0.01"), (call, cost)


@pytest.mark.parametrize(
    ("call", "measured", "cell", "documents"),
    [
        ("`grid`: a page by an indexed field", "a page by an indexed field", 0, 100),
        ("`grid`: filtered (1 %) and sorted, cold", "filtered (1 %) and sorted", 0, 100),
        ("`grid`: the same, warm", "filtered (1 %) and sorted", 1, 100),
        ("`grid`: an exact count, without rows, cold", "an exact count under a filter", 0, 0),
        ("`groups` of a field with few values, cold", "grouped counts of a field with few values", 0, 0),
        ("`row_number`: the row number of an issue, middle", "row N of an order, its middle", 0, 0),
    ],
)
def test_the_units_of_reads_are_those_that_were_measured(
    call: str, measured: str, cell: int, documents: int
) -> None:
    """With the epoch's, as in docs/performance.md, and half a unit for each document of a page."""
    performance = (ROOT / "docs/performance.md").read_text("utf-8")
    (line,) = [
        one for one in performance.split("\n### ")[0].splitlines() if one.startswith(f"| {measured} | ")
    ]
    found = Decimal(line.split("|")[3].split("/")[cell].strip(" *"))
    assert _units()[call] == (Decimal(0), found + Decimal(documents) / 2)


def test_the_units_of_writes_are_those_that_were_measured() -> None:
    """For the journalled path, with the folds."""
    performance = (ROOT / "docs/performance.md").read_text("utf-8")

    def cells(start: str) -> list[str]:
        (line,) = [one for one in performance.splitlines() if one.startswith(start)]
        return [cell.strip(" *") for cell in line.strip("|").split("|")]

    create, edit = cells("| create | on |"), cells("| edit of one field of an old issue | on |")
    delete, minute = cells("| delete of an old issue | on |"), cells("| 100,000 | **27.3** |")
    units = {call: str(writes) for call, (writes, _) in _units().items()}
    assert units["`create_issue`, alone"] == create[2]
    assert units["`batch` of 500 creates, by issue, 1,000 a fold"] == create[5]
    assert units["`update_issue`, an indexed field, alone"] == edit[2] == minute[1]
    assert units["`update_issue`, an indexed field, one a minute"] == minute[2]
    assert units["`delete_issue`, alone"] == delete[2]


def test_the_numbers_of_the_prose_are_those_of_the_template(template: dict[str, Any]) -> None:
    alarms = len(resources(template, "AWS::CloudWatch::Alarm"))
    settings = (ROOT / "docs/settings.md").read_text("utf-8")
    assert f"| one dashboard, and {alarms} alarms |" in settings
    (about,) = re.findall(r"CloudFormation: 500 \| about (\d+), ", settings)
    assert abs(int(about) - len(template["Resources"])) <= 10
    dashboard, alarmed = re.findall(
        r"\| (?:dashboard|alarms, by metric)[^|]*\|[^|]*\|[^|]*\| ([\d.]+) \|", PAGE
    )
    runbook = (ROOT / RUNBOOK).read_text("utf-8")
    assert f"Alarms and dashboard cost ${Decimal(dashboard) + Decimal(alarmed)} a month" in " ".join(
        runbook.split()
    )


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    """The example of a workflow."""
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docs/github-actions.yml").read_text("utf-8"))
    return loaded


def test_the_workflow_checks_pull_requests_and_deploys_by_hand_without_keys(workflow: dict[str, Any]) -> None:
    # YAML reads the key `on` as a truth value.
    triggers = workflow[True]  # type: ignore[index]
    assert set(triggers) == {"pull_request", "workflow_dispatch"}
    check, deploy = workflow["jobs"]["check"], workflow["jobs"]["deploy"]
    assert "id-token" not in check.get("permissions", {})
    assert deploy["permissions"]["id-token"] == "write"
    assert "secrets." not in (ROOT / "docs/github-actions.yml").read_text("utf-8")
    assert triggers["workflow_dispatch"]["inputs"]["stage"]["options"] == ["dev", "staging", "prod"]


def test_the_workflow_runs_commands_that_there_are_on_the_functions_python(
    workflow: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["--help"]) == 0
    known = capsys.readouterr().out
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            if "run" in step:
                assert f" {step['run'].split()[1]} " in known
            if "setup-python" in step.get("uses", ""):
                assert step["with"]["python-version"] == Settings().python_version
            if "setup-node" in step.get("uses", ""):
                assert step["with"]["node-version"] == "22"


def test_the_packages_of_the_cdk_are_pinned() -> None:
    package = json.loads((ROOT / "package.json").read_text("utf-8"))
    assert package["engines"] == {"node": ">=22"}
    assert all(re.fullmatch(r"[\d.]+", version) for version in package["devDependencies"].values())
    lock = (ROOT / "requirements/dev.txt").read_text("utf-8")
    for name in ("aws-cdk-lib", "constructs", "jsii", "cdk-nag"):
        assert re.search(rf"^{name}==[\d.]+ ", lock, re.MULTILINE), name
