"""The report of `./dev jobs` and `./dev reindex --wait` about a pass in slices."""

from dataclasses import replace

from devtools.operate.reindex import described, open_jobs, work_under_way
from devtools.proof.faults.memory_table import MemoryTable
from gridview.encoding import keys
from gridview.schema.jobs import Job
from gridview.schema.user_jobs import JobKind, JobLine, JobState, OpenJob, UserJob

PARTITION = keys.project("0807", "35e9")
DUE = "2026-11-21T08:00:00.000000Z"


def test_a_pass_in_slices_is_one_line_with_the_progress_of_all() -> None:
    table = MemoryTable()
    job = Job(3, DUE, 2_001, 2_000, slices=2)
    for one in (job, Job(3, DUE, 900, 1_000, part=1), Job(3, DUE, 1_001, 2_000, part=2)):
        table.put(one.to_item(PARTITION))
    (work,) = work_under_way(table)
    assert work.done == 899
    assert described(work) == "0807/35e9: 899 of 2,000 issues, in 2 slices"
    table.put(replace(job, next=11, slices=0).to_item(PARTITION))
    (work,) = work_under_way(table)
    assert described(work) == f"0807/35e9: 10 of 2,000 issues, due since {DUE}"


def test_the_open_user_jobs_are_lines_in_the_order_of_their_turns() -> None:
    table = MemoryTable()
    job = UserJob("0" * 20, JobKind.UPDATE, "ann", b"c" * 16, DUE, 1_800_000_000)
    running = replace(job, id="1" * 20, state=JobState.RUNNING, total=2_000, done=990, refused=10)
    over = replace(job, id="2" * 20, state=JobState.DONE)
    for one in (job, running, over):
        table.put(one.to_item("0807", "35e9"))
    jobs = (OpenJob("35e9", one, "ann", JobKind.UPDATE, DUE) for one in (running.id, job.id, "expired"))
    table.put(JobLine(tuple(jobs), DUE).to_item("0807"))
    assert list(open_jobs(table)) == [
        f"0807/35e9: update {running.id} by ann: 1,000 of 2,000 issues, running",
        f"0807/35e9: update {job.id} by ann: waiting",
    ]


def test_a_check_of_the_table_is_no_work_on_a_project() -> None:
    table = MemoryTable()
    table.put({keys.PK: keys.CHECK, keys.SK: keys.JOB, keys.SORT: DUE})
    assert list(work_under_way(table)) == []
