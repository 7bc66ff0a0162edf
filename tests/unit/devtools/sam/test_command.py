"""The files and output of `./dev sam`, with a synthesis that only leaves a template."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from devtools import cli
from devtools.failure import Failure
from devtools.local import s3
from devtools.local.folder import Folder, State
from devtools.local.processes import known
from devtools.sam import command
from devtools.sam.command import EVENTS, events_by_function, host_for_containers


def test_a_container_reaches_the_engine_where_it_listens_or_through_docker_desktop() -> None:
    assert host_for_containers("http://172.17.0.1:4000", "linux") == "172.17.0.1"
    assert host_for_containers("http://172.17.0.1:4000", "darwin") == "172.17.0.1"
    assert host_for_containers("http://127.0.0.1:4000", "darwin") == "host.docker.internal"
    with pytest.raises(Failure, match="--listen"):
        host_for_containers("http://127.0.0.1:4000", "linux")


def test_every_event_is_for_one_function() -> None:
    found = events_by_function()
    names = ("Query", "Command", "Live", "Socket", "Deliver", "Maintain", "Upkeep")
    assert found.keys() == {f"{name}Function" for name in names}
    assert sorted(event for events in found.values() for event in events) == sorted(
        path.stem for path in EVENTS.iterdir()
    )
    assert sorted(found["DeliverFunction"]) == ["deliver_turn", "deliver_webhooks"]
    assert sorted(found["SocketFunction"]) == ["socket_connect", "socket_disconnect", "socket_end"]
    assert found["UpkeepFunction"] and "stream_insert" in found["MaintainFunction"]  # noqa: PT018


class Synthesis:
    """Replaces cdk: leaves a template with one function, or fails."""

    status = 0

    def __init__(self) -> None:
        self.arguments: list[str] = []

    def __call__(self, *arguments: str) -> int:
        self.arguments = list(arguments)
        assembly = Path(arguments[arguments.index("--output") + 1])
        assert not assembly.exists(), "nothing of an older synthesis is left"
        assembly.mkdir(parents=True)
        function = {
            "Type": "AWS::Lambda::Function",
            "Properties": {
                "Handler": "handler.handler",
                "Environment": {
                    "Variables": {
                        "TABLE_NAME": {"Ref": "Table"},
                        "CURSOR_SECRET_ARN": {"Ref": "S"},
                        "EXPORT_BUCKET": {"Ref": "B"},
                    }
                },
            },
            "Metadata": {"aws:asset:path": "asset.1"},
        }
        (assembly / "Gridview.template.json").write_text(
            json.dumps({"Resources": {"QueryFunction": function}})
        )
        return self.status


@pytest.fixture
def synthesis(monkeypatch: pytest.MonkeyPatch) -> Synthesis:
    made = Synthesis()
    monkeypatch.setattr(command, "cdk", made)
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """The data folder of a running stack, on an address that containers reach."""
    made = Folder(tmp_path / "my data")
    made.make()
    me = known(os.getpid())
    assert me is not None
    made.write_processes([me])
    made.write_state(
        State(
            "http://127.0.0.1:8420",
            "http://172.17.0.1:4000",
            os.getpid(),
            "http://172.17.0.1:4001/1/letters",
            "http://172.17.0.1:4002",
        )
    )
    return made


def sam(folder: Folder, *arguments: str) -> int:
    return cli.main(["sam", "--data", str(folder.path), *arguments])


def environment(folder: Folder) -> Any:
    return json.loads((folder.path / "sam" / "env.json").read_text("utf-8"))["QueryFunction"]


def test_it_prints_the_two_lines_to_type(
    folder: Folder, synthesis: Synthesis, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sam(folder) == 0
    configuration = f"'{folder.path}/sam/samconfig.toml'"
    assert capsys.readouterr().out.splitlines() == [
        f"sam local invoke --config-file {configuration} QueryFunction --event events/grid.json",
        f"sam local start-api --config-file {configuration}",
    ]


def test_the_functions_are_connected_to_the_stack(folder: Folder, synthesis: Synthesis) -> None:
    assert sam(folder) == 0
    variables = environment(folder)
    assert variables["AWS_ENDPOINT_URL_DYNAMODB"] == "http://172.17.0.1:4000"
    assert variables["CURSOR_SECRET"] == (folder.path / "cursor.secret").read_text()
    assert variables["LOCAL_TOKEN_KEY"] == (folder.path / "token.key").read_text()
    assert (variables["EXPORT_BUCKET"], variables["AWS_ENDPOINT_URL_S3"]) == (
        s3.BUCKET,
        "http://172.17.0.1:4002",
    )
    assert variables["AWS_SECRET_ACCESS_KEY"] == s3.secret_in(folder.path)
    assert sam(folder, "--host", "here.local") == 0, "it may be run again"
    assert environment(folder)["AWS_ENDPOINT_URL_DYNAMODB"] == "http://here.local:4000"


def test_settings_are_passed_on_and_so_is_the_status(folder: Folder, synthesis: Synthesis) -> None:
    synthesis.status = 3
    assert sam(folder, "-c", "runtime=python3.12") == 3
    assert synthesis.arguments[-2:] == ["-c", "runtime=python3.12"]
    assert not (folder.path / "sam" / "env.json").exists()


def test_it_needs_a_stack_that_runs(
    tmp_path: Path, synthesis: Synthesis, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["sam", "--data", str(tmp_path)]) == 1
    assert "not running" in capsys.readouterr().err
    assert synthesis.arguments == []
