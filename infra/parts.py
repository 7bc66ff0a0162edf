"""The parts that the functions share."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import aws_lambda as lambda_

from infra.dead_letters import DeadLetters
from infra.exports import Exports
from infra.identity import Identity
from infra.ingress import Ingress
from infra.job_queue import JobQueue
from infra.secrets import SealingSecret
from infra.settings import Settings
from infra.socket_api import SocketApi
from infra.table import GridTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The constructs that functions use or are invoked by. `retries` hints at webhooks whose last attempt failed."""

    settings: Settings
    layers: Sequence[lambda_.ILayerVersion]
    table: GridTable
    cursor_secret: SealingSecret
    webhook_secret: SealingSecret
    dead_letters: DeadLetters
    jobs: JobQueue
    webhooks: JobQueue
    retries: JobQueue
    exports: Exports
    identity: Identity
    ingress: Ingress
    sockets: SocketApi
