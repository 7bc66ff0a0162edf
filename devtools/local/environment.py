"""The environment of functions and of everything else that talks to the local engines."""

import os
from collections.abc import Mapping

from devtools.paths import PYTHONPATH

REGION = "us-east-1"

LOOPBACK = "127.0.0.1"
"""The default address on which the local stack listens."""

DUMMY_ACCOUNT = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}


def local(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment plus `extra`, with a dummy AWS account instead of the person's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return kept | DUMMY_ACCOUNT | {"PYTHONPATH": PYTHONPATH, "PYTHONUNBUFFERED": "1"} | dict(extra or {})
