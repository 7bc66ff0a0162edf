"""The upload of the page into its bucket: the order, the kept files, and the rights of CDK's function."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from infra import page, page_build
from infra.paths import ROOT
from infra.settings import Settings
from tests.support.templates import of_construct, resources

UPLOAD = "Custom::CDKBucketDeployment"


def test_hashed_files_are_kept_for_a_year_and_none_is_removed(template: dict[str, Any]) -> None:
    hashed = of_construct(template, UPLOAD, "FrontUploadHashed")
    assert hashed["DestinationBucketKeyPrefix"] == "assets"
    assert hashed["SystemMetadata"] == {"cache-control": page.KEEP}
    assert hashed["Prune"] is False


def test_all_else_follows_them_and_is_asked_for_again(template: dict[str, Any]) -> None:
    named = of_construct(template, UPLOAD, "FrontUploadNamed")
    assert named["SystemMetadata"] == {"cache-control": page.ASK_AGAIN}
    assert (named["Prune"], named["Exclude"]) == (True, ["assets/*"])
    assert "DestinationBucketKeyPrefix" not in named
    (first,) = (name for name in resources(template, UPLOAD) if name.startswith("FrontUploadHashed"))
    assert first in _awaited(template)


def test_the_page_is_shown_when_the_functions_that_it_calls_are_deployed(template: dict[str, Any]) -> None:
    assert {"QueryFunction", "CommandFunction", "LiveFunction", "SocketFunction"} <= set(_awaited(template))


def test_both_go_into_the_pages_bucket(template: dict[str, Any]) -> None:
    (bucket,) = (name for name in resources(template, "AWS::S3::Bucket") if name.startswith("FrontPage"))
    for one in resources(template, UPLOAD).values():
        assert one["DestinationBucketName"] == {"Ref": bucket}


def test_the_function_writes_only_this_bucket_and_its_own_logs(template: dict[str, Any]) -> None:
    statements = of_construct(template, "AWS::IAM::Policy", "FrontUploadRole")["PolicyDocument"]["Statement"]
    (bucket,) = (name for name in resources(template, "AWS::S3::Bucket") if name.startswith("FrontPage"))
    (group,) = (name for name in resources(template, "AWS::Logs::LogGroup") if name.startswith("FrontUpload"))
    writing = [one for one in statements if any("Put" in action for action in one["Action"])]
    assert [one["Resource"] for one in writing] == [
        {"Fn::GetAtt": [group, "Arn"]},
        [{"Fn::GetAtt": [bucket, "Arn"]}, {"Fn::Join": ["", [{"Fn::GetAtt": [bucket, "Arn"]}, "/*"]]}],
    ]
    role = of_construct(template, "AWS::IAM::Role", "FrontUploadRole")
    assert "ManagedPolicyArns" not in role


def test_an_emulator_and_a_stack_without_the_page_upload_nothing(
    local_template: dict[str, Any], api_template: dict[str, Any]
) -> None:
    for one in (local_template, api_template):
        assert resources(one, UPLOAD) == {}
    assert "PageConfig" in local_template["Outputs"]


@pytest.fixture
def dist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page that is already built."""
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / ".made-from").write_text("1f")
    (folder / "index.html").write_text("<!doctype html>")
    (folder / "assets" / "a-1f.js").write_text("1")
    monkeypatch.setattr(page_build, "DIST", folder)
    monkeypatch.setattr(page_build, "build", lambda say: say("Building the page ..."))
    return folder


def test_the_page_is_built_at_synthesis_and_its_configuration_comes_with_it(
    dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from aws_cdk import App, Stack

    from infra.page_files import PageFiles
    from infra.page_upload import PageUpload

    context = json.loads((ROOT / "cdk.json").read_text("utf-8"))["context"]
    stack = Stack(App(outdir=str(tmp_path / "out"), context=context), "Page")
    files = PageFiles(stack, "Page", settings=Settings(), connect=[])
    PageUpload(stack, "Upload", settings=Settings(), bucket=files.bucket, config={"auth": "cognito"})
    out = Path(stack.node.root.synth().directory)  # type: ignore[attr-defined]
    assert capsys.readouterr().err == "Building the page ...\n"
    template = json.loads((out / "Page.template.json").read_text("utf-8"))
    held = {name: _held(out, one) for name, one in resources(template, UPLOAD).items()}
    assert sorted(held.values(), key=str) == [
        [{"a-1f.js": "1"}],
        [{"index.html": "<!doctype html>"}, {"config.json": '{"auth":"cognito"}'}],
    ]


def _held(out: Path, upload: dict[str, Any]) -> list[dict[str, str]]:
    """The files of each source of an upload."""
    found = []
    for key in upload["SourceObjectKeys"]:
        folder = out / f"asset.{key.removesuffix('.zip')}"
        if folder.is_dir():
            found.append({path.name: path.read_text() for path in folder.rglob("*") if path.is_file()})
        else:
            with zipfile.ZipFile(folder.with_suffix(".zip")) as archive:
                found.append({name: archive.read(name).decode() for name in archive.namelist()})
    return found


def _awaited(template: dict[str, Any]) -> list[str]:
    (name,) = (name for name in resources(template, UPLOAD) if name.startswith("FrontUploadNamed"))
    awaited: list[str] = template["Resources"][name]["DependsOn"]
    return awaited
