"""The runbook's table of alarms is generated from the alarms, so that both name the same commands."""

import re

import pytest

from infra.alarms import STACK, Advice
from infra.functions import FUNCTIONS
from infra.paths import ROOT, RUNBOOK
from infra.runbook import advice, table_of, with_table
from tests.infra.test_alarms import EXPECTED, OF_AN_EXPRESSION
from tests.support.dev_commands import commands_in, lacks_its_stack, why_wrong


@pytest.fixture(scope="module")
def alarms() -> dict[str, Advice]:
    return dict(advice())


def test_the_runbook_has_the_table_that_the_alarms_make(alarms: dict[str, Advice]) -> None:
    page = (ROOT / RUNBOOK).read_text("utf-8")
    assert page == with_table(page, table_of(alarms)), "run ./dev python -m infra.runbook"


def test_the_table_has_a_row_for_each_alarm(alarms: dict[str, Advice]) -> None:
    assert set(alarms) == {*EXPECTED, *OF_AN_EXPRESSION}
    rows = table_of(alarms).splitlines()[2:]
    assert [row.split("|")[1].strip(" `") for row in rows] == list(alarms)
    assert {row.count("|") for row in rows} == {7}


def test_every_alarm_names_its_logs_and_the_runbook_has_their_queries(alarms: dict[str, Advice]) -> None:
    page = (ROOT / RUNBOOK).read_text("utf-8")
    queries = {
        log: {
            name
            for one, name in re.findall(r"^\| (a function|`access`) \| (\w+) \| `", page, re.MULTILINE)
            if one == log
        }
        for log in ("a function", "`access`")
    }
    for name, one in alarms.items():
        assert one.notices.endswith("."), name
        for part in one.logs.split("; ") if one.logs != "none" else ():
            logs, _, wanted = part.partition(": ")
            for log in logs.split(", "):
                assert log in {*FUNCTIONS, "access", "all functions"}, name
                known = queries["`access`" if log == "access" else "a function"]
                assert {*wanted.split(", ")} <= known, name


def test_every_command_of_an_alarm_is_one_of_dev_and_names_the_stack(alarms: dict[str, Advice]) -> None:
    commands = [command for one in alarms.values() for command in commands_in(one.do)]
    assert len(commands) >= 8
    for command in commands:
        assert why_wrong(command) is None
        assert not lacks_its_stack(command)
        assert f"--stack-name {STACK}" in command


def test_a_page_that_has_lost_a_mark_is_not_written() -> None:
    with pytest.raises(ValueError, match="mark"):
        with_table("# Operating\n", table_of({}))


@pytest.mark.parametrize("page", ["docs/install.md", RUNBOOK])
def test_the_pages_name_the_alarms_of_a_stack_without_a_run(alarms: dict[str, Advice], page: str) -> None:
    waiting = [name for name, one in alarms.items() if "(a new stack: not yet)" in one.means]
    text = " ".join((ROOT / page).read_text("utf-8").split())
    (named,) = re.findall(r"((?:`\w+`,? (?:and )?)+)are in alarm until their first run", text)
    assert sorted(re.findall(r"`(\w+)`", named)) == sorted(waiting)
