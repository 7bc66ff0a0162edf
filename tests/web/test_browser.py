"""The page in Chromium, on a local stack with the demo and a real tracker's issues. The tests themselves are in
web/e2e.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from devtools import browser
from devtools.local import bulk
from devtools.proof.oracle import loading
from devtools.proof.oracle.real import titanium
from tests.support import needs
from tests.support.commands import ran
from tests.support.stacks import TENANT, LocalStack, running_stack

TRACKER = "e2e/tracker.e2e.ts"
"""The tests that need the tracker's issues."""

PASTE = "e2e/paste.e2e.ts"
"""It changes half of the demo, several times, so the index lags for the tests after it."""

TOUCH = "e2e/touch.e2e.ts"
"""The page on a telephone, only by fingers."""

MATRIX = "e2e/matrix/**"
"""States of the page in some windows: its looks, not what it does."""

EVERY = "e2e/matrix/every/*"
"""Every state in each window."""

LATE = 400
"""The most milliseconds by which an answer is late."""

ISSUES = 400
"""The number of the tracker's issues, with all their columns. The engine takes a minute to hold all 2,501 of them."""

SHARED_CORES = 3600
"""Seconds after which tests of the page count as hung. Beside the other tests they take a third of that, and the whole
matrix, which has twice that, took 68 minutes.
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    """Its functions see changes of definitions at once, so no index waits for the settling time; projects can be
    followed.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SETTLE_SECONDS", "2")
        with running_stack(tmp_path_factory.mktemp("stack"), empty=False) as running:
            yield running


def passes(stack: LocalStack, *arguments: str, workers: int = 1, **variables: str) -> None:
    addresses = [stack.page() for _ in range(workers)]
    env = {"GRIDVIEW_PAGE": " ".join(addresses), "GRIDVIEW_CHROMIUM": browser.find() or "", **variables}
    run = ran("npm", "run", "--silent", "e2e", "-w", "web", "--", *arguments, env=env)
    assert run.returncode == 0, run.stdout + run.stderr


@needs.chromium
@pytest.mark.timeout(SHARED_CORES)
def test_the_page_does_what_people_expect_of_it(stack: LocalStack) -> None:
    others = (TRACKER, PASTE, TOUCH, EVERY)
    passes(stack, *(word for one in others for word in ("--exclude", one)), workers=2)


@needs.chromium
@needs.time
@pytest.mark.timeout(SHARED_CORES)
def test_the_page_does_so_though_answers_come_late_and_overtake_each_other(stack: LocalStack) -> None:
    late = {"GRIDVIEW_LATE": str(LATE)}
    passes(stack, "--exclude", TRACKER, "--exclude", PASTE, "--exclude", MATRIX, workers=2, **late)


@needs.chromium
@needs.time
@pytest.mark.timeout(2 * SHARED_CORES)
def test_every_state_of_the_page_fits_each_window_in_each_look(stack: LocalStack) -> None:
    passes(stack, "e2e/matrix/every/", workers=2)


@needs.chromium
@needs.time
def test_the_page_works_by_touch(stack: LocalStack) -> None:
    passes(stack, TOUCH)


@needs.chromium
@needs.data
def test_the_page_does_so_with_a_real_tracker(stack: LocalStack) -> None:
    tracker = titanium("real")
    some = replace(tracker, issues=dict(islice(tracker.issues.items(), ISSUES)))
    loading.load(bulk.table_at(stack.state.engine, "gridview"), some, TENANT, "tracker")
    passes(stack, TRACKER)


@needs.chromium
@needs.time
def test_the_page_pastes_a_thousand_rows(stack: LocalStack) -> None:
    passes(stack, PASTE)
