"""The output of `npx cdk synth` for an engine on this machine: made once a test run, checked, and deployed."""

import os
import platform
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path

from infra.settings import Settings
from infra.vendor import build_vendor
from tests.support.commands import cdk

SETTINGS = Settings(
    # Functions run on the engine's own interpreter, whatever they declare; the layer must fit that.
    runtime=f"python3.{sys.version_info.minor}",
    architecture="arm64" if platform.machine() in {"aarch64", "arm64"} else "x86_64",
    snap_start=False,
    protect=False,
    emulator=True,
    # One deployment covers both settings: functions make the same calls without isolation, and template tests
    # check the roles.
    isolate_sessions=True,
)

_CONTEXT = {
    "runtime": SETTINGS.runtime,
    "architecture": SETTINGS.architecture,
    "snap-start": "false",
    "protect": "false",
    "emulator": "true",
    "isolate-sessions": "true",
}
ARGUMENTS = tuple(chain.from_iterable(("-c", f"{name}={value}") for name, value in _CONTEXT.items()))
"""The same as arguments of the command line."""


def vendor() -> Path:
    """The third-party layer in the assembly."""
    return build_vendor(python_version=SETTINGS.python_version, architecture=SETTINGS.architecture)


def synthesize_by_command(folder: Path) -> Path:
    """Let the command line write the assembly on a machine without a network, an AWS account or Docker."""
    vendor()  # fetched while there is a network
    assembly = folder / "cdk.out"
    done = cdk(
        "synth",
        "--quiet",
        *ARGUMENTS,
        "--output",
        str(assembly),
        env=_bare_environment(),
        before=_without_network(),
    )
    assert done.returncode == 0, done.stderr
    return assembly


def _without_network() -> list[str]:
    """The prefix of a command that cuts it off the network; empty if the system has none."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return []
    cut_off = [unshare, "--user", "--map-root-user", "--net"]
    tried = subprocess.run([*cut_off, "true"], capture_output=True, check=False)  # noqa: S603
    return [] if tried.returncode else cut_off


def _bare_environment() -> dict[str, str]:
    """This environment without an AWS account, and with a Docker that fails."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK_"))}
    nowhere = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    return {**kept, **nowhere, "AWS_EC2_METADATA_DISABLED": "true", "CDK_DOCKER": "false"}
