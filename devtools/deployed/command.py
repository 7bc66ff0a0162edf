"""`./dev synth`, `deploy` and `destroy`: the CDK command line with less typing, and with the order that a first deployment and a
last one need. `npx cdk ...` works too; docs/deploying.md says what to mind then.
"""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from devtools.deployed import arguments, page
from devtools.deployed.account import CREATED, Account
from devtools.deployed.cdk import cdk
from devtools.failure import Failure
from devtools.local import page_build
from gridview.support import forms
from infra.settings import Settings, told

if TYPE_CHECKING:
    from argparse import _SubParsersAction

_BUCKETS = ("FailedBatchesBucket", "PageBucket", "ExportBucket")
"""The outputs that name the stack's buckets."""

_FORCE = {"-f", "--force"}


def register(subparsers: "_SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the three subcommands. Each sets `func`, which runs it and returns the exit status."""
    commands = {
        "synth": (
            synth,
            "write the CloudFormation template to cdk.out (no account; no network after the first time)",
        ),
        "deploy": (
            deploy,
            "deploy to the AWS account of the active credentials, with the page; the first time in two steps",
        ),
        "destroy": (destroy, "delete a deployment (refused while it is protected)"),
    }
    for name, (func, summary) in commands.items():
        parser = subparsers.add_parser(
            name,
            help=summary,
            description=f"npx cdk {name}: {summary}.",
            epilog=_help_on_settings(),
            usage=f"./dev {name} [--help] [cdk arguments ...]",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.set_defaults(func=func, takes_more=True)


def synth(args: argparse.Namespace) -> int:
    """Run `cdk synth`, quietly: it would print the whole template."""
    status = cdk("synth", "--quiet", *args.more)
    if status == 0 and not {"-o", "--output"} & set(args.more):
        print("The template and the code are in cdk.out.")
    return status


def deploy(args: argparse.Namespace) -> int:
    """Run `cdk deploy`, then upload the page, which is built before anything is deployed."""
    more: list[str] = args.more
    chosen, account = arguments.settings(more), Account(arguments.profile(more))
    if chosen.page:
        page_build.build(print)
    more = [*more, *_concurrency(chosen, account)]
    if not account.is_new(chosen.stack_name):
        more = [*more, *_not_yet(chosen, account.outputs(chosen.stack_name))]
    status = _deploy_stack(chosen, account, more)
    outputs = account.outputs(chosen.stack_name) if chosen.page and status == 0 else {}
    if "PageBucket" in outputs:
        page.upload(account, page_build.DIST, bucket=outputs["PageBucket"], config=outputs["PageConfig"])
        print(f"The page is at {outputs['PageUrl']}")
    return status


def _concurrency(chosen: Settings, account: Account) -> list[str]:
    """The setting of Lambda's concurrency, unless it is chosen or can't be looked up."""
    if chosen.account_concurrency or chosen.emulator:
        return []
    found = account.concurrency(chosen.stack_name)
    return ["-c", f"account-concurrency={found}"] if found else []


def _not_yet(chosen: Settings, outputs: Mapping[str, str]) -> list[str]:
    """The settings that hold back what a stack with these outputs does not know: its containers stay at work while this lasts."""
    held = []
    # A stack whose creation failed has no outputs.
    known = int(outputs.get("Forms", forms.OLDEST))
    if chosen.forms > known:
        print(f"This deployment brings the stored form {chosen.forms}: it is written from the next one on.")
        held += ["-c", f"forms={known}"]
    return held


def _deploy_stack(chosen: Settings, account: Account, more: list[str]) -> int:
    """Deploy. A stack that is created is protected by a second deployment, when the first one has succeeded."""
    if not chosen.guarded or not account.is_new(chosen.stack_name):
        return cdk("deploy", *more)
    status = cdk("deploy", "-c", "first=true", *more)
    if status or account.status(chosen.stack_name) != CREATED:
        return status
    print("The stack is there. It is deployed again, with its protection against deletion.")
    return cdk("deploy", *more)


def destroy(args: argparse.Namespace) -> int:
    """Run `cdk destroy`. CloudFormation cannot delete a bucket with objects, so what an unprotected stack has there goes first."""
    more: list[str] = args.more
    chosen, account = arguments.settings(more), Account(arguments.profile(more))
    outputs = {} if chosen.protect else account.outputs(chosen.stack_name)
    held = {bucket: account.keys_in(bucket) for name in _BUCKETS if (bucket := outputs.get(name)) is not None}
    if not any(held.values()):
        return cdk("destroy", *more)
    if not _FORCE & set(more):
        batches = len(held.get(outputs.get("FailedBatchesBucket", ""), ()))
        if not _agreed(f"Delete {chosen.stack_name} with its data, its page and {batches} failed batches?"):
            raise Failure("Nothing was deleted.")
        more = [*more, "--force"]
    for bucket, keys in held.items():
        account.remove(bucket, keys)
    return cdk("destroy", *more)


def _agreed(question: str) -> bool:
    try:
        return input(f"{question} (y/n) ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False


def _help_on_settings() -> str:
    lines = [f"  {f'{name}={default}':<38} {tells.replace('`', '')}" for name, default, tells in told()]
    return "\n".join(["All arguments go to cdk. Settings are context values (-c NAME=VALUE):", *lines])
