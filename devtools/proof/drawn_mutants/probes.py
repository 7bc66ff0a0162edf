"""Probes in the core's functions: a test's run sets those of the blocks that it executes. No I/O.

A probe is a number of a module. The statements of a block that run one after another share one, and each lambda has its own.
Module and class bodies have none, since they run once, before any test.
"""

import ast
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType

_HITS = "__probe_hits__"


def numbered(tree: ast.Module) -> dict[ast.AST, int]:
    """The probe of each statement in a function, and of each lambda. A statement after a nested block has a new one."""
    numbers: dict[ast.AST, int] = {}
    last = -1
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            numbers[node] = last = last + 1
        for block in _blocks(node):
            is_new = True
            for statement in block:
                last += is_new
                numbers[statement] = last
                is_new = any(_blocks(statement))
    return numbers


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    if isinstance(node, ast.Module | ast.ClassDef):
        return []
    fields = [field for _, field in ast.iter_fields(node) if isinstance(field, list)]
    return [field for field in fields if field and isinstance(field[0], ast.stmt)]


def _with_probes(tree: ast.Module) -> int:
    """Insert the probes of a module; returns how many it has."""
    numbers = numbered(tree)
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.Lambda):
            call = ast.parse(f"{_HITS}.__setitem__({numbers[node]}, 1)", mode="eval").body
            node.body = ast.BoolOp(ast.Or(), [call, node.body])
        for block in _blocks(node):
            last = -1
            for statement in list(block):
                if numbers[statement] != last and not _is_text(statement):
                    last = numbers[statement]
                    block.insert(block.index(statement), ast.parse(f"{_HITS}[{last}] = 1").body[0])
    ast.fix_missing_locations(tree)
    return max(numbers.values(), default=-1) + 1


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class Probed(SourceFileLoader):
    """Loads a module with its probes."""

    hits: dict[str, bytearray] = {}  # noqa: RUF012 - of all modules of this process
    """The probes of each loaded module: 1 where a block was executed."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module; its probes are in `hits` under its name."""
        code = self.get_code(self.name)
        setattr(module, _HITS, self.hits[self.name])
        exec(code, module.__dict__)  # noqa: S102 - as every loader does

    def get_code(self, fullname: str) -> CodeType:
        """Compiled with the probes, and not kept on disk."""
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path))
        self.hits.setdefault(fullname, bytearray(_with_probes(tree)))
        code: CodeType = compile(tree, path, "exec")
        return code
