"""Bytecode in deployed code: without it every cold start compiles its imports, which doubles their time.

Only the Python that will run the code can compile it. So the code is compiled if the builder's version is the
functions' version. The bytecode says that it need not be compared with its source (PEP 552, unchecked). Lambda
changes the dates of files, and has no place for new bytecode.
"""

import compileall
import hashlib
import importlib.util
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from py_compile import PycInvalidationMode

from infra.build_cache import built_once
from infra.paths import ROOT

CACHE = ROOT / ".build" / "bytecode"


def fits(python_version: str) -> bool:
    """Whether this Python makes bytecode for functions of that version."""
    return python_version == f"{sys.version_info.major}.{sys.version_info.minor}"


def marker(python_version: str) -> str:
    """Return the magic number of the bytecode that is made for this version; empty if none is made."""
    return importlib.util.MAGIC_NUMBER.hex() if fits(python_version) else ""


def compile_in(folder: Path, mounted: str) -> None:
    """Put bytecode beside each source file of a folder, which Lambda will mount at `mounted`."""
    compileall.compile_dir(
        folder,
        quiet=2,
        force=True,
        invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
        stripdir=str(folder),
        prependdir=mounted,
    )


def compiled_copy(source: Path, mounted: str, *, without: Sequence[str], cache: Path = CACHE) -> Path:
    """A copy of a folder with bytecode, made now or found in `cache`. `without` are patterns of names that are not copied."""
    files = sorted(path for path in source.rglob("*.*") if path.is_file() and "__pycache__" not in path.parts)
    made_from = hashlib.sha256(f"{importlib.util.MAGIC_NUMBER.hex()} {mounted}".encode())
    for path in files:
        made_from.update(f"\n{path.relative_to(source)}\n".encode() + path.read_bytes())
    built = cache / f"{source.name}-{made_from.hexdigest()[:16]}"

    def build(folder: Path) -> None:
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns(*without))
        compile_in(folder, mounted)

    return built_once(built, build)
