"""The chain of blocks of a family, and its column, from all its keys, for tools that write an index at once."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from pyroaring import BitMap

from gridview.chains.blocks import Block, split
from gridview.chains.column_pages import ColumnPage, by_page
from gridview.encoding.sort_strings import body_of, number_of, number_value


def built_chain(family: str, sorted_keys: Iterable[str]) -> list[Block]:
    """The blocks of a family that has these keys: a split of one block with all of them."""
    sets = {body: BitMap(map(number_of, run)) for body, run in groupby(sorted_keys, key=body_of)}
    return split(replace(Block.head(family), sets=sets))


def built_column(family: str, keys: Iterable[str]) -> list[ColumnPage]:
    """The pages of a column with these keys of issues, as of the beginning of the journal."""
    numbers = {number_of(key): number_value(body_of(key)) for key in keys}
    return [ColumnPage(family, page).changed(some, 0) for page, some in sorted(by_page(numbers).items())]
