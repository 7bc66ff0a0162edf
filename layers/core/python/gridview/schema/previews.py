"""What a bulk change would do: how many issues it would change, and the first new values. Pure."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Self

MAX_EXAMPLES: Final = 10


class Preview(NamedTuple):
    """`changed`: issues that would change. `examples`: the first new values, in the form of the API."""

    changed: int = 0
    examples: tuple[Mapping[str, Any], ...] = ()

    def to_item(self) -> dict[str, Any]:
        """Encode as a part of the job's item."""
        return {"changed": self.changed, "examples": [dict(one) for one in self.examples]}

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode."""
        return cls(item["changed"], tuple(item["examples"]))


EMPTY: Final = Preview()
