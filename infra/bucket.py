"""A bucket as every bucket of the app is: private, encrypted, and reachable over TLS only."""

from typing import Any

from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.checks import acknowledge
from infra.retention import data_policy
from infra.settings import Settings

NO_TLS = "An engine on this machine uses plain HTTP, on the loopback interface."


def private_bucket(
    scope: Construct, construct_id: str, settings: Settings, *, why_no_logs: str, **more: Any
) -> s3.Bucket:
    """A bucket without access logs. If the stack is protected, the content outlives it."""
    tls_only = not settings.emulator
    bucket = s3.Bucket(
        scope,
        construct_id,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        encryption=s3.BucketEncryption.S3_MANAGED,
        enforce_ssl=tls_only,
        removal_policy=data_policy(settings),
        **more,
    )
    acknowledge(bucket, {"AwsSolutions-S1": why_no_logs})
    if not tls_only:
        acknowledge(bucket, {"AwsSolutions-S10": NO_TLS})
    return bucket
