"""The CDK command line, for tests, typed as anyone would type it."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence

from infra.paths import ROOT


def cdk(
    *arguments: str, env: Mapping[str, str], before: Sequence[str] = (), seconds: float = 180
) -> subprocess.CompletedProcess[str]:
    """Run `npx cdk ARGUMENTS` in the repository; `before` is put in front of it."""
    npx = shutil.which("npx", path=env.get("PATH"))
    assert npx is not None, "Node.js is missing"
    return subprocess.run(  # noqa: S603
        [*before, npx, "--no-install", "cdk", *arguments],
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
