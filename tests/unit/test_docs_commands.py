"""Every `./dev` command of the pages, checked by the parser that will read it, and the runbook's
for the right stack.
"""

import re

import pytest

from tests.support.dev_commands import commands_in, lacks_its_stack, named_in, typed_in, why_wrong
from tests.unit.test_docs import PAGES, ROOT, section_of, text_of

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


CALLS = re.compile(r"""(?:[cC]lient|boto3\.client\("[\w-]+"\))\.(?:get_paginator\("(\w+)"|([a-z]\w+)\()""")
"""A call of an AWS client."""

RIGHTS = {"list_objects_v2": "ListBucket", "list_multipart_uploads": "ListBucketMultipartUploads"}
"""Rights in IAM with another name than the call."""


def test_the_page_names_the_rights_that_the_calls_of_the_commands_need() -> None:
    """Of the clients of AWS; the core reads and writes the table."""
    section = section_of("docs/operating.md", "## Rights that the commands need")
    named = {one.partition(":")[2] or one for one in re.findall(r"`([\w:-]+)`", section)}
    files = [*(ROOT / "devtools/operate").rglob("*.py"), *(ROOT / "devtools/restore").rglob("*.py")]
    files.append(ROOT / "layers/core/python/gridview/api/sealing.py")
    called = {one or two for file in files for one, two in CALLS.findall(file.read_text("utf-8"))}
    called -= {"get_paginator"}
    assert called >= {"receive_message", "list_users", "describe_stacks", "put_secret_value"}
    assert {RIGHTS.get(one, one.title().replace("_", "")) for one in called} - named == set()
