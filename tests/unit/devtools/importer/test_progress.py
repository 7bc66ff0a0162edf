"""The progress of an import on disk."""

import json
from pathlib import Path

import pytest

from devtools.failure import Failure
from devtools.importer.batches import Refusal
from devtools.importer.progress import Progress, Rejects, files_for, may_write


def test_acknowledged_batches_are_kept_as_ranges_and_survive_the_disk(tmp_path: Path) -> None:
    progress = Progress("source", "2026-01-01T00:00:00Z", "id")
    for index in (1, 3, 0, 7, 2):
        progress.acknowledge(index, created=10, refused=1)
    assert progress.acknowledged == [[0, 3], [7, 7]]
    progress.save(tmp_path / "p.json")
    loaded = Progress.load(tmp_path / "p.json")
    assert loaded == progress
    assert loaded is not None
    assert [index for index in range(9) if loaded.has(index)] == [0, 1, 2, 3, 7]
    assert (loaded.created, loaded.refused) == (50, 5)


def test_saving_leaves_no_partial_file(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    Progress("a", "b", "c").save(path)
    Progress("d", "e", "f").save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["p.json"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 99}', '{"format": 1, "other": 2}'])
def test_a_file_that_is_no_progress_is_not_taken_for_one(tmp_path: Path, content: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(content)
    with pytest.raises(Failure, match="is not the progress file"):
        Progress.load(path)


def test_no_progress_file_is_no_progress(tmp_path: Path) -> None:
    assert Progress.load(tmp_path / "p.json") is None


def refusal(row: int) -> Refusal:
    return Refusal(row, "too long", {"title": "\ud800"}, [{"field": "name", "message": "must be shorter"}])


def lines(path: Path) -> list[int]:
    return [json.loads(line)["row"] for line in path.read_text().splitlines()]


def test_refused_rows_come_with_reason_errors_and_values(tmp_path: Path) -> None:
    path = tmp_path / "r.ndjson"
    Rejects(path, fresh=True).write([refusal(3)])
    assert json.loads(path.read_text()) == {
        "row": 3,
        "reason": "too long",
        "errors": [{"field": "name", "message": "must be shorter"}],
        "values": {"title": "\ud800"},
    }


def test_without_a_refused_row_there_is_no_file(tmp_path: Path) -> None:
    Rejects(tmp_path / "r.ndjson", fresh=True).write([])
    assert not list(tmp_path.iterdir())


def test_a_batch_that_is_sent_again_repeats_no_line_and_completes_a_broken_one(tmp_path: Path) -> None:
    path = tmp_path / "r.ndjson"
    Rejects(path, fresh=True).write([refusal(1), refusal(2)])
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])  # killed while writing the second line
    again = Rejects(path, fresh=False)
    again.write([refusal(1), refusal(2)])
    again.write([refusal(2), refusal(3)])
    assert lines(path) == [1, 2, 3]
    assert path.read_bytes().startswith(whole)


def test_a_fresh_import_forgets_the_refused_rows_of_another(tmp_path: Path) -> None:
    path = tmp_path / "r.ndjson"
    Rejects(path, fresh=True).write([refusal(1)])
    Rejects(path, fresh=True).write([refusal(2)])
    assert lines(path) == [2]


def test_files_are_beside_the_input_or_in_a_writable_folder(tmp_path: Path) -> None:
    locked, elsewhere = tmp_path / "locked", tmp_path / "else" / "where"
    locked.mkdir()
    source = locked / "a.csv.gz"
    beside = files_for(source, "0807.p", folders=[locked, elsewhere], rejects=None)
    assert beside.progress == locked / "a.csv.gz.0807.p.progress.json"
    assert beside.rejects == locked / "a.csv.gz.0807.p.rejected.ndjson"
    locked.chmod(0o555)
    try:
        assert not may_write(locked)
        away = files_for(source, "0807.p", folders=[locked, elsewhere], rejects=tmp_path / "r")
        assert away.progress.parent == elsewhere
        assert elsewhere.is_dir()
        assert away.rejects == tmp_path / "r"
        with pytest.raises(Failure, match="--progress"):
            files_for(source, "0807.p", folders=[locked], rejects=None)
    finally:
        locked.chmod(0o755)
