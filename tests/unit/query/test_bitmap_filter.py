"""Filters over sets of issue numbers: they agree with `filter.matches`, and report what they do not know."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from devtools.local.built_chains import built_chain
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.oracle import world
from gridview.chains.directory import Directory
from gridview.derive import sort_entries
from gridview.encoding import option_ranks
from gridview.encoding.sort_strings import SPEC_VERSION
from gridview.encoding.values import parse_datetime
from gridview.query.bitmap_filter import Judged, Selection
from gridview.query.predicates import Filter, parse_filter
from gridview.schema import documents, options
from gridview.schema.catalog import Catalog
from gridview.schema.fields import Field, FieldType, Option
from gridview.schema.generations import Index, Indexes, IndexState
from gridview.support.errors import InvalidRequest
from gridview.view.block_cache import BlockCache
from gridview.view.block_reader import BlockReader
from tests.support import chains
from tests.support.depth import one_of

OLD_SPEC = 0
MOVED_AT = 5


@dataclass
class Loaded:
    """A project in a table, with its present catalog."""

    catalog: Catalog
    documents: list[dict[str, Any]]
    table: MemoryTable

    def reader(self) -> BlockReader:
        return BlockReader(self.table.metered(), self.catalog, BlockCache(), 0.0)

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
        for at, (value, rank) in enumerate(
            zip(values, option_ranks.reorder([None] * len(values)), strict=True), 1
        )
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
        # Later moves use places that earlier ones have left.
        first, second = random.sample(range(len(found)), 2) if len(found) > 1 else (0, 0)
        one, two = found[first], found[second]
        found[first], found[second] = (
            one.moved_to(two.rank, MOVED_AT + 1),
            two.moved_to(one.rank, MOVED_AT + 1),
        )
    return replace(field, options=tuple(found))


def load(seed: int, *, moving: bool, size: int = 150) -> tuple[Loaded, Random, world.Project]:
    """A random project in blocks; with `moving` some issues have their places from before options were moved."""
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
        stamps = project.stamps[num]
        created, updated = map(parse_datetime, (stamps.created, stamps.updated))
        one = documents.new_document(former, num, changes, user=stamps.created_by, now=created)
        made.append({**one, "updated": updated, "updated_by": stamps.updated_by})
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
        chains.put_chain(table, catalog, built_chain(family, sorted(found)))
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
    """Define an older specification under which hardly any value has its present order."""
    present = sort_entries.SPECS[SPEC_VERSION]
    other = {
        kind: (lambda field, value, body=body: body(field, value)[::-1]) for kind, body in present.items()
    }
    monkeypatch.setitem(sort_entries.SPECS, OLD_SPEC, other)


def judge(loaded: Loaded, only: Filter | None) -> tuple[Judged, dict[str, Directory], BlockReader, Selection]:
    selection = Selection(only, loaded.catalog)
    reader = loaded.reader()
    directories = reader.directories(selection.families())
    reader.read(selection.wants(directories))
    return selection.evaluate(directories, reader), directories, reader, selection


def check(loaded: Loaded, only: Filter) -> Judged:
    """Check that the sets agree with the filter's result for each document."""
    judged, directories, reader, selection = judge(loaded, only)
    assert reader._table.meter.rounds <= 2
    truth = loaded.matching(only)
    assert set(judged.sure) <= truth <= set(judged.maybe), only
    doubts = [leaf for leaf in selection._leaves if leaf.doubt]
    if not doubts:
        assert judged.sure == judged.maybe
    assert bool(selection.undecidable()) == bool(doubts)
    assert selection.estimate(directories) >= 0
    return judged


@pytest.mark.parametrize("moving", [False, True], ids=["at rest", "moving"])
@pytest.mark.parametrize("seed", range(one_of(3, thorough=12)))
def test_sets_agree_with_what_a_filter_says_of_each_document(seed: int, moving: bool) -> None:
    loaded, random, project = load(seed, moving=moving)
    for given in filters(random, project, 60):
        try:
            only = loaded.parse(given)
        except InvalidRequest:
            assert moving  # an option that was retired
            continue
        check(loaded, only)


# One project, question by question

COUNT = 400


