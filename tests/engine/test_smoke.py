"""`./dev smoke` on a local stack: all steps but IAM succeed, including a webhook's signature and
the file of an export.
"""

from pathlib import Path

from infra import page_build
from tests.support.smoke import outcomes
from tests.support.stacks import LocalStack

NO_IAM = {"foreign keys": "not shown: a local stack has no IAM"}


def not_shown(said: str) -> dict[str, str]:
    return {name: text for name, text in outcomes(said).items() if not text.startswith("ok (")}


def test_the_smoke_test_of_a_local_stack(tmp_path: Path) -> None:
    page_build.build(print)
    stack = LocalStack(tmp_path / "data")
    stack.up("--empty", "--webhooks-to-localhost")
    try:
        done = stack.dev("smoke")
        assert (done.status, not_shown(done.stdout)) == (0, NO_IAM), done.stdout + done.stderr
        assert done.stdout.splitlines()[-1] == "7 of 8 steps passed, 0 failed, 1 not shown."
        stack.dev("down")
        stack.up()
        done = stack.dev("smoke")
        no_receiver = "not shown: this stack sends nothing to this machine: ./dev up --webhooks-to-localhost"
        assert (done.status, not_shown(done.stdout)) == (0, {**NO_IAM, "webhook": no_receiver}), done.stdout
    finally:
        stack.dev("reset")
    assert stack.dev("smoke").status == 1, "no stack runs"
