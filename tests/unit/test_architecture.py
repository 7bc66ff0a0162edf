"""The dependency rule: who may import what, read from the source itself."""

import ast
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gridview

ROOT = Path(__file__).parents[2]
CORE = Path(str(gridview.__file__)).parent
MODULES = sorted(path.stem for path in CORE.glob("*.py"))
HANDLERS = sorted((ROOT / "functions").glob("*/*.py"))

TALK_TO_AWS = {"storage", "deadletters"}
AWS = {"boto3", "botocore"}
IO = {
    *TALK_TO_AWS,
    "attributes",
    "batch",
    "beside",
    "catalogs",
    "chaincheck",
    "chains",
    "composites",
    "config",
    "consumer",
    "counting",
    "derive",
    "explaining",
    "fsck",
    "fsckdefinitions",
    "fsckrun",
    "fsckvisits",
    "fsckwalks",
    "grid",
    "groupreading",
    "http",
    "idempotency",
    "issues",
    "jobs",
    "lag",
    "membership",
    "mend",
    "passes",
    "pagereading",
    "position",
    "projects",
    "readalong",
    "readblocks",
    "readwalk",
    "readwhole",
    "repairs",
    "setreading",
    "stations",
    "straighten",
    "total",
    "upkeep",
    "usage",
}
"""The modules that have a part in reading and writing. All others compute."""

THIRD_PARTY = {"aws_lambda_powertools", "cryptography", "orjson", "pydantic", "pyroaring"}


def imported(path: Path, *, typing_too: bool = False) -> Iterator[str]:
    """The full names of what a file imports, without what only type checkers see."""
    tree = ast.parse(path.read_text("utf-8"))
    hidden = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not typing_too
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if node in hidden:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: a relative import"
            yield str(node.module)
            if node.module == "gridview":
                yield from (f"gridview.{alias.name}" for alias in node.names)


def tops(path: Path, **options: bool) -> set[str]:
    return {name.partition(".")[0] for name in imported(path, **options)}


def of_the_core(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imported(path) if name.startswith("gridview.")}


@pytest.mark.parametrize("module", MODULES)
def test_aws_is_talked_to_in_two_modules_alone(module: str) -> None:
    assert bool(tops(CORE / f"{module}.py", typing_too=True) & AWS) == (module in TALK_TO_AWS)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_the_standard_library_the_core_and_the_vendor_layer_alone(module: str) -> None:
    foreign = tops(CORE / f"{module}.py") - sys.stdlib_module_names - {"gridview"} - AWS
    assert foreign <= THIRD_PARTY


PURE_PARTS_OF_IO = {
    "derive": {"Image", "Underivable", "target_of"},
    "setreading": {"Reads", "Want"},
    "storage": {"Bound", "Condition", "Item"},
}
"""Plain values and pure functions that live beside the code that reads and writes."""


@pytest.mark.parametrize("module", sorted({*MODULES} - IO - {"openapi"}))
def test_a_module_that_computes_imports_none_that_does_io(module: str) -> None:
    for name in of_the_core(CORE / f"{module}.py") & IO:
        tree = ast.parse((CORE / f"{module}.py").read_text("utf-8"))
        taken = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == f"gridview.{name}"
            for alias in node.names
        }
        assert taken, f"{module} imports all of {name}"
        assert taken <= PURE_PARTS_OF_IO.get(name, set())


def test_the_list_of_io_modules_holds_no_module_that_is_not_there() -> None:
    assert {*MODULES} >= IO


def test_the_core_has_no_circle_of_imports() -> None:
    wanted = {module: of_the_core(CORE / f"{module}.py") & {*MODULES} for module in MODULES}
    while wanted:
        free = {module for module, needs in wanted.items() if not needs & wanted.keys()}
        assert free, f"a circle among {sorted(wanted)}"
        wanted = {module: needs for module, needs in wanted.items() if module not in free}


@pytest.mark.parametrize("path", HANDLERS, ids=lambda path: path.parent.name)
def test_a_handler_imports_the_core_and_powertools_alone(path: Path) -> None:
    assert tops(path) - sys.stdlib_module_names == {"gridview", "aws_lambda_powertools"}


def test_nothing_above_a_handler_is_known_to_the_core() -> None:
    deployed = [*CORE.glob("**/*.py"), *HANDLERS]
    assert len(deployed) > len(HANDLERS) > 0
    for path in deployed:
        assert not tops(path, typing_too=True) & {"app", "devtools", "functions", "infra", "tests"}, path


@pytest.mark.parametrize(
    "path",
    [*(CORE / f"{module}.py" for module in MODULES), *HANDLERS],
    ids=lambda path: f"{path.parent.name}.{path.stem}",
)
def test_a_module_says_in_a_sentence_what_it_is_for(path: Path) -> None:
    told = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    assert re.match(r"[\w\"'`].{15,}", told)


def test_the_vendor_layer_locks_what_the_core_imports() -> None:
    locked = (ROOT / "layers/vendor/requirements.txt").read_text("utf-8").lower().replace("-", "_")
    for name in THIRD_PARTY:
        assert re.search(rf"^{name}==", locked, re.MULTILINE), name


@pytest.mark.parametrize("module", sorted({*MODULES} - IO))
def test_importing_a_module_that_computes_needs_no_environment(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TABLE_NAME", "CURSOR_SECRET", "CURSOR_SECRET_ARN", "AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    name = "gridview" if module == "__init__" else f"gridview.{module}"
    assert importlib.import_module(name).__doc__
