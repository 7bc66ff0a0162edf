"""`./dev journal list`: the journals that it shows, and the data of each."""

from typing import Any

import pytest

from devtools.cli import parser_of
from devtools.failure import Failure
from devtools.operate import journal, target
from devtools.operate.target import Target
from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands import projects
from gridview.commands.actor import Actor, Role
from gridview.encoding import keys
from gridview.journal.log import Log


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> MemoryTable:
    """Three projects of two tenants, and one that is being removed, which is in no list."""
    made = MemoryTable()
    for tenant, project in (("acme", "one"), ("acme", "two"), ("acme", "gone"), ("zeta", "one")):
        actor = Actor(tenant, "ada", Role.ADMIN)
        projects.create_project(made, actor, {"name": project.title(), "id": project})
    stored = made.get(keys.project("acme", "gone"), keys.tenant("acme"))
    assert stored is not None
    del stored[keys.SORT]
    made.put({**stored, "deleted": True})
    nothing: Any = None
    monkeypatch.setattr(target, "open", lambda _: Target(made, nothing, "", nothing, "Gridview"))
    return made


def run(*arguments: str) -> int:
    return journal.run(parser_of("journal").parse_args(["list", *arguments]))


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (("--tenant", "acme", "--project", "two"), ["acme/two"]),
        (("--tenant", "acme"), ["acme/one", "acme/two"]),
        (("--all",), ["acme/gone", "acme/one", "acme/two", "zeta/one"]),
    ],
)
def test_the_journals_that_are_chosen_are_shown(
    table: MemoryTable, capsys: pytest.CaptureFixture[str], chosen: tuple[str, ...], expected: list[str]
) -> None:
    before = table.items
    assert run(*chosen) == 0
    shown = capsys.readouterr().out.splitlines()
    assert sorted(shown) == [f"{one}: folded up to its last number, 0" for one in expected]
    assert table.items == before


@pytest.mark.parametrize("wrong", [(), ("--project", "one"), ("--tenant", "acme", "--all")])
def test_a_choice_that_is_none_is_refused(table: MemoryTable, wrong: tuple[str, ...]) -> None:
    with pytest.raises(Failure, match="Name a --tenant"):
        run(*wrong)


def test_a_journal_is_one_line(table: MemoryTable, capsys: pytest.CaptureFixture[str]) -> None:
    log = Log(table, "acme", "one")
    log.reserve(7)
    assert run("--tenant", "acme", "--project", "one") == 0
    due = log.head().due
    assert capsys.readouterr().out == (f"acme/one: folded up to 0 of 1, about 7 changes wait, due at {due}\n")


def test_a_project_that_is_not_there_has_no_journal(
    table: MemoryTable, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--tenant", "acme", "--project", "three") == 0
    assert capsys.readouterr().out == "acme/three: no journal\n"
