"""`./dev smoke`: a short tour through a stack, local or deployed."""

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from botocore.exceptions import BotoCoreError, ClientError
from websockets.exceptions import WebSocketException

from devtools.failure import Failure
from devtools.local.folder import Folder
from devtools.operate import target
from devtools.smoke.local import LocalStack
from devtools.smoke.outcome import NotShown, Wrong
from devtools.smoke.stack import Stack
from devtools.smoke.steps import STEPS, Tour

_DESCRIPTION = """\
Test a running stack from end to end. The steps are the web page, a write, a read with its token, a foreign tenant, a
socket, a webhook and an export. The test uses two tenants of its own. At the end it deletes its project, and on a deployed
stack also its users and its probe.

Each step prints a line: passed, failed with the reason, or not shown with the reason. The exit status is 1 if a
step failed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev smoke`."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "--receiver",
        metavar="URL",
        help="receiver of the webhook of a deployed stack: a public https address of yours that answers 200",
    )
    target.register(parser)


def run(args: argparse.Namespace) -> int:
    """Try a stack. Returns 1 if a step failed."""
    if not args.deployed and (args.stack_name or args.profile or args.receiver):
        raise Failure(
            "--stack-name, --profile and --receiver work with a deployed stack only. Add --deployed."
        )
    with _opened(args) as stack, stack.api() as api:
        return tour(Tour(stack, api))


@contextmanager
def _opened(args: argparse.Namespace) -> Iterator[Stack]:
    if not args.deployed:
        yield LocalStack(Folder(args.data))
        return
    # Only a deployed stack needs boto3's clients.
    from devtools.smoke.deployed import opened

    with opened(args.stack_name or target.DEFAULT_STACK, args.profile, args.receiver) as stack:
        yield stack


def tour(on: Tour) -> int:
    """Take every step, and print how each ended; the exit status. Without a project the later ones are not taken."""
    failed, not_shown = list[str](), list[str]()
    print(f"The smoke test of {on.stack.name}:", flush=True)
    try:
        for name, step in STEPS.items():
            began = time.monotonic()
            try:
                if "write" in failed:
                    raise Wrong("not tried, since the write failed")
                step(on)
                said = f"ok ({time.monotonic() - began:.1f} s)"
            except NotShown as reason:
                not_shown.append(name)
                said = f"not shown: {reason}"
            except Wrong as reason:
                failed.append(name)
                said = f"FAILED: {reason}"
            except (
                httpx.HTTPError,
                WebSocketException,
                OSError,
                TimeoutError,
                BotoCoreError,
                ClientError,
            ) as error:
                failed.append(name)
                said = f"FAILED: {type(error).__name__}: {error}"
            print(f"  {name:<16} {said}", flush=True)
    finally:
        try:
            on.api.delete(on.path)
        except httpx.HTTPError as error:
            print(f"  The project of {on.path} stays: {type(error).__name__}: {error}", flush=True)
    passed = len(STEPS) - len(failed) - len(not_shown)
    print(f"{passed} of {len(STEPS)} steps passed, {len(failed)} failed, {len(not_shown)} not shown.")
    return 1 if failed else 0
