"""`./dev sam`: SAM's own code reads its output and runs the functions on DynamoDB Local; only Docker is missing.

These tests are beside those of the deployed stack because they read the same synthesized template.
"""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from devtools import environments, paths
from devtools.local import engine, table, tokens
from devtools.local.sqs import SqsServer, queue_url
from devtools.sam import files
from devtools.sam.command import events_by_function
from infra.routes import ROUTES
from tests.support import worked_example
from tests.support.http import Client, Handler, claims
from tests.support.templates import resources

RUNTIME = ("boto3", "botocore", "dateutil", "jmespath", "s3transfer", "six", "urllib3")
"""The packages of Lambda's Python runtime: boto3 and its dependencies."""

PERSON = {"AWS_ACCESS_KEY_ID": "mine", "AWS_SECRET_ACCESS_KEY": "mine", "AWS_SESSION_TOKEN": "mine"}
"""A developer's own credentials, and a variable with the same name as a function's."""

EFFECTS = {
    "health": 200,
    "openapi": 200,
    "me": 200,
    "list_users": 200,
    "list_projects": 200,
    "get_project": 200,
    "get_attribute": 200,
    "check_formula": 200,
    "place_rows": 404,
    "get_issue": 200,
    "grid": 200,
    "grid_get": 200,
    "groups": 200,
    "summary": 200,
    "row_number": 200,
    "issue_history": 200,
    "activity": 200,
    "stream_insert": {"batchItemFailures": []},
    "stream_modify": {"batchItemFailures": []},
    "stream_ttl_removal": {"batchItemFailures": []},
    "stream_trash": {"batchItemFailures": []},
    "stream_remove": {"batchItemFailures": []},
    "upkeep_check": {"begun": True},
    "upkeep_beat": {},
    "upkeep_jobs": None,
    "upkeep_turn": {"jobs": 0, "issues": 0},
    "deliver_webhooks": {"due": 0},
    "deliver_turn": dict.fromkeys(("attempts", "failures", "given_up", "disabled"), 0),
    "socket_connect": 401,  # with a ticket that is none
    "socket_disconnect": 200,
    "socket_end": {"ended": 0, "settled": 0},
    "create_project": 201,
    "update_project": 200,
    "create_attribute": 201,
    "update_attribute": 200,
    "create_index": 201,
    "list_indexes": 200,
    "get_index": 200,
    "delete_index": 204,
    "create_comment": 201,
    "list_comments": 200,
    "get_comment": 200,
    "update_comment": 200,
    "delete_comment": 204,
    "changes": 200,
    "create_ticket": 200,
    "create_view": 201,
    "list_views": 200,
    "get_view": 200,
    "update_view": 200,
    "delete_view": 204,
    "create_webhook": 201,
    "list_webhooks": 200,
    "get_webhook": 404,
    "update_webhook": 404,
    "rotate_webhook": 404,
    "delete_webhook": 404,
    "list_deliveries": 404,
    "replay_delivery": 404,
    "create_issue": 201,
    "update_issue": 200,
    "delete_issue": 204,
    "list_trash": 200,
    "restore_issue": 200,
    "batch": 200,  # which deletes the issue again
    "purge_issue": 204,
    "update_matching": 202,
    "delete_matching": 202,
    # The lag of the history is unknown: nothing has come through the stream.
    "undo": 409,
    "export": 202,
    "list_jobs": 200,
    # No job has the id of the example.
    "get_job": 404,
    "list_refused": 404,
    "cancel_job": 404,
    "delete_attribute": 204,
    "list_deleted_attributes": 200,
    "restore_attribute": 200,
    # It was restored.
    "purge_attribute": 404,
    "delete_project": 204,
    "list_deleted_projects": 200,
    "restore_project": 200,
    # It was restored.
    "purge_project": 404,
}
"""The events in an order in which each has its effect on the worked example: the status of an answer, or the result."""


