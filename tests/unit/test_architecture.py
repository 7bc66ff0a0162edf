"""The architecture, read from the source itself: the allowed imports, the modules with I/O, and one meaning for each
name.
"""

import ast
import importlib
import re
import sys
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import gridview

ROOT = Path(__file__).parents[2]
CORE = Path(str(gridview.__file__)).parent
HANDLERS = sorted((ROOT / "functions").glob("*/*.py"))

OURS = ("devtools", "functions", "infra", "tests")
"""The folders of modules outside the core."""

LAYERS: tuple[frozenset[str], ...] = tuple(
    frozenset(layer.split())
    for layer in (
        "support",
        "encoding",
        "dynamodb",
        "formulas",
        "schema",
        "derive",
        "chains",
        "journal",
        "view",
        "query commands fsck",
        "maintenance live",
        "api",
        "query_api command_api live_api",
    )
)
"""The packages from the bottom up: each imports those of the layers below its own, and itself."""

FILES = {
    f"{path.parent.name}.{path.stem}": path for path in sorted(CORE.glob("*/*.py")) if path.stem != "__init__"
}
"""Every module of the core, as `package.module`."""

PACKAGES = sorted({name.partition(".")[0] for name in FILES})

AWS = {"boto3", "botocore"}
RUNTIME = {"botocore", "snapshot_restore_py"}
"""The packages of Lambda's Python runtime."""
TALK_TO_AWS = {
    "live.management_client",
    "live.wire",
    "dynamodb.client",
    "dynamodb.sessions",
    "dynamodb.signed_client",
    "dynamodb.table",
    "support.aws",
    "support.connections",
    "support.signed_requests",
}
THIRD_PARTY = {"aws_lambda_powertools", "cryptography", "orjson", "pydantic", "pyroaring"}

