"""Questions to the AWS account that the CDK command line is about to change."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import botocore.session
from botocore.exceptions import BotoCoreError, ClientError

Clients = Callable[[str], Any]
"""Makes the client of a service, by botocore's name for it."""

_NOT_YET: Final = {
    None,
    "REVIEW_IN_PROGRESS",
    "CREATE_FAILED",
    "ROLLBACK_COMPLETE",
    "ROLLBACK_FAILED",
    "DELETE_COMPLETE",
}
"""The states of a stack that holds nothing; None: it does not exist."""

_REFUSED: Final = {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"}

_UNVERIFIED: Final = "must be verified"
"""A part of CloudFront's answer to a new account, which has the code of a missing permission."""

_IMPOSSIBLE: Final[dict[str, Any]] = {
    "CallerReference": "gridview-first-day",
    "Comment": "gridview: shows whether AWS has verified the account",
    "Enabled": False,
    "Origins": {
        "Quantity": 1,
        "Items": [
            {
                "Id": "there",
                "DomainName": "example.org",
                "CustomOriginConfig": {
                    "HTTPPort": 80,
                    "HTTPSPort": 443,
                    "OriginProtocolPolicy": "https-only",
                },
            }
        ],
    },
    # AWS's own policy "CachingDisabled".
    "DefaultCacheBehavior": {
        "TargetOriginId": "missing",
        "ViewerProtocolPolicy": "https-only",
        "CachePolicyId": "4135ea2d-6df8-44a3-9df3-4b5a84be39ad",
    },
}
"""A distribution that cannot be: its only behaviour names an origin that it does not have."""


class AccountError(RuntimeError):
    """The account is another one, or does not answer; the message names the remedy."""


class Deployed(NamedTuple):
    """A stack as CloudFormation reports it: its state (None: it does not exist) and its outputs."""

    status: str | None
    outputs: Mapping[str, str]

    @property
    def is_new(self) -> bool:
        """Whether the stack has still to be created, for the first time or again."""
        return self.status in _NOT_YET


class Account:
    """The account of some credentials. Every method costs one call, and raises `AccountError` if AWS does not answer."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def require(self, account: str) -> None:
        """Check that the credentials are those of this account.

        Raises:
            AccountError: they are of another account, or there are none.
        """
        advice = "`--profile` does not reach the app: set AWS_PROFILE=NAME instead."
        try:
            found = str(self._clients("sts").get_caller_identity()["Account"])
        except (BotoCoreError, ClientError) as error:
            raise AccountError(
                f"The CDK deploys to account {account}, and the app cannot ask it: {error}. {advice}"
            ) from None
        if found != account:
            raise AccountError(
                f"The CDK deploys to account {account}, and the app has credentials of {found}. {advice}"
            )

    def stack(self, name: str) -> Deployed:
        """The stack of this name."""
        try:
            (found,) = self._clients("cloudformation").describe_stacks(StackName=name)["Stacks"]
        except ClientError as error:
            if "does not exist" in str(error):
                return Deployed(None, {})
            raise _unanswered(error, "cloudformation:DescribeStacks") from None
        except BotoCoreError as error:
            raise _unanswered(error, "cloudformation:DescribeStacks") from None
        outputs = {one["OutputKey"]: str(one["OutputValue"]) for one in found.get("Outputs", ())}
        return Deployed(str(found["StackStatus"]), outputs)

    def unreserved_concurrency(self) -> int:
        """The concurrent executions that Lambda gives the account and no function has reserved."""
        try:
            limits = self._clients("lambda").get_account_settings()["AccountLimit"]
        except (BotoCoreError, ClientError) as error:
            raise _unanswered(error, "lambda:GetAccountSettings", "or set -c account-concurrency=N") from None
        return int(limits["UnreservedConcurrentExecutions"])

    def has_vault(self, name: str) -> bool:
        """Whether AWS Backup has a vault of this name."""
        try:
            pages = self._clients("backup").get_paginator("list_backup_vaults").paginate()
            return any(one["BackupVaultName"] == name for page in pages for one in page["BackupVaultList"])
        except (BotoCoreError, ClientError) as error:
            otherwise = "or set -c backup-vault-exists=true or false"
            raise _unanswered(error, "backup:ListBackupVaults", otherwise) from None

    def refuses_distributions(self) -> bool:
        """Whether AWS has still to verify the account before CloudFront makes anything for it; False if it cannot be
        asked.

        An account that has a distribution is verified. For any other account, CloudFront is asked to make a disabled
        one that names a missing origin, which it makes for no account. Two calls.
        """
        cloudfront = self._clients("cloudfront")
        try:
            if cloudfront.list_distributions(MaxItems="1")["DistributionList"]["Quantity"]:
                return False
            cloudfront.create_distribution(DistributionConfig=_IMPOSSIBLE)
        except ClientError as error:
            return _UNVERIFIED in str(error)
        except BotoCoreError:
            pass
        return False


def clients(region: str | None) -> Clients:
    """Clients with the default credentials, in this region."""
    session = botocore.session.Session()
    return lambda service: session.create_client(service, region_name=region)


def _unanswered(error: Exception, permission: str, otherwise: str = "") -> AccountError:
    if isinstance(error, ClientError) and error.response.get("Error", {}).get("Code") in _REFUSED:
        remedy = f" {otherwise}" if otherwise else ""
        return AccountError(f"These credentials lack {permission}: allow it{',' if remedy else ''}{remedy}.")
    return AccountError(f"AWS does not answer {permission}: {error}")
