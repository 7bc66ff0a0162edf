"""Which option of a project a value of a file means. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from gridview.encoding.sort_strings import case_fold


class Spellings:
    """The options of a field, by how they are written."""

    def __init__(self, options: Iterable[str] = ()) -> None:
        self._exact = frozenset(options)
        self._folded: Mapping[str, list[str]] = defaultdict(list)
        for option in self._exact:
            self._folded[case_fold(option)].append(option)

    def meant(self, value: str) -> str:
        """The option of this very value, else the only one that is equal as texts compare, else the value."""
        found = [] if value in self._exact else self._folded.get(case_fold(value), [])
        return found[0] if len(found) == 1 else value

    def missing(self, values: Iterable[str]) -> list[str]:
        """Those of the values that mean none of the options, in their order."""
        return [value for value in values if self.meant(value) not in self._exact]
