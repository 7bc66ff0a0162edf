"""What `./dev smoke` says of each step."""

from devtools.smoke.steps import STEPS


def outcomes(said: str) -> dict[str, str]:
    """What it says of each step, by name: of every one, in their order."""
    lines = [line for line in said.splitlines() if line.startswith("  ")]
    found = {line[2:18].strip(): line[19:] for line in lines}
    assert list(found) == list(STEPS), said
    return found
