"""The upload of the page into its bucket, as a part of the deployment: the files whose names have a hash, then all others."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as s3_deployment
from constructs import Construct, IDependable

from infra import page, page_build
from infra.checks import acknowledge
from infra.retention import log_group
from infra.settings import Settings

_HASHED: Final = page.HASHED.strip("/")
_PLACEHOLDER: Final = page_build.WEB / "public"
"""The source of an upload if only the template is needed: nothing has to be built."""

_ASSETS: Final = "arn:<AWS::Partition>:s3:::cdk-hnb659fds-assets-<AWS::AccountId>-<AWS::Region>/*"
"""The objects of the bucket that `cdk bootstrap` makes."""
_HANDLER: Final = "Custom::CDKBucketDeployment8693BB64968944B69AAFB0CC9EB8756C"
"""The construct of the function, which CDK makes once a stack."""


class PageUpload(Construct):
    """The page of `web/`, which synthesis builds, and `config` as its configuration.

    Hashed files come first, so that `index.html` names nothing that is missing. Those of older pages stay: a page that is open
    loads them when it needs them. A deployment that fails brings the former page back.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        bucket: s3.Bucket,
        config: Mapping[str, Any],
    ) -> None:
        super().__init__(scope, construct_id)
        hashed_files, named_files = _files(Stack.of(self))
        group = log_group(self, "Logs", settings)
        # The role that the construct would make may write to every log group of the account.
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        group.grant(role, "logs:CreateLogStream", "logs:PutLogEvents")
        upload = partial(
            s3_deployment.BucketDeployment,
            destination_bucket=bucket,
            role=role,
            log_group=group,
            output_object_keys=False,
        )
        hashed = upload(
            self,
            "Hashed",
            sources=[s3_deployment.Source.asset(str(hashed_files))],
            destination_key_prefix=_HASHED,
            cache_control=[s3_deployment.CacheControl.from_string(page.KEEP)],
            prune=False,
        )
        self._named = upload(
            self,
            "Named",
            sources=[
                s3_deployment.Source.asset(str(named_files), exclude=[_HASHED, ".*"]),
                s3_deployment.Source.json_data(page.CONFIG.strip("/"), config),
            ],
            cache_control=[s3_deployment.CacheControl.from_string(page.ASK_AGAIN)],
            exclude=[f"{_HASHED}/*"],
        )
        self._named.node.add_dependency(hashed)
        self._accept(role, bucket)

    def after(self, *others: IDependable) -> None:
        """Show the page only when these are deployed: it calls them."""
        self._named.node.add_dependency(*others)

    def _accept(self, role: iam.Role, bucket: s3.Bucket) -> None:
        stack, resource = Stack.of(self), bucket.node.default_child
        assert isinstance(resource, s3.CfnBucket)  # noqa: S101  what a Bucket is made of
        ours = f"<{stack.get_logical_id(resource)}.Arn>/*"
        actions = ("Abort*", "DeleteObject*", "GetBucket*", "GetObject*", "List*")
        why = "CDK's function reads any asset of the bootstrap bucket, and writes and deletes in all of this bucket."
        wild = (*(f"Action::s3:{action}" for action in actions), f"Resource::{ours}", f"Resource::{_ASSETS}")
        acknowledge(role, {f"AwsSolutions-IAM5[{one}]": why for one in wild})
        acknowledge(
            stack.node.find_child(_HANDLER), {"AwsSolutions-L1": "CDK chooses its function's runtime."}
        )


def _files(stack: Stack) -> tuple[Path, Path]:
    """The folder of the files with hashed names, and that of all others."""
    if not stack.bundling_required:
        return _PLACEHOLDER, _PLACEHOLDER
    page_build.build(lambda text: print(text, file=sys.stderr))
    return page_build.DIST / _HASHED, page_build.DIST
