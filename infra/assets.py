"""The sources of deployed code, and the files that are never deployed with it."""

from pathlib import Path

from aws_cdk import IgnoreMode
from aws_cdk import aws_lambda as lambda_

_NOT_DEPLOYED = ("__pycache__", "*.pyc", ".*")
"""Patterns of files that running the code locally leaves behind; every asset excludes them."""


def code(folder: Path) -> lambda_.Code:
    """A folder of the repository as the code of a function or a layer."""
    return lambda_.Code.from_asset(str(folder), exclude=list(_NOT_DEPLOYED), ignore_mode=IgnoreMode.GIT)
