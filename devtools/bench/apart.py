"""Work of the background, each piece in its own process, so that its memory can be measured: the check, and passes
over issues.

`python -m devtools.bench.apart ENDPOINT TABLE SECONDS TASK ...` prints the figures as JSON.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final, NamedTuple

from devtools.bench.capacity import Counter
from devtools.bench.work import Work
from devtools.failure import Failure
from devtools.local.environment import local
from devtools.local.passes import no_poison
from devtools.operate.project_walk import ProjectWalk
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.fsck.checker import Check
from gridview.fsck.progress import Finding
from gridview.fsck.walks import TableWalk
from gridview.maintenance.job_worker import Worker
from gridview.schema.store import Catalogs

_SETTLING: Final = 3_600.0
"""Seconds: work ends with a pass that another has to follow."""

_PATIENCE: Final = 1.0
_SCANNED: Final = 6_000
"""Items, less than 1 MB of them: for a page without a limit DynamoDB Local looks through all the rest of the table."""

_STATUS: Final = Path("/proc/self/status")
_MORE_SECONDS: Final = 120.0
"""For starting, and for what was begun within the time."""


class Place(NamedTuple):
    """The place of the table."""

    endpoint: str
    table: str


class Memory(NamedTuple):
    """Resident memory of a process in bytes: now, and at most so far."""

    now: int
    peak: int


def check_project(place: Place, tenant: str, project: str, seconds: float) -> Work:
    """Check the issues of a project by number, for so many seconds at most."""
    return _apart(place, seconds, "check", tenant, project)


def check_table(place: Place, seconds: float) -> Work:
    """Check all issues by a Scan, as is done each night, for so many seconds at most."""
    return _apart(place, seconds, "check")


def work_on_jobs(place: Place, seconds: float) -> Work:
    """Do the pass over issues that is due, for so many seconds at most."""
    return _apart(place, seconds, "jobs")


def memory_in(status: str) -> Memory:
    """From the text of /proc/self/status."""
    lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    now, peak = (int(lines[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))
    return Memory(now, peak)


def _apart(place: Place, seconds: float, *task: str) -> Work:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "devtools.bench.apart", *place, str(seconds), *task],
        env=local({"AWS_ENDPOINT_URL_DYNAMODB": place.endpoint}),
        stdout=subprocess.PIPE,
        text=True,
        timeout=seconds + _MORE_SECONDS,
        check=False,
    )
    if done.returncode:
        raise Failure(f"A measured process ended with status {done.returncode}.")
    return Work(**json.loads(done.stdout))


def _memory() -> Memory:
    if _STATUS.exists():
        return memory_in(_STATUS.read_text())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in bytes on macOS
    return Memory(peak, peak)


def _check(table: Table, left: Callable[[], float], project: Sequence[str]) -> tuple[int, bool]:
    walk = ProjectWalk(table, *project) if project else TableWalk(table, limit=_SCANNED)
    check = Check(table, walk, _found, patience=_PATIENCE)
    while not check.done and left() > 0:
        if check.waits_until is None:
            check.step()
        else:
            time.sleep(0.1)
    return check.tally.issues, check.done


def _jobs(table: Table, left: Callable[[], float]) -> tuple[int, bool]:
    worked = Worker(table, Catalogs(), left, no_poison, settling=_SETTLING).work()
    return worked.issues, left() > 0


def _found(finding: Finding) -> None:
    raise Failure(f"The check found a difference: {finding}")


def main() -> None:
    """Entry point."""
    name, seconds, task, *project = sys.argv[2:]
    counter = Counter()
    table = Table(name)
    table.get(keys.CHECK, keys.JOB)  # the first call loads what all need
    memory = _memory().now
    with counter.metered() as units:
        began, cpu_began = time.monotonic(), time.process_time()
        end = began + float(seconds)

        def left() -> float:
            return end - time.monotonic()

        issues, finished = _check(table, left, project) if task == "check" else _jobs(table, left)
        work = Work(
            issues=issues,
            finished=finished,
            seconds=time.monotonic() - began,
            cpu_seconds=time.process_time() - cpu_began,
            calls=units.calls,
            read_units=units.read,
            write_units=units.write,
            memory=_memory().peak - memory,
        )
    json.dump(asdict(work), sys.stdout)


if __name__ == "__main__":
    main()
