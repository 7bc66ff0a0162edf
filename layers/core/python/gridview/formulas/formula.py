"""A defined formula: its typed tree with the versions that it was saved under, and its stored form. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from gridview.encoding.json_codec import dumps
from gridview.formulas import functions
from gridview.formulas.functions import result_of
from gridview.formulas.tree import (
    ChosenOption,
    Expression,
    UnknownForm,
    ValueType,
    leaf_from_json,
    to_json,
)


@dataclass(frozen=True)
class Formula:
    """A formula as it was saved.

    - `type`: the type of its field. The tree has this type, or that of a date where this is a datetime.
    - `functions`, `unicode`: the versions of the functions and of Unicode under which it is evaluated.
    """

    tree: Expression
    type: ValueType
    functions: int
    unicode: str

    @cached_property
    def uses(self) -> frozenset[str]:
        """The internal keys of the fields that it reads itself."""
        return frozenset(one.value for one in self.tree.walk() if one.reads)

    @cached_property
    def options(self) -> frozenset[ChosenOption]:
        """The options that it names."""
        return frozenset(one.value for one in self.tree.walk() if isinstance(one.value, ChosenOption))

    @cached_property
    def nodes(self) -> int:
        """Its own nodes, without those of formulas that it reads."""
        return sum(nodes_of(one.kind) for one in self.tree.walk())

    def to_item(self) -> dict[str, Any]:
        """Encode as the map stored in the definition of a field."""
        return {
            "type": str(self.type),
            "functions": self.functions,
            "unicode": self.unicode,
            # One text: DynamoDB allows 32 levels of lists, and a tree may have 200.
            "tree": dumps(to_json(self.tree)).decode(),
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the map stored in the definition of a field. UnknownForm if a later release wrote it."""
        if int(item["functions"]) > functions.VERSION:
            raise UnknownForm("the formula uses functions of a later release")
        tree = from_json(json.loads(item["tree"]))
        return cls(tree, ValueType(item["type"]), int(item["functions"]), item["unicode"])


def from_json(form: Sequence[Any]) -> Expression:
    """Return the tree of a form in JSON. UnknownForm."""
    leaf = leaf_from_json(form)
    if leaf is not None:
        return leaf
    kind, *inner = form
    parts = tuple(map(from_json, inner))
    try:
        return Expression(kind, result_of(kind, parts), None, parts)
    except KeyError:
        raise UnknownForm("the formula uses functions of a later release") from None


def nodes_of(kind: str) -> int:
    """Return how many nodes a part of a kind counts as, without the parts within it."""
    known = functions.FUNCTIONS.get(kind)
    return 1 if known is None else known.nodes
