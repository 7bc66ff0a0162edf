"""The sources of deployed code, and the files that are never deployed with it."""

from pathlib import Path
from typing import Literal

from aws_cdk import IgnoreMode
from aws_cdk import aws_lambda as lambda_

from infra.bytecode import compiled_copy, fits

Mounted = Literal["/var/task", "/opt"]
"""The folders in which Lambda puts the code of a function and of a layer."""

_NOT_DEPLOYED = ("__pycache__", "*.pyc", ".*")
"""Patterns of files that a local run leaves in the source folders; every asset excludes them."""


def code(folder: Path, mounted: Mounted, python_version: str) -> lambda_.Code:
    """A folder of the repository as the code of a function or a layer, with bytecode where this Python is the functions'."""
    if fits(python_version):
        copy = compiled_copy(folder, mounted, without=_NOT_DEPLOYED)
        # The copy's name has the hash of what it was made from; the bytes of bytecode are not the same each time.
        return lambda_.Code.from_asset(str(copy), asset_hash=copy.name)
    return lambda_.Code.from_asset(str(folder), exclude=list(_NOT_DEPLOYED), ignore_mode=IgnoreMode.GIT)


def finished(folder: Path) -> lambda_.Code:
    """A folder that was built to be deployed as it is."""
    return lambda_.Code.from_asset(str(folder))
