"""The CDK app."""

import sys

from aws_cdk import App

from infra.checks import add_checks
from infra.settings import SettingError, Settings
from infra.stack import GridviewStack
from infra.vendor import LayerError


def main() -> None:
    """Synthesize the stack into the folder that the CDK command line asks for."""
    app = App()
    add_checks(app)
    try:
        GridviewStack(app, settings=Settings.from_context(app.node))
    except (SettingError, LayerError) as error:
        sys.exit(str(error))
    app.synth()
