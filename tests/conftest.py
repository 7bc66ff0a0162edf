"""How tests are shared out among processes: a file's stay together, since they share what they stand on (`--dist loadfile`)."""

import gc
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

_TOGETHER = ("tests/deploy/", "tests/infra/")


class _Scheduling(LoadFileScheduling):  # type: ignore[misc]
    """The tests of the deployed stack and those of the synthesized one stay together too: each is one, and takes long to stand."""

    def _split_scope(self, nodeid: str) -> str:
        suite = next((suite for suite in _TOGETHER if nodeid.startswith(suite)), None)
        return suite or str(super()._split_scope(nodeid))


def pytest_collection_finish() -> None:
    """What was imported and collected stays: the garbage collector need not look at it again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _Scheduling | None:
    """Ours in the place of `loadfile`."""
    return _Scheduling(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `npx cdk synth` writes; the tests of the template look at it, and those of the deployment deploy it."""
    from tests.support.assembly import synthesize_by_command

    return synthesize_by_command(tmp_path_factory.mktemp("cdk"))
