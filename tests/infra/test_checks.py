"""cdk-nag runs at every synthesis, stops it, and every acknowledgement has a finding."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from infra.settings import Settings

if TYPE_CHECKING:
    from constructs import IConstruct


class Acknowledged:
    """Replaces CDK's Validations: records each acknowledgement and its place, and acknowledges nothing."""

    def __init__(self) -> None:
        self.noted: list[tuple[IConstruct, str, str]] = []
        self._resource: IConstruct | None = None

    def of(self, resource: "IConstruct") -> "Acknowledged":
        self._resource = resource
        return self

    def acknowledge(self, *rules: Any) -> None:
        assert self._resource is not None
        self.noted += [(self._resource, rule.id, rule.reason) for rule in rules]


@pytest.fixture(scope="module")
def acknowledged(tmp_path_factory: pytest.TempPathFactory) -> Acknowledged:
    """The acknowledgements of the stack, on a stack that still has all its findings."""
    from aws_cdk import App

    import infra.checks
    from infra.stack import GridviewStack

    noted = Acknowledged()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(infra.checks, "Validations", noted)
        folder = tmp_path_factory.mktemp("cdk.out")
        app = App(outdir=str(folder), context={"aws:cdk:bundling-stacks": []})
        GridviewStack(app, settings=Settings())
    return noted


@pytest.fixture(scope="module")
def findings(acknowledged: Acknowledged) -> set[tuple[str, str]]:
    """Every (rule, construct path) of that stack."""
    from cdk_nag import AwsSolutionsChecks

    app = acknowledged.noted[0][0].node.root
    report = AwsSolutionsChecks(app).validate_scope(app)
    return {
        (violation.rule_name, str(resource.construct_path))
        for violation in report.violations
        for resource in violation.violating_resources
    }


def test_a_finding_stops_the_synthesis(tmp_path: Path) -> None:
    from aws_cdk import App, Stack, aws_sqs

    from infra.checks import add_checks

    app = App(outdir=str(tmp_path))
    add_checks(app)
    aws_sqs.Queue(Stack(app, "Faulty"), "Queue")
    with pytest.raises(RuntimeError, match="AwsSolutions-SQS4"):
        app.synth()


def test_all_that_is_found_is_acknowledged_and_the_other_way_round(
    acknowledged: Acknowledged, findings: set[tuple[str, str]]
) -> None:
    needed: dict[tuple[str, str], set[tuple[str, str]]] = {
        (rule, resource.node.path): {
            (found, path) for found, path in findings if found == rule and _below(path, resource.node.path)
        }
        for resource, rule, _ in acknowledged.noted
        if rule.startswith("AwsSolutions-")
    }
    assert {entry for entry, matches in needed.items() if not matches} == set()
    assert findings - set().union(*needed.values()) == set()


def test_each_acknowledgement_is_of_one_resource_and_says_why(acknowledged: Acknowledged) -> None:
    from aws_cdk import App, Stack
    from aws_cdk import aws_iam as iam

    for resource, rule, reason in acknowledged.noted:
        assert not isinstance(resource, (App, Stack))
        # A construct of this project has several resources, except a role; its parts have one each.
        assert isinstance(resource, iam.Role) or not type(resource).__module__.startswith("infra."), rule
        assert len(reason.split()) >= 5, rule


def _below(path: str, parent: str) -> bool:
    return path == parent or path.startswith(f"{parent}/")
