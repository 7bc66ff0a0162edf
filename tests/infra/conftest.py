import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from infra.layers import build_vendor
from infra.settings import Settings
from infra.template import synthesize
from tests.support import templates
from tests.support.commands import cdk


@pytest.fixture(autouse=True)
def _no_sockets(socket_disabled: None) -> None:
    """Whatever these tests synthesize in this process, they do without a network."""


@pytest.fixture(scope="session")
def template() -> dict[str, Any]:
    """What a deployment with the default settings declares."""
    return templates.template()


@pytest.fixture(scope="session")
def local_template() -> dict[str, Any]:
    """What the deployment of the deploy tests declares."""
    return synthesize(
        Settings(
            architecture="x86_64",
            runtime="python3.11",
            snap_start=False,
            protect=False,
            emulator=True,
        )
    )


@pytest.fixture(scope="session")
def vendor() -> Path:
    """The third-party layer of the default platform, as it is deployed."""
    return build_vendor(python_version=Settings().python_version, architecture=Settings().architecture)


def _without_network() -> list[str]:
    """What to put before a command to cut it off; nothing where the system has no such thing."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return []
    cut_off = [unshare, "--user", "--map-root-user", "--net"]
    tried = subprocess.run([*cut_off, "true"], capture_output=True, check=False)  # noqa: S603
    return [] if tried.returncode else cut_off


@pytest.fixture(scope="session")
def bare_environment() -> dict[str, str]:
    """This environment without an AWS account, and with a Docker that fails."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK_"))}
    nowhere = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    return {**kept, **nowhere, "AWS_EC2_METADATA_DISABLED": "true", "CDK_DOCKER": "false"}


@pytest.fixture(scope="session")
def assembly(
    vendor: Path, bare_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """What `npx cdk synth` writes on a machine that has no network any more."""
    folder = tmp_path_factory.mktemp("cdk") / "cdk.out"
    done = cdk("synth", "--quiet", "--output", str(folder), env=bare_environment, before=_without_network())
    assert done.returncode == 0, done.stderr
    return folder
