"""Six scenarios of the fault simulator over DynamoDB Local: the engine behaves like the table in memory.

`./dev prove` plays a hundred.
"""

from devtools.local.engine import Engine
from devtools.proof.faults import local, scenarios
from devtools.proof.prove import proofs

SCENARIOS = 6


def test_scenarios_end_without_a_difference(engine: Engine) -> None:
    proven = proofs.play(list(scenarios.seeds(SCENARIOS)), local.on(engine), 1)
    assert list(proven.differences) == []
    assert proven.figures.startswith(f"{SCENARIOS} scenarios, ")
