"""The baseline's project: attributes of every type, with and without an index, and as many issues as wanted; always the same."""

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any, Final

from devtools.local import bulk
from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands.actor import Actor, Role
from gridview.commands.attributes import create_attribute, update_attribute
from gridview.commands.composite_indexes import create_composite
from gridview.commands.projects import create_project
from gridview.derive.images import Poison
from gridview.maintenance.job_worker import Worker
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Document
from gridview.schema.store import Catalogs

Json = dict[str, Any]

TENANT: Final = "acme"
PROJECT: Final = "baseline"
KINDS: Final = ("Bug", "Task", "Story", "Epic", "Question", "Incident")
STAGES: Final = ("plan", "build", "check", "done")
LABELS: Final = ("ios", "android", "api", "docs", "build", "ui", "perf", "security")

_SEED: Final = 8_505
_FIRST_DAY: Final = date(2015, 1, 1)
_FIRST_MOMENT: Final = datetime(2015, 1, 1, tzinfo=UTC)
_WORDS: Final = (
    "beam", "bolt", "cable", "deck", "drain", "gauge", "girder", "hinge", "joint", "ladder", "lamp", "mast", "paint", "pier",
    "plate", "rail", "rivet", "rope", "sensor", "signal", "span", "strut", "tower", "truss", "valve", "walkway", "weld", "wire",
)  # fmt: skip
_SPELLINGS: Final = ("Träger", "trager", "TRÄGER", "Straße", "STRASSE", "naïve", "Rust", "rust")
_ALIKE: Final = "the same beginning " * 14


def _day(random: Random) -> str:
    return (_FIRST_DAY + timedelta(days=random.randrange(3_650))).isoformat()


def _words(count: int) -> Callable[[Random], str]:
    return lambda random: " ".join(random.choice(_WORDS) for _ in range(count))


def _summary(random: Random) -> str:
    """Texts that are spelled differently, and some that only differ after the part that an index compares."""
    if random.random() < 0.02:
        return f"{_ALIKE}{random.randrange(4)}"
    spelled = random.choice(_SPELLINGS)
    return spelled if random.random() < 0.3 else f"{spelled} {random.choice(_WORDS)}"


@dataclass(frozen=True)
class _Attribute:
    id: str
    type: str
    share: float
    """The share of issues that have a value."""
    draw: Callable[[Random], Any]
    indexed: bool = True
    options: tuple[str, ...] = ()
    search: bool = False

    @property
    def definition(self) -> Json:
        body: Json = {"id": self.id, "name": self.id, "type": self.type, "indexed": self.indexed}
        return (
            body
            | ({"options": list(self.options)} if self.options else {})
            | ({"search": True} if self.search else {})
        )


_ATTRIBUTES: Final = (
    _Attribute("day", "date", 1.0, _day),
    _Attribute("reviewed", "date", 0.33, _day),
    _Attribute("rare", "number", 0.02, lambda random: random.randrange(50)),
    _Attribute("amount", "number", 0.97, lambda random: random.randrange(1_000_000)),
    _Attribute("kind", "enum", 0.9, lambda random: random.choices(KINDS, (40, 30, 15, 10, 4, 1))[0], options=KINDS),
    _Attribute("stage", "enum", 0.8, lambda random: random.choice(STAGES), options=STAGES),
    _Attribute("labels", "multi_enum", 0.5, lambda random: random.sample(LABELS, random.randint(1, 3)), options=LABELS),
    _Attribute("assignee", "user", 0.7, lambda random: f"user-{random.randrange(400)}"),
    _Attribute("seen", "datetime", 0.6, lambda random: f"{_day(random)}T{random.randrange(24):02d}:30:00Z"),
    _Attribute("flag", "bool", 0.5, lambda random: random.random() < 0.2),
    _Attribute("reference", "text", 1.0, _words(3)),
    _Attribute("summary", "text", 0.8, _summary, search=True),
    _Attribute("note", "text", 0.5, _words(4), indexed=False),
    _Attribute("spent", "number", 0.4, lambda random: random.randrange(1, 400), indexed=False),
    _Attribute("severity", "enum", 0.6, lambda random: random.choice(KINDS), indexed=False, options=KINDS),
    _Attribute("later", "number", 0.5, lambda random: random.randrange(100), indexed=False),
)  # fmt: skip

