"""`./dev up` and related commands, as a developer uses them: start, call, kill in the middle of writes, start again."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import boto3
import httpx
import pytest

from devtools import paths
from devtools.local import demo, engine, filling
from devtools.local.environment import REGION
from devtools.local.folder import Folder
from devtools.local.processes import known, wait_until
from devtools.local.table import TABLE
from gridview.support.version import VERSION
from tests.support.commands import dev
from tests.support.stacks import SECONDS, LocalStack

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

ELSEWHERE = "127.0.0.2" if sys.platform == "linux" else "127.0.0.1"
"""Another address of this machine, where there is one without asking."""

NOT_RUNNING = dict.fromkeys(("api", "engine", "pid", "queue", "files"))


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    """A stack without the demo; each test may start, stop and kill it."""
    stack = LocalStack(tmp_path_factory.mktemp("stack") / "data")
    yield stack
    stack.dev("reset")


def walk(api: httpx.Client, project: str, sort: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    cursor = None
    while True:
        parameters: dict[str, str | int] = {"sort": sort, "limit": 500}
        if cursor:
            parameters["cursor"] = cursor
        answer = api.get(f"/v1/projects/{project}/grid", params=parameters)
        assert answer.status_code == 200, answer.text
        rows += answer.json()["rows"]
        cursor = answer.json()["next"]
        if cursor is None:
            return rows


def test_the_first_start_loads_the_demo_and_prints_a_curl_that_works(tmp_path: Path) -> None:
    """The one test of the stack that runs `./dev`; the others call the same code in this process."""
    own = LocalStack(tmp_path / "data")
    try:
        started = subprocess.run(  # noqa: S603
            [str(paths.ROOT / "dev"), "up", "--detach", "--port", "0", "--data", str(own.data)],
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert started.returncode == 0, started.stderr
        (line,) = [line for line in started.stdout.splitlines() if line.startswith("curl ")]
        curl, *arguments = shlex.split(line)
        url = arguments.pop()
        assert (curl, arguments[:-1]) == ("curl", ["-sS", "-H"])
        name, _, value = arguments[-1].partition(": ")
        rows = httpx.get(url, headers={name: value}, timeout=SECONDS).raise_for_status().json()["rows"]
        dates = [row["fields"][demo.DATE_ATTRIBUTE] for row in rows]
        assert len(dates) == 10
        assert dates == sorted(dates)

        with own.client() as api:
            assert len(walk(api, demo.PROJECT, "num")) == demo.ISSUES
            # The orders that WORKED-EXAMPLE.md gives.
            for sort, order in (
                ("3812", [1, 2, 3]),
                ("-3812", [2, 1, 3]),
                ("3fe6", [3, 1, 2]),
                ("-47e5", [3, 2, 1]),
            ):
                assert [row["num"] for row in walk(api, "35e9", sort)] == order
        assert own.given_up() == []
        assert not filling.memory_folder(Folder(own.data)).exists()
    finally:
        own.dev("reset")
    assert not own.data.exists()


def test_a_kill_in_the_middle_of_writes_loses_nothing_and_the_index_catches_up(own: LocalStack) -> None:
    own.up("--empty")
    created: dict[int, str | None] = {}
    with own.client() as api:
        api.post("/v1/projects", json={"id": "crash", "name": "Crash"}).raise_for_status()
        attribute = {"id": "due", "name": "Due", "type": "date"}
        api.post("/v1/projects/crash/attributes", json=attribute).raise_for_status()

        def write(worker: int) -> None:
            for round_ in range(1000):
                dates = [
                    f"20{worker:02d}-{1 + round_ % 12:02d}-{1 + n:02d}" if n % 3 else None for n in range(10)
                ]
                operations = [
                    {"create": {"name": f"n{n}", "fields": {"due": date}}} for n, date in enumerate(dates)
                ]
                try:
                    answer = api.post("/v1/projects/crash/issues/batch", json={"operations": operations})
                except httpx.HTTPError:
                    return  # killed: this batch was not acknowledged
                if answer.status_code == 200:
                    for date, result in zip(dates, answer.json()["results"], strict=True):
                        if result["status"] == 201:
                            created[result["issue"]["num"]] = date

        writers = [threading.Thread(target=write, args=(worker,)) for worker in (10, 11, 12)]
        for writer in writers:
            writer.start()
        assert wait_until(lambda: len(created) >= 60, SECONDS)
        own.kill()
        for writer in writers:
            writer.join()
    assert own.status() == NOT_RUNNING

    own.up()
    with own.client() as api:
        stored = {row["num"]: row["fields"].get("due") for row in walk(api, "crash", "num")}
        assert {num: stored.get(num) for num in created} == created
        expected = sorted(stored, key=lambda num: (stored[num] is None, stored[num] or "", num))
        deadline = time.monotonic() + SECONDS
        while [row["num"] for row in walk(api, "crash", "due")] != expected:
            assert time.monotonic() < deadline, "the index did not catch up"
            time.sleep(0.1)
        # It still works.
        answer = api.post(
            "/v1/projects/crash/issues", json={"name": "after", "fields": {"due": "1999-01-01"}}
        )
        num = answer.raise_for_status().json()["num"]
        assert num > max(stored)
        assert wait_until(lambda: walk(api, "crash", "due")[0]["num"] == num, SECONDS)
    assert own.given_up() == []


def test_a_bulk_change_is_begun_by_a_hint_and_seen_in_the_grid(own: LocalStack) -> None:
    own.up()
    with own.client() as api:
        api.post("/v1/projects", json={"id": "many", "name": "Many"}).raise_for_status()
        operations = [{"create": {"name": f"issue {at}"}} for at in range(250)]
        answer = api.post("/v1/projects/many/issues/batch", json={"operations": operations})
        token = answer.raise_for_status().headers["x-consistency-token"]
        body = {"filter": {"field": "state", "op": "eq", "value": "open"}, "set": {"state": "closed"}}
        begun = api.post(
            "/v1/projects/many/issues/update-matching", json=body, headers={"x-consistency-token": token}
        )
        job = begun.raise_for_status().headers["location"]
        assert wait_until(lambda: api.get(job).json()["state"] == "done", SECONDS)
        found = api.get(job).json()
        assert (found["done"], found["total"], found["refused"]) == (250, 250, 0)
        closed = {"filter": {"field": "state", "op": "eq", "value": "closed"}, "count": True}
        assert wait_until(
            lambda: api.post("/v1/projects/many/grid", json=closed).json()["matched"] == 250, SECONDS
        )
    assert own.given_up() == []


def test_a_kill_loses_no_export_and_a_browser_downloads_it_by_a_link(own: LocalStack) -> None:
    own.up()
    with own.client() as api:
        api.post("/v1/projects", json={"id": "files", "name": "Files"}).raise_for_status()
        made = api.post("/v1/projects/files/issues", json={"name": "one"})
        token = made.raise_for_status().headers["x-consistency-token"]
        begun = api.post(
            "/v1/projects/files/export", json={"format": "csv"}, headers={"x-consistency-token": token}
        )
        job = begun.raise_for_status().headers["location"]
        assert wait_until(lambda: api.get(job).json()["state"] == "done", SECONDS)
        before = httpx.get(api.get(job).json()["url"], timeout=SECONDS).raise_for_status()
    own.kill()
    own.up()
    with own.client() as api:
        url = api.get(job).json()["url"]
    after = httpx.get(url, headers={"Origin": "https://other.example"}, timeout=SECONDS).raise_for_status()
    assert b"one" in after.content
    assert after.content == before.content
    assert after.headers["content-disposition"].startswith('attachment; filename="files-')
    assert "access-control-allow-origin" not in after.headers, "the page opens links; no page reads them"
    forged = url.replace("X-Amz-Signature=", "X-Amz-Signature=0")
    assert httpx.get(forged, timeout=SECONDS).status_code == 403
    assert own.given_up() == []


def test_a_dead_letter_stays_in_the_queue_through_kills_until_it_is_deleted(own: LocalStack) -> None:
    status = own.up()
    key = {"PK": {"S": "issue-0807.poison.00000001"}, "SK": {"S": "project-0807.poison"}}
    engine.client(status["engine"]).put_item(TableName=TABLE, Item={**key, "fields": {"S": "no map"}})
    deadline = time.monotonic() + SECONDS
    while letters(status) == 0:
        assert time.monotonic() < deadline, "no dead letter came"
        time.sleep(0.1)
    own.kill()
    status = own.up()
    queue = sqs(status)
    # A pump that is killed before it records that it has sent a letter sends it again. Then it has recorded
    # it.
    assert wait_until(own.caught_up, SECONDS)
    messages = queue.receive_message(QueueUrl=status["queue"], MaxNumberOfMessages=10)["Messages"]
    assert {json.loads(message["Body"])["key"] for message in messages} == {key["PK"]["S"]}
    assert len(messages) <= 2
    for message in messages:
        queue.delete_message(QueueUrl=status["queue"], ReceiptHandle=message["ReceiptHandle"])
    own.kill()
    assert letters(own.up()) == 0


def sqs(status: dict[str, Any]) -> "SQSClient":
    """A client of the stack's queue."""
    return boto3.client(
        "sqs",
        endpoint_url=status["queue"].rsplit("/", 2)[0],
        region_name=REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )


