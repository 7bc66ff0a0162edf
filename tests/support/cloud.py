"""The functions in an account of moto's: imported afresh under its environment, on a table like the deployed one."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import boto3
import pytest
from moto import mock_aws

from devtools.local.table import create_table_input
from gridview.api.routes import BY_KEY
from gridview.commands.actor import Role
from gridview.dynamodb.table import BATCH_WRITE, Table
from gridview.encoding import keys
from gridview.index.fence_cache import Fences
from gridview.schema.store import Catalogs
from tests.support.functions import freshly_imported
from tests.support.http import Client, Context, Handler, Handlers, claims

TABLE = "gridview"
_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "eu-west-2",
    "AWS_REGION": "eu-west-2",
    "AWS_EC2_METADATA_DISABLED": "true",
    "POWERTOOLS_SERVICE_NAME": "test",
    "POWERTOOLS_METRICS_NAMESPACE": "gridview",
    "POWERTOOLS_LOG_LEVEL": "INFO",
    "TABLE_NAME": TABLE,
    "CURSOR_SECRET": "a secret of the tests",
    "SETTLE_SECONDS": "0",
}


@dataclass(frozen=True)
class Cloud:
    """What runs in the account: the functions' modules, and the queue of poison issues."""

    modules: Mapping[str, ModuleType]
    queue_url: str
    client: Any
    """A DynamoDB client of the tests' own."""
    table: Table
    """The table, for what the API cannot do."""

    @property
    def handlers(self) -> Handlers:
        """The functions' handlers. After a change of definitions as much time seems to pass as catalogs are kept."""
        return {name: self._aging(module.handler) for name, module in self.modules.items()}

    def _aging(self, handler: Handler) -> Handler:
        def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
            try:
                return handler(event, context)
            finally:
                if _changes_definitions(event):
                    self.forget()

        return handle

    @property
    def hasty(self) -> Client:
        """An admin of tenant 0807 who asks again at once, while the functions may still use the catalogs that they have."""
        return Client({name: module.handler for name, module in self.modules.items()}, claims())

    def api(self, **who: str) -> Client:
        """A client of the API: `tenant`, `role`, `user`, by default an admin of tenant 0807."""
        return Client(self.handlers, claims(**who))

    def reset(self) -> None:
        """An empty table, and functions that remember nothing of the one before."""
        if TABLE in self.client.list_tables()["TableNames"]:
            self.client.delete_table(TableName=TABLE)
        self.client.create_table(**create_table_input(TABLE))
        self.forget()

    def forget(self) -> None:
        """Let the functions read every catalog anew, as other containers would, or these after a while."""
        for module in self.modules.values():
            module.catalogs = Catalogs()  # type: ignore[attr-defined]
            if hasattr(module, "fences"):
                module.fences = Fences()  # type: ignore[attr-defined]

    def items(self) -> list[dict[str, Any]]:
        """Everything in the table, in wire form."""
        found: list[dict[str, Any]] = self.client.scan(TableName=TABLE)["Items"]
        return sorted(found, key=lambda item: (item["PK"]["S"], item["SK"]["S"]))

    def put(self, items: list[dict[str, Any]]) -> None:
        """Put items in wire form into the table."""
        for at in range(0, len(items), BATCH_WRITE):
            requests = [{"PutRequest": {"Item": item}} for item in items[at : at + BATCH_WRITE]]
            self.client.batch_write_item(RequestItems={TABLE: requests})

    def derive(self) -> None:
        """Hand every issue's newest image, and the removal of each that is gone, to the stream consumer."""
        items = self.items()
        issues = [item for item in items if _is_issue(item)]
        alive = {item["PK"]["S"] for item in issues}
        gone = [item for item in items if item["SK"]["S"] == keys.LEDGER and item["PK"]["S"] not in alive]
        records = [
            _record("INSERT" if issue["version"]["N"] == "1" else "MODIFY", issue["PK"], {"NewImage": issue})
            for issue in issues
        ]
        records += [
            _record("REMOVE", ledger["PK"], {"OldImage": {"version": ledger["version"]}}) for ledger in gone
        ]
        result = self.modules["maintain"].handler({"Records": records}, Context())
        assert result == {"batchItemFailures": []}

    def upkeep(self) -> dict[str, Any]:
        """Work on the background jobs until nothing is left to do; then as much time seems to pass as catalogs are kept."""
        result: dict[str, Any] = self.modules["upkeep"].handler({"task": "jobs"}, Context())
        self.forget()
        return result


def _changes_definitions(event: Mapping[str, Any]) -> bool:
    route = BY_KEY.get(event.get("routeKey", ""))
    return route is not None and route.role is Role.ADMIN


def _is_issue(item: Mapping[str, Any]) -> bool:
    partition_key, sort_key = str(item["PK"]["S"]), str(item["SK"]["S"])
    return partition_key.startswith(keys.ISSUE_PREFIX) and sort_key.startswith(keys.PROJECT_PREFIX)


def _record(kind: str, partition_key: Any, images: Mapping[str, Any]) -> dict[str, Any]:
    stream = {
        "Keys": {"PK": partition_key, "SK": {"S": keys.PROJECT_PREFIX}},
        "SequenceNumber": "1",
        **images,
    }
    return {"eventName": kind, "dynamodb": stream}


@contextmanager
def running() -> Iterator[Cloud]:
    """The account, without a table yet. Other tests' modules of the same names stay as they were."""
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        for name, value in _ENVIRONMENT.items():
            patch.setenv(name, value)
        for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SQS"):
            patch.delenv(name, raising=False)
        queue_url = boto3.client("sqs").create_queue(QueueName="dead-letters")["QueueUrl"]
        patch.setenv("DEAD_LETTER_QUEUE_URL", queue_url)
        yield Cloud(
            modules=freshly_imported(),
            queue_url=queue_url,
            client=boto3.client("dynamodb"),
            table=Table(TABLE),
        )
