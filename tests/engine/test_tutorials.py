"""Every block of the tutorials, run as written, against a local stack with the demo."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.stacks import LocalStack, running_stack
from tests.support.tutorials import blocks_in, differences, install_dev, run
from tests.unit.test_docs import section_of, text_of

LANGUAGES = {"sh", "python", "js"}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    """A stack with the demo."""
    with running_stack(tmp_path_factory.mktemp("stack"), empty=False) as running:
        yield running


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        (text_of("docs/quickstart.md"), LANGUAGES),
        (section_of("docs/authentication.md", "## On the local stack"), LANGUAGES),
        (section_of("README.md", "## One query and its answer"), {"sh", "python"}),
    ],
    ids=["quickstart", "authentication", "readme"],
)
def test_every_block_does_what_the_page_shows(
    stack: LocalStack, tmp_path: Path, text: str, languages: set[str]
) -> None:
    blocks = blocks_in(text)
    assert {block.language for block in blocks} == languages
    install_dev(tmp_path, stack.data)
    assert list(differences(blocks, run(blocks, tmp_path))) == []
