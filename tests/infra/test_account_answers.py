"""The app's questions to the account, and the effect of the answers."""

from collections.abc import Mapping
from typing import Any

import pytest

from gridview.support import forms
from infra.account import _IMPOSSIBLE, Account, AccountError, clients
from infra.account_answers import account_answers
from infra.context import settings_from
from infra.settings import Settings
from tests.support.aws_stubs import (
    ACCOUNT,
    Answer,
    answering,
    caller,
    distributions,
    quota,
    refused,
    stack,
    vaults_of,
)

HERE = {"CDK_DEFAULT_ACCOUNT": ACCOUNT}
CHOSEN = {
    "first-deployment": "false",
    "stored-form": "1",
    "account-concurrency": "0",
    "restored-stream": "none",
}
STREAM = (
    f"arn:aws:dynamodb:eu-west-1:{ACCOUNT}:table/Gridview-20261121T080000Z/stream/2026-11-21T09:00:00.000"
)


def _asked(
    *answers: Answer, given: Mapping[str, object] | None = None, environment: Mapping[str, str] = HERE
) -> dict[str, object]:
    with answering(*answers) as made:
        return account_answers((given or {}).get, environment, Account(made))


def _settings(answers: Mapping[str, object], given: Mapping[str, object] | None = None) -> Settings:
    return settings_from({**answers, **(given or {})}.get)


@pytest.mark.parametrize(("environment", "given"), [({}, {}), (HERE, {"emulator": "true"}), (HERE, CHOSEN)])
def test_nothing_is_asked_offline_for_an_emulator_and_where_all_is_chosen(
    environment: Mapping[str, str], given: Mapping[str, object]
) -> None:
    assert _asked(given=given, environment=environment) == {}


