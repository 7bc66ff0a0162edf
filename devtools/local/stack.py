"""The local stack: engine, API server and stream pump, and the supervisor that starts, watches and ends them."""

import contextlib
import errno
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import IO

from devtools.failure import Failure
from devtools.local import engine, filling, journal, processes, s3, service, sqs, table, tokens
from devtools.local.environment import LOOPBACK, local
from devtools.local.folder import Folder, State
from devtools.local.processes import Known
from devtools.local.socket_gateway import STAGE
from gridview.support import forms
from infra.limits import SETTLE_SECONDS

POLLS_PER_TENANT = 4
"""Environments with waiting requests (`server`) that one tenant may take: a third, as on AWS.

Twice as many may be in flight.
"""

_FOLD_SECONDS = "10"
"""Locally folds cost nothing, and a developer looks at blocks soon."""

_READY_SECONDS = 300.0
"""A busy machine is slow. A process that ends before ends the wait."""

_HEALTH_SECONDS = 60.0
_WATCH_SECONDS = 0.5
_STOP_SECONDS = 3.0
_SUPERVISOR_STOP_SECONDS = 30.0
_LOG_KEPT_BYTES = 16 * 1024 * 1024

Say = Callable[[str], None]


class _StopRequestedError(Exception):
    """The process got TERM or INT."""


def run(
    folder: Folder, *, port: int, listen: str, empty: bool, say: Say, ready: Callable[[State], None]
) -> None:
    """Run the stack until TERM or INT. `say` gets progress messages; `ready` is called when the API answers.

    The engine and the dead-letter queue listen on the address `listen`, the API on 127.0.0.1.
    Failure when the stack cannot start or when a part of it ends by itself.
    """
    folder.make()
    with (
        folder.held(),
        _listener(port) as listener,
        _listener(0, listen) as letters,
        _listener(0) as sockets,
        _listener(0, listen) as files,
        contextlib.suppress(_StopRequestedError),
        _stop_on_signals(),
    ):
        end_all(folder.processes())  # left by a killed supervisor
        folder.clear()
        with contextlib.ExitStack() as cleanup:
            cleanup.callback(folder.clear)
            folder.require_whole()
            children = _Children(folder)
            if not folder.tables.is_dir():
                filling.fill(folder, empty=empty, say=say)
            filling.require_readable(folder)
            say("Starting DynamoDB Local ...")
            checkpoints = cleanup.enter_context(contextlib.closing(journal.Checkpoints(folder.tables)))
            cleanup.callback(children.stop)
            started = engine.start(folder.engine, in_memory=False, host=listen)
            children.add("DynamoDB Local", started.process)
            table.ensure(started.client(), table.TABLE)
            say("Starting the API ...")
            env = _environment(folder, started.endpoint, letters, sockets, files)
            with _open_log(folder) as log:
                _start_server(folder, listener, env, log, children)
                _start_pump(folder, letters, files, env, log, children)
                _start_sockets(folder, sockets, listener, env, log, children)
            api = f"http://127.0.0.1:{listener.getsockname()[1]}"
            _wait_until_healthy(api, children)
            queue = sqs.queue_url(service.endpoint(letters))
            bucket = service.endpoint(files)
            state = State(api, started.endpoint, os.getpid(), queue, bucket)
            folder.write_state(state)
            ready(state)
            while True:
                children.check()
                checkpoints.make()
                time.sleep(_WATCH_SECONDS)


def end_all(known: list[Known]) -> bool:
    """End a stack. The supervisor goes first and ends the others in order. False when no process was alive."""
    ended = False
    for process, patience in zip(
        known, (_SUPERVISOR_STOP_SECONDS, *[_STOP_SECONDS] * len(known)), strict=False
    ):
        ended |= processes.end(process, patience=patience)
    return ended


