"""The writes of the API, and the call in which users note their names (`GET /v1/me`)."""

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit

from gridview.api import snapshots
from gridview.api.config import (
    projects_per_tenant,
    required,
    session_role,
    stack_metrics,
    stack_transport,
    use_forms,
    webhooks_to_localhost,
    writes_per_second,
)
from gridview.api.resolver import handler as http_handler
from gridview.api.sealing import CursorSource, WebhookSeals
from gridview.command_api.container import CommandContainer
from gridview.command_api.resources import LATER, RESOURCES
from gridview.commands.write_rate import WriteRate
from gridview.dynamodb.table import Table
from gridview.maintenance.job_queue import JobQueue
from gridview.schema.store import Catalogs

logger = Logger()
metrics = stack_metrics()
table = Table(required("TABLE_NAME"), session_role=session_role(), transport=stack_transport(logger))
catalogs = Catalogs()
cursor_source = CursorSource()
webhook_seals = WebhookSeals()
settling = float(required("SETTLE_SECONDS"))
job_queue = JobQueue(required("JOB_QUEUE_URL"))
webhook_queue = JobQueue(required("WEBHOOK_QUEUE_URL"))


def _uncounted() -> None:
    metrics.add_metric(name="UncountedWrites", unit=MetricUnit.Count, value=1)


rate = WriteRate(writes_per_second(), _uncounted)
most_projects = projects_per_tenant()
use_forms()
to_localhost = webhooks_to_localhost()


def _container() -> CommandContainer:
    return CommandContainer(
        table=table,
        catalogs=catalogs,
        cursor_source=cursor_source,
        webhook_seals=webhook_seals,
        settling=settling,
        job_queue=job_queue,
        webhook_queue=webhook_queue,
        rate=rate,
        most_projects=most_projects,
        to_localhost=to_localhost,
        logger=logger,
    )


snapshots.start([table.connect, cursor_source.prime], [*table.services, "secretsmanager"], LATER)
handler = http_handler(RESOURCES, _container, logger, metrics)
