"""Whether issues use an option: checked before the option is dropped."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from gridview.chains.directory import Range
from gridview.derive.families import index_token_family
from gridview.dynamodb.expressions import Bound, Condition
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.fences import after, before
from gridview.schema.catalog import Catalog
from gridview.schema.fields import Field, FieldType, Option
from gridview.support.errors import Conflict, LimitExceeded
from gridview.view import freshness
from gridview.view.block_cache import BlockCache
from gridview.view.block_reads import Want
from gridview.view.context import ReadContext
from gridview.view.index_view import IndexView

_PAGES = 20
"""The most 1 MB pages of issues that are read for a field whose index cannot answer."""

TOLERATED_LAG = 10.0
"""Seconds that the index may lag. An issue that it lacks keeps its option, as one of a writer with older definitions."""

_RETRY_SECONDS = 10


def options_in_use(table: Table, catalog: Catalog, field: Field, option_ids: Iterable[str]) -> bool:
    """Return whether any issue has one of these options.

    The index answers for an indexed field, with every change that the journal has. It costs what `issues_in`
    does, a read unit for its lag, and 0.5 for each block that contains several options; Conflict if it lags.
    Otherwise up to 20 MB of issues are read; LimitExceeded if that does not settle it.
    """
    chosen = [field.option(one) for one in option_ids]
    if not chosen:
        return False
    if field.served is not None and field.type is FieldType.ENUM:
        family, bodies = field.served.order_id, [rank for option in chosen for rank in option.ranks]
    elif field.served is not None and (tokens := index_token_family(field.served)) is not None:
        family, bodies = tokens, [option.id for option in chosen]
    else:
        return _any_document(table, catalog, field, chosen)
    # Read before the index, which may have caught up in between.
    lag = freshness.read(table, catalog, BlockCache()).seconds
    if _any_of(table, catalog, family, bodies):
        return True
    if lag is not None and lag > TOLERATED_LAG:
        raise Conflict(
            f"The index lags by {math.ceil(lag):,} seconds, so it does not show yet whether issues use an option that "
            "the request drops. Try again later.",
            headers={"Retry-After": str(_RETRY_SECONDS)},
        )
    return False


def _any_of(table: Table, catalog: Catalog, family: str, bodies: Sequence[str]) -> bool:
    """Return whether any key in a family with only detailed blocks has one of these bodies."""
    view = IndexView(ReadContext(table, catalog, consistent=True), table)

    def look() -> bool:
        directory = view.counted(family)
        places = [
            (body, entry)
            for body in bodies
            for entry in directory.overlapping(Range(before(body), after(body)))
            if entry.size
        ]
        if any(entry.body == body for body, entry in places):
            return True
        read = view.blocks(Want(family, entry) for _, entry in places)
        return any(body in (read.block(family, entry).sets or {}) for body, entry in places)

    return view.consistently(look)


def _any_document(table: Table, catalog: Catalog, field: Field, chosen: Sequence[Option]) -> bool:
    """Return whether any document has one of these options.

    DynamoDB filters only by the field, because an expression with up to 200 options would not fit.
    """
    wanted = {option.id for option in chosen}
    names = {f"#u{place}": name for place, name in enumerate(field.path)}
    has_value = Condition(f"attribute_exists({'.'.join(names)})", names)
    bound = None
    for _ in range(_PAGES):
        page = table.query(
            keys.project(catalog.tenant, catalog.project),
            index=True,
            bound=bound,
            only=has_value,
            paths=(field.path,),
        )
        if any(not wanted.isdisjoint(_options_in(field.value_in(item))) for item in page.items):
            return True
        if page.last is None:
            return False
        bound = Bound(">", page.last)
    raise LimitExceeded(
        "The project is too large to check whether an issue uses an option that the request drops. "
        "Rename the option instead."
    )


def _options_in(value: Any) -> Sequence[str]:
    """Return the option ids in a stored value of an enum or a multi_enum."""
    return value if isinstance(value, list) else [value]
