"""The CDK command line that runs the app: only the version that `package-lock.json` pins."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from infra.paths import ROOT

LOCK: Final = ROOT / "package-lock.json"

_RUNNING: Final = "CDK_CLI_VERSION"
"""The variable in which the command line names its version. Without it no command line runs the app."""


class CliError(RuntimeError):
    """Another CDK command line runs the app; the message names the remedy."""


def require_pinned_cli(environment: Mapping[str, str], lock: Path = LOCK) -> None:
    """Check the version of the command line.

    Raises:
        CliError: it is not the pinned one. `npx cdk` without `npm ci` fetches the newest one.
    """
    running = environment.get(_RUNNING)
    if running is None:
        return
    pinned = json.loads(lock.read_text("utf-8"))["packages"]["node_modules/aws-cdk"]["version"]
    if running != pinned:
        raise CliError(
            f"This is CDK's command line {running}, but gridview is deployed with {pinned}. Run `npm ci`, then `npx "
            "cdk` in this folder."
        )
