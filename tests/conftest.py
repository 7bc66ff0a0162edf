"""How tests are shared out among processes."""

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The tests of a file stay together, since they share what they stand on; those of the deployed stack, which is one, too."""
    if config.getoption("loadgroup", default=False):
        for item in items:
            suite, file = item.path.parent.name, item.path.stem
            item.add_marker(pytest.mark.xdist_group(suite if suite == "deploy" else f"{suite}/{file}"))
