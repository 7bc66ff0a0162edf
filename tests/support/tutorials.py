"""Runs the code blocks of a tutorial page, in the page's order, as a reader types them."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from devtools.paths import PYTHONPATH

PROGRAMS: Mapping[str, tuple[str, str] | None] = {
    "sh": None,
    "python": ("python3", ".py"),
    "js": ("node", ".mjs"),
}
"""The languages of blocks that run. A shell block runs in the page's shell, any other in a program of its own."""

SHOWN = frozenset({"json", "text"})
"""The languages of blocks that show the output of the block before."""

ANYTHING = "…"

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A block that runs, and the output that the page shows after it."""

    language: str
    code: str
    shown: str | None = None
    shown_as: str = "text"


def blocks_in(text: str) -> list[Block]:
    """The blocks of a page, or of a part of it, that run."""
    blocks: list[Block] = []
    for language, code in _FENCE.findall(text):
        if language in PROGRAMS:
            blocks.append(Block(language, code))
        elif language in SHOWN and blocks:
            assert blocks[-1].shown is None, "a block shows two outputs"
            blocks[-1] = blocks[-1]._replace(shown=code, shown_as=language)
    return blocks


def run(blocks: Sequence[Block], folder: Path, env: Mapping[str, str] | None = None) -> list[str]:
    """The output of each block. All run in one shell, in this folder; the first command that fails ends it, and the
    test.
    """
    script = "\n".join(["set -eo pipefail", *_lines(blocks, folder)])
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(  # noqa: S603
        [bash, "-c", script],
        cwd=folder,
        env={**os.environ, **(env or {}), "PATH": _path(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    outputs = [path.read_text("utf-8") for path in _outputs(blocks, folder) if path.exists()]
    assert done.returncode == 0, f"{blocks[len(outputs) - 1].code}\n{outputs[-1:]}\n{done.stderr}"
    return outputs


def differences(blocks: Sequence[Block], outputs: Sequence[str]) -> Iterator[str]:
    """Describe where an output differs from the page's."""
    for block, output in zip(blocks, outputs, strict=True):
        if block.shown is None:
            continue
        if block.shown_as == "json":
            yield from _different(json.loads(block.shown), json.loads(output), "answer")
        elif block.shown.strip() != output.strip():
            yield f"shown:\n{block.shown}\nprinted:\n{output}"


def install_dev(folder: Path, data: Path) -> None:
    """Write a `./dev` into a folder that works on the stack of a data folder."""
    script = folder / "dev"
    script.write_text(
        f"#!/bin/sh\nPYTHONPATH='{PYTHONPATH}' exec '{sys.executable}' -P -m devtools \"$@\" --data '{data}'\n",
        "utf-8",
    )
    script.chmod(0o755)


def _lines(blocks: Sequence[Block], folder: Path) -> Iterator[str]:
    for number, (block, output) in enumerate(zip(blocks, _outputs(blocks, folder), strict=True)):
        code = block.code
        if program := PROGRAMS[block.language]:
            name, ending = program
            file = folder / f"block-{number}{ending}"
            file.write_text(code, "utf-8")
            code = f"{name} '{file}'\n"
        yield f"{{\n{code}}} > '{output}'"


def _outputs(blocks: Sequence[Block], folder: Path) -> list[Path]:
    return [folder / f"output-{number}" for number in range(len(blocks))]


def _path(folder: Path) -> str:
    """The search path, with the Python of the tests first: it has the packages that a page says to install."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    python = programs / "python3"
    if not python.exists():
        python.write_text(f"#!/bin/sh\nexec '{sys.executable}' \"$@\"\n", "utf-8")
        python.chmod(0o755)
    return f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"


def _different(shown: Any, got: Any, place: str) -> Iterator[str]:
    """`…` matches anything; the index's age differs from run to run."""
    if shown == ANYTHING:
        return
    if place.endswith(".index"):
        shown, got = sorted(shown), sorted(got)
    if isinstance(shown, dict) and isinstance(got, dict) and shown.keys() == got.keys():
        for name in shown:
            yield from _different(shown[name], got[name], f"{place}.{name}")
    elif isinstance(shown, list) and isinstance(got, list) and len(shown) == len(got):
        for number, pair in enumerate(zip(shown, got, strict=True)):
            yield from _different(*pair, f"{place}.{number}")
    elif shown != got:
        yield f"{place}: {shown!r} is shown, and the answer has {got!r}"
