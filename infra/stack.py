"""The deployment: table -> functions -> stream and HTTP, with each function's permissions."""

from aws_cdk import Aws, CfnOutput, CfnRule, CfnRuleAssertion, CliCredentialsStackSynthesizer, Fn, Stack
from constructs import Construct

from gridview.support import forms
from infra.alarms import Alarms
from infra.backup import NightlyBackup
from infra.dashboard import Dashboard
from infra.dead_letters import DeadLetters
from infra.exports import Exports
from infra.front import Front
from infra.function import GridFunction
from infra.grants import GRANTS, SESSION_GRANTS, SOCKET_OWNERS
from infra.identity import Identity
from infra.ingress import Ingress
from infra.job_queue import JobQueue
from infra.layers import Layers
from infra.limits import NO_SNAP_START, SETTLE_SECONDS, WEBHOOK_BATCH, WEBHOOK_INVOCATIONS
from infra.push_stream import PushStream
from infra.secrets import CursorSecret
from infra.settings import Settings
from infra.socket_api import SocketApi
from infra.stream import StreamMapping
from infra.table import GridTable
from infra.upkeep import DeliverySchedule, UpkeepSchedules


class GridviewStack(Stack):
    """Everything, in one stack that names no account and no region."""

    def __init__(self, scope: Construct, *, settings: Settings) -> None:
        super().__init__(
            scope,
            settings.stack_name,
            description="gridview: a grid view over DynamoDB",
            termination_protection=settings.guarded,
            synthesizer=CliCredentialsStackSynthesizer() if settings.emulator else None,
        )

        if settings.snap_start:
            self._require_snap_start()
        table = GridTable(self, "Database", settings=settings)
        if settings.backup:
            NightlyBackup(self, "Backup", settings=settings, table=table.table)
        cursor_secret = CursorSecret(self, "Cursors")
        dead_letters = DeadLetters(self, "DeadLetters", settings=settings)
        jobs = JobQueue(self, "Jobs", settings=settings, function="upkeep", invocations=settings.workers)
        webhooks, retries = (
            JobQueue(
                self,
                name,
                settings=settings,
                function="deliver",
                invocations=WEBHOOK_INVOCATIONS,
                batch=WEBHOOK_BATCH,
            )
            for name in ("Webhooks", "WebhookRetries")
        )
        exports = Exports(self, "Exports", settings=settings)
        identity = Identity(self, "Identity", settings=settings)
        layers = Layers(self, "Layers", settings=settings).all

        sockets = SocketApi(self, "Sockets", settings=settings)

        settling = {"SETTLE_SECONDS": str(SETTLE_SECONDS)}
        limit = settings.writes_per_second
        rate = {"WRITES_PER_SECOND": str(limit)} if limit else {}
        projects = {"PROJECTS_PER_TENANT": str(settings.projects_per_tenant)}
        written = {"FORMS": str(settings.forms)}
        folds = {"FOLD_WEIGHT": str(settings.fold_weight), "FOLD_SECONDS": str(settings.fold_seconds)}
        hooks = {"WEBHOOK_QUEUE_URL": webhooks.queue.queue_url}
        files = {"EXPORT_BUCKET": exports.bucket.bucket_name}
        poison = {"DEAD_LETTER_QUEUE_URL": dead_letters.queue.queue_url}

        query = GridFunction(
            self,
            "Query",
            folder="query",
            description="gridview: everything that reads",
            settings=settings,
            layers=layers,
            environment={"TABLE_NAME": table.name, "CURSOR_SECRET_ARN": cursor_secret.arn, **files},
            memory_mib=1769,
            published=True,
            isolated=settings.isolate_sessions,
        )
        command = GridFunction(
            self,
            "Command",
            folder="command",
            description="gridview: everything that writes for a caller",
            settings=settings,
            layers=layers,
            environment={
                "TABLE_NAME": table.name,
                "CURSOR_SECRET_ARN": cursor_secret.arn,
                "JOB_QUEUE_URL": jobs.queue.queue_url,
                **hooks,
                **settling,
                **rate,
                **projects,
                **written,
            },
            memory_mib=1769,
            published=True,
            isolated=settings.isolate_sessions,
        )
        live = GridFunction(
            self,
            "Live",
            folder="live",
            description="gridview: follows the changes of projects",
            settings=settings,
            layers=layers,
            environment={
                "TABLE_NAME": table.name,
                "CURSOR_SECRET_ARN": cursor_secret.arn,
                "SOCKET_URL": sockets.url,
                "POLLS_PER_TENANT": str(settings.open_polls),
            },
            # It waits most of the time, and waiting is paid for by memory.
            memory_mib=512,
            published=False,
            isolated=settings.isolate_sessions,
        )
        socket = GridFunction(
            self,
            "Socket",
            folder="socket",
            description="gridview: tells those who are connected what changes",
            settings=settings,
            layers=layers,
            environment={
                "TABLE_NAME": table.name,
                "CURSOR_SECRET_ARN": cursor_secret.arn,
                **sockets.environment,
            },
            # A whole processor: it signs and sends to 64 connections at once.
            memory_mib=1769,
            published=False,
            isolated=settings.isolate_sessions,
        )
        deliver = GridFunction(
            self,
            "Deliver",
            folder="deliver",
            description="gridview: sends the changes of projects to their webhooks",
            settings=settings,
            layers=layers,
            environment={
                "TABLE_NAME": table.name,
                "CURSOR_SECRET_ARN": cursor_secret.arn,
                "WEBHOOK_RETRY_QUEUE_URL": retries.queue.queue_url,
                # A look-up of a name that hangs is over before the time for an attempt is.
                "RES_OPTIONS": "timeout:1 attempts:2",
                **hooks,
            },
            # It waits for receivers most of the time, but TLS with ten of them at once takes a share of a CPU.
            memory_mib=1024,
            published=False,
            recursive=True,
        )
        maintain = GridFunction(
            self,
            "Maintain",
            folder="maintain",
            description="gridview: derives the index from the stream of issue documents",
            settings=settings,
            layers=layers,
            environment={
                "TABLE_NAME": table.name,
                "JOB_QUEUE_URL": jobs.queue.queue_url,
                **hooks,
                **poison,
                **written,
                **folds,
            },
            memory_mib=1769,
            published=False,
        )
        upkeep = GridFunction(
            self,
            "Upkeep",
            folder="upkeep",
            description="gridview: builds and sweeps in the background, and checks the index",
            settings=settings,
            layers=layers,
            environment={
                "TABLE_NAME": table.name,
                "JOB_QUEUE_URL": jobs.queue.queue_url,
                "USER_POOL_ID": identity.pool.user_pool_id,
                **settling,
                **rate,
                **poison,
                **files,
                **written,
                **folds,
            },
            memory_mib=1769,
            published=False,
            recursive=True,
        )

        functions = {
            "query": query,
            "command": command,
            "live": live,
            "socket": socket,
            "deliver": deliver,
            "maintain": maintain,
            "upkeep": upkeep,
        }
        # An upgrade reaches those that read documents first, and then who writes what is new in them.
        command.function.node.add_dependency(query.function, maintain.function, upkeep.function)
        for name, function in functions.items():
            if function.session:
                table.grant(function.session, SESSION_GRANTS[name])
            else:
                table.grant(function.role, GRANTS[name])
        table.grant(socket.role, SOCKET_OWNERS)
        for function in (query, command, live, socket, deliver):
            cursor_secret.grant(function.role, "secretsmanager:GetSecretValue")
        dead_letters.grant_send(maintain.role)
        dead_letters.grant_send(upkeep.role)
        jobs.grant_send(maintain.role)
        jobs.grant_send(command.role)
        webhooks.grant_send(maintain.role)
        webhooks.grant_send(command.role)
        exports.grant_write(upkeep.role)
        # The rights of the users whose jobs it works on.
        identity.pool.grant(upkeep.role, "cognito-idp:AdminGetUser")
        exports.grant_links(query.session or query.role, of_a_tenant=query.session is not None)

        stream = StreamMapping(
            self, "Stream", settings=settings, table=table, consumer=maintain, dead_letters=dead_letters
        )
        PushStream(self, "Pushes", table=table, socket=socket)
        sockets.add_routes(socket)
        jobs.deliver_to(upkeep)
        webhooks.deliver_to(deliver)
        retries.deliver_to(deliver)
        UpkeepSchedules(self, "Schedules", upkeep=upkeep, check_schedule=settings.check_schedule)
        DeliverySchedule(self, "DeliverySchedule", deliver=deliver)
        ingress = Ingress(self, "Ingress", settings=settings)
        front = Front(
            self,
            "Front",
            settings=settings,
            ingress=ingress,
            identity=identity,
            connect=[sockets.origin],
        )
        ingress.add_routes(identity=identity, query=query, command=command, live=live)

        self.alarms = alarms = Alarms(
            self,
            "Alarms",
            settings=settings,
            table=table,
            functions=functions,
            mapping=stream.mapping,
            dead_letters=dead_letters,
            ingress=ingress,
            webhooks=webhooks,
        )
        Dashboard(
            self,
            "Overview",
            alarms=alarms,
            table=table,
            functions=functions,
            ingress=ingress,
        )

        CfnOutput(self, "ApiUrl", value=front.api_url)
        CfnOutput(self, "SocketUrl", value=sockets.url)
        CfnOutput(self, "UserPoolId", value=identity.pool.user_pool_id)
        CfnOutput(self, "UserPoolClientId", value=identity.clients[0].user_pool_client_id)
        CfnOutput(self, "TableName", value=table.name)
        CfnOutput(self, "DeadLetterQueueUrl", value=dead_letters.queue.queue_url)
        CfnOutput(self, "FailedBatchesBucket", value=dead_letters.bucket.bucket_name)
        CfnOutput(self, "ExportBucket", value=exports.bucket.bucket_name)
        CfnOutput(self, "AlarmTopicArn", value=alarms.topic.topic_arn)
        CfnOutput(
            self, "Forms", value=str(forms.NEWEST), description="Newest stored form that the functions read"
        )
        CfnOutput(
            self, "FormsWritten", value=str(settings.forms), description="Newest stored form that they write"
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