@dataclass(frozen=True)
class Sam:
    """SAM's code in a process of its own, and the folder that `./dev sam` wrote for it."""

    process: subprocess.Popen[str]
    folder: Path
    key: bytes

    def _ask(self, question: str, *arguments: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([question, arguments]) + "\n")
        return json.loads(self.process.stdout.readline())

    def describe(self) -> Any:
        """SAM's description of the template."""
        return self._ask("describe")

    def invoke(self, function: str, event: Any) -> Any:
        """`sam local invoke`."""
        return self._ask("invoke", function, event)

    def request(
        self, method: str, path: str, role: str | None = None, body: Any = None, **headers: str
    ) -> tuple[int, Any]:
        """A request to `sam local start-api`: status and body."""
        if role is not None:
            headers["Authorization"] = f"Bearer {tokens.issue(self.key, tenant='sam', role=role)}"
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            sent["Content-Type"] = "application/json"
        answer = self._ask("request", method, path, sent, "" if body is None else json.dumps(body))
        return answer["status"], json.loads(answer["body"]) if answer["body"] else None


@pytest.fixture(scope="module")
def sam(assembly: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sam]:
    data = tmp_path_factory.mktemp("sam")
    packages = data / "runtime"
    packages.mkdir()
    for name in RUNTIME:
        found = importlib.util.find_spec(name)
        assert found is not None
        assert found.origin is not None
        origin = Path(found.origin)
        kept = origin.parent if origin.name == "__init__.py" else origin
        (packages / kept.name).symlink_to(kept)
    with engine.running(in_memory=True) as running, SqsServer(data / "letters.ndjson") as queues:
        queues.start()
        table.ensure(running.client(), table.TABLE)
        configuration = files.write(
            data / "sam",
            assembly,
            files.Connection(
                engine=running.endpoint,
                queue=queue_url(queues.endpoint),
                files="http://127.0.0.1:9",
                data=data,
            ),
        )
        parameters = tomllib.loads(configuration.read_text("utf-8"))["default"]["local_invoke"]["parameters"]
        read = [parameters["template_file"], parameters["env_vars"]]
        bare = getattr(sys, "_base_executable", sys.executable)
        with subprocess.Popen(  # noqa: S603
            [
                environments.ensure("sam"),
                "-P",
                paths.ROOT / "tests/support/sam_host.py",
                *read,
                bare,
                packages,
            ],
            env={"PATH": os.defpath, "HOME": str(data), "SAM_CLI_TELEMETRY": "0", "TABLE_NAME": "mine"}
            | PERSON,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(data / "sam.log").open("w"),
            text=True,
            bufsize=1,
        ) as process:
            yield Sam(process, configuration.parent, tokens.key_in(data))
            process.terminate()
        queues.shutdown()


@pytest.fixture(scope="module")
def deployed(assembly: Path) -> Any:
    """The template that is deployed."""
    return json.loads((assembly / "Gridview.template.json").read_text("utf-8"))


def test_sam_finds_every_function_with_its_code_its_layers_and_the_entry(sam: Sam, deployed: Any) -> None:
    found = sam.describe()["functions"]
    assert found.keys() == resources(deployed, "AWS::Lambda::Function").keys()
    for function in found.values():
        entry, core, vendor = map(Path, function["layers"])
        assert (Path(function["code"]) / "handler.py").is_file()
        assert (entry / "python" / Path(*function["handler"].split(".")[:-1])).with_suffix(".py").is_file()
        assert (core / "python" / "gridview").is_dir()
        assert (vendor / "python" / "pydantic").is_dir()


def test_every_variable_is_set_independently_of_the_users_environment(sam: Sam, deployed: Any) -> None:
    declared = resources(deployed, "AWS::Lambda::Function")
    for name, function in sam.describe()["functions"].items():
        environment = function["environment"]
        assert [variable for variable, value in environment.items() if not value] == []
        assert "mine" not in environment.values()
        expected = declared[name]["Environment"]["Variables"].keys() - {
            "CURSOR_SECRET_ARN",
            "WEBHOOK_SECRET_ARN",
            "SESSION_ROLE_ARN",
            "USER_POOL_ID",
        }
        assert expected <= environment.keys()
        assert environment["AWS_ENDPOINT_URL_DYNAMODB"].startswith("http://127.0.0.1:")


