"""The tables of a new data folder: made once for the same sources, then copied, all or nothing."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from devtools import files, paths
from devtools.failure import Failure
from devtools.local import filling
from devtools.local.folder import Folder


class KilledError(BaseException):
    """It gets past `except Exception`, as a kill does."""


class Making:
    """An engine that makes one file. Records its runs, and dies the next time if set."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.dies = False

    @contextlib.contextmanager
    def running(self, *, in_memory: bool, folder: Path) -> Iterator[Any]:
        assert not in_memory
        tables = folder / "tables"
        tables.mkdir()
        self.made.append("empty")
        yield SimpleNamespace(client=lambda: None, endpoint=str(tables))

    def load(self, table: str) -> None:
        self.made[-1] = "demo"
        (Path(table) / "shared.db").write_text(f"{len(self.made)} times")
        if self.dies:
            raise KilledError


@pytest.fixture
def making(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Making:
    """A repository of one source and two lock files."""
    making, sources = Making(), tmp_path / "sources"
    sources.mkdir()
    (sources / "demo.py").write_text("1")
    (tmp_path / "lock.txt").write_text("1")
    for name, value in {
        "_WORK": tmp_path / ".build",
        "_MEMORY": tmp_path / "memory",
        "_SOURCES": (sources,),
        "_LOCKED": (tmp_path / "lock.txt",),
        "engine": making,
        "demo": making,
        "table": SimpleNamespace(TABLE="t", ensure_without_stream=lambda *_: None),
        "bulk": SimpleNamespace(table_at=lambda endpoint, _: endpoint),
        "journal": SimpleNamespace(turn_on=lambda _: None),
    }.items():
        monkeypatch.setattr(filling, name, value)
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    (tmp_path / "memory").mkdir()
    return making


def filled(root: Path, name: str, *, empty: bool = False) -> list[str]:
    """The output while a data folder of this name gets its tables."""
    folder, said = Folder(root / name), list[str]()
    folder.make()
    filling.fill(folder, empty=empty, say=said.append)
    assert folder.tables.is_dir()
    assert list((root / "memory").iterdir()) == []
    return said


def test_the_demo_is_loaded_once_and_copied_from_then_on(tmp_path: Path, making: Making) -> None:
    assert filled(tmp_path, "one") == ["Making the table and filling it with the demo (once) ..."]
    copied = tmp_path / "one" / "engine" / "tables" / "shared.db"
    copied.write_text("what people wrote")
    assert filled(tmp_path, "two") == []
    assert (tmp_path / "two" / "engine" / "tables" / "shared.db").read_text() == "1 times"
    assert copied.read_text() == "what people wrote"
    assert making.made == ["demo"]


def test_empty_tables_are_others_than_those_of_the_demo(tmp_path: Path, making: Making) -> None:
    assert filled(tmp_path, "one", empty=True) == ["Making the table ..."]
    filled(tmp_path, "two")
    assert filled(tmp_path, "three", empty=True) == filled(tmp_path, "four") == []
    assert making.made == ["empty", "demo"]
    assert not (tmp_path / "three" / "engine" / "tables" / "shared.db").exists()
    assert (tmp_path / "four" / "engine" / "tables" / "shared.db").exists()


@pytest.mark.parametrize("source", ["sources/demo.py", "lock.txt"])
def test_changed_sources_make_new_tables_and_the_old_ones_are_removed(
    tmp_path: Path, making: Making, source: str
) -> None:
    filled(tmp_path, "one")
    filled(tmp_path, "two", empty=True)
    (tmp_path / source).write_text("2")
    assert filled(tmp_path, "three") != []
    assert making.made == ["demo", "empty", "demo"]
    (kept,) = (tmp_path / ".build" / "tables").iterdir()
    assert [path.name for path in kept.iterdir()] == ["demo"]


def test_tables_of_a_killed_run_are_not_used(tmp_path: Path, making: Making) -> None:
    making.dies = True
    with pytest.raises(KilledError):
        filled(tmp_path, "one")
    making.dies = False
    filled(tmp_path, "two")
    assert (tmp_path / "two" / "engine" / "tables" / "shared.db").read_text() == "2 times"


def test_tables_of_an_earlier_version_are_refused_with_the_command_that_removes_them(
    tmp_path: Path, making: Making
) -> None:
    filled(tmp_path, "one")
    folder = Folder(tmp_path / "one")
    filling.require_readable(folder)
    for earlier in ({"demo": True}, {"demo": True, "journals": True}, {"demo": True, "form": 0}):
        files.write_json(folder.seed, earlier)
        with pytest.raises(Failure, match=r"`\./dev reset`"):
            filling.require_readable(folder)
    folder.seed.unlink()
    with pytest.raises(Failure, match="no journal"):
        filling.require_readable(folder)
