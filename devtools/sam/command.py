"""`./dev sam`: everything that `sam local` needs to run the functions on the local stack's engine."""

import argparse
import json
import platform
import shlex
import shutil
import sys
from collections import defaultdict
from urllib.parse import urlsplit

from devtools import paths
from devtools.arguments import add_data
from devtools.deployed.cdk import cdk
from devtools.failure import Failure
from devtools.local.folder import Folder
from devtools.local.hosts import CONTAINER_HOSTS
from devtools.sam import files

EVENTS = paths.ROOT / "events"

_DESCRIPTION = """\
Write a template, an environment and a configuration for `sam local`, and print the commands to type. The files are
in the folder `sam` of the data folder. The functions are those of `./dev synth`; they use the engine of the local
stack, which must be running. Run the command again after each start of the stack and after each change of the code.
Other arguments go to cdk.
"""
_DOCKER_DESKTOP = CONTAINER_HOSTS[0]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev sam`."""
    parser.description = _DESCRIPTION
    parser.usage = "./dev sam [--help] [--data DIR] [--host NAME] [cdk arguments ...]"
    add_data(parser)
    parser.add_argument(
        "--host",
        metavar="NAME",
        help=f"address, or name ({' or '.join(CONTAINER_HOSTS)}), by which containers reach the engine (default: the address of "
        f"./dev up --listen; {_DOCKER_DESKTOP} on macOS and Windows)",
    )
    parser.set_defaults(takes_more=True)


def run(args: argparse.Namespace) -> int:
    """Write the files, and print the commands to type. Returns the status of the synthesis."""
    folder = Folder(args.data)
    state = folder.require_running()
    host = args.host or host_for_containers(state.engine, sys.platform)
    target = folder.path / "sam"
    assembly = target / "cdk.out"
    shutil.rmtree(assembly, ignore_errors=True)
    print("Synthesizing the template ...", file=sys.stderr)
    if status := cdk("synth", "--quiet", "--output", str(assembly), *_FOR_THIS_MACHINE, *args.more):
        return status
    connection = files.Connection(
        engine=_at(host, state.engine),
        queue=_at(host, state.queue),
        files=_at(host, state.files),
        data=folder.path,
    )
    configuration = shlex.quote(str(files.write(target, assembly, connection)))
    print(f"sam local invoke --config-file {configuration} QueryFunction --event events/grid.json")
    print(f"sam local start-api --config-file {configuration}")
    print("\nThe events in events/, by function:", file=sys.stderr)
    for function, events in sorted(events_by_function().items()):
        print(f"  {function}: {' '.join(sorted(events))}", file=sys.stderr)
    return 0


_FOR_THIS_MACHINE = (
    "-c",
    f"architecture={'arm64' if platform.machine() in {'aarch64', 'arm64'} else 'x86_64'}",
    # SAM takes no snapshots, and a runtime may be asked for that has none.
    *("-c", "snap-start=false"),
    # The page's upload is left out, and no account is asked.
    *("-c", "emulator=true"),
)


def host_for_containers(engine: str, system: str) -> str:
    """The host under which a container reaches the engine. Failure when it cannot."""
    host = urlsplit(engine).hostname or ""
    if not host.startswith("127."):
        return host
    if system != "linux":
        return _DOCKER_DESKTOP
    raise Failure(
        f"No container reaches the engine at {host}. Start the stack on the address of Docker's bridge, "
        "which `ip -4 address show docker0` shows: ./dev down, then ./dev up --detach --listen 172.17.0.1"
    )


def events_by_function() -> dict[str, list[str]]:
    """The names of the event files, by the logical id of the function that each is for."""
    from infra.routes import BY_KEY

    found: defaultdict[str, list[str]] = defaultdict(list)
    function: str
    for path in EVENTS.glob("*.json"):
        match json.loads(path.read_text("utf-8")):
            case {"requestContext": {"connectionId": _}} | {"task": "end"}:
                function = "socket"
            case {"routeKey": key}:
                function = BY_KEY[key].function
            case {"Records": [{"eventSource": "aws:dynamodb"}, *_]}:
                function = "maintain"
            case {"task": "webhooks"}:
                function = "deliver"
            case {"Records": [{"eventSourceARN": str(queue)}, *_]} if queue.endswith(":webhooks"):
                function = "deliver"
            case _:
                function = "upkeep"
        found[f"{function.capitalize()}Function"].append(path.stem)
    return dict(found)


def _at(host: str, url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{host}:{parts.port}").geturl()
