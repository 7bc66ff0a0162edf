"""The CDK app."""

import sys

from aws_cdk import App

from infra.checks import add_checks
from infra.context import settings_from
from infra.settings import SettingError
from infra.stack import GridviewStack
from infra.vendor import LayerError


def main() -> None:
    """Synthesize the stack into the folder that the CDK command line asks for."""
    app = App()
    add_checks(app)
    try:
        GridviewStack(app, settings=settings_from(app.node.try_get_context))
    except (SettingError, LayerError) as error:
        sys.exit(str(error))
    app.synth()
