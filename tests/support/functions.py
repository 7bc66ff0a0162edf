"""The functions' modules, imported again: each reads its environment and makes its clients at its
import, as on Lambda.
"""

import importlib
import sys
from types import ModuleType

from infra.openapi import file as openapi_file

FUNCTIONS = ("query", "command", "live", "socket", "deliver", "maintain", "upkeep")


def freshly_imported() -> dict[str, ModuleType]:
    """The handler modules by the name of their function, under the present environment; `sys.modules` is restored."""
    openapi_file.write()
    return {name: _fresh(f"functions.{name}.handler") for name in FUNCTIONS}


def _fresh(name: str) -> ModuleType:
    before = sys.modules.pop(name, None)
    try:
        return importlib.import_module(name)
    finally:
        sys.modules.pop(name, None)
        if before is not None:
            sys.modules[name] = before
