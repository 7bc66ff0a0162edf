"""The functions use the botocore of Lambda's runtime, in any version: the allowed uses (decision 0071)."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import gridview
from infra.paths import ROOT
from tests.support.botocore_names import NAMES

CORE = Path(str(gridview.__file__)).parent
DEPLOYED = [*CORE.rglob("*.py"), *(ROOT / "functions").rglob("*.py")]


def imported() -> set[str]:
    """The botocore imports of the deployed code: `module:name`, or a module as a whole."""
    found = set()
    for path in DEPLOYED:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.ImportFrom(module=str(module), names=names) if (
                    module.partition(".")[0] == "botocore"
                ):
                    found |= {f"{module}:{one.name}" for one in names}
                case ast.Import(names=names):
                    found |= {one.name for one in names if one.name.partition(".")[0] == "botocore"}
    return found


def test_the_deployed_code_uses_of_botocore_what_other_versions_are_asked_for() -> None:
    assert imported() == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_this_version_has_it(name: str) -> None:
    module, _, inner = name.partition(":")
    found = importlib.import_module(module)
    assert not inner or hasattr(found, inner)


def test_unit_and_deploy_tests_run_on_different_versions() -> None:
    """The newest here, and an older one in MiniStack, which the deployed functions use."""
    versions = {}
    for lock in ("dev", "ministack"):
        (version,) = re.findall(
            r"^botocore==([\d.]+)", (ROOT / "requirements" / f"{lock}.txt").read_text("utf-8"), re.MULTILINE
        )
        versions[lock] = tuple(map(int, version.split(".")))
    assert versions["ministack"][:2] < versions["dev"][:2]


def test_no_lock_of_the_functions_pins_it() -> None:
    lock = (ROOT / "layers" / "vendor" / "requirements.txt").read_text("utf-8")
    assert not re.search(r"^(boto3|botocore|s3transfer|urllib3)==", lock, re.MULTILINE)
