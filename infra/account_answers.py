"""Settings that depend on the account: the app asks AWS for them if the operator chose nothing."""

from collections.abc import Callable, Mapping
from typing import Final

from gridview.support import forms
from infra.account import Account, AccountError, Deployed
from infra.backup_vault import VAULT_OUTPUT
from infra.context import settings_from

RESERVED_OUTPUT: Final = "ReservedConcurrency"
"""The stack's output with the sum of its functions' reserved concurrency."""

_NOT_VERIFIED: Final = (
    "AWS has not verified this account for CloudFront yet, so the deployment would fail. Ask AWS Support to verify it "
    "(https://console.aws.amazon.com/support/home), or deploy without the page and CloudFront for now: -c page=false"
)

RESTORED_OUTPUT: Final = "RestoredStream"
"""The stack's output with the stream of the table that a restore made, if it uses one."""

_ASKED: Final = ("first-deployment", "stored-form", "account-concurrency", "restored-stream")


def account_answers(
    given: Callable[[str], object], environment: Mapping[str, str], account: Account
) -> dict[str, object]:
    """Return the context values that the account decides. Values in `given` and emulators are left out.

    Asks only if the CDK command line has found an account (`CDK_DEFAULT_ACCOUNT`): synthesis needs none.

    - `first-deployment`: the stack is new, so it is not protected yet;
    - `stored-form`: a stored form that the deployed functions do not read is held back;
    - `account-concurrency`: the concurrency that other stacks have not reserved;
    - `backup-vault-exists`, with `backup`: the vault exists, and the stack has not made it;
    - `restored-stream`: a stack that uses a restored table keeps it. Without this an empty table would take its
      place.

    A new stack with CloudFront is refused early: CloudFront would refuse it after minutes, and roll everything back.

    Raises:
        AccountError: the account is not the caller's, does not answer, or has still to be verified for CloudFront.
        SettingError: a given value is invalid.
    """
    number, chosen = environment.get("CDK_DEFAULT_ACCOUNT"), settings_from(given)
    asked = (*_ASKED, "backup-vault-exists") if chosen.backup else _ASKED
    if number is None or chosen.emulator or all(given(name) is not None for name in asked):
        return {}
    account.require(number)
    stack = account.stack(chosen.stack_name)
    if stack.is_new and chosen.has_distribution and account.refuses_distributions():
        raise AccountError(_NOT_VERIFIED)
    found: dict[str, object] = {"first-deployment": stack.is_new}
    if not stack.is_new:
        found["stored-form"] = min(forms.NEWEST, _forms_of(stack))
        if RESTORED_OUTPUT in stack.outputs:
            found["restored-stream"] = stack.outputs[RESTORED_OUTPUT]
    if given("account-concurrency") is None:
        found["account-concurrency"] = account.unreserved_concurrency() + _reserved_by(stack)
    if chosen.backup and given("backup-vault-exists") is None:
        name = chosen.vault_name
        found["backup-vault-exists"] = stack.outputs.get(VAULT_OUTPUT) != name and account.has_vault(name)
    return {name: value for name, value in found.items() if given(name) is None}


def _forms_of(stack: Deployed) -> int:
    """The newest stored form that the deployed functions read. Their containers stay at work while a deployment lasts."""
    return int(stack.outputs.get("StoredFormRead", forms.OLDEST))


def _reserved_by(stack: Deployed) -> int:
    """The concurrency that the stack itself has reserved, and can use again."""
    return int(stack.outputs.get(RESERVED_OUTPUT, 0))
