"""Paths of this repository."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "layers" / "core" / "python"
ENGINE = ROOT / "node_modules" / "amplify-dynamodb-simulator" / "emulator"
"""The folder of DynamoDB Local's jar, which `npm ci` installs."""
DEFAULT_DATA = ROOT / ".data"
DATA = ROOT.parent / "shared" / "data"
"""Real issues and cases, beside the repository where they are at hand."""

PYTHONPATH = os.pathsep.join((str(ROOT), str(CORE)))
"""The PYTHONPATH of the repository's code outside Lambda: the repository and the core layer."""
