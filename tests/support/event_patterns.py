"""The event patterns by which Lambda filters the records of a stream, and the declared patterns of
each function. Pure.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from infra.event_sources import StreamRecords
from infra.functions import FUNCTIONS
from infra.settings import Settings


def fits(pattern: Any, value: Any) -> bool:
    """Whether a value has each member of the pattern, with one of the values or rules that the pattern lists."""
    if isinstance(pattern, Mapping):
        return isinstance(value, Mapping) and all(
            fits(rule, value.get(name)) for name, rule in pattern.items()
        )
    return any(_obeys(rule, value) for rule in pattern)


def wakes(function: str, record: Mapping[str, Any]) -> bool:
    """Whether the mapping of this function passes this record of the stream."""
    return any(fits(pattern, record) for pattern in _patterns(function))


@cache
def _patterns(function: str) -> tuple[Mapping[str, Any], ...]:
    sources = FUNCTIONS[function].event_sources(Settings())
    (mapping,) = (source for source in sources if isinstance(source, StreamRecords))
    return mapping.filters


def _obeys(rule: Any, value: Any) -> bool:
    match rule:
        case {"prefix": str(prefix)}:
            return isinstance(value, str) and value.startswith(prefix)
        case {"exists": True}:
            return value is not None
    return bool(rule == value)
