"""One Lambda function with its own role and log group, made from its declaration."""

from typing import TYPE_CHECKING

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.assets import code
from infra.checks import acknowledge
from infra.function_spec import FunctionSpec
from infra.paths import ROOT
from infra.retention import log_group
from infra.session_role import SessionRole
from infra.settings import Architecture, runtime_snaps

if TYPE_CHECKING:
    from infra.parts import Parts


class GridFunction(Construct):
    """The handler in `functions/<name>` with its environment, and with the layers that all functions share.

    `role` receives the grants. If sessions are isolated, grants on a tenant's data belong to `session`: a role that
    the function assumes for each tenant. Callers invoke `live`: the alias of the published version if there is one,
    else the function.
    """

    def __init__(self, scope: Construct, spec: FunctionSpec, parts: "Parts") -> None:
        super().__init__(scope, spec.name.capitalize())
        settings = parts.settings
        isolated = settings.isolate_sessions and bool(spec.session_grants)
        self.spec = spec
        group = log_group(self, "Logs", settings)
        # A role of another name, so that a deployment that switches leaves the versions before it theirs until they are gone.
        self.role = iam.Role(
            self,
            "IsolatedRole" if isolated else "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        )
        self.session = (
            SessionRole(self, "Session", function_role=self.role, emulator=settings.emulator)
            if isolated
            else None
        )
        group.grant(self.role, "logs:CreateLogStream", "logs:PutLogEvents")
        tracing = self._allow_tracing() if settings.traced(spec.name) else None

        spec.build()
        self.function = lambda_.Function(
            self,
            "Function",
            description=spec.description,
            runtime=lambda_runtime(settings.runtime),
            architecture=lambda_architecture(settings.architecture),
            handler="handler.handler",
            code=code(ROOT / "functions" / spec.name, "/var/task", settings.python_version),
            layers=list(parts.layers),
            environment={
                "POWERTOOLS_SERVICE_NAME": spec.name,
                "POWERTOOLS_METRICS_NAMESPACE": "gridview",
                "POWERTOOLS_LOG_LEVEL": "INFO",
                "STACK_NAME": settings.stack_name,
                "TABLE_NAME": parts.table.name,
                "TRANSPORT": settings.transport,
                **{name: value for name, value in spec.environment(parts).items() if value is not None},
                **({"SESSION_ROLE_ARN": self.session.role_arn} if self.session else {}),
            },
            memory_size=spec.memory_mib,
            timeout=Duration.seconds(spec.timeout_seconds),
            role=self.role,
            log_group=group,
            reserved_concurrent_executions=settings.reserved(spec.name),
            recursive_loop=lambda_.RecursiveLoop.ALLOW if spec.recursive else None,
            snap_start=lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS
            if spec.published and settings.snap_start
            else None,
        )
        if tracing is not None:
            # NOTE: Lambda refuses tracing for a function whose role does not allow it, so the policy comes first.
            self.function.node.add_dependency(tracing)
        if self.session:
            self.function.node.add_dependency(self.session)
        self._finish(traced=tracing is not None)
        self.live: lambda_.IFunction = self.function
        if spec.published:
            self.live = lambda_.Alias(self, "Live", alias_name="live", version=self.function.current_version)
        self._permit(parts)

    def _permit(self, parts: "Parts") -> None:
        if self.session:
            parts.table.grant(self.session, self.spec.session_grants)
        else:
            parts.table.grant(self.role, self.spec.grants)
        parts.table.grant(self.role, self.spec.tenantless_grants)
        self.spec.permit(self, parts)

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

    def _finish(self, *, traced: bool) -> None:
        resource = self.function.node.default_child
        assert isinstance(resource, lambda_.CfnFunction)  # noqa: S101  what a Function is made of
        # NOTE: `tracing=Tracing.ACTIVE` would do the same, but write a wildcard into the role's policy, beside the grants.
        # "PassThrough" is written out: a deployment that switches traces off would keep them without it.
        mode = "Active" if traced else "PassThrough"
        resource.tracing_config = lambda_.CfnFunction.TracingConfigProperty(mode=mode)
        # People type this name: `sam local invoke QueryFunction`.
        resource.override_logical_id(f"{self.spec.name.capitalize()}Function")
        acknowledge(
            self.function,
            {
                "AwsSolutions-L1": "The runtime is a setting. All wheels of the third-party layer exist for its default.",
                "Annotation::@aws-cdk/aws-lambda:snapStartRequirePublish": "Callers go through the alias of a version.",
            },
        )


def lambda_runtime(name: str) -> lambda_.Runtime:
    """A runtime by Lambda's name for it, `python3.13`; also one that this CDK version does not know yet."""
    return lambda_.Runtime(name, lambda_.RuntimeFamily.PYTHON, supports_snap_start=runtime_snaps(name))


def lambda_architecture(name: Architecture) -> lambda_.Architecture:
    """An architecture by Lambda's name for it."""
    return lambda_.Architecture.ARM_64 if name == "arm64" else lambda_.Architecture.X86_64