OUTSIDE = {"aws_lambda_powertools", "os", "socket"} | AWS
"""Imports through which a module reaches beyond the process: AWS, the environment, or other servers."""


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file. Do not change it."""
    return ast.parse(path.read_text("utf-8"))


def imported(path: Path, *, typing_too: bool = False) -> Iterator[str]:
    """The full names of the modules that a file imports, without what only type checkers see."""
    tree = parsed(path)
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
            assert node.level == 0, f"{path}: a relative import"
            module = str(node.module)
            if module == "gridview" or module.removeprefix("gridview.") in PACKAGES:
                yield from (f"{module}.{alias.name}" for alias in node.names)
            else:
                yield module


def imported_at_once(statements: Iterable[ast.AST]) -> Iterator[str]:
    """The imports of statements at their execution, as `module` or `module.name`."""
    for statement in statements:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)
        elif isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            continue
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = (node for node in ast.iter_child_nodes(statement) if not isinstance(node, ast.expr))
            yield from imported_at_once(inner)


def within(modules: Container[str], name: str) -> Iterator[str]:
    """The modules of this project that an import of a name loads: its own, and the packages around it."""
    while name:
        if name in modules:
            yield name
        name = name.rpartition(".")[0]


def tops(path: Path, *, typing_too: bool = False) -> set[str]:
    return {name.partition(".")[0] for name in imported(path, typing_too=typing_too)}


def of_the_core(path: Path) -> set[str]:
    return {
        name.removeprefix("gridview.")
        for name in imported(path, typing_too=True)
        if name.startswith("gridview.")
    }


def calls(path: Path) -> set[str]:
    """The names of the functions and classes that a file calls."""
    tree = parsed(path)
    return {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def docstring(path: Path) -> str:
    return ast.get_docstring(parsed(path)) or ""


def doing_io(package: str) -> set[str]:
    """The modules of a package with I/O, according to the last paragraph of its docstring: `I/O: client, table.` or
    `I/O: none.`
    """
    last = " ".join(docstring(CORE / package / "__init__.py").split("\n\n")[-1].split())
    found = re.fullmatch(r"I/O: ([a-z_]+(?:, [a-z_]+)*)\.", last)
    assert found, f"{package} does not say which of its modules do I/O"
    named = found[1].split(", ")
    assert named == sorted(set(named)), f"{package} does not name its modules that do I/O in order"
    return set() if named == ["none"] else {f"{package}.{name}" for name in named}


IO = {name for package in PACKAGES for name in doing_io(package)}


def test_the_packages_are_those_of_the_rule() -> None:
    assert sorted(package for layer in LAYERS for package in layer) == PACKAGES
    assert [path.name for path in CORE.glob("*.py")] == ["__init__.py"]
    assert len(FILES) > 50


def test_a_package_imports_only_those_below_it() -> None:
    level = {package: at for at, layer in enumerate(LAYERS) for package in layer}
    against = {
        f"{name} imports {other}"
        for name, path in FILES.items()
        for other in of_the_core(path)
        if (own := name.partition(".")[0]) != (package := other.partition(".")[0])
        and level[package] >= level[own]
    }
    assert not against


def test_the_core_has_no_circle_of_imports() -> None:
    """Even with the imports inside functions, and with imports for type checkers."""
    wanted = {name: of_the_core(path) for name, path in FILES.items()}
    assert all(needs <= FILES.keys() for needs in wanted.values())
    TopologicalSorter(wanted).prepare()


def test_no_module_is_imported_while_it_imports() -> None:
    """With any first import: a circle may do no harm for years, until an import begins at another place of it."""
    modules = {
        ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__"): path
        for folder, top in ((CORE.parent, CORE.name), *((ROOT, top) for top in OURS))
        for path in (folder / top).rglob("*.py")
    }
    assert len(modules) > 500
    wanted = {
        name: {
            needed
            for imported in imported_at_once(parsed(path).body)
            for needed in within(modules, imported)
            if not f"{name}.".startswith(f"{needed}.")
        }
        for name, path in modules.items()
    }
    TopologicalSorter(wanted).prepare()


@pytest.mark.parametrize("name", FILES)
def test_only_a_few_modules_call_aws(name: str) -> None:
    assert bool(tops(FILES[name], typing_too=True) & AWS) == (name in TALK_TO_AWS)


@pytest.mark.parametrize("name", FILES)
def test_a_module_imports_only_the_standard_library_the_core_and_the_vendor_layer(name: str) -> None:
    assert tops(FILES[name]) - sys.stdlib_module_names - {"gridview"} - AWS - RUNTIME <= THIRD_PARTY


@pytest.mark.parametrize("name", sorted(FILES.keys() - IO))
def test_a_module_that_computes_imports_none_that_does_io(name: str) -> None:
    assert not of_the_core(FILES[name]) & IO
    assert not tops(FILES[name]) & OUTSIDE


@pytest.mark.parametrize("name", sorted(IO))
def test_a_module_that_is_said_to_do_io_does(name: str) -> None:
    path = FILES[name]
    assert of_the_core(path) & IO or tops(path) & OUTSIDE


def test_threads_of_a_request_know_the_tenant_of_the_request() -> None:
    """Work in threads gets the context of its caller. The check of the whole table serves no tenant."""
    threading = {name for name, path in FILES.items() if "ThreadPoolExecutor" in calls(path)}
    carrying = {name for name, path in FILES.items() if "in_context" in calls(path)}
    assert {name for name in threading if not name.startswith("fsck.")} == carrying


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_holds_nothing_but_a_docstring(package: str) -> None:
    (statement,) = parsed(CORE / package / "__init__.py").body
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Constant)


def defined(path: Path) -> Iterator[str]:
    """The classes and type aliases that a module defines; type variables belong to their functions."""
    tree = parsed(path)
    yield from (node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    for node in tree.body:
        if isinstance(node, ast.Assign) and not ast.unparse(node.value).startswith("TypeVar("):
            for target in node.targets:
                if isinstance(target, ast.Name) and re.fullmatch(r"_?[A-Z]\w*[a-z]\w*", target.id):
                    yield target.id


def test_a_name_of_a_class_is_defined_once() -> None:
    modules = defaultdict(set)
    for name, path in FILES.items():
        for one in defined(path):
            modules[one].add(name)
    assert {one: sorted(where) for one, where in modules.items() if len(where) > 1} == {}


KEYS_TAKEN_APART = {
    "query.bitmap_filter",
    "query.buckets",
    "query.group_blocks",
    "query.key_ranges",
    "query.summary_columns",
}
"""Modules of `query` that still know the form of a key. The list must become empty."""


def test_only_the_encoding_knows_how_a_key_is_made() -> None:
    parts = {"ESCAPE", "NUMBER_WIDTH", "SEPARATOR"}
    cuts = re.compile(r"""\.(?:r?partition|r?split)\(['"]\.['"]""")
    knowing = set()
    for name, path in FILES.items():
        tree = parsed(path)
        used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        used |= {
            alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
        }
        if used & parts or any(one.endswith("_PREFIX") for one in used) or cuts.search(ast.unparse(tree)):
            knowing.add(name)
    assert {name for name in knowing if not name.startswith("encoding.")} == KEYS_TAKEN_APART


@pytest.mark.parametrize("path", HANDLERS, ids=lambda path: path.parent.name)
def test_a_handler_imports_only_the_core_and_powertools(path: Path) -> None:
    assert tops(path) - sys.stdlib_module_names == {"gridview", "aws_lambda_powertools"}


def test_nothing_above_a_handler_is_known_to_the_core() -> None:
    deployed = [*CORE.glob("**/*.py"), *HANDLERS]
    assert len(deployed) > len(HANDLERS) > 0
    for path in deployed:
        assert not tops(path, typing_too=True) & {"app", "devtools", "functions", "infra", "tests"}, path


@pytest.mark.parametrize(
    "path", [*CORE.glob("**/*.py"), *HANDLERS], ids=lambda path: f"{path.parent.name}.{path.stem}"
)
def test_a_module_says_in_a_sentence_what_it_is_for(path: Path) -> None:
    assert re.match(r"[\w\"'`].{15,}", docstring(path))


def test_the_vendor_layer_locks_what_the_core_imports() -> None:
    locked = (ROOT / "layers/vendor/requirements.txt").read_text("utf-8").lower().replace("-", "_")
    for name in THIRD_PARTY:
        assert re.search(rf"^{name}==", locked, re.MULTILINE), name


@pytest.mark.parametrize("name", sorted(FILES.keys() - IO))
def test_importing_a_module_that_computes_needs_no_environment(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in (
        "TABLE_NAME",
        "CURSOR_SECRET",
        "CURSOR_SECRET_ARN",
        "WEBHOOK_SECRET_ARN",
        "AWS_DEFAULT_REGION",
        "AWS_REGION",
    ):
        monkeypatch.delenv(variable, raising=False)
    assert importlib.import_module(f"gridview.{name}").__doc__


NO_DOCUMENTS = {
    "block_membership": "ledgers, and whole collections that `issue_diff` judges",
    "chain_check": "names of issues in findings",
    "committer": "sort entries",
    "column_check": "ledgers, and whole collections that `issue_diff` judges",
    "column_fold": "ledgers",
    "replay": "ledgers and sort entries",
    "row_moves": "documents in the trash too: they have the values from before the delete",
    "export": "documents of which `as_of` asks it",
    "bulk": "documents of which `bulk_decision` asks it",
}
"""Modules of the core that make keys of issues, but need no check of the trash, with their reads or writes."""


def test_modules_that_read_documents_by_key_check_whether_they_are_deleted() -> None:
    """A module that makes the key of an issue, or fetches documents, knows the trash or is exempt."""

    def makes_keys(path: Path) -> bool:
        tree = parsed(path)
        return any(
            (isinstance(one, ast.Attribute) and one.attr == "issue" and ast.unparse(one.value) == "keys")
            or (isinstance(one, ast.Name) and one.id in {"issue_key", "documents_by_number"})
            for one in ast.walk(tree)
        )

    makers = {name.partition(".")[2] for name, path in FILES.items() if makes_keys(path)}
    asking = {name.partition(".")[2] for name, path in FILES.items() if "schema.trash" in of_the_core(path)}
    assert makers - asking == NO_DOCUMENTS.keys()


MOST_PARAMETERS = 8
MOST_ATTRIBUTES = 12
MOST_LINES = 600


def test_no_module_is_longer_than_can_be_read_at_once() -> None:
    lengths = {name: len(path.read_text("utf-8").splitlines()) for name, path in FILES.items()}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


def test_no_function_takes_more_than_a_few_parameters() -> None:
    """Values that are often passed together form a context, or a value of their own."""

    def parameters(one: ast.FunctionDef) -> int:
        named = [*one.args.posonlyargs, *one.args.args, *one.args.kwonlyargs]
        return len(named) - (bool(named) and named[0].arg in {"self", "cls"})

    many = {
        f"{name}:{one.name}"
        for name, path in FILES.items()
        for one in ast.walk(parsed(path))
        if isinstance(one, ast.FunctionDef) and parameters(one) > MOST_PARAMETERS
    }
    assert not many


def test_no_class_keeps_more_state_than_can_be_followed() -> None:
    """Apart from the arguments of its constructor."""

    def kept(one: ast.ClassDef) -> set[str]:
        return {
            node.attr
            for node in ast.walk(one)
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and ast.unparse(node.value) == "self"
        }

    def given(one: ast.ClassDef) -> set[str]:
        makers = (node for node in one.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
        return {named.arg for maker in makers for named in (*maker.args.args, *maker.args.kwonlyargs)}

    much = {
        f"{name}:{one.name}"
        for name, path in FILES.items()
        for one in ast.walk(parsed(path))
        if isinstance(one, ast.ClassDef)
        and len({attribute for attribute in kept(one) if attribute.lstrip("_") not in given(one)})
        > MOST_ATTRIBUTES
    }
    assert not much
