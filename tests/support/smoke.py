"""Reads the outcomes of `./dev smoke`."""

from devtools.smoke.steps import STEPS


def outcomes(said: str) -> dict[str, str]:
    """The outcome of each step, by name and in order."""
    lines = [line for line in said.splitlines() if line.startswith("  ")]
    found = {line[2:18].strip(): line[19:] for line in lines}
    assert list(found) == list(STEPS), said
    return found
