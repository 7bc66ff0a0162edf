"""How tests are shared out among processes: a file's stay together, since they share what they stand on (`--dist loadfile`)."""

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

_DEPLOYED = "tests/deploy/"


class _Scheduling(LoadFileScheduling):  # type: ignore[misc]
    """The tests of the deployed stack stay together too, whatever their file: it is one, and takes a minute to stand."""

    def _split_scope(self, nodeid: str) -> str:
        return _DEPLOYED if nodeid.startswith(_DEPLOYED) else str(super()._split_scope(nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _Scheduling | None:
    """Ours in the place of `loadfile`."""
    return _Scheduling(config, log) if config.getoption("dist") == "loadfile" else None
