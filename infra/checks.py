"""cdk-nag at every synthesis: a finding that nobody has acknowledged stops it."""

from collections.abc import Mapping

from aws_cdk import Acknowledgment, App, Validations
from cdk_nag import AwsSolutionsChecks
from constructs import IConstruct


def add_checks(app: App) -> None:
    """Check everything below `app` against the AwsSolutions rules when it is synthesized."""
    Validations.of(app).add_plugins(AwsSolutionsChecks(app, verbose=True))


def acknowledge(resource: IConstruct, findings: Mapping[str, str]) -> None:
    """Accept `findings` (rule id, or `rule[finding]`, to the reason) on one resource and what it is made of."""
    Validations.of(resource).acknowledge(
        *(Acknowledgment(id=rule, reason=reason) for rule, reason in findings.items())
    )
