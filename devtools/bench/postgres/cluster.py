"""A temporary PostgreSQL: a cluster in a temporary folder that is reached by a Unix socket only."""

import contextlib
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple

from devtools.failure import Failure
from devtools.local import processes

PLACES: Final = ("/usr/lib/postgresql", "/usr/local/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt")
_PROGRAMS: Final = ("postgres", "initdb", "psql")
_OWNER: Final = "gridview"
_USERS: Final = ("postgres", "nobody")
"""The user that runs PostgreSQL if this process is root's: PostgreSQL refuses to run as root."""

_SETTINGS: Final[Mapping[str, str]] = {
    "listen_addresses": "",
    "shared_buffers": "2GB",
    "effective_cache_size": "6GB",
    "work_mem": "128MB",
    "maintenance_work_mem": "1GB",
    "random_page_cost": "1.1",  # the data is in memory
    "max_wal_size": "8GB",
    "synchronous_commit": "off",
    "autovacuum": "off",  # VACUUM ANALYZE is run after loading
    "jit": "off",  # for queries of milliseconds it only costs
}

_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 20.0
_DONE: Final = "-- done --"
_TIME: Final = re.compile(r"Time: ([0-9]+\.[0-9]+) ms")


class Answer(NamedTuple):
    """The result of a statement: rows as text, columns separated by `|`; and the milliseconds that psql waited for
    it.
    """

    rows: list[str]
    milliseconds: float


class Session:
    """One connection, by a psql that goes on running."""

    def __init__(self, program: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._say("\\timing on\n")

    def ask(self, statement: str) -> Answer:
        """Run one statement and wait for all of its rows."""
        self._say(f"{statement};\n\\echo '{_DONE}'\n")
        output = self._stream(self._process.stdout)
        rows: list[str] = []
        milliseconds = 0.0
        while (line := output.readline().rstrip("\n")) != _DONE:
            if self._process.poll() is not None and not line:
                raise Failure(f"PostgreSQL: {self._stream(self._process.stderr).read().strip()}")
            if found := _TIME.match(line):
                milliseconds = float(found[1])
            elif line:
                rows.append(line)
        return Answer(rows, milliseconds)

    def close(self) -> None:
        """End the connection."""
        with contextlib.suppress(BrokenPipeError):
            self._stream(self._process.stdin).close()
        self._process.wait()
        self._stream(self._process.stdout).close()
        self._stream(self._process.stderr).close()

    def _say(self, text: str) -> None:
        stream = self._stream(self._process.stdin)
        with contextlib.suppress(BrokenPipeError):  # the reader finds out why
            stream.write(text)
            stream.flush()

    @staticmethod
    def _stream(stream: IO[str] | None) -> IO[str]:
        assert stream is not None  # noqa: S101  (all three are pipes)
        return stream


class Cluster(NamedTuple):
    """A running server."""

    programs: Path
    folder: Path

    def create(self, database: str) -> None:
        """Make an empty database."""
        self.run("postgres", f'CREATE DATABASE "{database}"')

    def run(self, database: str, statement: str) -> None:
        """Run one statement that gives no rows."""
        done = subprocess.run(
            self._psql(database, "-c", statement), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Failure(f"PostgreSQL: {done.stderr.strip()}")

    @contextlib.contextmanager
    def copying(self, database: str, table: str) -> Iterator[IO[bytes]]:
        """A stream that takes the rows of a table in COPY's text form."""
        statement = f"COPY {table} FROM STDIN"
        with subprocess.Popen(self._psql(database, "-c", statement), stdin=subprocess.PIPE) as process:
            assert process.stdin is not None  # noqa: S101
            yield process.stdin
        if process.returncode:
            raise Failure(f"PostgreSQL refused rows of {table}.")

    @contextlib.contextmanager
    def session(self, database: str) -> Iterator[Session]:
        """A connection for the time of a `with` block."""
        session = Session(self._psql(database))
        try:
            yield session
        finally:
            session.close()

    def _psql(self, database: str, *arguments: str) -> list[str]:
        # No start-up file, quiet, only rows without padding, and an end at the first error.
        options = ("-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", _OWNER)
        return [str(self.programs / "psql"), *options, "-h", str(self.folder), "-d", database, *arguments]


def find_programs() -> Path | None:
    """The folder of PostgreSQL's server programs; None where it is not installed."""
    candidates: list[Path] = []
    if (found := shutil.which("postgres")) is not None:
        candidates.append(Path(found).resolve().parent)
    for place in map(Path, PLACES):
        candidates += sorted((*place.glob("[0-9]*/bin"), *place.glob("postgresql*/bin")), reverse=True)
    return next((one for one in candidates if all((one / name).is_file() for name in _PROGRAMS)), None)


@contextlib.contextmanager
def running() -> Iterator[Cluster]:
    """A new cluster for the time of a `with` block. Failure where PostgreSQL is not installed, or does not start."""
    programs = find_programs()
    if programs is None:
        raise Failure(
            "PostgreSQL is not installed (looked on the PATH and in "
            f"{', '.join(PLACES)}); on Debian: apt-get install postgresql."
        )
    with tempfile.TemporaryDirectory(prefix="gridview-postgres-") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, *_other_user())
        _initialized(programs, folder)
        with (folder / "log").open("wb") as log:
            process = _started(programs, folder, log)
        try:
            cluster = Cluster(programs, folder)
            _wait(cluster, process)
            yield cluster
        finally:
            processes.stop(process, patience=_STOP_SECONDS)


def _initialized(programs: Path, folder: Path) -> None:
    user, group = _other_user() if os.geteuid() == 0 else (None, None)
    done = subprocess.run(
        [
            programs / "initdb",
            *("--pgdata", folder / "data", "--username", _OWNER, "--auth", "trust", "--no-sync"),
            *("--encoding", "UTF8", "--locale", "C"),
        ],
        user=user,
        group=group,
        extra_groups=[] if user is not None else None,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failure(f"initdb: {done.stderr.strip()}")


def _started(programs: Path, folder: Path, log: IO[bytes]) -> subprocess.Popen[bytes]:
    settings = {**_SETTINGS, "unix_socket_directories": str(folder)}
    server = [
        str(programs / "postgres"),
        *("-D", str(folder / "data")),
        *(argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")),
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    if os.geteuid() != 0:
        return processes.start(server, env=environment, log=log)
    user, group = _other_user()
    # A change of user undoes what ends a process with its parent, so setpriv does both, in the right order.
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise Failure("PostgreSQL does not run as root, and setpriv is missing to run it as another user.")
    return subprocess.Popen(
        [setpriv, f"--reuid={user}", f"--regid={group}", "--clear-groups", "--pdeathsig=KILL", *server],
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        process_group=0,
    )


def _other_user() -> tuple[int, int]:
    for name in _USERS:
        with contextlib.suppress(KeyError):
            found = pwd.getpwnam(name)
            return found.pw_uid, found.pw_gid
    raise Failure(f"PostgreSQL does not run as root, and there is no user {' or '.join(_USERS)}.")


def _wait(cluster: Cluster, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        if process.poll() is not None or time.monotonic() > deadline:
            raise Failure(f"PostgreSQL did not start: {(cluster.folder / 'log').read_text(errors='replace')}")
        try:
            cluster.run("postgres", "SELECT 1")
        except Failure:
            time.sleep(0.1)
        else:
            return