def given_field(name: str, kind: FieldType, at: int, indexes: Indexes, values: tuple[str, ...] = ()) -> Field:
    return Field(name, f"a{at}", name, kind, options_of(list(values)), indexes=indexes)


@pytest.fixture(scope="module")
def project() -> Iterator[Loaded]:
    """400 issues: states in turn, every tenth without a level, titles of a few words."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        chains.small_blocks(monkeypatch)
        fields = (
            given_field("level", FieldType.ENUM, 1, index(), ("low", "middle", "high", "never")),
            given_field("amount", FieldType.NUMBER, 2, index()),
            given_field("title", FieldType.TEXT, 3, index(words=True)),
            given_field("note", FieldType.TEXT, 4, index()),
            given_field("secret", FieldType.TEXT, 5, Indexes()),
            given_field("labels", FieldType.MULTI_ENUM, 6, index(), ("a", "b", "c")),
            given_field("later", FieldType.DATE, 7, index(state=IndexState.BUILDING)),
        )
        catalog = Catalog("0807", "35e9", 1, options_of(["open", "closed"]), fields, 8)
        made = []
        for num in range(1, COUNT + 1):
            values: dict[str, Any] = {
                "amount": num * 7 % 400,
                "title": f"{('rust', 'paint')[num % 2]} on girder {num % 9}",
                "note": f"note {num}",
                "secret": f"secret {num % 3}",
                "labels": [("a", "b", "c")[at] for at in range(3) if num >> at & 1] or None,
                "later": "2023-05-01",
            }
            if num % 10:
                values["level"] = ("low", "low", "low", "middle", "high")[num % 5]
            body = {"name": f"Issue {num}", "state": ("open", "closed")[num % 4 == 0], "fields": values}
            changes = documents.parse_create(catalog, body)
            made.append(
                documents.new_document(catalog, num, changes, user="ann", now="2023-05-01T12:00:00.000000Z")
            )
        table = MemoryTable()
        chains.put_entries(table, catalog, made)
        for family, found in chains.keys_by_family(catalog, made).items():
            chains.put_chain(table, catalog, built_chain(family, found))
        yield Loaded(catalog, made, table)


def condition(name: str, op: str, value: Any = None) -> dict[str, Any]:
    return {"field": name, "op": op} | ({} if value is None else {"value": value})


@pytest.mark.parametrize(
    ("given", "families_"),
    [
        (None, ["num"]),
        (condition("level", "eq", "low"), ["a1.1"]),
        (condition("level", "ne", "low"), ["a1.1", "num"]),
        ({"not": condition("level", "ne", "low")}, ["a1.1"]),
        (condition("secret", "eq", "x"), ["num"]),
        (condition("title", "has_words", "x"), ["a3.1.has"]),
        (condition("title", "contains", "a b c"), ["a3.1", "a3.1.has"]),
        (condition("note", "has_words", "x"), ["a4.1"]),
        (condition("labels", "has_all", ["a"]), ["a6.1.has"]),
        (condition("num", "eq", 3), ["num"]),
    ],
    ids=str,
)
def test_only_the_directories_that_are_needed_are_read(
    project: Loaded, given: Any, families_: list[str]
) -> None:
    only = None if given is None else project.parse(given)
    assert sorted(Selection(only, project.catalog).families()) == families_


def test_all_parts_of_a_filter_take_two_rounds(project: Loaded) -> None:
    given = {
        "and": [
            {"or": [condition("level", "eq", "low"), {"not": condition("amount", "lt", 30)}]},
            condition("labels", "has_none", ["c"]),
            condition("amount", "in", [7, 14, 21, 80, 399]),
            condition("note", "lte", "note 300"),
        ]
    }
    only = project.parse(given)
    judged, _, reader, _ = judge(project, only)
    assert set(judged.sure) == set(judged.maybe) == project.matching(only)
    assert not judged.undecided
    assert reader._table.meter.rounds == 2


def test_the_borders_of_a_range_are_settled_by_its_sort_entries(project: Loaded) -> None:
    _, directories, reader, selection = judge(
        project, project.parse(condition("amount", "between", [33, 340]))
    )
    wants = selection.wants(directories)
    borders = [want for want in wants if want.keys is not None]
    assert len(borders) == 2
    assert not any(want.members for want in borders)
    assert 3 <= len(wants) < len(directories["a2.1"].entries)
    assert (reader.reads.blocks, reader.reads.ranges) == (len(wants) - 2, 2)


def test_a_filter_with_not_matches_at_most_all_issues(project: Loaded) -> None:
    """An issue with two labels counts twice in the blocks of the labels."""
    labeled = condition("labels", "has_any", ["a", "b", "c"])
    _, directories, _, selection = judge(project, project.parse(labeled))
    assert selection.most(directories) > COUNT
    both = {"not": {"or": [{"not": labeled}, {"not": labeled}]}}
    _, directories, _, selection = judge(project, project.parse(both))
    assert selection.most(directories) == COUNT


def test_issues_that_sets_do_not_decide_are_between_sure_and_maybe(project: Loaded) -> None:
    only = project.parse(
        {"and": [condition("level", "eq", "high"), condition("title", "contains", "ust on girder 3")]}
    )
    judged, *_ = judge(project, only)
    assert not judged.sure
    on_girders = {document["num"] for document in project.documents if document["fields"].get("a1") == "o3"}
    assert project.matching(only) < set(judged.undecided) == on_girders
    either = project.parse({"or": [condition("level", "eq", "high"), condition("secret", "eq", "secret 1")]})
    judged, *_ = judge(project, either)
    assert set(judged.sure) == on_girders
    assert len(judged.maybe) == COUNT
    neither, *_ = judge(project, project.parse({"not": {"not": {"not": either_json()}}}))
    assert not neither.sure
    assert set(neither.maybe) == set(range(1, COUNT + 1)) - on_girders


def either_json() -> Any:
    return {"or": [condition("level", "eq", "high"), condition("secret", "eq", "secret 1")]}


CALL = "PATCH /v1/projects/35e9/attributes/"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (condition("secret", "eq", "x"), [CALL + 'secret {"indexed": true}']),
        (condition("secret", "contains", "x"), [CALL + 'secret {"indexed": true}']),
        (condition("note", "has_words", "x"), [CALL + 'note {"search": true}']),
        (condition("note", "contains", "x"), [CALL + 'note {"search": true}']),
        (condition("title", "contains", "x"), ["has_words"]),
        (condition("title", "eq", "x" * 240), ["shorter"]),
        (condition("later", "is_empty"), ["not complete yet"]),
        (condition("title", "has_words", "x"), []),
        ({"or": [condition("secret", "eq", "x")] * 2}, [CALL + 'secret {"indexed": true}']),
        (
            {"and": [condition("secret", "eq", "x"), {"not": condition("note", "contains", "x")}]},
            [CALL + "secret", CALL + "note"],
        ),
    ],
    ids=str,
)
def test_undecidable_conditions_are_listed_with_a_remedy(
    project: Loaded, given: Any, expected: list[str]
) -> None:
    found = Selection(project.parse(given), project.catalog).undecidable()
    assert len(found) == len(expected)
    assert all(part in one for one, part in zip(found, expected, strict=True))


def test_an_estimate_is_near_where_blocks_are_whole(project: Loaded) -> None:
    for given, least, most in (
        (condition("state", "eq", "open"), 300, 300),
        (condition("amount", "lt", 200), 150, 250),
        (condition("amount", "eq", 200), 1, 10),
        ({"and": [condition("state", "eq", "closed"), condition("amount", "eq", 200)]}, 1, 10),
        ({"or": [condition("state", "eq", "closed"), condition("amount", "eq", 200)]}, 100, 110),
        (condition("state", "ne", "open"), 100, 100),
        (condition("secret", "eq", "x"), 400, 400),
    ):
        selection = Selection(project.parse(given), project.catalog)
        assert least <= selection.estimate(project.reader().directories(selection.families())) <= most


def test_a_project_without_issues_has_none_that_match(project: Loaded) -> None:
    empty = Loaded(project.catalog, [], MemoryTable())
    for given in (
        condition("level", "ne", "low"),
        condition("secret", "contains", "x"),
        condition("num", "gt", 0),
    ):
        judged, *_ = judge(empty, empty.parse(given))
        assert (len(judged.sure), len(judged.maybe)) == (0, 0)
    judged, *_ = judge(empty, None)
    assert not judged.maybe
