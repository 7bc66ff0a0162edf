"""The items of user jobs and of their line."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridview.encoding import keys
from gridview.encoding.attribute_values import item_from_wire, item_to_wire
from gridview.schema import ids
from gridview.schema.user_jobs import JobKind, JobLine, JobState, OpenJob, UserJob

JOB = UserJob("0" * 20, JobKind.UPDATE, "ann", b"c" * 16, "2026-11-21T08:00:00.000000Z", 1_800_000_000)


DUE = "2026-11-21T08:00:00.000000Z"
LATER = "2026-11-21T08:00:05.000000Z"


def opened(project: str, job: str, user: str = "ann", due: str = DUE) -> OpenJob:
    return OpenJob(project, job, user, JobKind.UPDATE, due)


def held(line: JobLine) -> JobLine:
    """A line while a worker has it."""
    return replace(line, holder="h", due=LATER)


def test_a_job_and_a_line_come_back_from_their_items() -> None:
    job = replace(
        JOB, state=JobState.FAILED, total=3, done=1, at={"a": [1]}, problem={"type": "x"}, revision=7
    )
    assert JOB.to_item("acme", "bridge")["revision"] == 0, "every write raises it"
    for one in (JOB, job):
        assert UserJob.from_item(item_from_wire(item_to_wire(one.to_item("acme", "bridge")))) == one
    line = JobLine((opened("p", "a"), opened("q", "b", due=LATER)), DUE, "holder", 2, 5)
    assert JobLine.from_item(item_from_wire(item_to_wire(line.to_item("acme")))) == line


def test_a_line_is_listed_as_long_as_a_job_is_open() -> None:
    line = JobLine().joined(opened("p", "a"))
    assert line.to_item("t")[keys.SORT] == DUE
    taken = held(line).joined(opened("p", "b"))
    assert (taken.due, [job.id for job in taken.open]) == (LATER, ["a", "b"])
    after = taken.after_turn(taken.open[0], LATER, over=False, refused=True)
    assert ([job.id for job in after.open], after.due, after.holder, after.refusals) == (
        ["b", "a"],
        DUE,
        "",
        1,
    )
    last = after
    for job in after.open:
        last = last.after_turn(job, LATER, over=True, refused=False)
    assert (last.open, last.refusals) == ((), 0)
    assert keys.SORT not in last.to_item("t")
    assert last.joined(opened("p", "c")).due == DUE


def test_a_job_that_waits_delays_no_other() -> None:
    line = JobLine().joined(opened("p", "waits", due=LATER)).joined(opened("q", "ready"))
    assert line.due == DUE
    assert line.next_at(DUE) == opened("q", "ready")
    after = held(line).after_turn(opened("q", "ready"), DUE, over=True, refused=False)
    assert (after.due, after.next_at(DUE)) == (LATER, None)
    assert after.next_at(LATER) == opened("p", "waits", due=LATER)


def turns(line: JobLine, count: int) -> list[OpenJob]:
    """The jobs in the order of their turns, if no job ends."""
    found = []
    for _ in range(count):
        job = line.next_at(DUE)
        assert job is not None
        found.append(job)
        line = held(line).after_turn(job, DUE, over=False, refused=False)
    return found


@given(st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from("abc")), min_size=1, max_size=12))
def test_turns_go_round_the_projects_then_their_users_then_jobs(owners: list[tuple[str, str]]) -> None:
    line = JobLine()
    for at, (project, user) in enumerate(owners):
        line = line.joined(opened(project, f"{at}", user))
    rounds = 36
    found = turns(line, rounds)
    projects = {project for project, _ in owners}
    for project in projects:
        mine = [job for job in found if job.project == project]
        assert abs(len(mine) - rounds / len(projects)) < 1
        users = {user for other, user in owners if other == project}
        for user in users:
            of_user = [job.id for job in mine if job.user == user]
            assert abs(len(of_user) - len(mine) / len(users)) <= 1
            jobs = {job.id for job in line.open if (job.project, job.user) == (project, user)}
            assert all(abs(of_user.count(one) - len(of_user) / len(jobs)) <= 1 for one in jobs)


@pytest.mark.parametrize("state", JobState)
def test_a_final_state_is_final(state: JobState) -> None:
    over = replace(JOB, state=state).is_over(JobState.DONE, "now")
    assert over.state is (state if state.final else JobState.DONE)
    assert (over.ended == "now") == (not state.final)


def test_ids_of_jobs_sort_by_the_time_at_which_they_were_made() -> None:
    made = [ids.new_job_id(at) for at in (0, 1, 1_795_363_786_893, 2**44 - 1)]
    assert made == sorted(made)
    assert all(ids.JOB.fullmatch(one) and one < keys.JOBS_END for one in made)
    assert ids.new_job_id(5) != ids.new_job_id(5)
