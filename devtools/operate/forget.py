"""`./dev forget`: remove a tenant, or a person of a tenant, from table, bucket and user pool (docs/forgetting.md)."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import boto3
from rich.console import Console

from devtools.aws_failures import reported
from devtools.failure import Failure
from devtools.local.folder import Folder
from devtools.operate import target
from devtools.operate.forgetting.person import Files, Traces, forget_person
from devtools.operate.forgetting.places import UnknownPlace
from devtools.operate.forgetting.tenant import forget_tenant
from devtools.operate.target import Target
from gridview.encoding import keys
from gridview.maintenance.export_files import FILES, TAILS
from gridview.maintenance.waiting import Batch
from gridview.schema import ids
from gridview.support import clock
from infra.limits import SETTLE_SECONDS

TOKEN_SECONDS: Final = 900.0
"""Seconds for which a token of a user is good who was removed from the user pool."""

_MOST: Final = 60
_EVERY: Final = 15.0
"""Seconds between two passes at least: the stream and the folds need some."""

_DESCRIPTION = """\
Remove all data of a tenant, or one person of a tenant. "former-user" appears in place of the person. The command
repeats its passes over the table until nothing is left. You can interrupt it and start it again. For the data that
remains, and for how long, see docs/forgetting.md.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev forget`."""
    parser.description = _DESCRIPTION
    parser.add_argument("--tenant", metavar="T", required=True, help="the tenant")
    parser.add_argument(
        "--user", metavar="U", help="the id of a user (`sub`); without it, remove the whole tenant"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    parser.add_argument(
        "--token-seconds",
        metavar="S",
        type=float,
        help=f"how long issued tokens stay valid (default: {TOKEN_SECONDS:.0f} deployed, 0 local)",
    )
    target.register(parser)


@reported(" Start the command again.")
def run(args: argparse.Namespace) -> int:
    """Forget, if the user agrees. Returns 1 if something is left."""
    if not ids.TENANT.fullmatch(args.tenant) or not (args.user is None or ids.USER.fullmatch(args.user)):
        raise Failure("This is not the id of a tenant or a user.")
    if args.user == ids.FORMER_USER:
        raise Failure(f"{ids.FORMER_USER} replaces forgotten people, so it cannot be forgotten.")
    opened = target.open(args)
    console = Console(highlight=False, soft_wrap=True)
    if not args.yes:
        _require_consent(console, args, opened.label)
    try:
        if outputs := opened.outputs:
            removed = remove_users(boto3.client("cognito-idp"), outputs["UserPoolId"], args.tenant, args.user)
            console.print(f"{removed:,} users were removed from the user pool.")
        left = _forgotten(console, args, opened)
        batches = holding(opened.batches, args.tenant, args.user)
    except UnknownPlace as error:
        raise Failure(f"The table has an item that these tools do not know: {error}") from error
    for name in batches:
        console.print(
            f"The failed batch {name} contains the id. Redrive or drop the batch, then start the command again."
        )
    console.print("Some data is left. Start the command again." if left else "Nothing is left in the table.")
    return 1 if left or batches else 0


def _require_consent(console: Console, args: argparse.Namespace, label: str) -> None:
    """Failure unless the user types the id again."""
    subject = (
        f"the user {args.user} of the tenant {args.tenant}" if args.user else f"the tenant {args.tenant}"
    )
    try:
        typed = console.input(f"Forget {subject} in {label}? Type the id again: ")
    except EOFError:
        raise Failure(
            "The command needs a terminal to ask for the id again. Without one, add --yes."
        ) from None
    if typed != (args.user or args.tenant):
        raise Failure("Nothing was removed.")


def _forgotten(console: Console, args: argparse.Namespace, opened: Target) -> int:
    """Pass over the table until nothing is left or it has been tried often. Returns how many items are left."""
    tokens = args.token_seconds
    if tokens is None:
        tokens = TOKEN_SECONDS if args.deployed else 0.0
    common: dict[str, Any] = {
        "wait": lambda seconds: clock.sleep(max(seconds, _EVERY)),
        "files": _files(args, opened),
        "settling": SETTLE_SECONDS,
        "tokens": tokens,
        "most": _MOST,
    }
    if args.user is None:
        return forget_tenant(
            opened.table,
            args.tenant,
            say=lambda items: console.print(f"{items:,} items were left."),
            **common,
        )
    found = forget_person(
        opened.table, args.tenant, args.user, say=lambda one: console.print(described(one)), **common
    )
    return found.waiting.total() + found.rewritten.total()


def _files(args: argparse.Namespace, opened: Target) -> Files:
    """The exports of the stack."""
    if opened.outputs:
        return Bucket(boto3.client("s3"), opened.outputs["ExportBucket"])
    return FolderFiles(Folder(args.data).exports / "objects")


def described(found: Traces) -> str:
    """One line for a pass over the table."""
    done = ", ".join(f"{count:,} {name}" for name, count in sorted(found.rewritten.items()))
    waits = ", ".join(f"{count:,} {name}" for name, count in sorted(found.waiting.items()))
    return f"Rewritten: {done or 'nothing'}. Waiting for background work: {waits or 'nothing'}."


def remove_users(client: Any, pool: str, tenant: str, user: str | None) -> int:
    """Delete a tenant's users, or one, from a user pool of Cognito; returns how many there were. A request for each 60 users."""
    removed = 0
    for page in client.get_paginator("list_users").paginate(UserPoolId=pool):
        for one in page["Users"]:
            attributes = {entry["Name"]: entry["Value"] for entry in one["Attributes"]}
            if attributes.get("custom:tenant") == tenant and user in (None, attributes.get("sub")):
                client.admin_delete_user(UserPoolId=pool, Username=one["Username"])
                removed += 1
    return removed


def holding(batches: target.FailedBatches, tenant: str, user: str | None) -> list[str]:
    """The names of the failed batches with records of a tenant, or with the id of a user."""
    found = ((name, batches.read(name)) for name in batches.names())
    return sorted(name for name, content in found if content is not None and _holds(content, tenant, user))


def _holds(content: bytes, tenant: str, user: str | None) -> bool:
    if user is not None:
        return user.encode() in content
    try:
        # The id of a tenant may be short, and so occur in any text.
        return any(keys.parse_issue(key).tenant == tenant for key in Batch.of(content).keys)
    except ValueError:
        return tenant.encode() in content


class Bucket:
    """The bucket of exports."""

    def __init__(self, client: Any, bucket: str) -> None:
        """`client` is an S3 client."""
        self._client = client
        self._bucket = bucket

    def remove(self, tenant: str, before: float) -> None:
        """Delete files and tails, and abort uploads: a request for each 1,000, and one for each of them."""
        for key in self._old(tenant, before):
            self._client.delete_object(Bucket=self._bucket, Key=key)
        prefix = f"{FILES}{tenant}/"
        for page in self._client.get_paginator("list_multipart_uploads").paginate(
            Bucket=self._bucket, Prefix=prefix
        ):
            for one in page.get("Uploads", []):
                if one["Initiated"].timestamp() < before:
                    self._client.abort_multipart_upload(
                        Bucket=self._bucket, Key=one["Key"], UploadId=one["UploadId"]
                    )

    def _old(self, tenant: str, before: float) -> Iterator[str]:
        for prefix in (FILES, TAILS):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=f"{prefix}{tenant}/"
            )
            for page in pages:
                for one in page.get("Contents", []):
                    if one["LastModified"].timestamp() < before:
                        yield one["Key"]


class FolderFiles:
    """The exports of a local stack, in a folder. Uploads that are not complete are removed by the stack within two days."""

    def __init__(self, folder: Path) -> None:
        """The folder need not exist."""
        self._folder = folder

    def remove(self, tenant: str, before: float) -> None:
        """Delete the tenant's files that were written before."""
        for prefix in (FILES, TAILS):
            for path in (self._folder / prefix / tenant).rglob("*"):
                if path.is_file() and path.stat().st_mtime < before:
                    path.unlink(missing_ok=True)
