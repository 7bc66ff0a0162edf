"""The objects that the command function keeps from one request to the next."""

from dataclasses import dataclass

from aws_lambda_powertools import Logger

from gridview.api.http import Request
from gridview.api.sealing import CursorSource, WebhookSeals
from gridview.commands.write_rate import WriteRate
from gridview.dynamodb.table import Table
from gridview.maintenance.job_queue import JobQueue
from gridview.schema.store import Catalogs


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContainer:
    """The table, the definitions, the seals of tokens, the queues of hints, and the limits of the stack.

    `settling`: seconds until no invocation uses older definitions. `most_projects`: of a tenant; 0: no limit.
    `to_localhost`: whether webhooks may be sent to servers of this machine.
    """

    table: Table
    catalogs: Catalogs
    cursor_source: CursorSource
    webhook_seals: WebhookSeals
    settling: float
    job_queue: JobQueue
    webhook_queue: JobQueue
    rate: WriteRate
    most_projects: int
    to_localhost: bool
    logger: Logger


CommandRequest = Request[CommandContainer]
"""A request to the command function."""
