"""The journal of the engine's SQLite database: a write-ahead log, so that a write waits for the disk once and not several times.

Conditional puts get two to four times as fast where the disk is slow or busy. The setting is kept in the database file, and the
log survives a kill as the rollback journal does. The engine's SQLite never moves the log into the database by itself, though:
that is done from here, by another connection, which SQLite allows at any time.
"""

import contextlib
import sqlite3
from pathlib import Path


def turn_on(tables: Path) -> None:
    """Give the databases in a folder a write-ahead log. No engine may have them open."""
    for database in tables.glob("*.db"):
        with contextlib.closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")


_TRIES = 10


class Checkpoints:
    """Moves the logs of the databases in a folder into them, so that the logs do not grow for ever."""

    def __init__(self, tables: Path) -> None:
        """Open the databases."""
        self._connections = [
            sqlite3.connect(database, isolation_level=None) for database in tables.glob("*.db")
        ]

    def make(self) -> None:
        """Move what is in the logs, without anyone waiting for it.

        A log begins again only at a moment when all of it is moved. Under load that takes some tries, each for what came
        meanwhile; to hold the writers up, which SQLite could do, would make the engine fail.
        """
        for connection in self._connections:
            for _ in range(_TRIES):
                _, logged, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                if logged == moved:
                    break

    def close(self) -> None:
        """Close the databases: the last to do so, after the engine, leaves no log behind."""
        for connection in self._connections:
            connection.close()
