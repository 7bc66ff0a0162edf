"""`./dev synth`, `deploy` and `destroy`: the CDK command line with less typing. `npx cdk ...` does the same."""

import argparse
import shutil
import subprocess
from collections.abc import Sequence
from typing import TYPE_CHECKING

import botocore.session
from botocore.exceptions import BotoCoreError

from devtools.failure import Failure
from devtools.paths import ROOT

if TYPE_CHECKING:
    from argparse import _SubParsersAction

_SETTINGS = """\
All arguments go to cdk. Settings are context values (-c NAME=VALUE):
  stack-name=Gridview      the stack's name
  architecture=arm64       or x86_64
  runtime=python3.13       any Python runtime of Lambda from 3.11 on
  snap-start=true          false: no snapshots (needs python3.12 or later)
  protect=true             false, once deployed: `destroy` works and deletes the data
"""


def register(subparsers: "_SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the three subcommands. Each sets `func`, which runs it and returns the exit status."""
    commands = {
        "synth": (
            synth,
            "write the CloudFormation template to cdk.out (no account; no network after the first time)",
        ),
        "deploy": (deploy, "deploy to the AWS account of the active credentials"),
        "destroy": (destroy, "delete a deployment (refused while it is protected)"),
    }
    for name, (func, summary) in commands.items():
        parser = subparsers.add_parser(
            name,
            help=summary,
            description=f"npx cdk {name}: {summary}.",
            epilog=_SETTINGS,
            usage=f"./dev {name} [--help] [cdk arguments ...]",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.set_defaults(func=func, takes_more=True)


def synth(args: argparse.Namespace) -> int:
    """Run `cdk synth`, quietly: it would print the whole template."""
    status = _cdk("synth", args, "--quiet")
    if status == 0 and not {"-o", "--output"} & set(args.more):
        print("The template and the code are in cdk.out.")
    return status


def deploy(args: argparse.Namespace) -> int:
    """Run `cdk deploy`."""
    return _cdk("deploy", args, needs_account=True)


def destroy(args: argparse.Namespace) -> int:
    """Run `cdk destroy`."""
    return _cdk("destroy", args, needs_account=True)


def _cdk(command: str, args: argparse.Namespace, *options: str, needs_account: bool = False) -> int:
    arguments: list[str] = args.more
    npx = shutil.which("npx")
    if npx is None:
        raise Failure("The CDK command line needs npm's npx, and none was found on the PATH.")
    if needs_account:
        _require_credentials(arguments)
    return subprocess.run(
        [npx, "--no-install", "cdk", command, *options, *arguments], cwd=ROOT, check=False
    ).returncode


def _require_credentials(arguments: Sequence[str]) -> None:
    """Fail early: CDK says the same after half a minute, in many lines."""
    profile = _profile(arguments)
    try:
        credentials = botocore.session.Session(profile=profile).get_credentials()
    except BotoCoreError as error:
        raise Failure(f"The AWS credentials cannot be used: {error}") from None
    if credentials is None:
        raise Failure(
            "There are no AWS credentials: sign in (`aws login` or `aws sso login`), choose a profile (--profile NAME), or set "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )


def _profile(arguments: Sequence[str]) -> str | None:
    for index, argument in enumerate(arguments):
        if argument.startswith("--profile="):
            return argument.removeprefix("--profile=")
        if argument == "--profile" and index + 1 < len(arguments):
            return arguments[index + 1]
    return None
