"""The contents of the buckets of a stack that is to be destroyed.

The app asks the account all else (`infra.account`).
"""

import os
from typing import Any

import botocore.session
from botocore.exceptions import BotoCoreError, ClientError

from devtools.failure import Failure
from infra import account
from infra.account import AccountError


class Buckets:
    """The buckets in the account and region that the CDK command line would choose for this profile."""

    def __init__(self, profile: str | None) -> None:
        """Fail early: CDK says the same after half a minute, in many lines."""
        try:
            self._session = botocore.session.Session(profile=profile)
            credentials = self._session.get_credentials()
            configured = self._session.get_config_variable("region")
        except BotoCoreError as error:
            raise Failure(f"The AWS credentials cannot be used: {error}") from None
        if credentials is None:
            raise Failure(
                "There are no AWS credentials: sign in (`aws login` or `aws sso login`), choose a profile (--profile NAME), or set "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
            )
        # NOTE: as the CDK command line does; boto3 does not read AWS_REGION and has no region of last resort.
        self._region = os.environ.get("AWS_REGION") or configured or "us-east-1"

    def outputs(self, stack_name: str) -> dict[str, str]:
        """The outputs of the stack; none if there is no such stack."""
        try:
            return dict(account.Account(self.client).stack(stack_name).outputs)
        except AccountError as error:
            raise Failure(str(error)) from None

    def keys_in(self, bucket: str) -> list[str]:
        """The keys of all objects in a bucket; none if an earlier attempt has deleted the bucket."""
        pages = self.client("s3").get_paginator("list_objects_v2").paginate(Bucket=bucket)
        try:
            return [entry["Key"] for page in pages for entry in page.get("Contents", ())]
        except ClientError as error:
            if error.response["Error"]["Code"] == "NoSuchBucket":
                return []
            raise

    def remove(self, bucket: str, keys: list[str]) -> None:
        """Remove objects from a bucket."""
        for key in keys:
            self.client("s3").delete_object(Bucket=bucket, Key=key)

    def client(self, service: str) -> Any:
        """A client in the stack's account and region."""
        return self._session.create_client(service, region_name=self._region)
