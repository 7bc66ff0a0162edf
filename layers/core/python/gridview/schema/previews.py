"""What a bulk change would do: how many issues it would change, and the first new values. Pure."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Self

from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Document
from gridview.schema.formats import value_json

MAX_EXAMPLES: Final = 10

SET_BY_EACH_WRITE: Final = frozenset(("updated", "updated_by"))


class Preview(NamedTuple):
    """`changed`: issues that would change. `examples`: the first new values, in the form of the API."""

    changed: int = 0
    examples: tuple[Mapping[str, Any], ...] = ()

    def with_change(self, catalog: Catalog, before: Document, after: Document) -> Self:
        """Return the preview with one more issue that would change. UnknownOption."""
        examples = [*self.examples]
        for field in (*catalog.builtins, *catalog.attributes):
            old, new = field.value_in(before), field.value_in(after)
            is_edit = field.key not in SET_BY_EACH_WRITE and not documents.same_value(old, new)
            if len(examples) >= MAX_EXAMPLES or not is_edit:
                continue
            examples.append(
                {
                    "num": before["num"],
                    "field": field.id,
                    "old": None if old is None else value_json(field, old),
                    "new": None if new is None else value_json(field, new),
                }
            )
        return self._replace(changed=self.changed + 1, examples=tuple(examples))

    def to_item(self) -> dict[str, Any]:
        """Encode as a part of the job's item."""
        return {"changed": self.changed, "examples": [dict(one) for one in self.examples]}

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode."""
        return cls(item["changed"], tuple(item["examples"]))


EMPTY: Final = Preview()
