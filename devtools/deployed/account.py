"""The stack in the account that the CDK command line is about to change: its state, and what bars its deletion."""

import os
from typing import Any

import botocore.session
from botocore.exceptions import BotoCoreError, ClientError

from devtools.failure import Failure

CREATED = "CREATE_COMPLETE"
_NOT_YET = {
    None,
    "REVIEW_IN_PROGRESS",
    "CREATE_FAILED",
    "ROLLBACK_COMPLETE",
    "ROLLBACK_FAILED",
    "DELETE_COMPLETE",
}
"""The states of a stack that holds nothing; None: there is none."""


class Account:
    """The account and region that the CDK command line would choose for this profile."""

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

    def status(self, stack_name: str) -> str | None:
        """The state of the stack; None: there is none."""
        found = self._described(stack_name)
        return None if found is None else str(found["StackStatus"])

    def is_new(self, stack_name: str) -> bool:
        """Whether the stack has still to be created, for the first time or again."""
        return self.status(stack_name) in _NOT_YET

    def outputs(self, stack_name: str) -> dict[str, str]:
        """The outputs of the stack; none if there is no such stack."""
        found = self._described(stack_name) or {}
        return {one["OutputKey"]: str(one["OutputValue"]) for one in found.get("Outputs", ())}

    def concurrency(self, stack_name: str) -> int:
        """The concurrent executions that Lambda gives this account and no other stack has reserved; 0: they can't be
        looked up.
        """
        try:
            functions = self._client("lambda")
            limits = functions.get_account_settings()["AccountLimit"]
            reserved = (
                functions.get_function_concurrency(FunctionName=name).get("ReservedConcurrentExecutions", 0)
                for name in self._functions(stack_name)
            )
            return int(limits["UnreservedConcurrentExecutions"]) + sum(map(int, reserved))
        except (BotoCoreError, ClientError):
            return 0

    def _functions(self, stack_name: str) -> list[str]:
        """The names of the stack's functions; none if it has still to be created."""
        if self.is_new(stack_name):
            return []
        pages = self._client("cloudformation").get_paginator("list_stack_resources")
        return [
            one["PhysicalResourceId"]
            for page in pages.paginate(StackName=stack_name)
            for one in page["StackResourceSummaries"]
            if one["ResourceType"] == "AWS::Lambda::Function"
        ]

    def keys_in(self, bucket: str) -> list[str]:
        """The keys of all objects in a bucket."""
        pages = self._client("s3").get_paginator("list_objects_v2").paginate(Bucket=bucket)
        return [entry["Key"] for page in pages for entry in page.get("Contents", ())]

    def put(self, bucket: str, key: str, content: bytes, **headers: str) -> None:
        """Put an object into a bucket. `headers` as S3's PutObject names them: `ContentType`, `CacheControl`."""
        self._client("s3").put_object(Bucket=bucket, Key=key, Body=content, **headers)

    def remove(self, bucket: str, keys: list[str]) -> None:
        """Remove objects from a bucket."""
        for key in keys:
            self._client("s3").delete_object(Bucket=bucket, Key=key)

    def _described(self, stack_name: str) -> dict[str, Any] | None:
        try:
            stacks: list[dict[str, Any]] = self._client("cloudformation").describe_stacks(
                StackName=stack_name
            )["Stacks"]
        except ClientError as error:
            if "does not exist" in str(error):
                return None
            raise Failure(f"The stack {stack_name} cannot be looked up: {error}") from None
        except BotoCoreError as error:
            raise Failure(f"The stack {stack_name} cannot be looked up: {error}") from None
        return stacks[0]

    def _client(self, service: str) -> Any:
        return self._session.create_client(service, region_name=self._region)
