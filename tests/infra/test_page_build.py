"""The page is built only when its sources have changed. A script replaces npm."""

from pathlib import Path

import pytest

from infra import page_build
from infra.page_build import PageError


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose builds copy one file and are counted."""
    web, tools = tmp_path / "web", tmp_path / "tools"
    (web / "src" / "api").mkdir(parents=True)
    (web / "src" / "main.ts").write_text("1")
    (web / "package.json").write_text("{}")
    (tmp_path / "package-lock.json").write_text("{}")
    tools.mkdir()
    npm = tools / "npm"
    npm.write_text(
        "#!/bin/sh\nrm -rf web/dist; mkdir -p web/dist; echo . >> builds; date > web/src/api/schema.d.ts\n"
        "test ! -e web/broken && cp web/src/main.ts web/dist/index.html\n"
    )
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    for name, value in {
        "ROOT": tmp_path,
        "WEB": web,
        "DIST": web / "dist",
        "_MADE_FROM": web / "dist" / ".made-from",
        "_GENERATED": web / "src" / "api" / "schema.d.ts",
        "_WORK": tmp_path / ".build",
    }.items():
        monkeypatch.setattr(page_build, name, value)
    return tmp_path


def build() -> list[str]:
    said: list[str] = []
    page_build.build(said.append)
    return said


def builds(root: Path) -> int:
    return len((root / "builds").read_text().splitlines())


def test_it_is_built_once_until_a_source_changes(root: Path) -> None:
    assert build() == ["Building the page ..."]
    assert build() == []
    (root / "web" / "src" / "main.ts").write_text("2")
    assert build() == ["Building the page ..."]
    assert (root / "web" / "dist" / "index.html").read_text() == "2"
    (root / "web" / "src" / "main.ts").rename(root / "web" / "src" / "more.ts")
    (root / "web" / "src" / "main.ts").write_text("2")
    build()
    (root / "package-lock.json").write_text("{ }")
    build()
    assert builds(root) == 4


def test_files_outside_the_page_do_not_build_it_again(root: Path) -> None:
    build()
    for folder in ("e2e", "tests"):
        (root / "web" / folder).mkdir()
        (root / "web" / folder / "grid.ts").write_text("1")
    assert build() == []


def test_a_page_that_was_removed_or_built_by_hand_is_built_again(root: Path) -> None:
    build()
    (root / "web" / "dist" / ".made-from").unlink()
    build()
    assert builds(root) == 2


def test_a_failed_build_is_reported_and_tried_again(root: Path) -> None:
    (root / "web" / "broken").touch()
    for _ in range(2):
        with pytest.raises(PageError, match=r"^The page could not be built\. Read .*/\.build/web\.log\.$"):
            build()
    (root / "web" / "broken").unlink()
    assert build() == ["Building the page ..."]


def test_a_missing_tool_or_file_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(root))
    with pytest.raises(PageError, match=r"npm is not on the PATH\. Install Node"):
        build()
    (root / "web" / "package.json").unlink()
    with pytest.raises(PageError, match=r"web/ has no package\.json"):
        build()
