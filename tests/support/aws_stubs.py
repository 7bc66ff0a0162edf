"""Clients of AWS that give a test's answers in order; an unexpected call fails."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import botocore.session
from botocore.stub import Stubber

ACCOUNT = "123456789012"


class Answer(NamedTuple):
    """An answer to a call, or the code and the message of a refusal."""

    service: str
    call: str
    answer: dict[str, Any]
    code: str = ""
    message: str = ""


def caller(account: str = ACCOUNT) -> Answer:
    """The identity of the credentials."""
    return Answer("sts", "get_caller_identity", {"Account": account})


def stack(status: str | None, **outputs: str) -> Answer:
    """The state of the stack (None: it does not exist) and its outputs."""
    if status is None:
        why = "Stack with id Gridview does not exist"
        return Answer("cloudformation", "describe_stacks", {}, "ValidationError", why)
    found = {
        "StackName": "Gridview",
        "CreationTime": "2026-01-01T00:00:00Z",
        "StackStatus": status,
        "Outputs": [{"OutputKey": name, "OutputValue": value} for name, value in outputs.items()],
    }
    return Answer("cloudformation", "describe_stacks", {"Stacks": [found]})


def quota(unreserved: int) -> Answer:
    """The concurrency that functions of Lambda have not reserved."""
    limits = {"ConcurrentExecutions": 1_000, "UnreservedConcurrentExecutions": unreserved}
    return Answer("lambda", "get_account_settings", {"AccountLimit": limits})


def distributions(count: int) -> Answer:
    """How many distributions CloudFront has for the account, up to one."""
    found = {"Marker": "", "MaxItems": 1, "IsTruncated": False, "Quantity": count}
    return Answer("cloudfront", "list_distributions", {"DistributionList": found})


def vaults_of(*names: str) -> Answer:
    """The vaults of AWS Backup."""
    listed = [{"BackupVaultName": name} for name in names]
    return Answer("backup", "list_backup_vaults", {"BackupVaultList": listed})


def refused(service: str, call: str, code: str = "AccessDeniedException") -> Answer:
    """A call that the credentials may not make."""
    return Answer(service, call, {}, code, "You may not.")


@contextmanager
def answering(*answers: Answer) -> Iterator[Any]:
    """A maker of clients that give these answers. The context ends only if all were requested."""
    session = botocore.session.Session()
    made: dict[str, Any] = {}
    with ExitStack() as stubs:
        for name in {one.service for one in answers}:
            client = session.create_client(
                name, region_name="eu-west-1", aws_access_key_id="one", aws_secret_access_key="two"
            )
            stubber = stubs.enter_context(Stubber(client))
            for one in answers:
                if one.service == name and one.code:
                    stubber.add_client_error(one.call, one.code, one.message)
                elif one.service == name:
                    stubber.add_response(one.call, one.answer)
            made[name] = (client, stubber)
        yield lambda name: made[name][0]
        for _, stubber in made.values():
            stubber.assert_no_pending_responses()
