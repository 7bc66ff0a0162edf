"""The projects of the benchmark: 20 attributes of every type, 4 of them indexed, and as many issues as wanted."""

from collections.abc import Callable, Collection, Iterator
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any, Final

from devtools.local import bulk
from gridview.commands.actor import Actor
from gridview.commands.attributes import create_attribute
from gridview.commands.projects import create_project
from gridview.dynamodb.table import Table
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Document
from gridview.schema.items import to_catalog
from gridview.schema.store import Catalogs, read

DATE: Final = "due"
TEXT: Final = "reference"
NUMBER: Final = "amount"
SPARSE: Final = "reviewed"
"""Indexed, a little later than the date, and without a value in two of three issues: the null tail."""
BOARD: Final = "kind"
"""Six options, and one issue in ten without a value: the columns of a board."""
INDEXED: Final = (DATE, TEXT, NUMBER, SPARSE)
NUMBERS: Final = (NUMBER, "estimate", "spent", "score")
"""All number fields: the first has a value in every issue, the others in some."""

FIRST_DAY: Final = date(2015, 1, 1)
DAYS: Final = 3_650
AMOUNTS: Final = (-50_000, 5_000_000)

_SEED: Final = 2023
_FIRST_MOMENT: Final = datetime(2015, 1, 1, tzinfo=UTC)
_APART: Final = timedelta(minutes=5)
_REVIEW_DAYS: Final = 90
_USER: Final = "gridview.bench"
_KINDS: Final = ("Bug", "Task", "Story", "Epic", "Question", "Incident")
_LABELS: Final = ("ios", "android", "api", "docs", "build", "ui", "perf", "security")
_WORDS: Final = (
    "beam", "bolt", "cable", "deck", "drain", "gauge", "girder", "hinge", "joint", "ladder", "lamp", "mast", "paint", "pier",
    "plate", "rail", "rivet", "rope", "sensor", "signal", "span", "strut", "tower", "truss", "valve", "walkway", "weld", "wire",
)  # fmt: skip

Draw = Callable[[Random, date], Any]
"""A value of an issue that is due on a day."""


def _day(random: Random, _: date) -> str:
    return (FIRST_DAY + timedelta(days=random.randrange(DAYS))).isoformat()


def _words(count: int) -> Draw:
    return lambda random, _: " ".join(random.choice(_WORDS) for _ in range(count))


_ATTRIBUTES: Final[tuple[tuple[str, str, float, Draw], ...]] = (
    # id, type, share of issues with a value, how it is drawn
    (DATE, "date", 1.0, lambda _, due: due.isoformat()),
    (TEXT, "text", 1.0, _words(3)),
    (NUMBER, "number", 1.0, lambda random, _: random.randrange(*AMOUNTS)),
    (
        SPARSE,
        "date",
        0.33,
        lambda random, due: (due + timedelta(days=random.randrange(_REVIEW_DAYS))).isoformat(),
    ),
    (BOARD, "enum", 0.9, lambda random, _: random.choice(_KINDS)),
    ("labels", "multi_enum", 0.5, lambda random, _: random.sample(_LABELS, random.randint(1, 3))),
    ("assignee", "user", 0.7, lambda random, _: f"user-{random.randrange(400)}"),
    ("reporter", "user", 1.0, lambda random, _: f"user-{random.randrange(4_000)}"),
    ("blocked", "bool", 0.3, lambda random, _: random.random() < 0.5),
    ("public", "bool", 0.8, lambda random, _: random.random() < 0.1),
    (
        "seen_at",
        "datetime",
        0.6,
        lambda random, due: f"{_day(random, due)}T{random.randrange(24):02d}:00:00Z",
    ),
    (
        "closed_at",
        "datetime",
        0.4,
        lambda random, due: f"{_day(random, due)}T00:{random.randrange(60):02d}:00Z",
    ),
    ("estimate", "number", 0.5, lambda random, _: random.choice((1, 2, 3, 5, 8, 13))),
    ("spent", "number", 0.4, lambda random, _: random.randrange(1, 400)),
    ("score", "number", 0.2, lambda random, _: random.randrange(100)),
    ("component", "text", 0.8, _words(1)),
    ("environment", "text", 0.3, _words(5)),
    ("cause", "text", 0.2, _words(4)),
    ("started", "date", 0.5, _day),
    ("severity", "enum", 0.6, lambda random, _: random.choice(_KINDS[:4])),
)


def make_project(table: Table, actor: Actor, project: str, indexed: Collection[str] = INDEXED) -> Catalog:
    """Create the project with its attributes; some of them are indexed."""
    catalogs = Catalogs()
    create_project(table, actor, {"id": project, "name": f"Benchmark {project}"})
    for attribute, kind, _, _ in _ATTRIBUTES:
        body = {"id": attribute, "name": attribute, "type": kind, "indexed": attribute in indexed}
        if kind in ("enum", "multi_enum"):
            body["options"] = list(_LABELS if kind == "multi_enum" else _KINDS)
        create_attribute(table, catalogs, actor, project, body)
    return to_catalog(actor.tenant, project, read(table, actor.tenant, project))


def load(table: Table, actor: Actor, project: str, size: int) -> Catalog:
    """Create the project with so many issues and everything derived from them."""
    catalog = make_project(table, actor, project)
    bulk.take_numbers(table, catalog, size)
    bulk.load(table, catalog, generate(catalog, size), bulk.in_batches)
    return catalog


def bodies(count: int, seed: int = _SEED) -> Iterator[dict[str, Any]]:
    """Requests for so many new issues; the same ones each time."""
    random = Random(seed)  # noqa: S311  (the point is that it is no secret)
    for _ in range(count):
        words, state = random.choices(_WORDS, k=5), "open" if random.random() < 0.4 else "closed"
        due = FIRST_DAY + timedelta(days=random.randrange(DAYS))
        fields = {name: draw(random, due) for name, _, share, draw in _ATTRIBUTES if random.random() < share}
        yield {"name": " ".join(words), "state": state, "fields": fields}


def moment(num: int) -> str:
    """When an issue was created: one after the other."""
    return (_FIRST_MOMENT + num * _APART).isoformat(timespec="microseconds").replace("+00:00", "Z")


def generate(catalog: Catalog, count: int) -> Iterator[Document]:
    """Documents 1 to `count`, through the validation that requests go through."""
    for num, body in enumerate(bodies(count), 1):
        changes = documents.parse_create(catalog, body)
        yield documents.new_document(catalog, num, changes, user=_USER, now=moment(num))
