"""The CDK app."""

import os
import sys

from aws_cdk import App

from gridview.support import forms
from infra.account import Account, AccountError, clients
from infra.account_answers import account_answers
from infra.checks import add_checks
from infra.context import settings_from
from infra.page_build import PageError
from infra.pinned_cli import CliError, require_pinned_cli
from infra.settings import SettingError, Settings
from infra.stack import GridviewStack
from infra.vendor import LayerError


def main() -> None:
    """Synthesize the stack into the folder that the CDK command line asks for."""
    app = App()
    add_checks(app)
    try:
        require_pinned_cli(os.environ)
        GridviewStack(app, settings=_settings(app))
    except (AccountError, CliError, LayerError, PageError, SettingError) as error:
        sys.exit(str(error))
    app.synth()


def _settings(app: App) -> Settings:
    """The settings of the context, with the account's answers where it has none."""
    given = app.node.try_get_context
    answers = account_answers(given, os.environ, Account(clients(os.environ.get("CDK_DEFAULT_REGION"))))
    held = answers.get("stored-form", forms.NEWEST)
    if held != forms.NEWEST:
        print(
            f"This deployment brings the stored form {forms.NEWEST}. The functions write it from the next "
            "deployment on.",
            file=sys.stderr,
        )
    return settings_from(lambda name: answers[name] if name in answers else given(name))
