"""MiniStack, the engine of the deploy tests: an environment of its own, made on demand, and a process that cleans up.

The environment is bare on purpose. The engine runs functions on its own interpreter, so any package there would hide
that it is missing from a layer.
"""

import os
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from devtools import environments
from devtools.failure import Failure
from devtools.local import processes

ACCOUNT = "000000000000"
REGION = "eu-central-1"

_START_SECONDS = 60.0
_STOP_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Engine:
    """A running engine."""

    url: str
    log: Path

    def variables(self) -> dict[str, str]:
        """The environment variables that make the AWS tools talk to the engine as its root user."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_REGION": REGION,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
        }


@contextmanager
def running() -> Iterator[Engine]:
    """An empty engine on a free port of 127.0.0.1 that enforces IAM. Everything it started and wrote is gone afterwards.

    Raises:
        Failure: it did not answer in time, or ended.
    """
    python = environments.ensure("ministack")
    # NOTE: the engine never deletes its folders of function code; with a temporary folder of its own they go with it.
    with tempfile.TemporaryDirectory(prefix="gridview-ministack-", ignore_cleanup_errors=True) as scratch:
        port = _free_port()
        log = Path(scratch) / "ministack.log"
        engine = Engine(url=f"http://127.0.0.1:{port}", log=log)
        with log.open("wb") as output:
            process = processes.start(
                [str(python), "-m", "ministack"], env=_environment(port, scratch), log=output
            )
        try:
            _wait_until_ready(process, engine)
            yield engine
        finally:
            _stop(process)


def _environment(port: int, scratch: str) -> dict[str, str]:
    # Nothing of the caller's: functions inherit what the engine has, and the tests must not lend them a PYTHONPATH.
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": scratch,
        "TMPDIR": scratch,
        "S3_DATA_DIR": f"{scratch}/s3",
        "STATE_DIR": f"{scratch}/state",
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "MINISTACK_HOST": "127.0.0.1",
        "MINISTACK_REGION": REGION,
        "MINISTACK_ACCOUNT_ID": ACCOUNT,
        "AUTH": "true",
        "LOG_LEVEL": "ERROR",
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(process: subprocess.Popen[bytes], engine: Engine) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            urllib.request.urlopen(f"{engine.url}/_ministack/health", timeout=2).close()  # noqa: S310
            return
        time.sleep(0.1)
    raise Failure(f"MiniStack did not start: {engine.log.read_text('utf-8', 'replace')[-2000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    # The group is the engine and the functions that it started.
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)
