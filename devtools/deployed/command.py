"""`./dev synth`, `deploy` and `destroy`: the CDK command line with less typing. `deploy` repeats a first deployment, which protects
nothing yet, and `destroy` empties the buckets; all else is in the app, for `npx cdk ...` too.
"""

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from devtools.aws_failures import reported
from devtools.deployed import arguments
from devtools.deployed.buckets import Buckets
from devtools.deployed.cdk import cdk
from devtools.deployed.vault import Vault
from devtools.failure import Failure
from devtools.paths import ROOT
from infra import protection
from infra.backup_vault import FOUND_OUTPUT, VAULT_OUTPUT
from infra.settings import Settings, described

_BUCKETS = ("FailedBatchesBucket", "PageBucket", "ExportBucket")
"""The outputs that name the stack's buckets."""

_FORCE = {"-f", "--force"}

_BACKUPS = "--backups"
"""Asks `destroy` to delete the backups too. Not an argument of cdk."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the help on cdk's arguments to `synth`, `deploy` and `destroy`."""
    parser.usage = f"{parser.prog} [--help] [cdk arguments ...]"
    parser.epilog = _help_on_settings()
    parser.set_defaults(takes_more=True)


def synth(args: argparse.Namespace) -> int:
    """Run `cdk synth`, quietly: it would print the whole template."""
    status = cdk("synth", "--quiet", *args.more)
    if status == 0 and not {"-o", "--output"} & set(args.more):
        print("The template and the code are in cdk.out.")
    return status


def deploy(args: argparse.Namespace) -> int:
    """Run `cdk deploy`, and once more where the first deployment says that the next one protects."""
    more: list[str] = args.more
    chosen = arguments.settings(more)
    with tempfile.TemporaryDirectory(prefix="gridview-deploy-") as folder:
        asked = next(arguments.option(more, "-O", "--outputs-file"), None)
        outputs = ROOT / asked if asked else Path(folder) / "outputs.json"
        options = more if asked else [*more, "--outputs-file", str(outputs)]
        status = cdk("deploy", *options)
        if status == 0 and not chosen.first_deployment and _protected(outputs) == protection.NOT_YET:
            print("The stack exists. Deploying it again, with its protection against deletion ...")
            status = cdk("deploy", *options)
    return status


def _protected(outputs: Path) -> str | None:
    """The protection output of the deployed stack; None if nothing was deployed."""
    stacks = json.loads(outputs.read_text("utf-8")) if outputs.is_file() else {}
    return next((one[protection.OUTPUT] for one in stacks.values() if protection.OUTPUT in one), None)


@reported()
def destroy(args: argparse.Namespace) -> int:
    """Run `cdk destroy`. CloudFormation cannot delete a bucket with objects, so what an unprotected stack has there goes first."""
    more = [one for one in args.more if one != _BACKUPS]
    chosen, buckets = arguments.settings(more), Buckets(arguments.profile(more))
    outputs = {} if chosen.protect else buckets.outputs(chosen.stack_name)
    if outputs.get(protection.OUTPUT) == protection.YES:
        # CloudFormation refuses to delete it, but only after the buckets have been emptied.
        raise Failure(
            f"The stack {chosen.stack_name} is protected. Deploy it with protect=false first: ./dev deploy -c protect=false, with "
            "your other settings."
        )
    vault = None if chosen.protect else _vault(chosen, outputs, buckets)
    backups = _asked_for(vault, chosen.stack_name, args.more)
    status = _destroy(chosen.stack_name, outputs, buckets, more)
    if vault is not None and status == 0:
        _end(vault, backups)
    return status


def _destroy(stack_name: str, outputs: Mapping[str, str], buckets: Buckets, more: list[str]) -> int:
    held = {bucket: buckets.keys_in(bucket) for name in _BUCKETS if (bucket := outputs.get(name)) is not None}
    if not any(held.values()):
        return cdk("destroy", *more)
    if not _FORCE & set(more):
        batches = len(held.get(outputs.get("FailedBatchesBucket", ""), ()))
        if not _agreed(f"Delete {stack_name} with its data, its page and {batches} failed batches?"):
            raise Failure("Nothing was deleted.")
        more = [*more, "--force"]
    for bucket, keys in held.items():
        buckets.remove(bucket, keys)
    return cdk("destroy", *more)


def _vault(chosen: Settings, outputs: Mapping[str, str], buckets: Buckets) -> Vault | None:
    """The vault that the stack uses, or that one of its name has used before; None if there is none."""
    named = outputs.get(VAULT_OUTPUT) or outputs.get(FOUND_OUTPUT) or chosen.vault_name
    vault = Vault(buckets.client("backup"), named)
    return vault if vault.exists() else None


def _asked_for(vault: Vault | None, stack_name: str, more: Sequence[str]) -> bool:
    """Whether the backups are to be deleted too.

    Without `--backups` the user is asked; with only `--force` they stay.
    """
    if vault is None:
        return False
    if _BACKUPS in more or _FORCE & set(more):
        return _BACKUPS in more
    points = len(vault.recovery_points())
    return points > 0 and _agreed(
        f"Delete the {points} backups of {stack_name} in the vault {vault.name} too?"
    )


def _end(vault: Vault, backups: bool) -> None:
    """Delete the vault if the user agreed or it is empty, and print its remaining backups."""
    if (backups or not vault.recovery_points()) and vault.remove():
        print(f"The vault {vault.name} was deleted.")
        return
    points = len(vault.recovery_points())
    print(
        f"The vault {vault.name} remains, with {points} backups. Each expires 35 days after it was made. "
        "To delete them now: "
        f"`aws backup list-recovery-points-by-backup-vault --backup-vault-name {vault.name}`, then "
        "`aws backup delete-recovery-point` for each, then `aws backup delete-backup-vault`."
    )


def _agreed(question: str) -> bool:
    try:
        return input(f"{question} (y/n) ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False


def _help_on_settings() -> str:
    lines = [f"  {f'{name}={default}':<38} {text.replace('`', '')}" for name, default, text in described()]
    return "\n".join(["All arguments go to cdk. Settings are context values (-c NAME=VALUE):", *lines])
