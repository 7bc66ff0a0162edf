"""Queues of hints at work that is due, and their delivery to the function that does it."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.checks import acknowledge
from infra.function import GridFunction
from infra.functions import FUNCTIONS
from infra.settings import Settings

_DELIVERIES = 6
"""AWS's advice: a message stays hidden for six timeouts, so that one that met a throttle is not given out twice."""

_RETENTION = Duration.hours(1)
"""Each minute a new hint is sent at every job that is still due."""

_NO_TLS = "An engine on this machine uses plain HTTP, on the loopback interface."


class JobQueue(Construct):
    """A queue in which every message is worth one turn of work, done by `function`.

    The table holds the state of the work. So a lost message does no harm, and the queue needs no queue for dead
    letters.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        function: str,
    ) -> None:
        super().__init__(scope, construct_id)
        self.queue = sqs.Queue(
            self,
            "Queue",
            visibility_timeout=Duration.seconds(FUNCTIONS[function].timeout_seconds * _DELIVERIES),
            retention_period=_RETENTION,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=not settings.emulator,
            removal_policy=RemovalPolicy.DESTROY,
        )
        acknowledge(self.queue, {"AwsSolutions-SQS3": "A lost message is sent again within a minute."})
        if settings.emulator:
            acknowledge(self.queue, {"AwsSolutions-SQS4": _NO_TLS})

    def deliver_to(self, function: GridFunction, *, invocations: int, batch: int) -> None:
        """Let up to `batch` messages invoke the function, up to `invocations` times at once."""
        receives = self._grant(
            function.role, "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"
        )
        mapping = lambda_.EventSourceMapping(
            self,
            "Mapping",
            target=function.live,
            event_source_arn=self.queue.queue_arn,
            batch_size=batch,
            max_concurrency=invocations,
        )
        # NOTE: Lambda checks the rights when the mapping is created.
        receives.apply_before(mapping)

    def grant_send(self, grantee: iam.IGrantable) -> None:
        """Allow a role to send messages."""
        self._grant(grantee, "sqs:SendMessage")

    def _grant(self, grantee: iam.IGrantable, *actions: str) -> iam.Grant:
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=list(actions), resource_arns=[self.queue.queue_arn]
        )
