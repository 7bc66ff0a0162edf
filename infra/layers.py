"""The two layers: the core package as it is, and the third-party packages (`vendor`).

Nothing is built for a stack of which only the template is needed. That is one that the context
`aws:cdk:bundling-stacks` omits: tests, `cdk list`, `cdk destroy`. Its layer asset is the folder of the lock file.
"""

from pathlib import Path

from aws_cdk import Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.assets import code, finished
from infra.function import lambda_architecture, lambda_runtime
from infra.paths import ROOT
from infra.settings import Settings
from infra.vendor import VENDOR_LOCK, build_vendor

CORE = ROOT / "layers" / "core"


class Layers(Construct):
    """The layers; `all` are the layers of every function, the core first."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        runtimes = [lambda_runtime(settings.runtime)]
        core = lambda_.LayerVersion(
            self,
            "Core",
            description="gridview: the core package",
            code=code(CORE, "/opt", settings.python_version),
            compatible_runtimes=runtimes,
        )
        vendor = lambda_.LayerVersion(
            self,
            "Vendor",
            description="gridview: third-party packages",
            code=finished(_vendor_folder(Stack.of(self), settings)),
            compatible_runtimes=runtimes,
            compatible_architectures=[lambda_architecture(settings.architecture)],
        )
        self.all: list[lambda_.ILayerVersion] = [core, vendor]


def _vendor_folder(stack: Stack, settings: Settings) -> Path:
    if not stack.bundling_required:
        return VENDOR_LOCK.parent
    return build_vendor(python_version=settings.python_version, architecture=settings.architecture)
