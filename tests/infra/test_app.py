"""The app as the CDK command line runs it."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from infra import pinned_cli
from infra.paths import ROOT
from tests.support.aws_stubs import ACCOUNT, Answer, answering, caller, distributions, quota, stack

CONTEXT = json.loads((ROOT / "cdk.json").read_text("utf-8"))["context"]


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the command line requests. Nothing is built, as for `cdk list`."""
    from aws_cdk import App

    from infra import app

    for name in ("CDK_DEFAULT_ACCOUNT", "CDK_DEFAULT_REGION", "CDK_CLI_VERSION"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "out"
    # JSII's process keeps its first environment, so the app gets the values of the command line from here.
    made = partial(App, outdir=str(folder), context={**CONTEXT, "aws:cdk:bundling-stacks": []})
    monkeypatch.setattr(app, "App", made)
    return folder


def _outputs(out: Path) -> dict[str, Any]:
    template = json.loads((out / "Gridview.template.json").read_text("utf-8"))
    return {name: one["Value"] for name, one in template["Outputs"].items()}


def _run(monkeypatch: pytest.MonkeyPatch, *answers: Answer) -> None:
    from infra import app

    with answering(*answers) as made:
        monkeypatch.setattr(app, "clients", lambda _: made)
        app.main()


def test_another_command_line_than_the_pinned_one_is_refused(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from infra.app import main

    monkeypatch.setenv("CDK_CLI_VERSION", "2.9999.0")
    with pytest.raises(SystemExit, match=r"2\.9999\.0.*Run `npm ci`"):
        main()
    assert not (out / "manifest.json").exists()


def test_the_pinned_one_is_that_of_the_lock_file(tmp_path: Path) -> None:
    declared = json.loads((ROOT / "package.json").read_text("utf-8"))["devDependencies"]["aws-cdk"]
    pinned_cli.require_pinned_cli({"CDK_CLI_VERSION": declared})
    lock = tmp_path / "package-lock.json"
    lock.write_text(json.dumps({"packages": {"node_modules/aws-cdk": {"version": "3.0.0"}}}))
    pinned_cli.require_pinned_cli({"CDK_CLI_VERSION": "3.0.0"}, lock)
    with pytest.raises(pinned_cli.CliError, match=r"is deployed with 3\.0\.0"):
        pinned_cli.require_pinned_cli({"CDK_CLI_VERSION": declared}, lock)


def test_a_new_stack_is_synthesized_unprotected_and_says_so(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDK_DEFAULT_ACCOUNT", ACCOUNT)
    _run(monkeypatch, caller(), stack(None), distributions(1), quota(1_000))
    outputs = _outputs(out)
    assert outputs["Protected"].startswith("no: deploy again")
    assert outputs["ReservedConcurrency"] == "360"


def test_another_account_is_refused_before_anything_is_written(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDK_DEFAULT_ACCOUNT", ACCOUNT)
    with pytest.raises(SystemExit, match=r"AWS_PROFILE=NAME"):
        _run(monkeypatch, caller("210987654321"))
    assert not (out / "manifest.json").exists()


def test_offline_the_app_synthesizes_the_protected_stack(out: Path) -> None:
    from infra.app import main

    main()
    assert _outputs(out)["Protected"] == "yes"
