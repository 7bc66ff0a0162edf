"""How tests are shared out among processes."""

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The tests of a file stay together, since they share what they stand on; those of the deployed stack, which is one, too."""
    if config.getoption("dist", "no") == "loadgroup":
        for item in items:
            file, folder = item.path, item.path.parent.name
            item.add_marker(pytest.mark.xdist_group(folder if folder == "deploy" else str(file)))
