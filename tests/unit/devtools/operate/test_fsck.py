"""`./dev fsck` over a table in memory: its output, and its exit status."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from devtools import cli
from devtools.operate import fsck as command
from devtools.operate import target
from devtools.operate.target import Target
from devtools.proof.faults.memory_table import MemoryTable
from gridview.encoding import derived_keys, keys
from gridview.support import clock
from gridview.support.errors import Overloaded
from tests.support import damage
from tests.support.damage import PROJECT, TENANT, key_of

pytestmark = pytest.mark.usefixtures("no_pauses")

ONE = ("--project", PROJECT, "--tenant", TENANT)


@pytest.fixture(scope="module")
def pristine() -> MemoryTable:
    table = MemoryTable()
    damage.make_project(table)
    damage.add_issues(table, 12)
    damage.make_project(table, "tower", "other")
    damage.add_issues(table, 3, "tower", "other")
    return table


@pytest.fixture
def table(pristine: MemoryTable) -> MemoryTable:
    return pristine.copy()


@pytest.fixture(autouse=True)
def opened(table: MemoryTable, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Any = None
    monkeypatch.setattr(target, "open", lambda _: Target(table, nothing, "", nothing, "the test"))
    monkeypatch.setattr(clock, "sleep", lambda _: None)


def dev(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = cli.main(["fsck", "--patience", "0", *arguments])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


@pytest.mark.parametrize(("arguments", "issues"), [((), "15"), (ONE, "12")])
def test_a_sound_table_ends_well(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], issues: str
) -> None:
    status, output = dev(capsys, *arguments)
    assert status == 0
    assert f"{issues} issues checked in" in output
    assert " a second" in output
    assert output.endswith("No difference remains.\n")


def test_each_difference_is_a_line_with_the_field_and_the_found_value(
    table: MemoryTable, capsys: pytest.CaptureFixture[str]
) -> None:
    damage.change(table, key_of(1), damage.order_key("a1.1"), {keys.SORT: "[bold]x[/]" + "y" * 90})
    table.delete(key_of(2), damage.order_key("name.1"))
    status, output = dev(capsys)
    lines = output.splitlines()
    assert status == 1
    assert (
        f"{key_of(1)}  wrong       start (a1.1): [bold]x[/]{'y' * 38}…, should be 2024-03-02 / 00000001"
        in lines
    )
    assert f"{key_of(2)}  missing     name (name.1): nothing, should be issue 2 / 00000002" in lines
    assert lines[-1] == "2 are wrong, in 4 places."


@pytest.mark.parametrize("arguments", [(), ONE])
def test_it_repairs_and_says_so(
    table: MemoryTable, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    for num, planted in enumerate((one for one in damage.PLANTED if not one.remains), start=1):
        planted.inflict(table, key_of(num % 12 + 1))
    assert dev(capsys, *arguments)[0] == 1
    status, output = dev(capsys, "--repair", *arguments)
    assert status == 0
    assert f"{key_of(5)}  repaired" in output
    repaired = [line.split()[0] for line in output.splitlines() if line.endswith("  repaired")]
    assert {key_of(num) for num in range(1, 13)} <= set(repaired)
    assert f"{len(repaired)} were wrong and have been repaired." in output
    status, output = dev(capsys, *arguments)
    assert (status, output.splitlines()[1:]) == (0, ["No difference remains."])


def test_differences_beyond_repair_remain_with_the_reason(
    table: MemoryTable, capsys: pytest.CaptureFixture[str]
) -> None:
    damage.change(table, key_of(1), keys.project(TENANT, PROJECT), {"fields": {"a2": "o99"}})
    table.delete(key_of(2), derived_keys.LEDGER)
    damage.change(table, key_of(3), "something", {})
    status, output = dev(capsys, "--repair")
    assert status == 1
    assert f"{key_of(1)}  not repaired: UnknownOption: a document has an option" in output
    assert f"{key_of(2)}  repaired" in output
    assert f"{key_of(3)}  not repaired: It is not derived data, so an operator must check it." in output
    assert output.endswith("2 are wrong, in 2 places.\n")


def test_one_project_can_be_checked(table: MemoryTable, capsys: pytest.CaptureFixture[str]) -> None:
    table.delete(key_of(2, "tower", "other"), derived_keys.LEDGER)
    assert dev(capsys, *ONE)[0] == 0
    assert dev(capsys, "--project", "tower", "--tenant", "other")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--project", "x"), "Name both"),
        (("--tenant", "x"), "Name both"),
        (("--project", "x", "--tenant", TENANT), f"The tenant '{TENANT}' has no project 'x'."),
    ],
)
def test_invalid_arguments_are_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    status, output = dev(capsys, *arguments)
    assert status == 1
    assert said in output


@pytest.mark.parametrize("text", ["x", "-1", "nan", "1e9"])
def test_patience_is_a_number_of_seconds(capsys: pytest.CaptureFixture[str], text: str) -> None:
    with pytest.raises(SystemExit):
        cli.main(["fsck", "--patience", text])
    assert "must be seconds" in capsys.readouterr().err


def test_a_busy_table_is_asked_again_and_given_up_in_the_end(
    table: MemoryTable, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = 0
    scan = table.scan

    def busy(**named: Any) -> Any:
        nonlocal refusals
        refusals += 1
        if refusals <= limit:
            raise Overloaded("The table is busy; try again.")
        return scan(**named)

    monkeypatch.setattr(MemoryTable, "scan", lambda _, **named: busy(**named))
    monkeypatch.setattr(command, "_SEGMENTS", 1)
    limit = 5
    assert dev(capsys)[0] == 0
    refusals, limit = 0, 1_000_000
    status, output = dev(capsys)
    assert status == 1
    assert "keeps refusing" in output


def test_a_refusal_by_aws_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_: MemoryTable, **__: Any) -> Any:
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "not you"}}, "Scan")

    monkeypatch.setattr(MemoryTable, "scan", denied)
    status, output = dev(capsys)
    assert status == 1
    assert "AWS cannot be used" in output
