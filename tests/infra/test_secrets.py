"""The secrets are kept with the table and have the same protection; the output names the isolation of tenants."""

from typing import Any

import pytest

from infra import isolation
from infra.settings import Settings
from tests.support.templates import functions_of, resources

SECRET = "AWS::SecretsManager::Secret"
POLICY = "AWS::SecretsManager::ResourcePolicy"


def _policies(template: dict[str, Any], kind: str) -> set[tuple[str, str]]:
    """The policies of the resources of a type for deletion and replacement."""
    return {
        (one.get("DeletionPolicy", "Delete"), one.get("UpdateReplacePolicy", "Delete"))
        for one in template["Resources"].values()
        if one["Type"] == kind
    }


@pytest.mark.parametrize("name", ["template", "chosen_template", "local_template"])
def test_they_have_the_tables_removal_policy(request: pytest.FixtureRequest, name: str) -> None:
    template: dict[str, Any] = request.getfixturevalue(name)
    assert len(resources(template, SECRET)) == 2
    table = _policies(template, "AWS::DynamoDB::GlobalTable")
    assert _policies(template, SECRET) == table
    kept = {("Delete", "Delete")} if name == "local_template" else {("RetainExceptOnCreate", "Retain")}
    assert table == kept


def test_a_protected_stack_refuses_their_deletion_to_the_whole_account(
    template: dict[str, Any], chosen_template: dict[str, Any], local_template: dict[str, Any]
) -> None:
    guarded = set[str]()
    for one in resources(template, POLICY).values():
        (statement,) = one["ResourcePolicy"]["Statement"]
        assert (statement["Effect"], statement["Action"]) == ("Deny", "secretsmanager:DeleteSecret")
        assert ":root" in str(statement["Principal"]["AWS"])
        guarded.add(str(one["SecretId"]))
    assert len(guarded) == len(resources(template, SECRET))
    table = resources(template, "AWS::DynamoDB::GlobalTable").values()
    assert [one["Replicas"][0]["DeletionProtectionEnabled"] for one in table] == [True]
    # A first deployment and a disposable one protect nothing.
    assert resources(chosen_template, POLICY) == resources(local_template, POLICY) == {}


def test_only_functions_that_serve_webhooks_know_their_secret(template: dict[str, Any]) -> None:
    known = {
        logical_id
        for logical_id, one in functions_of(template).items()
        if "WEBHOOK_SECRET_ARN" in one["Environment"]["Variables"]
    }
    assert known == {"CommandFunction", "DeliverFunction"}


def test_the_output_says_what_isolates_tenants(
    template: dict[str, Any], shared_template: dict[str, Any], local_template: dict[str, Any]
) -> None:
    for of, said in (
        (template, isolation.SESSIONS),
        (shared_template, isolation.NONE),
        (local_template, isolation.EMULATED),
    ):
        assert of["Outputs"]["Isolation"]["Value"] == said
    assert isolation.isolation(Settings(isolate_sessions=False, emulator=True)) == isolation.NONE
