"""The record of a plan that was carried out: what each node used, and its facts. Only the executor writes it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gridview.query.plan import Node
from gridview.view.block_reads import Reads

Facts = Mapping[str, Any]


@dataclass(slots=True)
class Usage:
    """The use of a node. A call for several nodes counts for each by its share of the reads."""

    units: float = 0.0
    rounds: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Trace:
    """Usage and facts of the nodes that have any. `reads`: of blocks; `age`: seconds since the oldest directory was read."""

    usage: Mapping[Node, Usage]
    facts: Mapping[Node, Facts]
    reads: Reads
    age: float
