"""The runbook's table of alarms is made from the alarms, so that both name the same commands."""

import pytest

from infra.alarms import STACK, Advice
from infra.paths import ROOT, RUNBOOK
from infra.runbook import advice, table_of, with_table
from tests.infra.test_alarms import EXPECTED, OF_AN_EXPRESSION
from tests.support.dev_commands import commands_in, lacks_its_stack, why_wrong


@pytest.fixture(scope="module")
def told() -> dict[str, Advice]:
    return dict(advice())


def test_the_runbook_has_the_table_that_the_alarms_make(told: dict[str, Advice]) -> None:
    page = (ROOT / RUNBOOK).read_text("utf-8")
    assert page == with_table(page, table_of(told)), "run ./dev python -m infra.runbook"


def test_the_table_has_a_row_for_each_alarm(told: dict[str, Advice]) -> None:
    assert set(told) == {*EXPECTED, *OF_AN_EXPRESSION}
    rows = table_of(told).splitlines()[2:]
    assert [row.split("|")[1].strip(" `") for row in rows] == list(told)
    assert {row.count("|") for row in rows} == {5}


def test_every_command_of_an_alarm_is_one_of_dev_and_names_the_stack(told: dict[str, Advice]) -> None:
    commands = [command for one in told.values() for command in commands_in(one.do)]
    assert len(commands) >= 8
    for command in commands:
        assert why_wrong(command) is None
        assert not lacks_its_stack(command)
        assert f"--stack-name {STACK}" in command


def test_a_page_that_has_lost_a_mark_is_not_written() -> None:
    with pytest.raises(ValueError, match="mark"):
        with_table("# Operating\n", table_of({}))