class _Children:
    """The processes of the stack. They end in the reverse order of their start."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._named: list[tuple[str, subprocess.Popen[bytes]]] = []
        self._write_down()

    def add(self, name: str, process: subprocess.Popen[bytes]) -> None:
        self._named.append((name, process))
        self._write_down()

    def check(self) -> None:
        """Failure when a process has ended."""
        for name, process in self._named:
            if process.poll() is not None:
                raise Failure(
                    f"{name} ended by itself (status {process.returncode}); see {self._folder.log}."
                )

    def stop(self) -> None:
        for _, process in reversed(self._named):
            processes.stop(process, patience=_STOP_SECONDS)

    def _write_down(self) -> None:
        pids = [os.getpid(), *(process.pid for _, process in self._named)]
        self._folder.write_processes([process for pid in pids if (process := processes.known(pid))])


def _environment(
    folder: Folder,
    endpoint: str,
    letters: socket.socket,
    sockets: socket.socket,
    files: socket.socket,
) -> dict[str, str]:
    """The functions' environment, except their names.

    `letters`: the queues' socket; `sockets`: that of the WebSocket API; `files`: the bucket's.
    """
    return local(
        {
            "TABLE_NAME": table.TABLE,
            **sqs.environment(service.endpoint(letters)),
            "POLLS_PER_TENANT": str(POLLS_PER_TENANT),
            "SOCKET_URL": f"ws://{LOOPBACK}:{sockets.getsockname()[1]}/{STAGE}",
            "EXPORT_BUCKET": s3.BUCKET,
            "FAILED_BATCHES_BUCKET": s3.BATCHES,
            "AWS_ENDPOINT_URL_S3": service.endpoint(files),
            # Only the bucket looks at it: it checks its own signature in links.
            "AWS_SECRET_ACCESS_KEY": s3.secret_in(folder.path),
            # As deployed; a test that cannot wait for so long says otherwise.
            "SETTLE_SECONDS": os.environ.get("SETTLE_SECONDS") or str(SETTLE_SECONDS),
            "STORED_FORM": os.environ.get("STORED_FORM") or str(forms.NEWEST),
            "FOLD_SECONDS": os.environ.get("FOLD_SECONDS") or _FOLD_SECONDS,
            "CURSOR_SECRET": tokens.cursor_secret_in(folder.path),
            "WEBHOOK_SECRET": tokens.webhook_secret_in(folder.path),
            "AWS_ENDPOINT_URL_DYNAMODB": endpoint,
            "POWERTOOLS_METRICS_NAMESPACE": "gridview",
            "POWERTOOLS_LOG_LEVEL": "INFO",
            "POWERTOOLS_TRACE_DISABLED": "true",
        }
    )


def _start_server(
    folder: Folder, listener: socket.socket, env: dict[str, str], log: IO[bytes], children: _Children
) -> None:
    descriptor = listener.fileno()
    program = _module("devtools.local.server", "--data", str(folder.path), "--listen", str(descriptor))
    children.add("The API server", processes.start(program, env=env, log=log, pass_fds=[descriptor]))


def _start_pump(
    folder: Folder,
    letters: socket.socket,
    files: socket.socket,
    env: dict[str, str],
    log: IO[bytes],
    children: _Children,
) -> None:
    sockets = {"--letters": letters.fileno(), "--files": files.fileno()}
    named = [text for name, descriptor in sockets.items() for text in (name, str(descriptor))]
    program = _module("devtools.local.pump", "--data", str(folder.path), *named)
    children.add("The stream pump", processes.start(program, env=env, log=log, pass_fds=[*sockets.values()]))


def _start_sockets(
    folder: Folder,
    sockets: socket.socket,
    page: socket.socket,
    env: dict[str, str],
    log: IO[bytes],
    children: _Children,
) -> None:
    """The WebSocket API, for pages of the origin that listens on `page`."""
    descriptor, port = sockets.fileno(), str(page.getsockname()[1])
    program = _module(
        "devtools.local.socket_server",
        *("--data", str(folder.path), "--listen", str(descriptor), "--page-port", port),
    )
    children.add("The socket server", processes.start(program, env=env, log=log, pass_fds=[descriptor]))


def _module(name: str, *arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", name, *arguments]


def _wait_until_healthy(api: str, children: _Children) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while not healthy(api):
        children.check()
        if time.monotonic() > deadline:
            raise Failure(f"The API did not answer within {_READY_SECONDS:.0f} seconds.")
        time.sleep(0.05)


def healthy(api: str) -> bool:
    """Whether the API answers its health call."""
    connection = http.client.HTTPConnection(api.removeprefix("http://"), timeout=_HEALTH_SECONDS)
    with contextlib.closing(connection):
        try:
            connection.request("GET", "/v1/health")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False


@contextlib.contextmanager
def _listener(port: int, host: str = LOOPBACK) -> Iterator[socket.socket]:
    """A socket that listens on one address of this machine; port 0 means any free port.

    It is bound first, so that a taken port is noticed before any work.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(128)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise Failure(
                    f"Port {port} is taken by another program; choose another with --port."
                ) from None
            if error.errno == errno.EADDRNOTAVAIL:
                raise Failure(f"{host} is not an address of this machine.") from None
            raise Failure(f"Port {port} cannot be used: {error.strerror}.") from None
        yield listener


@contextlib.contextmanager
def _stop_on_signals() -> Iterator[None]:
    """Raise _StopRequestedError at the first TERM or INT. Later signals do not disturb the clean-up."""
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("the stack is run by the main thread")

    def request(number: int, frame: FrameType | None) -> None:
        del number, frame
        for other in before:
            signal.signal(other, signal.SIG_IGN)
        raise _StopRequestedError

    before = {number: signal.signal(number, request) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _open_log(folder: Folder) -> IO[bytes]:
    """The log, open for appending. A log that has grown too long is put aside."""
    with contextlib.suppress(FileNotFoundError):
        if folder.log.stat().st_size > _LOG_KEPT_BYTES:
            folder.log.replace(folder.log.with_suffix(".old.log"))
    return folder.log.open("ab")
