"""cdk-nag at every synthesis: an unacknowledged finding fails it."""

from collections.abc import Mapping

from aws_cdk import Acknowledgment, App, Validations
from cdk_nag import AwsSolutionsChecks
from constructs import IConstruct


def add_checks(app: App) -> None:
    """Check everything below `app` against the AwsSolutions rules at synthesis."""
    Validations.of(app).add_plugins(AwsSolutionsChecks(app, verbose=True))


def acknowledge(resource: IConstruct, findings: Mapping[str, str]) -> None:
    """Accept `findings` (rule id, or `rule[finding]`, to the reason) on one resource and its children."""
    Validations.of(resource).acknowledge(
        *(Acknowledgment(id=rule, reason=reason) for rule, reason in findings.items())
    )
