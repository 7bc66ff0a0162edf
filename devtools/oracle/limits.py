"""Limits that are met by projects of a hundred issues: of blocks, and of what is read for an answer."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gridview import blocks, planner

_HOMES = (blocks, planner)

Limits = Mapping[str, Any]
"""Name of a constant of the core -> its value."""


def _of_blocks(size: int, popular: int, plain: int, bodies: int, detailed: int) -> Limits:
    return {
        "MAX_BYTES": size,
        "_MERGED": size // 4,
        "_ROOMY": size * 6 // 10,
        "POPULAR": popular,
        "_UNPOPULAR": popular // 2,
        "_PLAIN_KEYS": plain,
        "_DETAILED_BODIES": bodies,
        "_DETAILED_BYTES": detailed,
    }


LIMITS: Mapping[str, Limits] = {
    "real": {},
    "coarse": _of_blocks(400, 40, 60, 8, 200),
    "fine": _of_blocks(150, 8, 12, 4, 80),
    "tiny": _of_blocks(80, 3, 4, 2, 40),
}
"""By name. A set of ten issue numbers takes 36 bytes."""


@contextmanager
def held_to(name: str) -> Iterator[None]:
    """These limits, wherever the core has taken them from their homes, for the time of a `with` block."""
    replaced: list[tuple[Any, str, Any]] = []
    for constant, value in LIMITS[name].items():
        home = next(one for one in _HOMES if hasattr(one, constant))
        real = getattr(home, constant)
        for module_name, module in list(sys.modules.items()):
            if module_name.startswith("gridview.") and vars(module).get(constant) is real:
                replaced.append((module, constant, real))
                setattr(module, constant, value)
    try:
        yield
    finally:
        for module, constant, real in reversed(replaced):
            setattr(module, constant, real)


def budgets(name: str) -> Mapping[str, int]:
    """What may be read for an answer under these limits."""
    return {constant: LIMITS[name].get(constant, getattr(planner, constant)) for constant in ("WHOLE",)}
