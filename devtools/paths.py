"""Where things are in this repository."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "layers" / "core" / "python"
ENGINE = ROOT / "node_modules" / "amplify-dynamodb-simulator" / "emulator"
"""The folder of DynamoDB Local's jar; `npm ci` puts it there."""
DEFAULT_DATA = ROOT / ".data"

PYTHONPATH = os.pathsep.join((str(ROOT), str(CORE)))
"""What a Python that runs our code outside Lambda is given: the repository and the core layer."""
