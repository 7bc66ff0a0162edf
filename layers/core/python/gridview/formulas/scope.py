"""The fields that the formulas of a project can use, by id and by name. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from gridview.formulas.formula import Formula
from gridview.formulas.tree import ValueType


@dataclass(frozen=True, slots=True)
class FormulaInput:
    """A field. `options`: its options by id, with their present values. `formula`: if it is computed.

    `hidden`: it was deleted and can be restored. Its formula counts, and no other can name it.
    """

    key: str
    id: str
    name: str
    type: ValueType
    builtin: bool = False
    options: Mapping[str, str] = field(default_factory=dict)
    formula: Formula | None = None
    hidden: bool = False

    def option_of(self, value: str) -> str | None:
        """Return the id of the option with a value; None if there is none."""
        return next((one for one, name in self.options.items() if name == value), None)


class AmbiguousName(LookupError):
    """Several fields have the name, and none has it as its id."""


class FormulaScope:
    """The fields of a project."""

    def __init__(self, inputs: Iterable[FormulaInput]) -> None:
        self.by_key: Mapping[str, FormulaInput] = {one.key: one for one in inputs}
        self._named = [one for one in self.by_key.values() if not one.hidden]

    @cached_property
    def _by_id(self) -> Mapping[str, FormulaInput]:
        return {one.id: one for one in self._named}

    @cached_property
    def _names(self) -> Counter[str]:
        return Counter(one.name for one in self._named)

    @cached_property
    def _by_name(self) -> Mapping[str, FormulaInput]:
        return {one.name: one for one in self._named}

    def named(self, text: str) -> FormulaInput | None:
        """Return the field with an id, otherwise the only one with a name; None if there is none. AmbiguousName."""
        found = self._by_id.get(text)
        if found is None and self._names[text] > 1:
            raise AmbiguousName(text)
        return found or self._by_name.get(text)

    def ids(self, keys: Iterable[str]) -> list[str]:
        """Return the ids of the fields with these keys, in the order of the project."""
        wanted = frozenset(keys)
        return [one.id for one in self.by_key.values() if one.key in wanted]

    def label(self, key: str) -> str:
        """Return the name of a field if that names it and no other, otherwise its id; the key of an unknown one."""
        known = self.by_key.get(key)
        if known is None:
            return key
        if known.hidden:
            return known.id
        names_it = self._names[known.name] == 1 and self._by_id.get(known.name, known) is known
        return known.name if names_it else known.id
