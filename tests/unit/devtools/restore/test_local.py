"""The exchange of a local stack's tables for a copy; tests/engine/test_restore.py restores a whole stack."""

from pathlib import Path

import pytest

from devtools.local.folder import Folder
from devtools.restore import local


@pytest.mark.parametrize("killed", [False, True])
def test_failed_batches_go_with_the_tables_that_they_are_of(tmp_path: Path, killed: bool) -> None:
    folder, copy = Folder(tmp_path / "data"), tmp_path / "copy"
    for path in (folder.tables, copy):
        path.mkdir(parents=True)
    (folder.tables / "present").touch()
    (copy / "earlier").touch()
    (folder.failed_batches / "waiting").mkdir(parents=True)
    if killed:  # after the first of the two renames
        folder.lost.mkdir()
        folder.failed_batches.rename(folder.lost / "failed-batches")
    local._put_back(folder, copy, lambda _: None)
    assert (folder.tables / "earlier").exists()
    assert (folder.lost / "tables" / "present").exists()
    assert (folder.lost / "failed-batches" / "waiting").exists()
    assert not folder.failed_batches.exists()
