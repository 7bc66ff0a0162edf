"""The output of `npx cdk synth`: enough for `cdk deploy` and for `sam local invoke`, without anything that runs only
locally.
"""

import ast
import gzip
import hashlib
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gridview.encoding.json_codec import dumps
from infra.openapi.document import document
from infra.openapi.file import PATH
from infra.paths import ROOT
from infra.vendor import VENDOR_LOCK
from tests.support.assembly import SETTINGS, vendor
from tests.support.templates import resources

BUDGET = 50 * 1024 * 1024
"""Bytes, unzipped, of a function and its layers. Lambda's limit is 250 MB; the loaded part
determines the cold start.
"""

CODE = {"AWS::Lambda::Function", "AWS::Lambda::LayerVersion"}
OURS = {"gridview", "handler"}
DOCUMENT = PATH.name


@pytest.fixture(scope="module")
def assets(assembly: Path, local_template: dict[str, Any]) -> dict[str, Path]:
    """The folder of each function's and layer's code, found as SAM finds it."""
    found = {}
    for logical_id, resource in local_template["Resources"].items():
        if resource["Type"] in CODE:
            path = Path(resource["Metadata"]["aws:asset:path"])
            assert not path.is_absolute()
            found[logical_id] = (assembly / path).resolve()
            assert found[logical_id].is_relative_to(assembly.resolve())
    return found


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _first_party(assets: dict[str, Path]) -> list[Path]:
    return [folder for logical_id, folder in assets.items() if not logical_id.startswith("LayersVendor")]


def test_every_function_and_layer_has_its_code_in_the_assembly(assets: dict[str, Path]) -> None:
    assert len(assets) == 9
    for logical_id, folder in assets.items():
        if logical_id.endswith("Function"):
            assert (folder / "handler.py").is_file()
        elif logical_id.startswith("LayersCore"):
            assert (folder / "python" / "gridview" / "__init__.py").is_file()
        else:
            assert (folder / "python" / "pydantic" / "__init__.py").is_file()


def test_layers_and_environment_lead_to_resources_of_the_template(local_template: dict[str, Any]) -> None:
    """SAM resolves references inside the template; anything else would reach the function as an object."""
    for function in resources(local_template, "AWS::Lambda::Function").values():
        kinds = [local_template["Resources"][layer["Ref"]]["Type"] for layer in function["Layers"]]
        assert kinds == ["AWS::Lambda::LayerVersion"] * 2
        for value in function["Environment"]["Variables"].values():
            match value:
                case str():
                    assert value
                case {"Ref": logical_id} | {"Fn::GetAtt": [logical_id, _]}:
                    assert logical_id in local_template["Resources"]
                case _:
                    pytest.fail(f"SAM cannot resolve {value}")


def test_code_is_within_its_budget(local_template: dict[str, Any], assets: dict[str, Path]) -> None:
    sizes = {
        logical_id: sum(path.stat().st_size for path in _files(folder))
        for logical_id, folder in assets.items()
    }
    for logical_id, function in resources(local_template, "AWS::Lambda::Function").items():
        layers = (layer["Ref"] for layer in function["Layers"])
        assert sizes[logical_id] + sum(sizes[layer] for layer in layers) < BUDGET


def test_no_hidden_file_or_checked_bytecode_is_deployed(assets: dict[str, Path]) -> None:
    # The layer of third-party packages has their original files; `test_layers` checks those.
    for folder in _first_party(assets):
        for path in _files(folder):
            assert not path.name.startswith("."), path
            assert path.suffix != ".pyc" or unchecked(path), path


def test_every_module_has_its_bytecode_where_the_builder_is_the_functions_python(
    assets: dict[str, Path],
) -> None:
    """Python accepts it whatever dates the files have, without reading the source."""
    assert SETTINGS.python_version == f"{sys.version_info.major}.{sys.version_info.minor}"
    for folder in assets.values():
        sources = [path for path in _files(folder) if path.suffix == ".py"]
        made = {Path(importlib.util.cache_from_source(str(path))) for path in sources}
        assert sources
        # Some packages ship sources of an older Python for their tools, which no version compiles.
        assert len({path for path in made if path.is_file()}) >= 0.99 * len(made)
        assert all(unchecked(path) for path in made if path.is_file())


