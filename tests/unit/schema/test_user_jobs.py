"""The items of user jobs and of their line."""

from dataclasses import replace

import pytest

from gridview.encoding import keys
from gridview.encoding.attribute_values import item_from_wire, item_to_wire
from gridview.schema import ids
from gridview.schema.user_jobs import JobKind, JobLine, JobState, UserJob

JOB = UserJob("0" * 20, JobKind.UPDATE, "ann", b"c" * 16, "2026-11-21T08:00:00.000000Z", 1_800_000_000)


def test_a_job_and_a_line_come_back_from_their_items() -> None:
    job = replace(JOB, state=JobState.FAILED, of=3, done=1, at={"a": [1]}, problem={"type": "x"}, revision=7)
    for one in (JOB, job):
        assert UserJob.from_item(item_from_wire(item_to_wire(one.to_item("acme", "bridge")))) == one
    line = JobLine(("a", "b"), "2026-11-21T08:00:00.000000Z", "holder", 2, 5)
    assert JobLine.from_item(item_from_wire(item_to_wire(line.to_item("jobs-acme.bridge")))) == line


def test_a_line_is_listed_as_long_as_a_job_is_open() -> None:
    line = JobLine().joined("a", "now")
    assert line.to_item("p")[keys.SORT] == "now"
    waiting = replace(line, due="later", holder="h").joined("b", "now")
    assert (waiting.open, waiting.due) == (("a", "b"), "later")
    after = waiting.after_turn("soon", over=False, refused=True)
    assert (after.open, after.due, after.holder, after.refusals) == (("b", "a"), "soon", "", 1)
    last = after.after_turn("x", over=True, refused=False).after_turn("y", over=True, refused=False)
    assert (last.open, last.refusals) == ((), 0)
    assert keys.SORT not in last.to_item("p")
    assert last.joined("c", "now").due == "now"


@pytest.mark.parametrize("state", JobState)
def test_a_final_state_is_final(state: JobState) -> None:
    over = replace(JOB, state=state).is_over(JobState.DONE, "now")
    assert over.state is (state if state.final else JobState.DONE)
    assert (over.ended == "now") == (not state.final)


def test_ids_of_jobs_sort_by_the_time_at_which_they_were_made() -> None:
    made = [ids.new_job_id(at) for at in (0, 1, 1_795_363_786_893, 2**44 - 1)]
    assert made == sorted(made)
    assert all(ids.JOB.fullmatch(one) and one < keys.LINE for one in made)
    assert ids.new_job_id(5) != ids.new_job_id(5)
