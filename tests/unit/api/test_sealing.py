"""The secrets with which the functions seal, and their rotations."""

import time
from collections.abc import Iterator

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from gridview.api import sealing
from gridview.api.config import ConfigurationError
from gridview.api.sealing import MAX_AGE, CursorSource, WebhookSeals
from gridview.encoding.consistency import SECONDS
from gridview.live.tickets import TICKET_SECONDS
from gridview.support.errors import InvalidRequest

DAY = 86_400


class Clock:
    def __init__(self) -> None:
        self.now = float(int(time.time()))

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock at the instant of the test's rotations, moved by the test."""
    clock = Clock()
    monkeypatch.setattr(sealing, "time", clock)
    return clock


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The ARN of a secret in Secrets Manager that was never rotated, for both purposes."""
    with mock_aws():
        client = boto3.client("secretsmanager")
        arn = client.create_secret(Name="cursors", SecretString="first")["ARN"]
        for name in ("CURSOR_SECRET", "WEBHOOK_SECRET"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.setenv(f"{name}_ARN", arn)
        yield arn


def rotate(arn: str, value: str) -> None:
    boto3.client("secretsmanager").put_secret_value(SecretId=arn, SecretString=value)


def delete(arn: str) -> None:
    boto3.client("secretsmanager").delete_secret(SecretId=arn, ForceDeleteWithoutRecovery=True)


@pytest.mark.parametrize(
    ("make", "variable"), [(CursorSource, "CURSOR_SECRET"), (WebhookSeals, "WEBHOOK_SECRET")]
)
def test_a_function_without_its_secret_does_not_start(
    monkeypatch: pytest.MonkeyPatch, make: type, variable: str
) -> None:
    for name in ("CURSOR_SECRET", "CURSOR_SECRET_ARN", "WEBHOOK_SECRET", "WEBHOOK_SECRET_ARN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match=f"{variable}_ARN"):
        make()


def test_a_local_secret_needs_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURSOR_SECRET", "local")
    monkeypatch.setenv("WEBHOOK_SECRET", "local")
    monkeypatch.setattr(sealing, "aws", None)
    cursors, webhooks = CursorSource().cursors("grid"), WebhookSeals()
    assert cursors.open(cursors.seal("here", b""), b"") == "here"
    assert webhooks.open(webhooks.seal(b"here", b""), b"") == b"here"
    with pytest.raises(ValueError, match="not sealed for this"):
        webhooks.open(webhooks.seal(b"here", b""), b"elsewhere")


def test_a_rotation_is_known_after_five_minutes_and_the_previous_secret_still_taken(
    secret: str, clock: Clock
) -> None:
    source = CursorSource()
    before = source.cursors("grid").seal("here", b"")
    rotate(secret, "second")
    clock.now += 299
    assert source.cursors("grid").seal("here", b"") == before
    clock.now += 1
    after = source.cursors("grid").seal("here", b"")
    assert after != before
    assert source.cursors("grid").open(before, b"") == source.cursors("grid").open(after, b"") == "here"
    rotate(secret, "third")
    clock.now += 300
    with pytest.raises(InvalidRequest):
        source.cursors("grid").open(before, b"")
    assert source.cursors("grid").open(after, b"") == "here"


@pytest.mark.parametrize(("purpose", "lives"), [("grid", DAY), ("changes", 7 * DAY)])
def test_the_previous_secret_opens_a_cursor_for_as_long_as_it_lives(
    secret: str, clock: Clock, purpose: str, lives: float
) -> None:
    source = CursorSource()
    before = source.cursors(purpose).seal("here", b"")
    rotate(secret, "second")
    clock.now += MAX_AGE + lives - 2
    assert source.cursors(purpose).open(before, b"") == "here"
    clock.now += 3
    with pytest.raises(InvalidRequest):
        source.cursors(purpose).open(before, b"")
    assert source.cursors(purpose).open(source.cursors(purpose).seal("on", b""), b"") == "on"


def test_the_previous_secret_opens_tickets_and_tokens_for_as_long_as_they_live(
    secret: str, clock: Clock
) -> None:
    source = CursorSource()
    ticket = source.seals("tickets", TICKET_SECONDS).seal(b"in", b"")
    token = source.tokens().token("0807", "35e9", {1: 1}, clock.now)
    rotate(secret, "second")
    clock.now += MAX_AGE + TICKET_SECONDS - 2
    assert source.seals("tickets", TICKET_SECONDS).open(ticket, b"") == b"in"
    clock.now += 3
    with pytest.raises(ValueError, match="not sealed for this"):
        source.seals("tickets", TICKET_SECONDS).open(ticket, b"")
    assert source.tokens().opened(token, "0807")
    clock.now += SECONDS
    with pytest.raises(InvalidRequest):
        source.tokens().opened(token, "0807")


def test_a_secret_that_was_never_rotated_is_enough(secret: str) -> None:
    cursors = CursorSource().cursors("grid")
    assert cursors.open(cursors.seal("here", b""), b"") == "here"


def test_the_cursors_of_a_purpose_are_made_once_between_reads(secret: str, clock: Clock) -> None:
    source = CursorSource()
    assert source.cursors("grid") is source.cursors("grid")
    assert source.cursors("grid") is not source.cursors("projects")


def test_a_secret_that_cannot_be_read_is_an_error_and_not_a_missing_predecessor(secret: str) -> None:
    source = CursorSource()
    delete(secret)
    with pytest.raises(ClientError, match="ResourceNotFound"):
        source.cursors("grid")


def test_a_secret_is_read_before_it_is_needed(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source, webhooks = CursorSource(), WebhookSeals()
    source.prime()
    webhooks.prime()
    monkeypatch.setattr(sealing, "aws", None)
    assert source.cursors("grid").open(source.cursors("grid").seal("here", b""), b"") == "here"
    assert webhooks.open(webhooks.seal(b"here", b""), b"") == b"here"


def test_a_secret_that_cannot_be_read_yet_does_not_stop_the_start(secret: str) -> None:
    delete(secret)
    source = CursorSource()
    source.prime()
    with pytest.raises(ClientError, match="ResourceNotFound"):
        source.cursors("grid")


def test_known_secrets_are_used_on_when_they_cannot_be_read_again(secret: str, clock: Clock) -> None:
    source = CursorSource()
    before = source.cursors("grid").seal("here", b"")
    delete(secret)
    clock.now += 300
    assert source.cursors("grid").open(before, b"") == "here"


def test_a_webhook_secret_that_cannot_be_read_again_expires(secret: str, clock: Clock) -> None:
    """A rotation waits only for this time until nothing is sealed under the former value."""
    seals = WebhookSeals()
    seals.seal(b"whsec", b"one")
    delete(secret)
    clock.now += MAX_AGE - 1
    seals.seal(b"whsec", b"one")
    clock.now += 1
    with pytest.raises(ClientError, match="ResourceNotFound"):
        seals.seal(b"whsec", b"one")


def test_a_value_sealed_under_a_new_secret_opens_at_once(secret: str) -> None:
    one, other = WebhookSeals(), WebhookSeals()
    one.prime()
    rotate(secret, "second")
    sealed = other.seal(b"whsec", b"one")
    assert one.open(sealed, b"one") == b"whsec"
    rotate(secret, "third")
    assert one.open(other.seal(b"whsec", b"one"), b"one") == b"whsec"
    with pytest.raises(ValueError, match="not sealed for this"):
        one.open(sealed, b"two")