def letters(status: dict[str, Any]) -> int:
    """The number of dead letters that can be received."""
    name: Literal["ApproximateNumberOfMessages"] = "ApproximateNumberOfMessages"
    answer = sqs(status).get_queue_attributes(QueueUrl=status["queue"], AttributeNames=[name])
    return int(answer["Attributes"][name])


def test_a_second_up_finds_the_first(own: LocalStack) -> None:
    first = own.up()
    again = own.dev("up", "--detach")
    assert again.status == 0
    assert first["api"] in again.stdout
    assert own.status() == first
    other = own.dev("up", "--detach", "--port", "9")
    assert other.status == 1
    assert re.fullmatch(r"dev: The stack of .* already runs at .*\n", other.stderr)


def test_the_page_is_for_the_browser_that_has_the_key_and_down_keeps_all_but_the_processes(
    own: LocalStack,
) -> None:
    own.up()
    (address,) = re.findall(r"http://127\.0\.0\.1:\d+/#key=\S+", own.dev("up", "--detach").stdout)
    origin, _, key = address.partition("/#key=")
    with httpx.Client(base_url=origin, headers={"Origin": origin}, timeout=SECONDS) as browser:
        opened = browser.get("/")
        assert (opened.status_code, opened.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert re.search(r'src="/assets/[^"]+\.js"', opened.text)
        assert browser.get("/config.json").json() == {"auth": "local", "version": VERSION}
        assert browser.get("/v1/projects").status_code == 401
        assert browser.post("/local/session", json={"key": key}).status_code == 204
        person = {"tenant": "0807", "user": "ada", "role": "admin"}
        assert browser.put("/local/session", json=person).status_code == 204
        made = browser.post("/v1/projects", json={"id": "kept", "name": "By cookie"}).json()
        assert made["created_by"] == "ada"
        token = own.dev("token", "--tenant", "0807", "--role", "viewer").stdout.strip()
        processes = Folder(own.data).processes()
        stopped = own.dev("down")
        assert (stopped.status, stopped.stderr) == (0, "Stopped.\n")
        assert not any(process.lives() for process in processes)
        assert own.dev("down").stderr == "It was not running.\n"
        assert own.status() == NOT_RUNNING
        api_again = own.up()["api"]
        answer = httpx.get(
            f"{api_again}/v1/projects/kept", headers={"Authorization": f"Bearer {token}"}, timeout=SECONDS
        )
        assert answer.status_code == 200, "data and tokens outlive the stack"
        assert browser.get("/local/session").json() == person, "so does the session"
        assert browser.post("/local/session", json={"key": key}).status_code == 401
        assert browser.get("/v1/projects", headers={"Origin": "http://127.0.0.1:1"}).status_code == 403
        assert browser.get("/v1/projects", headers={"Host": "evil.example"}).status_code == 403


def test_everything_listens_only_on_this_machine(own: LocalStack) -> None:
    status = own.up()
    addresses = [httpx.URL(status[name]) for name in ("api", "engine", "queue", "files")]
    assert {(address.scheme, address.host) for address in addresses} == {("http", "127.0.0.1")}
    ports = {address.port for address in addresses}
    if sys.platform != "linux":
        pytest.skip("reads /proc/net")
    listening = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            address, port = local.split(":")
            if state == "0A" and int(port, 16) in ports:
                listening.add(address)
    loopback = "0100007F"
    assert listening <= {loopback, "0000000000000000FFFF0000" + loopback}
    assert listening


@pytest.mark.parametrize(("place", "name"), [(-1, "The socket server"), (-2, "The stream pump")])
def test_a_part_that_ends_takes_the_stack_down(own: LocalStack, place: int, name: str) -> None:
    own.up()
    supervisor, *children = Folder(own.data).processes()
    os.kill(children[place].pid, signal.SIGKILL)
    assert wait_until(lambda: not any(process.lives() for process in (supervisor, *children)), 20)
    assert f"{name} ended by itself" in own.dev("logs").stdout


def test_a_taken_port_is_one_sentence(own: LocalStack) -> None:
    own.dev("down")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        for detach in (["--detach"], []):
            refused = own.dev("up", *detach, "--port", str(port))
            assert refused.status == 1
            assert refused.stdout == ""
            assert (
                refused.stderr
                == f"dev: Port {port} is taken by another program; choose another with --port.\n"
            )


def test_data_of_an_earlier_version_are_refused_and_unchanged(own: LocalStack) -> None:
    own.up()
    own.dev("down")
    seed = Folder(own.data).seed
    known = seed.read_text()
    seed.write_text('{"demo": false, "journals": true}')
    refused = own.dev("up", "--detach")
    assert refused.status == 1
    assert refused.stdout == ""
    assert re.search(r"dev: An earlier version, .* `\./dev reset`, then start again\.\n", refused.stderr)
    assert own.status() == NOT_RUNNING
    seed.write_text(known)
    own.up()


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    refused = dev("up", "--detach", "--data", tmp_path)
    assert refused.status == 1
    assert "not empty" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_in_the_foreground_it_listens_where_it_is_asked_to_and_ends_with_an_interrupt(
    own: LocalStack,
) -> None:
    own.dev("down")
    # A shell that runs the tests in the background ignores interrupts, and their processes would inherit
    # that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(  # noqa: S603
        [str(paths.ROOT / "dev"), "up", "--port", "0", "--listen", ELSEWHERE, "--data", str(own.data)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline().startswith("gridview runs at http://127.0.0.1:")
            assert {httpx.URL(own.status()[name]).host for name in ("engine", "queue", "files")} == {
                ELSEWHERE
            }
            engine.client(own.status()["engine"]).describe_table(TableName=TABLE)
            assert letters(own.status()) == 0
            processes = Folder(own.data).processes()
            assert known(process.pid) == processes[0]
            process.send_signal(signal.SIGINT)
            _, output = process.communicate(timeout=SECONDS)
            assert output.endswith("Stopped.\n")
        finally:
            process.kill()
    assert process.returncode == 0
    assert not any(process.lives() for process in processes)
