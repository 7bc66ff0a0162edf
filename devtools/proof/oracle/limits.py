"""Limits that projects of a hundred issues meet: of blocks, and of the reads for an answer."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from itertools import product
from types import ModuleType
from typing import Any

Limits = Mapping[str, Any]
"""Module and name of a constant of the core -> its value."""


def _of_blocks(size: int, popular: int, plain: int, bodies: int, detailed: int) -> Limits:
    return {
        "chains.blocks.MAX_BYTES": size,
        "chains.blocks.MERGED": size // 4,
        "chains.blocks.ROOMY": size * 6 // 10,
        "chains.blocks.POPULAR": popular,
        "chains.blocks.UNPOPULAR": popular // 2,
        "chains.blocks.PLAIN_KEYS": plain,
        "chains.blocks.DETAILED_BODIES": bodies,
        "chains.blocks.DETAILED_BYTES": detailed,
    }


_BLOCKS: Mapping[str, Limits] = {
    "real": {},
    "coarse": _of_blocks(400, 40, 24, 8, 200),
    "fine": _of_blocks(150, 8, 12, 4, 80),
    "tiny": _of_blocks(80, 3, 4, 2, 40),
}
"""A set of ten issue numbers takes 36 bytes."""

_BUDGETS: Mapping[str, Limits] = {
    "": {},
    "dear": {"query.prices.ITEM": 20.0},
    "few": {"query.planner.CANDIDATES": 25},
    "poor": {
        "query.planner.WHOLE": 30,
        "query.planner.CANDIDATES": 25,
        "query.aggregate_planner.MAX_DOCUMENTS": 40,
    },
}
"""`dear`: documents cost so much that blocks are gone along where there are only a few.
`few`: so few documents may be fetched that projects are read whole instead; `poor`: they may not be either.
"""

LIMITS: Mapping[str, Limits] = {
    f"{blocks} {budget}".strip(): {**of_blocks, **of_budget}
    for (blocks, of_blocks), (budget, of_budget) in product(_BLOCKS.items(), _BUDGETS.items())
}
"""By name."""


@contextmanager
def held_to(name: str) -> Iterator[None]:
    """These limits, wherever the core has taken them from their homes, for the time of a `with` block.

    A block within such a block has the same limits.
    """
    if _held:
        if _held != [name]:
            raise ValueError(f"{name}: within {_held}")
        yield
        return
    _held.append(name)
    replaced: list[tuple[ModuleType, str, Any]] = []
    for constant, value in LIMITS[name].items():
        for module, attribute, real in _places(constant, len(sys.modules)):
            replaced.append((module, attribute, real))
            setattr(module, attribute, value)
    try:
        yield
    finally:
        _held.clear()
        for module, attribute, real in replaced:
            setattr(module, attribute, real)


_held: list[str] = []
"""The limits in force in this process."""


@cache
def _places(constant: str, _modules: int) -> Sequence[tuple[ModuleType, str, Any]]:
    """Where a constant is, and its value; `_modules`: how many modules are loaded, since another one may have it too."""
    real = _real(constant)
    attribute = constant.rpartition(".")[2]
    return [
        (module, attribute, real)
        for name, module in list(sys.modules.items())
        if name.startswith("gridview.") and vars(module).get(attribute) is real
    ]


def budgets(name: str) -> Mapping[str, int]:
    """The most reads for an answer under these limits."""
    constants = (
        "query.planner.WHOLE",
        "query.planner.CANDIDATES",
        "query.aggregate_planner.MAX_DOCUMENTS",
    )
    return {constant: LIMITS[name].get(constant) or _real(constant) for constant in constants}


def _real(constant: str) -> Any:
    home, _, attribute = constant.rpartition(".")
    return getattr(import_module(f"gridview.{home}"), attribute)
