import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from devtools.local import journal


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shared-local-instance.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (v TEXT)")
    journal.turn_on(tmp_path)
    return path


@pytest.fixture
def writer(database: Path) -> Iterator[sqlite3.Connection]:
    """Writes like the engine's SQLite, which never moves its log into the database."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        yield connection


def write(connection: sqlite3.Connection, times: int = 100) -> None:
    for _ in range(times):
        connection.execute("INSERT INTO t VALUES (?)", ("x" * 500,))


def log_size(database: Path) -> int:
    return database.with_name(f"{database.name}-wal").stat().st_size


def test_the_log_is_kept_in_the_file(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_the_log_does_not_grow_for_ever(database: Path, writer: sqlite3.Connection) -> None:
    with closing(journal.Checkpoints(database.parent)) as checkpoints:
        write(writer)
        once = log_size(database)
        for _ in range(5):
            checkpoints.make()
            write(writer)
        assert log_size(database) <= once * 1.5
    assert writer.execute("SELECT count(*) FROM t").fetchone() == (600,)


def test_without_checkpoints_it_would(database: Path, writer: sqlite3.Connection) -> None:
    write(writer)
    once = log_size(database)
    for _ in range(5):
        write(writer)
    assert log_size(database) > once * 4


def test_a_reader_is_not_disturbed(database: Path, writer: sqlite3.Connection) -> None:
    with (
        closing(journal.Checkpoints(database.parent)) as checkpoints,
        closing(sqlite3.connect(database)) as reader,
    ):
        write(writer, 3)
        rows = reader.execute("SELECT v FROM t")
        rows.fetchone()
        write(writer, 3)
        checkpoints.make()
        assert len(rows.fetchall()) == 2
        write(writer, 3)
    assert writer.execute("SELECT count(*) FROM t").fetchone() == (9,)


def test_the_last_to_close_leaves_no_log(database: Path, writer: sqlite3.Connection) -> None:
    checkpoints = journal.Checkpoints(database.parent)
    write(writer)
    checkpoints.make()
    writer.close()
    checkpoints.close()
    assert [path.name for path in database.parent.iterdir()] == [database.name]
