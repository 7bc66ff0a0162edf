"""The front end: strict TypeScript, ESLint, Vitest, and a client made from this tree's OpenAPI document."""

from pathlib import Path

import pytest

from devtools.paths import ROOT
from infra.openapi.document import document
from tests.support.commands import ran

SCHEMA = Path("web/src/api/schema.d.ts")


@pytest.mark.parametrize("script", ["check", "test"])
def test_the_front_end_passes(script: str) -> None:
    run = ran("npm", "run", "--silent", script, "-w", "web")
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_client_is_generated_from_the_document_and_never_committed() -> None:
    assert ran("npm", "run", "--silent", "api", "-w", "web").returncode == 0
    made = (ROOT / SCHEMA).read_text("utf-8")
    for path, operations in document()["paths"].items():
        assert f'    "{path}": {{' in made
        for operation in operations.values():
            assert f'operations["{operation["operationId"]}"]' in made
    assert ran("git", "check-ignore", "-q", str(SCHEMA)).returncode == 0
