"""The names of botocore that the deployed code uses, for tests that check several versions for them."""

from typing import Final

NAMES: Final = (
    "botocore.auth:SigV4Auth",
    "botocore.awsrequest:AWSPreparedRequest",
    "botocore.awsrequest:AWSRequest",
    "botocore.config:Config",
    "botocore.credentials:CredentialProvider",
    "botocore.credentials:CredentialResolver",
    "botocore.credentials:Credentials",
    "botocore.credentials:ReadOnlyCredentials",
    "botocore.credentials:RefreshableCredentials",
    "botocore.exceptions:BotoCoreError",
    "botocore.exceptions:ClientError",
    "botocore.exceptions:ConnectionError",
    "botocore.exceptions:HTTPClientError",
    "botocore.exceptions:NoCredentialsError",
    "botocore.httpsession:get_cert_path",
    "botocore.loaders:create_loader",
    "botocore.retries.quota:RetryQuota",
    "botocore.session",
)
"""`module:name`, or a module as a whole. Functions do not start on a runtime that lacks one, so each is a risk."""
