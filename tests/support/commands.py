"""The command lines of the CDK and of `./dev`, for tests, with arguments as a user types them; and JavaScript."""

import io
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from devtools.cli import main
from devtools.paths import PYTHONPATH
from infra.paths import ROOT

PLAIN = {"COLUMNS": "200", "PYTHONPATH": PYTHONPATH}
"""Environment in which `./dev` and its processes print long lines and find their modules."""


class Done(NamedTuple):
    """The outcome of a subcommand of `./dev`."""

    status: int
    stdout: str
    stderr: str


def dev(*arguments: str | Path, env: Mapping[str, str] = PLAIN) -> Done:
    """A subcommand of `./dev` in this process, with these additional variables. A process of its own would import for a
    second.
    """
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        status = main([*map(str, arguments)])
    return Done(status, out.getvalue(), err.getvalue())


def cdk(
    *arguments: str, env: Mapping[str, str], before: Sequence[str] = (), seconds: float = 600
) -> subprocess.CompletedProcess[str]:
    """Run `npx cdk ARGUMENTS` in the repository, with `before` as a prefix."""
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


def node(script: str, *arguments: str, folder: Path = ROOT) -> str:
    """The output of a JavaScript program. It finds the packages of this folder."""
    done = ran("node", "--input-type=module", "--eval", script, *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def ran(
    program: str, *arguments: str, env: Mapping[str, str] | None = None, folder: Path = ROOT
) -> "subprocess.CompletedProcess[str]":
    """A program that was run in the repository, or in one of its folders, with these additional variables."""
    return subprocess.run(  # noqa: S603
        [shutil.which(program) or program, *arguments],
        cwd=folder,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
