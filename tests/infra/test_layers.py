"""The third-party layer: for the function's platform, from the lock file, small, and the same wherever it is built."""

import re
import sys
from pathlib import Path

import pytest
from packaging.markers import Marker

from infra import vendor as building
from infra.bytecode import fits
from infra.paths import ROOT
from infra.settings import Settings
from infra.vendor import VENDOR_LOCK, LayerError, build_vendor, strip

AARCH64 = 0xB7
"""The machine of an ELF header of a library for arm64 (e_machine)."""


def test_libraries_are_for_the_functions_platform(vendor: Path) -> None:
    libraries = list(vendor.rglob("*.so"))
    assert len(libraries) >= 4
    for library in libraries:
        header = library.read_bytes()[:20]
        assert header[:4] == b"\x7fELF"
        assert int.from_bytes(header[18:20], "little") == AARCH64
        assert ".cpython-" not in library.name or ".cpython-313-" in library.name


def test_it_holds_what_the_lock_file_says_and_no_more(vendor: Path) -> None:
    lines = re.findall(
        r"^([a-z0-9._-]+)==([^ ;\\]+)(?: ; ([^\\]+))?", VENDOR_LOCK.read_text("utf-8"), re.MULTILINE
    )
    locked = {name: version for name, version, marker in lines if not marker or Marker(marker).evaluate()}
    installed = dict(
        folder.name.removesuffix(".dist-info").rsplit("-", 1)
        for folder in (vendor / "python").glob("*.dist-info")
    )
    assert {name.replace("_", "-"): version for name, version in installed.items()} == locked


def test_the_layer_omits_packages_of_lambda_and_of_tools(vendor: Path) -> None:
    top = {entry.name for entry in (vendor / "python").iterdir()}
    assert {"aws_lambda_powertools", "pydantic", "cryptography", "orjson"} <= top
    assert not top & {"boto3", "botocore", "s3transfer", "jwt", "moto", "pytest", "ministack", "bin"}


def test_it_is_the_same_wherever_it_is_built(vendor: Path) -> None:
    """Bytecode is only for the functions' Python and needs no source. Nothing shows where or by whom it was built."""
    files = [path for path in vendor.rglob("*") if path.is_file()]
    compiled = [path for path in files if path.suffix == ".pyc"]
    assert bool(compiled) is fits(Settings().python_version)
    assert all(path.read_bytes()[4:8] == b"\x01\0\0\0" for path in compiled)
    assert not [
        path for path in files if path.name in {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}
    ]
    here = [str(ROOT).encode(), sys.prefix.encode()]
    assert not [path for path in files if any(place in path.read_bytes() for place in here)]


def test_a_second_build_installs_nothing(vendor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "_install", lambda *_: pytest.fail("it was built again"))
    assert build_vendor(python_version="3.13", architecture="arm64") == vendor


def test_every_platform_has_its_own_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "_install", lambda target, *_: target.mkdir(parents=True))
    built = {
        build_vendor(python_version=version, architecture=architecture, cache=tmp_path)
        for version in ("3.12", "3.13")
        for architecture in ("arm64", "x86_64")
    }
    assert len(built) == 4
    # CDK takes the part after a dot for the suffix of the asset.
    assert not [folder for folder in built if "." in folder.name]


def test_a_failed_build_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(target: Path, *_: str) -> None:
        target.mkdir(parents=True)
        raise LayerError("no wheel")

    monkeypatch.setattr(building, "_install", fail)
    with pytest.raises(LayerError):
        build_vendor(python_version="3.13", architecture="arm64", cache=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_lock_file_that_cannot_be_installed_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "requirements.txt"
    lock.write_text("not a requirement\n", "utf-8")
    monkeypatch.setattr(building, "VENDOR_LOCK", lock)
    with pytest.raises(LayerError, match=r"^The third-party layer could not be built: [^\n]+$"):
        build_vendor(python_version="3.13", architecture="arm64", cache=tmp_path / "cache")


def test_strip_takes_what_is_not_run_and_leaves_what_is(tmp_path: Path) -> None:
    kept = ["pkg/__init__.py", "pkg/core.so", "pkg-1.0.dist-info/METADATA", "pkg/testing.py"]
    taken = [
        "bin/pkg",
        "pkg/tests/test_core.py",
        "pkg/__pycache__/core.cpython-313.pyc",
        "pkg-1.0.dist-info/RECORD",
        "pkg-1.0.dist-info/INSTALLER",
    ]
    for name in (*kept, *taken):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, "utf-8")
    strip(tmp_path)
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} == set(kept)
