"""The subcommands of the local stack: up, status, down, logs, reset and token."""

import argparse
import ipaddress
import json
import os
import shlex
import subprocess
import sys
import time
from urllib.parse import urlsplit

from devtools import files
from devtools.arguments import add_data
from devtools.failure import Failure
from devtools.local import cors, sessions, tokens
from devtools.local.environment import LOOPBACK
from devtools.local.folder import Folder, State
from infra import page_build

DEFAULT_PORT = 8420

WEBHOOKS_TO_LOCALHOST = "WEBHOOKS_TO_LOCALHOST"
"""The variable that the functions read."""

_FOLLOW_SECONDS = 0.2

_UP_DESCRIPTION = """\
Start the local stack: the grid API and its web page on this machine. A DynamoDB engine keeps the data in the data
folder. The first start loads the worked example and a demo project.
"""


def add_up(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev up`."""
    parser.description = _UP_DESCRIPTION
    add_data(parser)
    parser.add_argument(
        "--detach", action="store_true", help="run the stack in the background; return when it is ready"
    )
    parser.add_argument(
        "--port",
        metavar="P",
        type=_port,
        default=DEFAULT_PORT,
        help=f"port of the API (default: {DEFAULT_PORT}; 0: any free port)",
    )
    parser.add_argument(
        "--allowed-origins",
        metavar="URL,...",
        default="",
        help="the origins whose pages may call the API from a browser, such as http://localhost:5173",
    )
    parser.add_argument(
        "--listen",
        metavar="ADDRESS",
        type=_address,
        default=LOOPBACK,
        help="let the engine and the dead-letter queue listen on this address, so that containers reach them; neither asks "
        f"for a password (default: {LOOPBACK})",
    )
    parser.add_argument(
        "--webhooks-to-localhost",
        action="store_true",
        help="allow webhooks to servers of this machine: http://127.0.0.1 or http://localhost, any port",
    )
    parser.add_argument("--empty", action="store_true", help="load no sample data at the first start")
    parser.add_argument("--report-to", metavar="FD", type=int, help=argparse.SUPPRESS)


def add_status(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev status`."""
    add_data(parser)
    parser.add_argument(
        "--json", action="store_true", help='print {"api": URL, "engine": URL, "pid": ..., "queue": URL}'
    )


def add_logs(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev logs`."""
    add_data(parser)
    parser.add_argument("-f", "--follow", action="store_true", help="keep showing new lines until Ctrl-C")


def add_token(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev token`."""
    parser.description = (
        "Print a bearer token for 12 hours. Only the local stack of this data folder accepts it."
    )
    add_data(parser)
    parser.add_argument("--tenant", metavar="T", required=True, help="tenant id, such as 0807")
    parser.add_argument("--role", metavar="R", required=True, help="viewer, editor or admin")
    parser.add_argument("--user", metavar="U", default="local-user", help="user id (default: local-user)")


def up(args: argparse.Namespace) -> int:
    """Start a stack, unless it runs. Returns when it ends, with --detach when it is ready."""
    folder = Folder(args.data)
    if (state := folder.running()) is not None:
        if args.port not in {0, DEFAULT_PORT} and not state.api.endswith(f":{args.port}"):
            raise Failure(
                f"The stack of {folder.path} already runs at {state.api}; stop it first with ./dev down."
            )
        if args.listen not in {LOOPBACK, urlsplit(state.engine).hostname}:
            raise Failure(
                f"The engine of {folder.path} already listens at {state.engine}; stop it first with ./dev down."
            )
        _print_ready(folder, state, "already runs")
        return 0
    _set_environment(args)
    if args.detach:
        return _up_detached(folder, args)
    from devtools.local import stack

    report = None if args.report_to is None else os.fdopen(args.report_to, "w", buffering=1)

    def say(text: str) -> None:
        print(text, file=report or sys.stderr)

    def ready(state: State) -> None:
        if report:
            report.close()
        else:
            _print_ready(folder, state, "runs")
            print("Stop it with Ctrl-C. Its log: ./dev logs -f", file=sys.stderr)

    try:
        page_build.build(say)
    except page_build.PageError as error:
        say(f"{error} The API works without it.")
    stack.run(folder, port=args.port, listen=args.listen, empty=args.empty, say=say, ready=ready)
    print("Stopped.", file=sys.stderr)
    return 0


def _set_environment(args: argparse.Namespace) -> None:
    """Put the chosen options into the environment, which every process of the stack inherits."""
    if args.allowed_origins:
        os.environ[cors.ORIGINS] = args.allowed_origins.replace(",", " ")
    os.environ[WEBHOOKS_TO_LOCALHOST] = "true" if args.webhooks_to_localhost else "false"


def _up_detached(folder: Folder, args: argparse.Namespace) -> int:
    folder.make()
    receiving, sending = os.pipe()
    command = [
        *(sys.executable, "-P", "-m", "devtools", "up", "--data", str(folder.path)),
        *("--port", str(args.port), "--listen", args.listen, "--report-to", str(sending)),
        *(["--empty"] if args.empty else []),
        *(["--webhooks-to-localhost"] if args.webhooks_to_localhost else []),
    ]
    with folder.log.open("ab") as log:
        began = log.tell()
        supervisor = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[sending],
            start_new_session=True,
        )
    os.close(sending)
    with os.fdopen(receiving) as report:
        try:
            for line in report:
                print(line, end="", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            supervisor.terminate()
            supervisor.wait()
            raise
    # The report ends when the stack is ready or its supervisor is gone.
    if (state := folder.running()) is not None:
        _print_ready(folder, state, "runs")
        return 0
    supervisor.wait()
    said = folder.log.read_bytes()[began:].decode(errors="replace").splitlines()
    reason = next((line for line in reversed(said) if line.startswith("dev: ")), None)
    raise Failure(
        reason.removeprefix("dev: ")
        if reason
        else f"The local stack ended while it started; its log is {folder.log}."
    )


def _print_ready(folder: Folder, state: State, verb: str) -> None:
    seed = files.read_json(folder.seed) or {}
    path = "/v1/projects"
    if seed.get("demo"):
        from devtools.local import demo

        path = f"/v1/projects/{demo.PROJECT}/grid?sort={demo.DATE_ATTRIBUTE}&limit=10"
    token = tokens.issue(tokens.key_in(folder.path), tenant="0807", role="viewer")
    print(f"gridview {verb} at {state.api} (data in {folder.path}).\n")
    if (page_build.DIST / "index.html").is_file():
        print(f"The page, for one browser: {state.api}/#key={sessions.new_key(folder.path)}\n")
    print("Try:\n")
    print(f"curl -sS -H 'Authorization: Bearer {token}' {shlex.quote(state.api + path)}\n", flush=True)


def status(args: argparse.Namespace) -> int:
    """Print the addresses of a stack that runs. Returns 1 if there is none."""
    state = Folder(args.data).running()
    if args.json:
        print(json.dumps(state._asdict() if state else dict.fromkeys(State._fields)))
    elif state:
        print(
            f"running\napi     {state.api}\nengine  {state.engine}\nqueue   {state.queue}\npid     {state.pid}"
        )
    else:
        print("not running")
    return 0 if state else 1


def down(args: argparse.Namespace) -> int:
    """Stop a stack. Returns 0."""
    print("Stopped." if _stop(Folder(args.data)) else "It was not running.", file=sys.stderr)
    return 0


def _stop(folder: Folder) -> bool:
    from devtools.local import stack

    stopped = stack.end_all(folder.processes())
    folder.clear()
    return stopped


def logs(args: argparse.Namespace) -> int:
    """Print the log. Returns 0 at its end."""
    folder = Folder(args.data)
    if not folder.log.exists():
        raise Failure(f"There is no log in {folder.path}.")
    with folder.log.open("r", encoding="utf-8", errors="replace") as log:
        while True:
            for line in log:
                print(line, end="")
            if not args.follow:
                return 0
            sys.stdout.flush()
            time.sleep(_FOLLOW_SECONDS)


def reset(args: argparse.Namespace) -> int:
    """Stop a stack and delete its data folder. Returns 0."""
    folder = Folder(args.data)
    if folder.path.exists() and not folder.is_ours():
        raise Failure(f"{folder.path} was not made by ./dev up, so it is not deleted.")
    _stop(folder)
    print(f"Removed {folder.path}." if folder.remove() else "There was nothing to remove.", file=sys.stderr)
    return 0


def token(args: argparse.Namespace) -> int:
    """Print a token. Returns 0."""
    folder = Folder(args.data)
    if not folder.is_ours():
        raise Failure(f"There is no local stack in {folder.path}; start one with ./dev up --detach.")
    print(tokens.issue(tokens.key_in(folder.path), tenant=args.tenant, role=args.role, user=args.user))
    return 0


def _address(text: str) -> str:
    try:
        address = ipaddress.IPv4Address(text)
    except ValueError:
        raise argparse.ArgumentTypeError("must be an IPv4 address") from None
    if address.is_unspecified:
        raise argparse.ArgumentTypeError("must be one address: the engine asks for no password")
    return str(address)


def _port(text: str) -> int:
    port = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError("must be a number from 0 to 65535")
    return port
