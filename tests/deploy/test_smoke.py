"""`./dev smoke --deployed` on MiniStack: the steps that succeed there, and by name the ones that cannot."""

import re

from tests.deploy.conftest import Deployment
from tests.support.smoke import outcomes


def test_the_smoke_test_of_a_deployment(deployment: Deployment) -> None:
    said = deployment.dev("smoke", "--deployed")
    found = outcomes(said)
    not_shown = {name: text for name, text in found.items() if not text.startswith("ok (")}
    assert not_shown == {
        # MiniStack knows no `dynamodb:LeadingKeys`; the probe's other calls were refused or allowed as they should be.
        "foreign keys": "not shown: the IAM of this emulator compares no keys; all else of the sessions was shown",
        # The emulator's stack is deployed without an address of its sockets (`infra.socket_api`).
        "socket": "not shown: the stack of an emulator names no address of its sockets; a ticket was given out",
        # Webhooks are sent to public addresses only, and this machine has none.
        "webhook": "not shown: no receiver was named: --receiver https://...",
        # MiniStack does not replace variables in policies. The job ended, and the bucket has the file.
        "export": "not shown: this emulator's IAM knows no tenant in a policy, so it refuses the link; the file is right",
    }
    assert said.splitlines()[-1] == "4 of 8 steps passed, 0 failed, 4 not shown."


def test_it_removes_its_user_and_its_function(deployment: Deployment) -> None:
    users = deployment.client("cognito-idp").list_users(UserPoolId=deployment.outputs["UserPoolId"])["Users"]
    emails = [one["Value"] for user in users for one in user["Attributes"] if one["Name"] == "email"]
    assert [email for email in emails if email.endswith("@smoke.invalid")] == []
    names = [one["FunctionName"] for one in deployment.client("lambda").list_functions()["Functions"]]
    assert [name for name in names if re.search("-smoke-", name)] == []