COMPOSITE: Final = [{"field": "kind", "direction": "asc"}, {"field": "day", "direction": "desc"}]
BUILDING: Final = [{"field": "assignee", "direction": "asc"}, {"field": "amount", "direction": "asc"}]


@dataclass(frozen=True)
class World:
    """The project in a table in memory."""

    table: MemoryTable
    size: int
    with_all: int
    """An issue about the middle with a value of everything that positions are asked for by."""
    with_none: int
    """One that has none."""


def make(size: int) -> World:
    """The project with so many issues, indexed as the stream consumer would.

    The order of the options of `stage` was changed since, and the index of `later` switched on: nobody has worked on either.
    """
    table, actor = MemoryTable(), Actor(TENANT, "baseline", Role.ADMIN)
    create_project(table, actor, {"id": PROJECT, "name": PROJECT})
    for attribute in _ATTRIBUTES:
        create_attribute(table, Catalogs(), actor, PROJECT, attribute.definition)
    create_composite(table, Catalogs(), actor, PROJECT, {"sort": COMPOSITE}, settling=0)
    Worker(table, Catalogs(), lambda: 60.0, _poison, settling=0).work()
    catalog = Catalogs().get(table, TENANT, PROJECT)
    bulk.take_numbers(table, catalog, size)
    gc.disable()  # millions of objects that all stay
    try:
        bulk.load(table, catalog, _documents(catalog, size), bulk.in_batches)
    finally:
        gc.enable()
    _leave_undone(table, actor)
    asked_for = {"reviewed", "rare", "kind", "labels", "assignee", "summary"}
    held = [asked_for & body["fields"].keys() for body in _bodies(size)]
    return World(
        table,
        size,
        with_all=held.index(asked_for - {"rare"}, size // 2) + 1,
        with_none=held.index(set(), size // 2) + 1,
    )


def _leave_undone(table: MemoryTable, actor: Actor) -> None:
    catalog = Catalogs().get(table, TENANT, PROJECT)
    stage = catalog.get("stage")
    assert stage is not None  # noqa: S101  (it was just made)
    reordered = [{"id": one.id, "value": one.value} for one in reversed(stage.options)]
    changes: tuple[tuple[str, Json], ...] = (
        ("stage", {"options": reordered}),
        ("later", {"indexed": True}),
    )
    for attribute, body in changes:
        update_attribute(table, Catalogs(), actor, PROJECT, attribute, body, None, settling=0)
    create_composite(table, Catalogs(), actor, PROJECT, {"sort": BUILDING}, settling=0)


def _documents(catalog: Catalog, size: int) -> Iterator[Document]:
    for num, body in enumerate(_bodies(size), 1):
        moment = _FIRST_MOMENT + num * timedelta(minutes=5)
        changes = documents.parse_create(catalog, body)
        now = moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
        yield documents.new_document(catalog, num, changes, user="baseline", now=now)


def _bodies(size: int) -> Iterator[Json]:
    """Requests for so many new issues; the same ones each time."""
    random = Random(_SEED)  # noqa: S311  (the point is that it is no secret)
    for _ in range(size):
        state = "open" if random.random() < 0.4 else "closed"
        fields = {one.id: one.draw(random) for one in _ATTRIBUTES if random.random() < one.share}
        yield {"name": _words(5)(random), "state": state, "fields": fields}


def _poison(poison: Poison) -> None:
    raise AssertionError(f"an empty project has an issue: {poison}")
