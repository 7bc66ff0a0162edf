"""What the environment tells the functions: the secret of the cursors above all, and its rotation."""

from collections.abc import Iterator

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from gridview.api import config
from gridview.api.config import (
    ConfigurationError,
    CursorSource,
    required,
    use_fold_pace,
    use_forms,
    work_percent,
    writes_per_second,
)
from gridview.support import fold_pace, forms
from gridview.support.errors import InvalidRequest


class Clock:
    now = 1_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(config, "time", clock)
    return clock


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The ARN of a secret in Secrets Manager that was never rotated."""
    with mock_aws():
        client = boto3.client("secretsmanager")
        arn = client.create_secret(Name="cursors", SecretString="first")["ARN"]
        monkeypatch.delenv("CURSOR_SECRET", raising=False)
        monkeypatch.setenv("CURSOR_SECRET_ARN", arn)
        yield arn


def rotate(arn: str, value: str) -> None:
    boto3.client("secretsmanager").put_secret_value(SecretId=arn, SecretString=value)


def test_a_rate_of_writes_is_a_whole_number_and_none_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WRITES_PER_SECOND", raising=False)
    assert writes_per_second() == 0
    monkeypatch.setenv("WRITES_PER_SECOND", "50")
    assert writes_per_second() == 50
    for wrong in ("", "1.5", "-1", "many"):
        monkeypatch.setenv("WRITES_PER_SECOND", wrong)
        with pytest.raises(ConfigurationError, match="WRITES_PER_SECOND"):
            writes_per_second()


def test_a_share_of_work_is_a_percentage_and_no_limit_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORK_PERCENT", raising=False)
    assert work_percent() == 100
    monkeypatch.setenv("WORK_PERCENT", "10")
    assert work_percent() == 10
    for wrong in ("", "0", "101", "-1", "1.5"):
        monkeypatch.setenv("WORK_PERCENT", wrong)
        with pytest.raises(ConfigurationError, match="WORK_PERCENT"):
            work_percent()


def test_forms_are_written_up_to_the_one_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORMS", raising=False)
    use_forms()
    assert forms.writes(forms.NEWEST)
    newest = forms.NEWEST + 2
    monkeypatch.setattr(forms, "NEWEST", newest)
    for form in range(forms.OLDEST, newest + 1):
        monkeypatch.setenv("FORMS", str(form))
        use_forms()
        assert [forms.writes(one) for one in (form, form + 1)] == [True, False]
    for wrong in (str(forms.OLDEST - 1), str(newest + 1), "newest", "1.5"):
        monkeypatch.setenv("FORMS", wrong)
        with pytest.raises(
            ConfigurationError, match=f"FORMS must be a number from {forms.OLDEST} to {newest}"
        ):
            use_forms()
    assert forms.writes(newest)


def test_the_pace_of_folds_is_that_of_the_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FOLD_WEIGHT", "FOLD_SECONDS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(fold_pace, "_used", fold_pace.Pace(7, 8))
    use_fold_pace()
    assert fold_pace.pace() == (256, 900)
    monkeypatch.setenv("FOLD_WEIGHT", "1000")
    monkeypatch.setenv("FOLD_SECONDS", "1")
    use_fold_pace()
    assert fold_pace.pace() == (1_000, 1)
    for name, wrong in (("FOLD_WEIGHT", "0"), ("FOLD_WEIGHT", "1001"), ("FOLD_SECONDS", "901")):
        with monkeypatch.context() as context:
            context.setenv(name, wrong)
            with pytest.raises(ConfigurationError, match="a weight of 1 to 1,000, and 1 to 900 seconds"):
                use_fold_pace()
    monkeypatch.setenv("FOLD_SECONDS", "soon")
    with pytest.raises(ConfigurationError, match="FOLD_SECONDS must be a whole number"):
        use_fold_pace()
    assert fold_pace.pace() == (1_000, 1)


def test_a_variable_must_be_there_and_not_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLE_NAME", "gridview")
    assert required("TABLE_NAME") == "gridview"
    monkeypatch.setenv("TABLE_NAME", "")
    with pytest.raises(ConfigurationError, match="TABLE_NAME"):
        required("TABLE_NAME")
    monkeypatch.delenv("TABLE_NAME")
    with pytest.raises(ConfigurationError, match="TABLE_NAME"):
        required("TABLE_NAME")


def test_a_function_without_any_secret_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CURSOR_SECRET", raising=False)
    monkeypatch.delenv("CURSOR_SECRET_ARN", raising=False)
    with pytest.raises(ConfigurationError, match="CURSOR_SECRET_ARN"):
        CursorSource()


def test_a_local_secret_needs_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURSOR_SECRET", "local")
    monkeypatch.setattr(config, "aws", None)
    cursors = CursorSource().cursors("grid")
    assert cursors.open(cursors.seal("here", b""), b"") == "here"


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


def test_a_secret_that_was_never_rotated_is_enough(secret: str) -> None:
    cursors = CursorSource().cursors("grid")
    assert cursors.open(cursors.seal("here", b""), b"") == "here"


def test_the_cursors_of_a_purpose_are_made_once_between_reads(secret: str, clock: Clock) -> None:
    source = CursorSource()
    assert source.cursors("grid") is source.cursors("grid")
    assert source.cursors("grid") is not source.cursors("projects")


def test_a_secret_that_cannot_be_read_is_an_error_and_not_a_missing_predecessor(secret: str) -> None:
    source = CursorSource()
    boto3.client("secretsmanager").delete_secret(SecretId=secret, ForceDeleteWithoutRecovery=True)
    with pytest.raises(ClientError, match="ResourceNotFound"):
        source.cursors("grid")


def test_a_secret_is_read_before_it_is_needed(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = CursorSource()
    source.prime()
    monkeypatch.setattr(config, "aws", None)
    assert source.cursors("grid").open(source.cursors("grid").seal("here", b""), b"") == "here"


def test_a_secret_that_cannot_be_read_yet_does_not_stop_the_start(secret: str) -> None:
    boto3.client("secretsmanager").delete_secret(SecretId=secret, ForceDeleteWithoutRecovery=True)
    source = CursorSource()
    source.prime()
    with pytest.raises(ClientError, match="ResourceNotFound"):
        source.cursors("grid")


def test_secrets_at_hand_go_on_being_used_when_they_cannot_be_read_anew(secret: str, clock: Clock) -> None:
    source = CursorSource()
    before = source.cursors("grid").seal("here", b"")
    boto3.client("secretsmanager").delete_secret(SecretId=secret, ForceDeleteWithoutRecovery=True)
    clock.now += 300
    assert source.cursors("grid").open(before, b"") == "here"
