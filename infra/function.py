"""One Lambda function with its own role and log group; at first it may only log and trace."""

from collections.abc import Mapping, Sequence

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.assets import code
from infra.checks import acknowledge
from infra.limits import TIMEOUTS
from infra.paths import ROOT
from infra.retention import log_group
from infra.session_role import SessionRole
from infra.settings import Architecture, Settings, runtime_snaps


class GridFunction(Construct):
    """The handler in `functions/<folder>`, with the layers that all functions share.

    `role` receives the grants. With `isolated`, those that are about a tenant's data belong to `session`: a role that the function
    assumes for each tenant. `live` is what callers invoke: the alias of the published version if `published` (SnapStart
    restores published versions only), else the function itself. A `recursive` function sends messages to the queue that invokes it,
    which Lambda would take for a loop and stop after 16 rounds.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        folder: str,
        description: str,
        layers: Sequence[lambda_.ILayerVersion],
        environment: Mapping[str, str],
        memory_mib: int,
        published: bool,
        recursive: bool = False,
        isolated: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        self.folder = folder
        group = log_group(self, "Logs", settings)
        # A role of another name, so that a deployment that switches leaves the versions before it theirs until they are gone.
        self.role = iam.Role(
            self,
            "IsolatedRole" if isolated else "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        )
        self.session = SessionRole(self, "Session", function_role=self.role) if isolated else None
        group.grant(self.role, "logs:CreateLogStream", "logs:PutLogEvents")
        tracing = self._allow_tracing()

        self.function = lambda_.Function(
            self,
            "Function",
            description=description,
            runtime=lambda_runtime(settings.runtime),
            architecture=lambda_architecture(settings.architecture),
            handler="handler.handler",
            code=code(ROOT / "functions" / folder, "/var/task", settings.python_version),
            layers=list(layers),
            environment={
                "POWERTOOLS_SERVICE_NAME": folder,
                "POWERTOOLS_METRICS_NAMESPACE": "gridview",
                "POWERTOOLS_LOG_LEVEL": "INFO",
                "STACK_NAME": settings.stack_name,
                **environment,
                **({"SESSION_ROLE_ARN": self.session.role_arn} if self.session else {}),
            },
            memory_size=memory_mib,
            timeout=Duration.seconds(TIMEOUTS[folder]),
            role=self.role,
            log_group=group,
            reserved_concurrent_executions=settings.reserved(folder),
            recursive_loop=lambda_.RecursiveLoop.ALLOW if recursive else None,
            snap_start=lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS
            if published and settings.snap_start
            else None,
        )
        # NOTE: Lambda refuses tracing for a function whose role does not allow it, so the policy comes first.
        self.function.node.add_dependency(tracing)
        if self.session:
            self.function.node.add_dependency(self.session)
        self._finish(folder)
        self.live: lambda_.IFunction = self.function
        if published:
            self.live = lambda_.Alias(self, "Live", alias_name="live", version=self.function.current_version)

    def _allow_tracing(self) -> iam.Policy:
        # A separate policy, so that the acknowledgement here covers no other statement.
        tracing = iam.Policy(
            self,
            "Tracing",
            roles=[self.role],
            statements=[
                iam.PolicyStatement(
                    actions=["xray:PutTraceSegments", "xray:PutTelemetryRecords"], resources=["*"]
                )
            ],
        )
        acknowledge(
            tracing,
            {
                "AwsSolutions-IAM5[Resource::*]": "X-Ray's two actions for sending traces have no resource level."
            },
        )
        return tracing

    def _finish(self, folder: str) -> None:
        resource = self.function.node.default_child
        assert isinstance(resource, lambda_.CfnFunction)  # noqa: S101  what a Function is made of
        # NOTE: `tracing=Tracing.ACTIVE` would do the same, but write a wildcard into the role's policy, beside the grants.
        resource.tracing_config = lambda_.CfnFunction.TracingConfigProperty(mode="Active")
        # People type this name: `sam local invoke QueryFunction`.
        resource.override_logical_id(f"{folder.capitalize()}Function")
        acknowledge(
            self.function,
            {
                "AwsSolutions-L1": "The runtime is a context setting; its default is one that all wheels of the third-party "
                "layer exist for.",
                "Annotation::@aws-cdk/aws-lambda:snapStartRequirePublish": "Callers go through the alias of a version.",
            },
        )


def lambda_runtime(name: str) -> lambda_.Runtime:
    """A runtime by Lambda's name for it, `python3.13`; also one that this CDK version does not know yet."""
    return lambda_.Runtime(name, lambda_.RuntimeFamily.PYTHON, supports_snap_start=runtime_snaps(name))


def lambda_architecture(name: Architecture) -> lambda_.Architecture:
    """An architecture by Lambda's name for it."""
    return lambda_.Architecture.ARM_64 if name == "arm64" else lambda_.Architecture.X86_64
