"""An older botocore than that of the tools, as a runtime of Lambda may have: it has everything that
the functions use.
"""

import json
import subprocess

from devtools import environments
from devtools.paths import ROOT
from tests.support.botocore_names import NAMES

PROGRAM = """\
import importlib, json, sys
import botocore
from botocore.retries.quota import RetryQuota
from gridview.support import aws
from gridview.support.signed_requests import SignedRequests

names = json.loads(sys.argv[1])
missing = []
for name in names:
    module, _, inner = name.partition(":")
    if inner and not hasattr(importlib.import_module(module), inner):
        missing.append(name)
signed = SignedRequests(aws.client("dynamodb", aws.PATIENT), None)
headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810.PutItem"}
quota = RetryQuota()
taken = sum(quota.acquire(5) for _ in range(1_000))
quota.release(5)
print(json.dumps({
    "version": botocore.__version__,
    "missing": missing,
    "signs": signed.signs_as_botocore(headers),
    "retries": taken,
    "one more": quota.acquire(5) and not quota.acquire(5),
}))
"""


def test_an_older_botocore_serves_the_functions() -> None:
    """MiniStack's environment has its own, which its functions use."""
    python = environments.ensure("ministack")
    done = subprocess.run(  # noqa: S603
        [str(python), "-P", "-c", PROGRAM, json.dumps(NAMES)],
        env={
            "PYTHONPATH": str(ROOT / "layers" / "core" / "python"),
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    lock = (ROOT / "requirements" / "ministack.txt").read_text("utf-8")
    assert f"\nbotocore=={found.pop('version')} " in lock
    assert found == {"missing": [], "signs": True, "retries": 100, "one more": True}
