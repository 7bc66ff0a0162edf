"""`./dev rotate`, on a stack and a secret of moto's."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from devtools import cli
from devtools.operate import target
from devtools.operate.rotate import APART, Secret, rotate_webhooks
from devtools.proof.faults.memory_table import MemoryTable
from gridview.api.sealing import MAX_AGE, SECRETS, fetched
from gridview.encoding import live_keys
from gridview.encoding.seals import Seals
from gridview.live.webhook import SealedSecret, Webhook, binding_of
from gridview.support import clock
from tests.support.webhooks import stored

OUTPUTS = ("CursorSecretArn", "WebhookSecretArn")


@pytest.fixture
def arns(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The secrets of a stack that was just deployed."""
    with mock_aws():
        client = boto3.client("secretsmanager")
        made = {name: client.create_secret(Name=name, SecretString="first")["ARN"] for name in OUTPUTS}
        outputs = {**made, "TableName": "gridview"}
        monkeypatch.setattr(target, "outputs", lambda *_: outputs)
        yield made


@pytest.fixture
def secret(arns: dict[str, str]) -> Secret:
    return Secret(boto3.client("secretsmanager"), arns["WebhookSecretArn"])


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The recorded pauses, which take no time."""
    pauses: list[float] = []
    monkeypatch.setattr(clock, "sleep", pauses.append)
    return pauses


def put(table: MemoryTable, webhook: str, secret: Secret) -> None:
    sealed = Seals(secret.values().all(), SECRETS).seal(b"whsec", binding_of("0807", "35e9", webhook))
    table.put(stored(webhook, secrets=(SealedSecret(sealed),)))


def opens(table: MemoryTable, webhook: str, *values: bytes) -> bool:
    found = Webhook.from_item(table.items[live_keys.webhooks("0807", "35e9"), webhook])
    try:
        return Seals(values, SECRETS).open(found.secrets[0].sealed, found.binding) == b"whsec"
    except ValueError:
        return False


def test_the_secret_of_cursors_is_replaced_and_nothing_else(arns: dict[str, str], capsys: Any) -> None:
    assert cli.main(["rotate", "cursors", "--deployed"]) == 0
    client = boto3.client("secretsmanager")
    found = fetched(client, arns["CursorSecretArn"])
    assert (len(found.current), found.previous) == (64, b"first")
    assert found.current.isalnum()
    assert fetched(client, arns["WebhookSecretArn"]).current == b"first"
    assert "5 minutes" in capsys.readouterr().out


def test_a_rotation_seals_every_webhook_under_the_new_secret(
    secret: Secret, slept: list[float], capsys: Any
) -> None:
    table = MemoryTable()
    put(table, "w1", secret)
    assert rotate_webhooks(secret, table) == 0
    values = secret.values()
    assert values.previous == b"first"
    assert opens(table, "w1", values.current)
    assert slept == []
    assert capsys.readouterr().out.splitlines() == [
        "1 webhooks, 0 sealed again.",
        "Rotated.",
        "1 webhooks, 1 sealed again.",
    ]


def test_two_rotations_are_ten_minutes_apart_and_lose_nothing_that_was_sealed_before(
    secret: Secret, slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A function that has not read the first rotation creates a webhook during the second one's wait."""
    table = MemoryTable()
    put(table, "w1", secret)
    late = Seals(secret.values().all(), SECRETS)
    rotate_webhooks(secret, table)

    def waiting(seconds: float) -> None:
        slept.append(seconds)
        sealed = late.seal(b"whsec", binding_of("0807", "35e9", "w2"))
        table.put(stored("w2", secrets=(SealedSecret(sealed),)))

    monkeypatch.setattr(clock, "sleep", waiting)
    rotate_webhooks(secret, table)
    (pause,) = slept
    assert APART - 60 < pause <= APART
    assert APART >= 2 * MAX_AGE
    current = secret.values().current
    assert opens(table, "w1", current)
    assert opens(table, "w2", current)


def test_a_rotation_killed_before_its_pass_is_finished_by_the_next_or_by_reseal_only(
    secret: Secret, slept: list[float]
) -> None:
    for reseal_only in (True, False):
        table = MemoryTable()
        put(table, "w1", secret)
        secret.rotate()
        values = secret.values()
        assert opens(table, "w1", *values.all())
        assert not opens(table, "w1", values.current)
        assert rotate_webhooks(secret, table, reseal_only=reseal_only) == 0
        assert (secret.values() == values) is reseal_only
        assert opens(table, "w1", secret.values().current)


def test_a_secret_that_was_lost_before_is_named(secret: Secret, slept: list[float], capsys: Any) -> None:
    table = MemoryTable()
    table.put(stored("w1", secrets=(SealedSecret("none"),)))
    assert rotate_webhooks(secret, table) == 1
    assert "0807.35e9.w1: its secret cannot be opened" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["webhooks"], "files of its data folder"),
        (["cursors", "--deployed", "--reseal-only"], "--reseal-only works with webhooks only"),
    ],
)
def test_contradictory_arguments_are_refused(
    arns: dict[str, str], capsys: Any, arguments: list[str], said: str
) -> None:
    assert cli.main(["rotate", *arguments]) == 1
    assert said in capsys.readouterr().err


def test_a_stack_of_before_has_to_be_deployed_again(
    monkeypatch: pytest.MonkeyPatch, arns: dict[str, str], capsys: Any
) -> None:
    monkeypatch.setattr(target, "outputs", lambda *_: {"TableName": "gridview"})
    assert cli.main(["rotate", "cursors", "--deployed"]) == 1
    assert "CursorSecretArn" in capsys.readouterr().err


def test_help_names_both_secrets() -> None:
    assert cli.parser_of("rotate").parse_args(["webhooks"]).which == "webhooks"