def test_sam_collects_every_route_of_the_deployment(sam: Sam, deployed: Any) -> None:
    found = {
        "$default" if route["path"] == "$default" else f"{method} {route['path']}": route["function"]
        for route in sam.describe()["routes"]
        for method in route["methods"]
    }
    http = {
        name
        for name, api in resources(deployed, "AWS::ApiGatewayV2::Api").items()
        if api["ProtocolType"] == "HTTP"
    }
    routes = resources(deployed, "AWS::ApiGatewayV2::Route").values()
    # SAM knows no WebSocket APIs.
    assert found.keys() == {route["RouteKey"] for route in routes if route["ApiId"]["Ref"] in http}
    for route in ROUTES:
        assert found[route.key] == f"{route.function.capitalize()}Function"


def test_no_deployed_asset_holds_the_entry(sam: Sam, assembly: Path) -> None:
    local = {
        hashlib.sha256(path.read_bytes()).digest(): path
        for path in (sam.folder / "entry").rglob("*.py")
        if path.stat().st_size
    }
    assert "entry.py" in {path.name for path in local.values()}
    deployed = {
        hashlib.sha256(path.read_bytes()).digest()
        for asset in assembly.glob("asset.*")
        for path in asset.rglob("*.py")
    }
    assert {str(local[digest]) for digest in local.keys() & deployed} == set()


def test_every_event_runs_through_the_entry(sam: Sam) -> None:
    function_of = {event: function for function, events in events_by_function().items() for event in events}
    assert EFFECTS.keys() == function_of.keys()

    def handler(function: str) -> Handler:
        return lambda event, _: sam.invoke(function, event)

    handlers = {"query": handler("QueryFunction"), "command": handler("CommandFunction")}
    worked_example.load(Client(handlers, claims()))
    for name, effect in EFFECTS.items():
        event = json.loads((paths.ROOT / "events" / f"{name}.json").read_text("utf-8"))
        result = sam.invoke(function_of[name], event)
        assert "errorType" not in result, (name, result)
        if isinstance(effect, int):
            assert result["statusCode"] == effect, (name, result)
        elif effect is not None:
            assert result == effect, name


def test_the_api_wants_a_token_where_the_deployed_one_does(sam: Sam) -> None:
    assert sam.request("GET", "/v1/health") == (200, {"status": "ok"})
    for authorization in (
        "",
        "Bearer nonsense",
        "Basic abc",
        f"Bearer {tokens.issue(b'k' * 64, tenant='sam', role='admin')}",
    ):
        status, problem = sam.request("GET", "/v1/projects", Authorization=authorization)
        assert (status, problem["type"].rpartition("/")[2]) == (401, "unauthenticated")
    assert sam.request("GET", "/v1/projects", "viewer")[0] == 200
    assert sam.request("PUT", "/v1/projects")[0] == 401
    assert sam.request("PUT", "/v1/projects", "viewer")[0] == 405
    assert sam.request("GET", "/v1/projects/missing/issues/batch", "viewer")[0] == 405
    assert sam.request("PUT", "/v1/health")[0] == 405
    for path in ("/v1/nowhere", "/v1/projects/missing/nowhere"):
        assert sam.request("PUT", path)[0] == 401
        status, problem = sam.request("PUT", path, "viewer")
        assert (status, problem["type"]) == (404, "not-found")


def test_the_api_knows_roles_bodies_and_headers(sam: Sam) -> None:
    project = {"id": "bridge", "name": "Bridge"}
    assert sam.request("POST", "/v1/projects", "viewer", project)[0] == 403
    assert sam.request("POST", "/v1/projects", "admin", project)[0] == 201
    changed = {"name": "Viaduct"}
    assert sam.request("PATCH", "/v1/projects/bridge", "admin", changed, If_Match='"9"')[0] == 412
    assert sam.request("PATCH", "/v1/projects/bridge", "admin", changed, If_Match='"1"')[0] == 200
    status, page = sam.request("GET", "/v1/projects/bridge/grid?limit=5&columns=name", "viewer")
    assert (status, page["rows"]) == (200, [])
    assert sam.request("GET", "/v1/projects/bridge", "viewer")[1]["name"] == "Viaduct"
