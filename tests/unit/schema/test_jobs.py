"""A pass cut into slices: every number is in one of them, and progress counts the remaining ones."""

from itertools import product

import pytest

from gridview.schema.jobs import PARTS, Job, Progress, left_of


@pytest.mark.parametrize(
    ("following", "last", "least"), [*product((1, 2, 51), (50, 51, 60, 1_003), (1, 7, 1_000))]
)
def test_slices_are_contiguous_and_leave_nothing_out(following: int, last: int, least: int) -> None:
    job = Job(3, "now", following, last)
    slices = job.cut(least)
    assert [one.part for one in slices] == list(PARTS[: len(slices)])
    assert all(one.left >= least for one in slices)
    if slices:
        numbers = [num for one in slices for num in range(one.next, (one.last or 0) + 1)]
        assert numbers == list(range(following, last + 1))
        assert len({one.left for one in slices}) <= 2, "none is much longer than another"
    else:
        assert job.left < 2 * least


def test_a_pass_with_a_rate_is_kept_whole() -> None:
    assert Job(3, "now", 1, 10_000, rate=500).cut(1) == []


@pytest.mark.parametrize(("following", "left"), [(1, 7), (7, 1), (8, 0), (9, 0)])
def test_nothing_is_left_past_the_end(following: int, left: int) -> None:
    assert Job(1, "", following, 7).left == left


def test_progress_is_that_of_all_slices() -> None:
    slices = [Job(3, "now", 8, 10, part=1), Job(3, "now", 14, 13, part=2)]
    job = Job(3, "now", 14, 13, slices=2)
    assert left_of(job, slices) == 3
    assert job.progress_of(2, 99, slices) == Progress(10, 13)
    assert job.progress_of(4, 99, slices) == Progress(0, 99)


def test_slices_that_a_restarted_pass_does_not_wait_for_do_not_count() -> None:
    slices = [Job(3, "now", 8, 10, part=1)]
    assert Job(3, "now", 1, 13, slices=2).progress_of(2, 99, slices) == Progress(0, 13)


def test_a_job_that_starts_over_waits_for_a_worker_and_keeps_its_rate() -> None:
    held = Job(3, "now", 5, 9, rate=7, holder="a worker", refusals=2, revision=6, answers="x", rests=True)
    assert held.restarted(4, "later") == Job(4, "later", rate=7, revision=6)
