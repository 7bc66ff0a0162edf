"""Every `./dev` command of the pages, checked by the parser that will read it, and the runbook's
for the right stack.
"""

import pytest

from tests.support.dev_commands import commands_in, lacks_its_stack, named_in, typed_in, why_wrong
from tests.unit.test_docs import PAGES, ROOT, text_of

WORKFLOW = "docs/github-actions.yml"
RUNBOOKS = {"docs/runbook.md", "docs/operating.md", "docs/restore.md", "docs/secrets.md"}
"""Pages whose commands act on a deployed stack."""


def test_there_are_commands_to_look_at() -> None:
    assert sum(len([*typed_in(text_of(page))]) for page in PAGES) > 30
    assert sum(len([*named_in(text_of(page))]) for page in PAGES) > 100


@pytest.mark.parametrize("page", PAGES)
def test_every_command_that_a_page_shows_is_one_that_dev_takes(page: str) -> None:
    text = text_of(page)
    assert {command: why_wrong(command) for command in typed_in(text) if why_wrong(command)} == {}
    only_named = page not in RUNBOOKS
    wrong = {command: why_wrong(command, only_named=only_named) for command in named_in(text)}
    assert {command: why for command, why in wrong.items() if why} == {}


def test_every_command_of_the_workflow_is_one_that_dev_takes() -> None:
    commands = [*typed_in(f"```yaml\n{(ROOT / WORKFLOW).read_text('utf-8')}```\n")]
    assert len(commands) > 3
    assert {command: why_wrong(command) for command in commands if why_wrong(command)} == {}


@pytest.mark.parametrize("page", PAGES)
def test_a_command_for_a_deployed_stack_says_which_one(page: str) -> None:
    """Without `--deployed` it would act on the local stack, and without `--stack-name` on another stage's."""
    whole = page in RUNBOOKS
    commands = [one for one in commands_in(text_of(page)) if whole or "--deployed" in one]
    assert [one for one in commands if lacks_its_stack(one)] == []


@pytest.mark.parametrize(
    "command",
    [
        "./dev fsk --deployed",
        "./dev fsck --deploy --stack-name $STACK",
        "./dev fsck --repairs",
        "./dev dlq redirve --all",
        "./dev reindex --tenant 0807",
        "./dev deploy -c stage=production",
        "./dev jobs now",
    ],
)
def test_a_command_that_dev_does_not_take_is_found(command: str) -> None:
    assert why_wrong(command)


def test_a_stack_that_is_not_named_is_found() -> None:
    assert lacks_its_stack("./dev fsck --repair")
    assert lacks_its_stack("./dev dlq list --deployed")
    assert lacks_its_stack("./dev jobs --stack-name $STACK")
    assert not lacks_its_stack("./dev jobs --deployed --stack-name $STACK")
    assert not lacks_its_stack("./dev up")
