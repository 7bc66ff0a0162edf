"""Reads the deployment's settings in the arguments for the CDK command line. They are passed on all the same."""

import json
from collections.abc import Iterator, Sequence

from devtools.failure import Failure
from devtools.paths import ROOT
from infra.context import settings_from
from infra.settings import SettingError, Settings


def settings(arguments: Sequence[str]) -> Settings:
    """The settings that the CDK app will read. Failure if a value is invalid."""
    context: dict[str, object] = json.loads((ROOT / "cdk.json").read_text("utf-8"))["context"]
    for given in option(arguments, "-c", "--context"):
        name, _, value = given.partition("=")
        context[name] = value
    try:
        return settings_from(context.get)
    except SettingError as error:
        raise Failure(str(error)) from None


def profile(arguments: Sequence[str]) -> str | None:
    """The profile with the credentials; None: the default."""
    return next(option(arguments, "--profile"), None)


def option(arguments: Sequence[str], *names: str) -> Iterator[str]:
    """The values of an option, written as `NAME VALUE` or `NAME=VALUE`."""
    for index, argument in enumerate(arguments):
        for name in names:
            if argument.startswith(f"{name}="):
                yield argument.removeprefix(f"{name}=")
            elif argument == name and index + 1 < len(arguments):
                yield arguments[index + 1]
