"""Moves: the place of an issue according to its document, and the places where the index may show it according to its
ledger.
"""

from dataclasses import replace

import pytest

from gridview.derive.families import NUMBERS, derived_strings
from gridview.derive.issue_changes import FamilyChange, IssueChange
from gridview.derive.ledger import EVERY_FAMILY, SHOWN_SECONDS, ImageVersion, Intent, Ledger, plan
from gridview.dynamodb.expressions import Item
from gridview.journal.items import JournalItem
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs
from gridview.view.moves import FamilyMove, JournalStep, Move, logged_moves, move_of
from tests.unit.query.test_grid import PROJECT, TENANT, Grid

NOW = 1_000_000
"""Any moment."""


@pytest.fixture(scope="module")
def grid() -> Grid:
    return Grid()


@pytest.fixture
def catalog(grid: Grid) -> Catalog:
    return Catalogs().get(grid.table, TENANT, PROJECT)


@pytest.fixture
def day(catalog: Catalog) -> str:
    """The family of the days."""
    (field,) = [one for one in catalog.attributes if one.id == "day"]
    assert field.served is not None
    return field.served.order_id


def finished(catalog: Catalog, document: Item, **changed: object) -> Ledger:
    """The ledger of an issue that was derived long ago."""
    applied = derived_strings(catalog, document)
    return replace(Ledger(document["version"], False, catalog.epoch, 3, applied), **changed)  # type: ignore[arg-type]


def test_an_issue_in_its_place_is_no_move(grid: Grid, catalog: Catalog) -> None:
    one = grid.document(7, day="2026-01-01")
    assert move_of(catalog, 7, one, finished(catalog, one), NOW) == Move(7, {}, one)


def test_an_edit_moves_in_the_families_that_it_changes(grid: Grid, catalog: Catalog, day: str) -> None:
    old, new = grid.document(7, day="2026-01-01"), grid.document(7, version=2, day="2026-01-02")
    move = move_of(catalog, 7, new, finished(catalog, old), NOW)
    assert move is not None
    target = derived_strings(catalog, new)[day]
    assert move.families == {day: FamilyMove((derived_strings(catalog, old)[day],), target)}


def test_a_new_issue_may_be_shown_nowhere_and_belongs_everywhere(grid: Grid, catalog: Catalog) -> None:
    one = grid.document(7, day="2026-01-01")
    move = move_of(catalog, 7, one, Ledger(), NOW)
    assert move is not None
    assert move.families == {
        family: FamilyMove((), string) for family, string in derived_strings(catalog, one).items()
    }


def test_a_deleted_issue_belongs_nowhere(grid: Grid, catalog: Catalog) -> None:
    one = grid.document(7, day="2026-01-01")
    move = move_of(catalog, 7, None, finished(catalog, one), NOW)
    assert move is not None
    assert move.document is None
    assert move.families[NUMBERS] == FamilyMove((derived_strings(catalog, one)[NUMBERS],), None)
    assert {one.takes for one in move.families.values()} == {None}


def test_a_string_left_a_moment_ago_may_still_be_shown(grid: Grid, catalog: Catalog, day: str) -> None:
    old, new = grid.document(7, day="2026-01-01"), grid.document(7, version=2, day="2026-01-02")
    before, target = derived_strings(catalog, old)[day], derived_strings(catalog, new)
    planned = plan(finished(catalog, old), ImageVersion(2, False), target, catalog.epoch, now=NOW)
    assert planned is not None
    soon = move_of(catalog, 7, new, planned.done, NOW + SHOWN_SECONDS)
    assert soon == Move(7, {day: FamilyMove((before, target[day]), target[day])}, new)
    late = move_of(catalog, 7, new, planned.done, NOW + SHOWN_SECONDS + 1)
    assert late == Move(7, {}, new)


def test_a_first_value_given_a_moment_ago_may_not_be_shown_yet(
    grid: Grid, catalog: Catalog, day: str
) -> None:
    """The ledger is finished, and GSI1 may still list a block that does not count the issue."""
    one = grid.document(7, day="2026-01-01")
    target = derived_strings(catalog, one)[day]
    move = move_of(catalog, 7, one, finished(catalog, one, left={day: ()}, at=NOW), NOW)
    assert move == Move(7, {day: FamilyMove((target,), target)}, one)


def test_a_string_that_an_intent_puts_first_may_be_shown_nowhere(
    grid: Grid, catalog: Catalog, day: str
) -> None:
    one = grid.document(7, day="2026-01-01")
    known = finished(catalog, one)
    target = known.applied[day]
    begun = replace(
        known,
        applied={family: sort for family, sort in known.applied.items() if family != day},
        intent={day: Intent(target)},
    )
    assert move_of(catalog, 7, one, begun, NOW) == Move(
        7, {day: FamilyMove((target,), target)}, one, pending=True
    )


