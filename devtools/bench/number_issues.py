"""The issues with many numbers: five number fields of 24 bits, an enum of 50 values, and fields that filter 1 % and 50 %."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Context, Decimal
from random import Random
from typing import Any, Final

from gridview.commands.actor import Actor
from gridview.commands.attributes import create_attribute
from gridview.commands.projects import create_project
from gridview.dynamodb.table import Table
from gridview.schema.catalog import Catalog
from gridview.schema.items import to_catalog
from gridview.schema.store import Catalogs, read

NUMBERS: Final = ("cost", "price", "hours", "weight", "size")
WIDE: Final = "wide"
"""A number of 48 bits."""
QUOTIENT: Final = "quotient"
"""A quotient that nobody rounded: most have 38 digits."""
SHARE: Final = "share"
"""A number of two digits: each is in 1 % of the issues."""
KIND: Final = "kind"
DONE: Final = "done"
"""True in 50 % of the issues."""

_KINDS: Final = tuple(f"k{place:02}" for place in range(50))
_SEED: Final = 30
_DIGITS: Final = Context(prec=38)


def make_project(table: Table, actor: Actor, project: str, long: Sequence[str] = ()) -> Catalog:
    """Create the project with its attributes, all of them indexed; `long`: those of the two fields of long numbers."""
    catalogs = Catalogs()
    create_project(table, actor, {"id": project, "name": project})
    numbers = [{"id": one, "name": one, "type": "number"} for one in (*NUMBERS, SHARE, *long)]
    others = (
        {"id": KIND, "name": KIND, "type": "enum", "options": list(_KINDS)},
        {"id": DONE, "name": DONE, "type": "bool"},
    )
    for body in (*numbers, *others):
        create_attribute(table, catalogs, actor, project, body)
    return to_catalog(actor.tenant, project, read(table, actor.tenant, project))


def fields(count: int, long: Sequence[str] = ()) -> Iterator[Mapping[str, Any]]:
    """The values of so many issues, as a request has them; the same ones each time."""
    random, others = Random(_SEED), Random(-_SEED)  # noqa: S311  (the same each time)
    for _ in range(count):
        values: dict[str, Any] = {one: Decimal(random.randrange(2**24)).scaleb(-2) for one in NUMBERS}
        values[SHARE] = random.randrange(100)
        values[KIND] = random.choice(_KINDS)
        values[DONE] = random.random() < 0.5
        drawn = {WIDE: Decimal(others.randrange(2**48)), QUOTIENT: _quotient(others)}
        yield values | {one: drawn[one] for one in long}


def _quotient(random: Random) -> Decimal:
    return _DIGITS.divide(Decimal(random.randrange(2**24)), Decimal(random.randrange(3, 1_000)))
