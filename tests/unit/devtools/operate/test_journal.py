"""`./dev journal`: which projects it takes over, when it refuses to, and what it shows."""

import argparse
from typing import Any

import pytest

from devtools.failure import Failure
from devtools.operate import journal, target
from devtools.operate.target import Target
from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands import projects
from gridview.commands.actor import Actor, Role
from gridview.commands.journals import begin_journal
from gridview.encoding import keys
from gridview.index.journal_log import Log
from gridview.schema.store import Catalogs
from gridview.support.errors import Conflict

NOW = 1_000_000.0


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> MemoryTable:
    """Three projects of two tenants, and one that is deleted."""
    made = MemoryTable()
    for tenant, project in (("acme", "one"), ("acme", "two"), ("acme", "gone"), ("zeta", "one")):
        actor = Actor(tenant, "ada", Role.ADMIN)
        projects.create_project(made, actor, {"name": project.title(), "id": project})
    stored = made.get(keys.project("acme", "gone"), keys.tenant("acme"))
    assert stored is not None
    del stored[keys.SORT]
    made.put({**stored, "deleted": True})
    monkeypatch.setattr(target, "open", lambda _: opened(made))
    return made


def opened(table: Any, **told: Any) -> Target:
    nothing: Any = None
    return Target(table, nothing, "", nothing, "Gridview", **told)


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    journal.register(parser.add_subparsers())
    parsed = parser.parse_args(["journal", *arguments])
    status: int = parsed.func(parsed)
    return status


def journalled(table: MemoryTable) -> list[str]:
    places = [("acme", "one"), ("acme", "two"), ("zeta", "one")]
    return [f"{tenant}/{name}" for tenant, name in places if Catalogs().get(table, tenant, name).journalled]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (("--tenant", "acme", "--project", "two"), ["acme/two"]),
        (("--tenant", "acme"), ["acme/one", "acme/two"]),
        (("--all",), ["acme/one", "acme/two", "zeta/one"]),
    ],
)
def test_what_is_chosen_is_journalled_from_then_on(
    table: MemoryTable, capsys: pytest.CaptureFixture[str], chosen: tuple[str, ...], expected: list[str]
) -> None:
    assert run("begin", *chosen) == 0
    assert journalled(table) == expected
    told = capsys.readouterr().out
    assert [one for one in expected if one not in told] == []
    assert f"Journalled from now on: {len(expected)}. Journalled before: 0." in told
    before = table.items
    assert run("begin", *chosen) == 0
    assert table.items == before
    assert f"Journalled from now on: 0. Journalled before: {len(expected)}." in capsys.readouterr().out


def test_what_was_interrupted_goes_on_where_it_stopped(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:

    def busy(table: Any, tenant: str, project: str) -> bool:
        if project == "two":
            raise Conflict("Others change it.")
        return begin_journal(table, tenant, project)

    monkeypatch.setattr(journal, "begin_journal", busy)
    assert run("begin", "--all") == 1
    assert journalled(table) == ["acme/one", "zeta/one"]
    told = capsys.readouterr().out
    assert "acme/two: Others change it." in told
    assert "1 could not be taken over" in told
    monkeypatch.setattr(journal, "begin_journal", begin_journal)
    assert run("begin", "--all") == 0
    assert "Journalled from now on: 1. Journalled before: 2." in capsys.readouterr().out


def test_a_choice_that_is_none_and_a_project_that_is_not_there_are_sentences(table: MemoryTable) -> None:
    for wrong in ((), ("--project", "one"), ("--tenant", "acme", "--all")):
        with pytest.raises(Failure, match="Name a --tenant"):
            run("begin", *wrong)
    with pytest.raises(Failure, match="has no project 'three'"):
        run("begin", "--tenant", "acme", "--project", "three")


def test_a_deployed_stack_has_to_know_journals_and_to_have_settled(table: MemoryTable) -> None:
    with pytest.raises(Failure, match="Deploy this version first"):
        journal.require_settled(opened(table, outputs={}, changed=NOW - 86_400), NOW)
    known = {journal.KNOWN: "1"}
    for ago, told in ((0, "in 10 minutes"), (400, "in 3 minutes"), (580, "in a minute")):
        with pytest.raises(Failure, match=told):
            journal.require_settled(opened(table, outputs=known, changed=NOW - ago), NOW)
    journal.require_settled(opened(table, outputs=known, changed=NOW - journal.SETTLED_SECONDS), NOW)
    journal.require_settled(opened(table), NOW)


def test_a_journal_is_one_line(table: MemoryTable, capsys: pytest.CaptureFixture[str]) -> None:
    run("begin", "--tenant", "acme", "--project", "one")
    capsys.readouterr()
    log = Log(table, "acme", "one")
    assert run("list", "--tenant", "acme") == 0
    assert capsys.readouterr().out.splitlines() == [
        "acme/one: folded up to its last number, 0",
        "acme/two: not journalled",
    ]
    log.reserve(7)
    due = log.head().due
    assert journal.described(log) == (f"acme/one: folded up to 0 of 1, about 7 changes wait, due at {due}")
