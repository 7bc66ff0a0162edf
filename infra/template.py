"""The stack as plain data: no network, no account, no layer to build."""

import json
import tempfile
from typing import Any, cast

from aws_cdk import App
from aws_cdk.assertions import Template

from infra.checks import add_checks
from infra.paths import ROOT
from infra.settings import Settings
from infra.stack import GridviewStack


def synthesize(settings: Settings | None = None) -> dict[str, Any]:
    """The CloudFormation template of a deployment with these settings, checked like every other synthesis.

    Raises:
        RuntimeError: cdk-nag found something.
    """
    context = json.loads((ROOT / "cdk.json").read_text("utf-8"))["context"]
    with tempfile.TemporaryDirectory(prefix="gridview-synth-") as folder:
        app = App(outdir=folder, context={**context, "aws:cdk:bundling-stacks": []})
        add_checks(app)
        stack = GridviewStack(app, settings=settings or Settings())
        return cast(dict[str, Any], Template.from_stack(stack).to_json())
