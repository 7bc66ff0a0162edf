"""The nodes of a plan: what is done to answer a query, as a tree with estimated read units. Made by `planner`; pure data.

A node is itself and no other: two that look alike are two. Facts that come out while a node is carried out are told beside it
(`steps.tell`), never written into it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """Read units that a node should take. `informed`: whether the directories had been read when it was made."""

    units: float
    informed: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Node:
    """A node. `estimate` None: nobody can tell before. `children`: the nodes whose results it takes."""

    estimate: Estimate | None = None
    children: tuple["Node", ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Choice(Node):
    """One of several ways, which a rule of `planner` chooses by what the children have read.

    The node that was chosen is told as the fact `chosen`; it may be a choice again.
    """

    question: str
