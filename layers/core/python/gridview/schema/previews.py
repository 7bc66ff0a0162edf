"""What a bulk change would do: how many issues it would change, and the first new values. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, Self

from gridview.encoding.attribute_values import item_size

MAX_EXAMPLES: Final = 10

MAX_EXAMPLE_BYTES: Final = 64_000
"""Bytes of all examples: they are a part of the job's item."""


class Preview(NamedTuple):
    """`changed`: issues that would change. `examples`: the first new values, in the form of the API."""

    changed: int = 0
    examples: tuple[Mapping[str, Any], ...] = ()

    @property
    def has_room(self) -> bool:
        """Return whether another example may fit."""
        return len(self.examples) < MAX_EXAMPLES

    def with_issue(self, examples: Iterable[Mapping[str, Any]]) -> Self:
        """Return the same with one more issue that would change, and as many of its new values as there is room for."""
        shown = [*self.examples]
        size = item_size(shown)
        for one in examples:
            more = item_size(one)
            if len(shown) < MAX_EXAMPLES and size + more <= MAX_EXAMPLE_BYTES:
                shown.append(one)
                size += more
        return self._replace(changed=self.changed + 1, examples=tuple(shown))

    def to_item(self) -> dict[str, Any]:
        """Encode as a part of the job's item."""
        return {"changed": self.changed, "examples": [dict(one) for one in self.examples]}

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode."""
        return cls(item["changed"], tuple(item["examples"]))


EMPTY: Final = Preview()