def test_no_family_of_an_issue_made_a_moment_ago_is_sure(grid: Grid, catalog: Catalog) -> None:
    one = grid.document(7, day="2026-01-01")
    known = finished(catalog, one, left={EVERY_FAMILY: ()}, at=NOW)
    move = move_of(catalog, 7, one, known, NOW)
    assert move is not None
    assert move.families.keys() == derived_strings(catalog, one).keys()


def test_everything_that_an_unfinished_intent_names_may_be_shown(
    grid: Grid, catalog: Catalog, day: str
) -> None:
    one = grid.document(7, day="2026-01-01")
    target = derived_strings(catalog, one)[day]
    torn = {day: Intent("2026-01-03\x0100000007", ("2026-01-02\x0100000007",))}
    move = move_of(catalog, 7, one, finished(catalog, one, intent=torn), NOW)
    leaves = (target, "2026-01-02\x0100000007", "2026-01-03\x0100000007")
    assert move == Move(7, {day: FamilyMove(leaves, target)}, one, pending=True)


def test_an_issue_from_which_nothing_can_be_derived_does_not_move(grid: Grid, catalog: Catalog) -> None:
    good = grid.document(7, day="2026-01-01")
    assert move_of(catalog, 7, {**good, "created": 42}, finished(catalog, good), NOW) is None
    assert move_of(catalog, 7, {**good, "version": "x"}, finished(catalog, good), NOW) is None


def logged(number: int, family: str, left: str | None, to: str | None) -> JournalItem:
    change = FamilyChange(() if left is None else (left,), to)
    return JournalItem(number, 0.0, (IssueChange(7, number, False, number, {family: change}),))


def test_the_journal_contains_where_an_issue_was_and_where_it_went_last() -> None:
    one, two, three = (f"{body}\x0100000007" for body in "abc")
    items = [logged(1, "a1.1", one, two), logged(2, "a2.1", None, one), logged(3, "a1.1", two, three)]
    steps = JournalStep(1, one, two), JournalStep(3, two, three)
    assert logged_moves(items) == {
        7: {
            "a1.1": FamilyMove((one, two), three, steps),
            "a2.1": FamilyMove((), one, (JournalStep(2, None, one),)),
        },
    }
    assert logged_moves([logged(1, "a1.1", "edited by hand", None)]) == {7: {"a1.1": FamilyMove((), None)}}


def test_steps_give_the_string_of_an_issue_in_a_block_of_a_position() -> None:
    move = FamilyMove(("a", "b"), "c", (JournalStep(3, "a", "b"), JournalStep(8, "b", "c")))
    assert [move.had_at(position) for position in (0, 2, 3, 7, 8, 99)] == ["a", "a", "b", "b", "c", "c"]


@pytest.mark.parametrize(
    "changes",
    [
        [FamilyChange(("a\x0100000007", "b\x0100000007"), "c\x0100000007")],
        [FamilyChange(("a\x0100000007",), "c\x0100000007", thorough=True)],
        [FamilyChange(("edited by hand",), "c\x0100000007")],
        [
            FamilyChange(("a\x0100000007",), "b\x0100000007", thorough=True),
            FamilyChange(("b\x0100000007",), "c\x0100000007"),
        ],
        [
            FamilyChange(("a\x0100000007",), "b\x0100000007"),
            FamilyChange(("x\x0100000007",), "c\x0100000007"),
        ],
    ],
    ids=["of several", "thorough", "no key", "not sure before", "not what it had"],
)
def test_there_are_no_steps_if_the_former_string_is_unknown(changes: list[FamilyChange]) -> None:
    items = [
        JournalItem(number, 0.0, (IssueChange(7, number, False, number, {"a1.1": change}),))
        for number, change in enumerate(changes, 1)
    ]
    move = logged_moves(items)[7]["a1.1"]
    assert (move.steps, move.takes) == ((), "c\x0100000007")


def test_the_index_may_show_an_issue_also_at_places_of_the_journal(
    grid: Grid, catalog: Catalog, day: str
) -> None:
    """Blocks lag the ledger by several changes."""
    new = grid.document(7, version=3, day="2026-01-03")
    target = derived_strings(catalog, new)[day]
    had, then = (
        derived_strings(catalog, grid.document(7, day=one))[day] for one in ("2026-01-01", "2026-01-02")
    )
    move = move_of(catalog, 7, new, finished(catalog, new), NOW, {day: FamilyMove((had,), then)})
    assert move is not None
    assert move.families == {day: FamilyMove((had, then, target), target)}
