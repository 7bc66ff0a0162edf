"""The third-party layer: wheels fetched for the function's platform.

pip builds it when first needed, without Docker and without compiling: only wheels for Lambda's Linux, from the lock file, with
their hashes checked. The result is kept under `.build/layers`, under a name made from all its inputs. So the same lock
file gives the same asset, and no second network access.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from infra.build_cache import built_once
from infra.bytecode import compile_in, fits, marker
from infra.paths import ROOT
from infra.settings import Architecture

VENDOR_LOCK = ROOT / "layers" / "vendor" / "requirements.txt"
CACHE = ROOT / ".build" / "layers"

_RECIPE = "2"
"""Raise this with any change in how a layer is made from the lock file."""

_MANYLINUX = {"arm64": "aarch64", "x86_64": "x86_64"}
_NOT_RUN = ("tests", "__pycache__")
"""Folders of installed packages that no function runs."""
_NOT_READ = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
"""pip's notes on how a package was installed; they would differ between machines."""


class LayerError(RuntimeError):
    """The third-party layer could not be built; the message says why in one line."""


def build_vendor(*, python_version: str, architecture: Architecture, cache: Path = CACHE) -> Path:
    """The folder of the third-party layer for one platform, built now or found in `cache`.

    Raises:
        LayerError: pip failed; most likely there is no network, or no wheel for the platform.
    """
    made_from = "\n".join(
        (_RECIPE, python_version, architecture, marker(python_version), VENDOR_LOCK.read_text("utf-8"))
    )
    key = hashlib.sha256(made_from.encode()).hexdigest()[:16]
    # No dot in it: CDK would take the rest of the name for a suffix.
    built = cache / f"{architecture}-py{python_version.replace('.', '')}-{key}"

    def build(folder: Path) -> None:
        _install(folder / "python", python_version, architecture)
        strip(folder / "python")
        if fits(python_version):
            compile_in(folder, "/opt")

    return built_once(built, build)


def strip(packages: Path) -> None:
    """Remove unused files, and files that differ between machines, from a folder of installed packages."""
    # The scripts of packages name the Python that built the layer.
    shutil.rmtree(packages / "bin", ignore_errors=True)
    for name in _NOT_RUN:
        for folder in sorted(packages.rglob(name)):
            if folder.is_dir():
                shutil.rmtree(folder)
    for name in _NOT_READ:
        for note in packages.glob(f"*.dist-info/{name}"):
            note.unlink()


def _install(target: Path, python_version: str, architecture: Architecture) -> None:
    machine = _MANYLINUX[architecture]
    # From Python 3.12 Lambda runs on Amazon Linux 2023 (glibc 2.34), earlier on Amazon Linux 2 (2.26).
    newer = ["manylinux_2_28"] if int(python_version.partition(".")[2]) >= 12 else []
    platforms = [f"--platform={name}_{machine}" for name in (*newer, "manylinux2014")]
    command = [
        *(
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-input",
            "--no-color",
            "--disable-pip-version-check",
        ),
        *("--only-binary=:all:", "--implementation=cp", f"--python-version={python_version}", *platforms),
        *(
            "--require-hashes",
            "--no-deps",
            "--no-compile",
            f"--target={target}",
            f"--requirement={VENDOR_LOCK}",
        ),
    ]
    print("Fetching the packages of the third-party layer", file=sys.stderr)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise LayerError(f"The third-party layer could not be built: {_reason(done.stderr)}")


def _reason(output: str) -> str:
    """pip's reason for a failure, in one line."""
    if "NewConnectionError" in output or "ConnectTimeoutError" in output:
        return "no package registry answers. Connect to the network once."
    errors = [line.removeprefix("ERROR: ") for line in output.splitlines() if line.startswith("ERROR: ")]
    return errors[0] if errors else "pip failed."
