"""The deployment: the parts that functions share, the functions, and their triggers."""

from aws_cdk import Aws, CfnOutput, CfnRule, CfnRuleAssertion, CliCredentialsStackSynthesizer, Fn, Stack
from constructs import Construct

from gridview.support import forms
from gridview.support.version import VERSION
from infra import concurrency, isolation, protection
from infra.account_answers import RESERVED_OUTPUT, RESTORED_OUTPUT
from infra.alarms import Alarms
from infra.backup import NightlyBackup
from infra.dashboard import Dashboard
from infra.dead_letters import DeadLetters
from infra.exports import Exports
from infra.front import Front
from infra.function import GridFunction
from infra.functions import FUNCTIONS
from infra.identity import Identity
from infra.ingress import Ingress
from infra.job_queue import JobQueue
from infra.layers import Layers
from infra.limits import NO_SNAP_START
from infra.parts import Parts
from infra.secrets import SealingSecret
from infra.settings import Settings
from infra.socket_api import SocketApi
from infra.table import GridTable
from infra.wiring import connect


class GridviewStack(Stack):
    """Everything, in one stack that names no account and no region."""

    def __init__(self, scope: Construct, *, settings: Settings) -> None:
        super().__init__(
            scope,
            settings.stack_name,
            description=f"gridview {VERSION}: a grid view over DynamoDB",
            tags={"gridview-version": VERSION},
            termination_protection=settings.guarded,
            synthesizer=CliCredentialsStackSynthesizer() if settings.emulator else None,
        )

        if settings.snap_start:
            self._require_snap_start()
        parts = self._make_parts(settings)
        if settings.backup:
            NightlyBackup(self, "Backup", settings=settings, table=parts.table.table)
        front = Front(
            self,
            "Front",
            settings=settings,
            ingress=parts.ingress,
            identity=parts.identity,
            connect=[parts.sockets.origin],
        )
        functions = {name: GridFunction(self, spec, parts) for name, spec in FUNCTIONS.items()}
        # An upgrade first reaches the functions that read documents, and then the one that writes new forms of them.
        functions["command"].function.node.add_dependency(
            *(functions[name].function for name in ("query", "maintain", "upkeep"))
        )
        if front.upload:
            front.upload.after(*(functions[name].function for name in ("query", "command", "live", "socket")))
        streams = connect(self, functions, parts)

        self.alarms = alarms = Alarms(
            self,
            "Alarms",
            settings=settings,
            table=parts.table,
            functions=functions,
            mapping=streams["maintain"].mapping,
            dead_letters=parts.dead_letters,
            ingress=parts.ingress,
            sockets=parts.sockets,
            front=front,
            jobs=parts.jobs,
            webhooks=parts.webhooks,
        )
        Dashboard(
            self,
            "Overview",
            alarms=alarms,
            table=parts.table,
            functions=functions,
            ingress=parts.ingress,
        )
        self._output(settings, parts, front, alarms)

    def _make_parts(self, settings: Settings) -> Parts:
        return Parts(
            settings=settings,
            layers=Layers(self, "Layers", settings=settings).all,
            table=GridTable(self, "Database", settings=settings),
            cursor_secret=SealingSecret(
                self, "Cursors", settings=settings, seals="cursors, consistency tokens and tickets"
            ),
            webhook_secret=SealingSecret(
                self, "WebhookKey", settings=settings, seals="the secrets of webhooks"
            ),
            dead_letters=DeadLetters(self, "DeadLetters", settings=settings),
            jobs=JobQueue(self, "Jobs", settings=settings, function="upkeep"),
            webhooks=JobQueue(self, "Webhooks", settings=settings, function="deliver"),
            retries=JobQueue(self, "WebhookRetries", settings=settings, function="deliver"),
            exports=Exports(self, "Exports", settings=settings),
            identity=Identity(self, "Identity", settings=settings),
            ingress=Ingress(self, "Ingress", settings=settings),
            sockets=SocketApi(self, "Sockets", settings=settings),
        )

    def _output(self, settings: Settings, parts: Parts, front: Front, alarms: Alarms) -> None:
        identity, dead_letters = parts.identity, parts.dead_letters
        CfnOutput(self, "Version", value=VERSION)
        CfnOutput(self, "ApiUrl", value=front.api_url)
        CfnOutput(self, "SocketUrl", value=parts.sockets.url)
        CfnOutput(self, "UserPoolId", value=identity.pool.user_pool_id)
        CfnOutput(self, "UserPoolClientId", value=identity.clients[0].user_pool_client_id)
        CfnOutput(self, "TableName", value=parts.table.name)
        CfnOutput(self, "CursorSecretArn", value=parts.cursor_secret.arn)
        CfnOutput(self, "WebhookSecretArn", value=parts.webhook_secret.arn)
        if settings.restored_table is not None:
            CfnOutput(
                self,
                RESTORED_OUTPUT,
                value=settings.restored_stream,
                description="Stream of the restored table; later deployments keep it",
            )
        CfnOutput(self, "DeadLetterQueueUrl", value=dead_letters.queue.queue_url)
        CfnOutput(self, "FailedBatchesBucket", value=dead_letters.bucket.bucket_name)
        CfnOutput(self, "ExportBucket", value=parts.exports.bucket.bucket_name)
        CfnOutput(self, "AlarmTopicArn", value=alarms.topic.topic_arn)
        CfnOutput(
            self,
            protection.OUTPUT,
            value=protection.protection(settings),
            description="Whether stack, table and users refuse to be deleted",
        )
        CfnOutput(
            self,
            isolation.OUTPUT,
            value=isolation.isolation(settings),
            description="The guard that limits callers to the keys of their tenant",
        )
        CfnOutput(
            self,
            RESERVED_OUTPUT,
            value=str(sum(settings.reserved(name) or 0 for name in FUNCTIONS)),
            description="Concurrent executions that the functions have reserved",
        )
        if (note := concurrency.concurrency_note(settings)) is not None:
            CfnOutput(self, concurrency.OUTPUT, value=note)
        CfnOutput(
            self,
            "StoredFormRead",
            value=str(forms.NEWEST),
            description="Newest stored form that the functions read",
        )
        CfnOutput(
            self,
            "StoredFormWritten",
            value=str(settings.stored_form),
            description="Newest stored form that the functions write",
        )

    def _require_snap_start(self) -> None:
        # The template names no region, so CloudFormation itself looks, before it creates anything.
        CfnRule(
            self,
            "SnapStartInRegion",
            assertions=[
                CfnRuleAssertion(
                    assert_=Fn.condition_not(Fn.condition_contains(list(NO_SNAP_START), Aws.REGION)),
                    assert_description="Lambda has no SnapStart for Python in this region: deploy with -c snap-start=false",
                )
            ],
        )
