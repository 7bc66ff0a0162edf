"""The layer of the entry: the modules of the repository that the core layer lacks, and PyJWT, which is pure Python."""

import shutil
from pathlib import Path
from typing import Final

import jwt

from devtools.paths import ROOT

_MODULES: Final = (
    "devtools/__init__.py",
    "devtools/failure.py",
    "devtools/local/__init__.py",
    "devtools/local/gateway.py",
    "devtools/local/tokens.py",
    "devtools/sam/__init__.py",
    "devtools/sam/entry.py",
    "devtools/sam/names.py",
)


def write(folder: Path) -> None:
    """Write the layer into an empty folder."""
    packages = folder / "python"
    for module in _MODULES:
        copy = packages / module
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / module, copy)
    shutil.copytree(Path(jwt.__file__).parent, packages / "jwt", ignore=shutil.ignore_patterns("__pycache__"))
