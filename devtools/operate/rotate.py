"""`./dev rotate`: give a deployed stack another secret, and seal stored values under it again."""

import argparse
import secrets
import string
from datetime import UTC, datetime
from typing import Any, Final

import boto3

from devtools.aws_failures import reported
from devtools.failure import Failure
from devtools.operate import target
from gridview.api.sealing import MAX_AGE, SECRETS, SecretValues, fetched
from gridview.dynamodb.table import Table
from gridview.encoding.seals import Seals
from gridview.live.resealing import reseal_webhooks
from gridview.support import clock

APART: Final = 2 * MAX_AGE
"""Seconds between two rotations of the secret of webhooks. After half of them no function seals under the value before any more."""

_OUTPUTS: Final = {"cursors": "CursorSecretArn", "webhooks": "WebhookSecretArn"}
_LETTERS: Final = string.ascii_letters + string.digits
_LENGTH: Final = 64

_DESCRIPTION = """\
Replace a secret of a deployed stack. `cursors` seals cursors, consistency tokens and tickets. `webhooks` seals the
stored secrets of webhooks. Functions use the new secret within five minutes. The previous secret still opens what it
sealed: cursors until they expire, secrets of webhooks always.

`webhooks` waits until ten minutes after the last rotation and seals every webhook under the present secret. Then it
rotates, and seals every webhook again. You can interrupt it at any time and run it again: nothing is lost.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev rotate`."""
    parser.description = _DESCRIPTION
    parser.add_argument("which", choices=sorted(_OUTPUTS), help="which secret")
    parser.add_argument(
        "--reseal-only",
        action="store_true",
        help="do not rotate; only seal the webhooks under the present secret",
    )
    target.register(parser)


@reported(" Run the same command again.")
def run(args: argparse.Namespace) -> int:
    """Rotate, or only seal webhooks again. Returns 1 if a webhook does not open."""
    if not args.deployed:
        raise Failure(
            "The secrets of a local stack are files of its data folder. Add --deployed for a deployed stack."
        )
    if args.reseal_only and args.which != "webhooks":
        raise Failure("--reseal-only works with webhooks only: the other secret seals no stored values.")
    try:
        outputs = target.outputs(args.stack_name or target.DEFAULT_STACK, args.profile)
        secret = Secret(boto3.client("secretsmanager"), outputs[_OUTPUTS[args.which]])
        if args.which == "cursors":
            secret.rotate()
            print("Rotated. The functions use the new secret within 5 minutes.")
            return 0
        return rotate_webhooks(secret, Table(outputs["TableName"]), reseal_only=args.reseal_only)
    except KeyError as error:
        raise Failure(f"The stack has no output {error}. Deploy this version first.") from None


class Secret:
    """A secret of Secrets Manager."""

    def __init__(self, client: Any, arn: str) -> None:
        self._client = client
        self._arn = arn

    def values(self) -> SecretValues:
        """Its value, and the one before: two calls."""
        return fetched(self._client, self._arn)

    def rotate(self) -> None:
        """Give it a new random value of 64 letters and digits. The present one becomes AWSPREVIOUS."""
        value = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
        self._client.put_secret_value(SecretId=self._arn, SecretString=value)


def rotate_webhooks(secret: Secret, table: Table, *, reseal_only: bool = False) -> int:
    """Rotate the secret of webhooks, between two passes; the exit status.

    Between the passes every webhook opens with the present or the previous value. The first pass comes after the wait: by then no
    function seals under the previous value, so none of it is left when it goes.
    """
    if not reseal_only:
        _wait(secret.values())
    status = _pass(secret, table)
    if reseal_only:
        return status
    secret.rotate()
    print("Rotated.")
    return _pass(secret, table)


def _wait(values: SecretValues) -> None:
    left = values.since + APART - clock.seconds() if values.previous is not None else 0.0
    if left > 0:
        until = datetime.fromtimestamp(clock.seconds() + left, UTC)
        print(f"The secret was rotated recently: waiting until {until:%H:%M:%S} UTC.", flush=True)
        clock.sleep(left)


def _pass(secret: Secret, table: Table) -> int:
    found = reseal_webhooks(table, Seals(secret.values().all(), SECRETS))
    print(f"{found.webhooks:,} webhooks, {found.resealed:,} sealed again.")
    for one in found.unopened:
        print(f"{one}: its secret cannot be opened. Rotate the webhook's own secret.")
    return 1 if found.unopened else 0
