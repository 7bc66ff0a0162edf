"""The CDK command line."""

import shutil
import subprocess

from devtools.failure import Failure
from devtools.paths import ROOT


def cdk(command: str, *options: str) -> int:
    """Run `cdk COMMAND OPTIONS` in the repository; returns its exit status."""
    npx = shutil.which("npx")
    if npx is None:
        raise Failure(
            "The CDK command line needs npx, which is not on the PATH. Install Node; it comes with npm and npx."
        )
    return subprocess.run([npx, "--no-install", "cdk", command, *options], cwd=ROOT, check=False).returncode