def test_bytecode_says_nothing_of_the_builder(assets: dict[str, Path]) -> None:
    for folder in _first_party(assets):
        for path in _files(folder):
            if path.suffix == ".pyc":
                assert str(ROOT).encode() not in path.read_bytes(), path


def test_no_file_of_the_tools_or_tests_is_deployed(assets: dict[str, Path]) -> None:
    """Neither under its own name nor as a copy under another."""
    local = {
        hashlib.sha256(path.read_bytes()).digest(): path
        for folder in ("devtools", "tests", "infra")
        for path in (ROOT / folder).rglob("*.py")
        if path.stat().st_size
    }
    assert len(local) > 20
    deployed = {
        hashlib.sha256(path.read_bytes()).digest() for folder in assets.values() for path in _files(folder)
    }
    assert {str(local[digest]) for digest in local.keys() & deployed} == set()


def test_deployed_code_knows_nothing_of_the_tools_and_signs_no_tokens(assets: dict[str, Path]) -> None:
    for folder in _first_party(assets):
        for path in _files(folder):
            if path.name == DOCUMENT:
                continue
            assert path.suffix in {".py", ".pyc", ".typed"}, path
            imported = _imported(path)
            assert not imported & {"devtools", "infra", "tests", "functions", "jwt", "jose", "authlib"}, path
            assert b"devtools" not in path.read_bytes(), path


def test_the_document_is_shipped_and_what_makes_it_is_not(assets: dict[str, Path]) -> None:
    """Only with the function that serves it. It matches the present routes."""
    files = {logical_id: {*_files(folder)} for logical_id, folder in assets.items()}
    shipped = {
        logical_id: [path for path in found if path.name == DOCUMENT] for logical_id, found in files.items()
    }
    ((logical_id, (path,)),) = ((name, found) for name, found in shipped.items() if found)
    assert logical_id == "QueryFunction"
    assert json.loads(gzip.decompress(path.read_bytes())) == json.loads(dumps(document()))
    assert path.stat().st_size < 28_000
    ours = {path for folder in _first_party(assets) for path in _files(folder)}
    assert {path.stem for path in ours} & {"examples", "openapi", "responses"} == set()


def test_deployed_code_imports_only_what_is_deployed_or_in_the_runtime(assets: dict[str, Path]) -> None:
    (vendor,) = (folder for logical_id, folder in assets.items() if logical_id.startswith("LayersVendor"))
    packaged = {entry.name.removesuffix(".py") for entry in (vendor / "python").iterdir()}
    for folder in _first_party(assets):
        for path in _files(folder):
            if path.suffix == ".py":
                missing = (
                    _imported(path)
                    - packaged
                    - OURS
                    - {"botocore", "snapshot_restore_py"}
                    - sys.stdlib_module_names
                )
                assert missing == set(), path


def test_the_layer_of_third_party_packages_was_really_built(assets: dict[str, Path]) -> None:
    (deployed,) = (folder for logical_id, folder in assets.items() if logical_id.startswith("LayersVendor"))
    assert {path.relative_to(deployed) for path in _files(deployed)} == {
        path.relative_to(vendor()) for path in _files(vendor())
    }
    assert not (deployed / VENDOR_LOCK.name).exists()


def test_the_same_sources_give_the_same_assets(assets: dict[str, Path], tmp_path: Path) -> None:
    """At any place and time; otherwise every deployment would publish new versions of unchanged functions."""
    from aws_cdk import App

    from infra.stack import GridviewStack

    app = App(outdir=str(tmp_path))
    GridviewStack(app, settings=SETTINGS)
    app.synth()
    again = {path.name for path in tmp_path.iterdir() if path.name.startswith("asset.")}
    assert {folder.name for folder in assets.values()} == again


def unchecked(bytecode: Path) -> bool:
    """Whether Python accepts it without comparing it with its source (PEP 552)."""
    return bytecode.read_bytes()[4:8] == b"\x01\0\0\0"


def _imported(path: Path) -> set[str]:
    """The top-level modules that a file imports at run time, without imports for type checkers."""
    if path.suffix != ".py":
        return set()
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names
