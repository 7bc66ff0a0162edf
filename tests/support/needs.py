"""The needs of some tests that a machine may lack. The closing lines of a run list the tests that did not run."""

import shutil

import pytest

from devtools import browser, paths
from devtools.bench.postgres import cluster
from tests.support.depth import THOROUGH

data = pytest.mark.skipif(not paths.DATA.is_dir(), reason="../shared/data is missing")
postgres = pytest.mark.skipif(cluster.find_programs() is None, reason="PostgreSQL is not installed")
chromium = pytest.mark.skipif(
    browser.find() is None,
    reason="Chromium is not installed (apt-get install chromium-headless-shell): the page was not tested in a browser",
)
aws_cli = pytest.mark.skipif(shutil.which("aws") is None, reason="the AWS CLI is not installed")
time = pytest.mark.skipif(not THOROUGH, reason="it takes minutes, and ./dev prove runs it")