@pytest.mark.parametrize(
    "status", [None, "ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "REVIEW_IN_PROGRESS", "CREATE_FAILED"]
)
def test_a_stack_that_holds_nothing_is_new_so_it_is_not_protected_and_writes_the_newest_form(
    status: str | None,
) -> None:
    answers = _asked(caller(), stack(status), distributions(1), quota(900))
    assert answers == {"first-deployment": True, "account-concurrency": 900}
    settings = _settings(answers)
    assert (settings.protect, settings.guarded, settings.stored_form) == (True, False, forms.NEWEST)


@pytest.mark.parametrize(
    "status", ["CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "DELETE_FAILED"]
)
def test_a_stack_with_data_stays_protected(status: str) -> None:
    answers = _asked(caller(), stack(status, StoredFormRead=str(forms.NEWEST)), quota(900))
    assert answers == {"first-deployment": False, "stored-form": forms.NEWEST, "account-concurrency": 900}
    assert _settings(answers).guarded


@pytest.mark.parametrize(
    ("outputs", "read"), [({"StoredFormRead": str(forms.NEWEST)}, forms.NEWEST), ({}, forms.OLDEST)]
)
def test_a_form_that_the_deployed_functions_do_not_read_is_held_back(
    monkeypatch: pytest.MonkeyPatch, outputs: dict[str, str], read: int
) -> None:
    """During a deployment, containers of the former version still run."""
    before = forms.NEWEST
    monkeypatch.setattr(forms, "NEWEST", before + 1)
    assert _asked(caller(), stack("UPDATE_COMPLETE", **outputs), quota(9))["stored-form"] == read
    newer = stack("UPDATE_COMPLETE", StoredFormRead=str(before + 1))
    assert _asked(caller(), newer, quota(9))["stored-form"] == before + 1
    chosen: dict[str, object] = {"stored-form": str(before + 1)}
    assert "stored-form" not in _asked(caller(), stack("UPDATE_COMPLETE"), quota(9), given=chosen)


def test_a_version_that_knows_fewer_forms_than_the_deployed_one_writes_its_own_newest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = stack("UPDATE_COMPLETE", StoredFormRead=str(forms.NEWEST + 3))
    assert _asked(caller(), known, quota(9))["stored-form"] == forms.NEWEST


def test_a_given_setting_wins_and_is_not_looked_up() -> None:
    given: dict[str, object] = {"first-deployment": "false", "account-concurrency": "640"}
    assert _asked(caller(), stack(None), distributions(1), given=given) == {}
    asked = _asked(caller(), stack(None), distributions(1), quota(10), given={"first-deployment": "true"})
    assert asked == {"account-concurrency": 10}


def test_the_stack_is_the_one_of_the_stage() -> None:
    with answering(caller(), stack(None), distributions(1), quota(10)) as made:
        asked: list[Any] = []
        made("cloudformation").meta.events.register(
            "provide-client-params.*.*", lambda params, **_: asked.append(params)
        )
        account_answers({"stage": "staging"}.get, HERE, Account(made))
    assert asked == [{"StackName": "Gridview-staging"}]


def test_concurrency_that_the_stack_has_reserved_counts_as_available() -> None:
    existing = stack("UPDATE_COMPLETE", ReservedConcurrency="360")
    assert _asked(caller(), existing, quota(600))["account-concurrency"] == 960


BACKED_UP: dict[str, object] = {"backup": "true"}


@pytest.mark.parametrize(
    ("outputs", "vaults", "exists"),
    [
        ({}, [], False),
        ({}, ["Gridview-backups"], True),  # backups were on, and off again
        ({}, ["Gridview-backups-of-old"], False),
        ({"BackupVaultFound": "Gridview-backups"}, ["Gridview-backups"], True),
        ({"BackupVault": "Gridview-backups"}, None, False),  # the stack's own: nothing is asked
        ({"BackupVault": "Another"}, ["Gridview-backups"], True),
    ],
)
def test_a_vault_that_is_left_is_used_and_not_made_again(
    outputs: dict[str, str], vaults: list[str] | None, exists: bool
) -> None:
    existing = stack("UPDATE_COMPLETE", StoredFormRead="1", **outputs)
    answers = [caller(), existing, quota(900), *([] if vaults is None else [vaults_of(*vaults)])]
    found = _asked(*answers, given=BACKED_UP)
    assert found["backup-vault-exists"] is exists
    assert _settings(found, BACKED_UP).backup_vault_exists is exists


def test_whether_the_vault_exists_may_be_chosen_and_is_no_question_without_backups() -> None:
    given = {**BACKED_UP, "backup-vault-exists": "true"}
    assert "backup-vault-exists" not in _asked(caller(), stack("UPDATE_COMPLETE"), quota(9), given=given)
    assert "backup-vault-exists" not in _asked(caller(), stack("UPDATE_COMPLETE"), quota(9))


def test_another_account_than_the_callers_is_refused() -> None:
    with pytest.raises(AccountError) as refusal:
        _asked(caller("210987654321"))
    for word in (ACCOUNT, "210987654321", "--profile", "AWS_PROFILE=NAME"):
        assert word in str(refusal.value)


def test_credentials_that_reach_the_command_line_but_not_the_app_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for profile in (None, "elsewhere"):
        if profile:
            monkeypatch.setenv("AWS_PROFILE", profile)
        with pytest.raises(AccountError, match=r"AWS_PROFILE=NAME") as refusal:
            Account(clients("eu-west-1")).require(ACCOUNT)
        assert (profile or "credentials") in str(refusal.value)


def test_a_refusal_names_the_permission_that_is_missing() -> None:
    """It also names the alternatives."""
    with pytest.raises(AccountError, match=r"lack cloudformation:DescribeStacks: allow it\.$"):
        _asked(caller(), refused("cloudformation", "describe_stacks", "AccessDenied"))
    with pytest.raises(
        AccountError, match=r"lack lambda:GetAccountSettings: allow it, or set -c account-concurrency=N\.$"
    ):
        _asked(caller(), stack(None), distributions(1), refused("lambda", "get_account_settings"))


def test_an_account_that_does_not_answer_is_no_new_one() -> None:
    """An existing stack would lose its protection."""
    with pytest.raises(AccountError, match=r"does not answer cloudformation:DescribeStacks.*Throttling"):
        _asked(caller(), refused("cloudformation", "describe_stacks", "Throttling"))


UNVERIFIED = Answer(
    "cloudfront",
    "create_distribution",
    {},
    "AccessDenied",
    "Your account must be verified before you can add new CloudFront resources.",
)


def test_an_account_that_cloudfront_does_not_know_yet_is_refused_before_the_deployment() -> None:
    with pytest.raises(AccountError, match=r"AWS Support.*-c page=false$"):
        _asked(caller(), stack(None), distributions(0), UNVERIFIED)


@pytest.mark.parametrize(
    "answers",
    [
        (distributions(0), refused("cloudfront", "create_distribution", "NoSuchOrigin")),
        (distributions(0), refused("cloudfront", "create_distribution", "AccessDenied")),
        (refused("cloudfront", "list_distributions", "AccessDenied"),),
    ],
)
def test_any_other_refusal_of_cloudfront_is_no_reason(answers: tuple[Answer, ...]) -> None:
    """The role that deploys by CloudFormation may lack the right to ask."""
    assert _asked(caller(), stack(None), *answers, quota(900))["first-deployment"] is True


@pytest.mark.parametrize(
    ("found", "given"), [(stack(None), {"page": "false"}), (stack("UPDATE_COMPLETE"), {})]
)
def test_cloudfront_is_not_asked_without_a_distribution_or_about_a_stack_that_is_there(
    found: Answer, given: dict[str, object]
) -> None:
    assert "account-concurrency" in _asked(caller(), found, quota(900), given=given)


def test_the_probe_of_cloudfront_cannot_create_a_distribution() -> None:
    asked = _IMPOSSIBLE["DefaultCacheBehavior"]["TargetOriginId"]
    assert asked not in [one["Id"] for one in _IMPOSSIBLE["Origins"]["Items"]]
    assert _IMPOSSIBLE["Enabled"] is False


def test_a_stack_that_uses_a_restored_table_keeps_it_unless_the_operator_chooses_otherwise() -> None:
    def deployed() -> Answer:
        return stack("UPDATE_COMPLETE", RestoredStream=STREAM)

    answers = _asked(caller(), deployed(), quota(900))
    assert _settings(answers).restored_table == "Gridview-20261121T080000Z"
    given: dict[str, object] = {"restored-stream": "none"}
    chosen = _asked(caller(), deployed(), quota(900), given=given)
    assert _settings(chosen, given).restored_table is None
