import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from devtools import files
from devtools.failure import Failure
from devtools.local import processes
from devtools.local.folder import Folder, State
from devtools.local.processes import Known


def living(pid: int) -> Known:
    process = processes.known(pid)
    assert process is not None
    return process


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "deep" / "data")
    made.make()
    return made


def test_a_folder_is_made_private_and_can_be_made_again(folder: Folder) -> None:
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    folder.make()
    assert folder.is_ours()


def test_a_folder_with_other_things_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(Failure, match="not empty"):
        Folder(tmp_path).make()
    with pytest.raises(Failure, match="not changed"):
        Folder(tmp_path).remove()
    assert (tmp_path / "thesis.tex").exists()


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(Failure, match="cannot be used"):
        Folder(tmp_path / "data").make()


def test_removing(folder: Folder, tmp_path: Path) -> None:
    (folder.path / "engine" / "tables").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder.path / "link").symlink_to(outside)
    assert folder.remove() is True
    assert not folder.path.exists()
    assert outside.is_dir()
    assert folder.remove() is False


def test_one_supervisor_at_a_time(folder: Folder) -> None:
    with folder.held(), pytest.raises(Failure, match="Another"), Folder(folder.path).held():
        pytest.fail("it was let in")
    with folder.held():
        pass


def test_a_stack_runs_while_its_supervisor_lives(folder: Folder) -> None:
    assert folder.running() is None
    with pytest.raises(Failure, match="not running"):
        folder.require_running()
    state = State("http://127.0.0.1:1", "http://127.0.0.1:2", os.getpid(), "http://127.0.0.1:3/1/queue")
    me = living(os.getpid())
    folder.write_state(state)
    assert folder.running() is None  # nothing recorded which process this is
    folder.write_processes([me])
    assert folder.running() == folder.require_running() == state
    # The same id, started at another time, is another process.
    folder.write_processes([Known(me.pid, "long ago")])
    assert folder.running() is None
    folder.clear()
    assert folder.processes() == []


def test_damaged_files_are_none(folder: Folder) -> None:
    (folder.path / "processes.json").write_text("[[1,")
    (folder.path / "state.json").write_text("")
    assert folder.running() is None
    (folder.path / "state.json").write_text('{"api": "what another version wrote"}')
    assert folder.running() is None
    assert folder.processes() == []


def test_json_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    files.write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        files.write_json(path, {"a": object()})
    assert files.read_json(path) == {"a": 1}
    assert files.read_json(tmp_path / "none") is None


def test_lines_are_appended(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    files.append_line(path, {"a": "é\n"})
    files.append_line(path, 2)
    assert path.read_text() == '{"a": "\\u00e9\\n"}\n2\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def sleeper(code: str = "import time; time.sleep(60)") -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", f"import sys; print(1, flush=True); {code}"], stdout=subprocess.PIPE, text=True
    )


def test_ending_a_process_that_is_known() -> None:
    with sleeper() as process:
        line(process)
        it = living(process.pid)
        assert it.lives()
        assert processes.end(it, patience=5) is True
        assert process.wait() == -15
    assert not it.lives()
    assert processes.end(it, patience=5) is False


def test_ending_one_that_ignores_term() -> None:
    with sleeper(
        "import signal, time; signal.signal(15, signal.SIG_IGN); print(2, flush=True); time.sleep(60)"
    ) as process:
        line(process)
        line(process)
        assert processes.end(living(process.pid), patience=0.1) is True
        assert process.wait() == -9


def test_another_process_with_the_same_id_is_not_ended() -> None:
    with sleeper() as process:
        assert processes.end(Known(process.pid, "long ago"), patience=0) is False
        assert process.poll() is None
        process.kill()


def test_stopping_a_process_ends_its_group(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = "import subprocess, sys, time; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); time.sleep(60)"
    with log.open("wb") as output:
        process = processes.start([sys.executable, "-c", code], env=dict(os.environ), log=output)
    assert processes.wait_until(lambda: log.read_text().endswith("\n"), 10)
    grandchild = living(int(log.read_text()))
    processes.stop(process, patience=5)
    assert processes.wait_until(lambda: not grandchild.lives(), 5)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_process_dies_with_its_killed_parent(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = (
        "import os, sys, time\n"
        "from devtools.local import processes\n"
        f"with open({str(log)!r}, 'wb') as log:\n"
        "    child = processes.start(['/bin/sleep', '60'], env=os.environ, log=log)\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as parent:
        child = living(int(line(parent)))
        assert child.lives()
        parent.kill()
    assert processes.wait_until(lambda: not child.lives(), 5)
