"""`./dev soak`, in short: load, kills and the comparison."""

import pytest

from tests.support import needs
from tests.support.commands import dev


@needs.time
@pytest.mark.timeout(1800)
def test_a_soak_of_three_minutes_finds_no_difference() -> None:
    done = dev("soak", "--minutes", "3")
    assert done.status == 0, done.stdout + done.stderr
    assert "0 differences" in done.stdout
