"""Filters over sets of issue numbers: they agree with `filter.matches`, and say what they do not know."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from devtools.faults.memory_table import MemoryTable
from devtools.oracle import world
from gridview import documents, indexing, options, ranks
from gridview.blocks import build
from gridview.catalog import Catalog, Field, FieldType, Option
from gridview.directory import Directory
from gridview.filters import Filter, parse_filter
from gridview.indexes import Index, Indexes, IndexState
from gridview.selection import Judged, Selection
from gridview.setreading import BlockCache, BlockReader
from gridview.sortstrings import SPEC_VERSION
from gridview.values import parse_datetime
from tests import chains

OLD_SPEC = 0
MOVED_AT = 5


@dataclass
class Loaded:
    """A project in a table, as its catalog has it now."""

    catalog: Catalog
    documents: list[dict[str, Any]]
    table: MemoryTable

    def reader(self) -> BlockReader:
        return BlockReader(self.table.metered(), self.catalog, BlockCache(0))

    def parse(self, given: Any) -> Filter:
        return parse_filter(self.catalog, given)

    def matching(self, only: Filter) -> set[int]:
        return {document["num"] for document in self.documents if only.matches(document)}


def index(*, words: bool = False, spec: int = SPEC_VERSION, state: IndexState = IndexState.READY) -> Indexes:
    return Indexes((Index(1, state, 0, spec, words),), 2)


INDEXES = (
    *(index(), index(), index(), index(words=True), index(words=True)),
    *(Indexes(), index(state=IndexState.BUILDING), index(spec=OLD_SPEC, words=True)),
)


def options_of(values: list[str]) -> tuple[Option, ...]:
    return tuple(
        Option(f"o{at}", value, rank)
        for at, (value, rank) in enumerate(zip(values, ranks.initial(len(values)), strict=True), 1)
    )


def moved(random: Random, field: Field) -> Field:
    """Its options in another order, some retired, and some at places where others have been."""
    wanted = [one.value for one in field.live_options]
    random.shuffle(wanted)
    change = options.change(
        "options",
        field.options,
        50,
        [options.OptionInput(value=value) for value in wanted[: random.randint(1, len(wanted))]],
        moved_at=MOVED_AT,
    )
    found = list(change.options)
    if random.random() < 0.5:
        # Later moves take places that earlier ones have left.
        first, second = random.sample(range(len(found)), 2) if len(found) > 1 else (0, 0)
        one, two = found[first], found[second]
        found[first], found[second] = (
            one.moved_to(two.rank, MOVED_AT + 1),
            two.moved_to(one.rank, MOVED_AT + 1),
        )
    return replace(field, options=tuple(found))


def load(seed: int, *, moving: bool, size: int = 150) -> tuple[Loaded, Random, world.Project]:
    """A random project in blocks; with `moving` some issues stand where they did before options were moved."""
    random = Random(seed)  # noqa: S311  (the same every time)
    project = world.make(random, sizes=(size,))
    fields = []
    for at, one in enumerate(project.attributes, 1):
        kind = FieldType(one["type"])
        chosen = options_of(one.get("options", []))
        fields.append(Field(one["id"], f"a{at}", one["name"], kind, chosen, indexes=random.choice(INDEXES)))
    former = Catalog("0807", "35e9", 4, options_of(project.states), tuple(fields), len(fields) + 1)
    made = []
    for num, issue in project.issues.items():
        changes = documents.parse_create(former, issue)
        created, updated = map(parse_datetime, project.times[num])
        one = documents.new_document(former, num, changes, user="ann", now=created)
        made.append({**one, "updated": updated})
    catalog = former
    if moving:
        states = replace(former.state, options=former.states)
        catalog = replace(
            former,
            epoch=MOVED_AT + 1,
            states=moved(random, states).options,
            attributes=tuple(moved(random, one) if one.type.has_options else one for one in fields),
        )
        assert any(one.moving for one in (*catalog.attributes, catalog.state))
    table = MemoryTable()
    followed = [random.random() < 0.5 for _ in made] if moving else [True] * len(made)
    keys: dict[str, list[str]] = {}
    for document, has_followed in zip(made, followed, strict=True):
        under = catalog if has_followed else former
        chains.put_entries(table, under, [document])
        for family, found in chains.keys_by_family(under, [document]).items():
            keys.setdefault(family, []).extend(found)
    for family, found in keys.items():
        chains.put_chain(table, catalog, build(family, sorted(found)))
    return Loaded(catalog, made, table), random, project


def filters(random: Random, project: world.Project, count: int) -> Iterator[Any]:
    while count:
        body = world.question(random, project).body
        if "filter" in body:
            count -= 1
            yield body["filter"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    chains.small_blocks(monkeypatch)


@pytest.fixture(autouse=True)
def _an_older_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    """One in which hardly anything has the order that it has now."""
    present = indexing.SPECS[SPEC_VERSION]
    other = {
        kind: (lambda field, value, body=body: body(field, value)[::-1]) for kind, body in present.items()
    }
    monkeypatch.setitem(indexing.SPECS, OLD_SPEC, other)


def judge(loaded: Loaded, only: Filter | None) -> tuple[Judged, dict[str, Directory], BlockReader, Selection]:
    selection = Selection(only, loaded.catalog)
    reader = loaded.reader()
    directories = reader.directories(selection.families())
    reader.read(selection.wants(directories))
    return selection.evaluate(directories, reader), directories, reader, selection


def check(loaded: Loaded, only: Filter) -> Judged:
    """That the sets agree with what the filter says of each document."""
    judged, directories, _, selection = judge(loaded, only)
    truth = loaded.matching(only)
    assert set(judged.sure) <= truth <= set(judged.maybe), only
    doubts = [leaf for leaf in selection._leaves if leaf.doubt]
    if not doubts:
        assert judged.sure == judged.maybe
    assert bool(selection.undecidable()) == bool(doubts)
    counted = selection.count(directories)
    if counted is not None:
        assert counted == len(truth)
    estimate = selection.estimate(directories)
    assert estimate >= 0
    assert (estimate > 0) or not judged.maybe or "not" in str(only) or True
    return judged


@pytest.mark.parametrize("moving", [False, True], ids=["at rest", "moving"])
@pytest.mark.parametrize("seed", range(12))
def test_sets_agree_with_what_a_filter_says_of_each_document(seed: int, moving: bool) -> None:
    loaded, random, project = load(seed, moving=moving)
    for given in filters(random, project, 60):
        try:
            only = loaded.parse(given)
        except documents.InvalidRequest:
            assert moving  # an option that was retired
            continue
        check(loaded, only)
