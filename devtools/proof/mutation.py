"""Spoils a function of the core by its syntax tree: a pattern matches in exactly one place, and its match is replaced.

A pattern is Python. In it

- `_` is any one expression;
- `...` is any number of arguments, elements or statements, keywords and all;
- `X` (one capital letter) is any expression, or as a line of its own any statement, and is repeated in the replacement;
- `HERE` is the part that is replaced, and any expression; `(HERE := p)` one that matches `p`. By default, the whole is.

Names and attributes match as they are written, so a pattern names the subject of the mutant and leaves the rest open.
A rename or another layout of the code around it changes nothing. A replacement is Python too; an empty one removes
the part.
"""

import ast
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, Protocol, cast

from devtools.failure import Failure

_HERE = "HERE"


class Change(Protocol):
    """One change of a module's text: a mutation by hand, or one that is drawn."""

    @property
    def place(self) -> str:
        """The function as `package.module:Class.function`; a change outside of functions has no colon."""

    @property
    def module(self) -> str:
        """The module's full name."""

    def spoilt(self, text: str) -> ast.Module:
        """Return the module of this text with the change in it."""


def module_of(place: str) -> str:
    """The full name of a place's module."""
    module = place.partition(":")[0]
    return module if module.startswith("functions.") else f"gridview.{module}"


class Mutation(NamedTuple):
    """In `place` (`package.module:Class.function`, of the core or of `functions`) what matches `pattern` becomes `instead`."""

    place: str
    pattern: str
    instead: str

    @property
    def module(self) -> str:
        """The module's full name."""
        return module_of(self.place)

    @property
    def of_a_function(self) -> bool:
        """Whether it is inside a function or a method."""
        return ":" in self.place

    def spoilt(self, text: str) -> ast.Module:
        """The module of this text with the mutation in it; Failure when that has no place there, or several, or changes nothing."""
        tree = ast.parse(text)
        scope = _scope(tree, self.place)
        found = list(_matches(scope, ast.parse(self.pattern).body))
        if len(found) != 1:
            raise Failure(f"{self.pattern!r} has {len(found)} places in {self.place}.")
        ((nodes, captured),) = found
        replaced = [captured.pop(_HERE)] if _HERE in captured else nodes
        instead = _filled(self.instead, captured, as_expression=isinstance(replaced[0], ast.expr))
        if [*map(ast.dump, replaced)] == [*map(ast.dump, instead)]:
            raise Failure(f"{self.pattern!r} is the same afterwards in {self.place}.")
        replace(scope, replaced, instead)
        return tree


def _scope(tree: ast.Module, place: str) -> ast.AST:
    scope: ast.AST = tree
    for name in filter(None, place.partition(":")[2].split(".")):
        named = [
            node
            for node in _beneath(scope)
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name
        ]
        if len(named) != 1:
            raise Failure(f"There is no {place}, or more than one.")
        scope = named[0]
    return scope


def _beneath(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes in a scope, but for those in its own functions and classes."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            yield from _beneath(child)


# Matching

_Captured = dict[str, Any]


def _matches(scope: ast.AST, pattern: Sequence[ast.stmt]) -> Iterator[tuple[list[ast.AST], _Captured]]:
    """The nodes that match, each time with the nodes of the pattern's letters."""
    if len(pattern) == 1 and isinstance(pattern[0], ast.Expr):
        for node in ast.walk(scope):
            captured: _Captured = {}
            if isinstance(node, ast.expr) and _same(pattern[0].value, node, captured):
                yield [node], captured
        return
    for node in ast.walk(scope):
        for _, field in ast.iter_fields(node):
            if isinstance(field, list) and field and isinstance(field[0], ast.stmt):
                for at in range(len(field) - len(pattern) + 1):
                    run, captured = field[at : at + len(pattern)], {}
                    if all(_same(wanted, one, captured) for wanted, one in zip(pattern, run, strict=True)):
                        yield list(run), captured


def _same(pattern: Any, node: Any, captured: _Captured) -> bool:
    match pattern:
        case ast.Expr(ast.Name(name)) if isinstance(node, ast.stmt) and _is_letter(name):
            return _capture(name, node, captured)
        case ast.Name("_") | ast.arg("_"):
            return isinstance(node, ast.expr | ast.arg)
        case ast.Name(name) if _is_letter(name) or name == _HERE:
            return isinstance(node, ast.expr) and _capture(name, node, captured)
        case ast.NamedExpr(ast.Name(name), value) if _is_letter(name) or name == _HERE:
            return _same(value, node, captured) and _capture(name, node, captured)
        case ast.AST():
            return type(pattern) is type(node) and all(
                _same_field(pattern, name, value, node, captured) for name, value in ast.iter_fields(pattern)
            )
        case list():
            return isinstance(node, list) and _same_list(pattern, node, captured)
    return bool(pattern == node)


def _same_field(pattern: ast.AST, name: str, value: Any, node: ast.AST, captured: _Captured) -> bool:
    if name in ("ctx", "kind", "type_comment") or (name == "orelse" and not value):
        return True
    if name == "keywords" and isinstance(pattern, ast.Call) and any(map(_is_any, pattern.args)):
        given = {one.arg: one for one in getattr(node, name)}
        return all(one.arg in given and _same(one, given[one.arg], captured) for one in value)
    return _same(value, getattr(node, name), captured)


def _same_list(pattern: Sequence[Any], nodes: Sequence[Any], captured: _Captured) -> bool:
    if not pattern:
        return not nodes
    if not _is_any(pattern[0]):
        return (
            bool(nodes)
            and _same(pattern[0], nodes[0], captured)
            and _same_list(pattern[1:], nodes[1:], captured)
        )
    for at in range(len(nodes) + 1):
        tried = dict(captured)
        if _same_list(pattern[1:], nodes[at:], tried):
            captured.update(tried)
            return True
    return False


def _capture(name: str, node: ast.AST, captured: _Captured) -> bool:
    known = captured.setdefault(name, node)
    return known is node or _dump(known) == _dump(node)


def _dump(node: ast.AST) -> str:
    """A node, whether it is read or written."""
    return re.sub(r", ctx=\w+\(\)", "", ast.dump(node))


def _is_letter(name: str) -> bool:
    return len(name) == 1 and name.isupper()


def _is_any(pattern: Any) -> bool:
    if isinstance(pattern, ast.Expr):
        return _is_any(pattern.value)
    return isinstance(pattern, ast.Constant) and pattern.value is ...


# Replacing


def _filled(instead: str, captured: Mapping[str, ast.AST], *, as_expression: bool) -> list[ast.AST]:
    """The replacement with what was captured in the place of its letters."""

    class Filling(ast.NodeTransformer):
        def visit_Expr(self, node: ast.Expr) -> ast.AST:
            whole = captured.get(node.value.id) if isinstance(node.value, ast.Name) else None
            return deepcopy(whole) if isinstance(whole, ast.stmt) else self.generic_visit(node)

        def visit_Name(self, node: ast.Name) -> ast.AST:
            filled = deepcopy(captured.get(node.id, node))
            if hasattr(filled, "ctx"):
                filled.ctx = node.ctx
            return filled

    body: list[ast.AST] = [Filling().visit(statement) for statement in ast.parse(instead).body]
    return [one.value if as_expression and isinstance(one, ast.Expr) else one for one in body]


def replace(scope: ast.AST, replaced: Sequence[ast.AST], instead: list[ast.AST]) -> None:
    """Put nodes in the place of a run of others in this scope; nothing in the place of an expression removes it."""
    _Replacing(replaced, instead).visit(scope)
    ast.fix_missing_locations(scope)


class _Replacing(ast.NodeTransformer):
    """Puts nodes in the place of a run of others; a keyword without a value goes too, and an empty body passes."""

    def __init__(self, replaced: Sequence[ast.AST], instead: list[ast.AST]) -> None:
        self._replaced = replaced
        self._instead = instead

    def visit(self, node: ast.AST) -> Any:
        if node is self._replaced[0]:
            if isinstance(node, ast.stmt):
                return self._instead
            return self._instead[0] if self._instead else None
        if any(node is one for one in self._replaced[1:]):
            return None
        if isinstance(node, ast.keyword) and node.value is self._replaced[0] and not self._instead:
            return None
        if isinstance(node, ast.Expr) and node.value is self._replaced[0]:
            return [
                one if isinstance(one, ast.stmt) else ast.Expr(cast("ast.expr", one)) for one in self._instead
            ]
        self.generic_visit(node)
        if isinstance(node, ast.BoolOp) and len(node.values) == 1:
            return node.values[0]
        if "body" in node._fields and getattr(node, "body") == []:  # noqa: B009 - of any kind of node
            setattr(node, "body", [ast.Pass()])  # noqa: B010
        return node


# Loading


def install(mutation: Change) -> None:
    """From now on this process loads the module with the mutation in it."""
    sys.meta_path.insert(0, Finder(mutation.module.__eq__, partial(_Spoilt, mutation)))


def swap_in(mutation: Change) -> None:
    """Spoil the function in this process: in the module that is loaded, or when it is loaded.

    Failure if it is no function.

    Code that holds the function already runs the spoilt code too, so nothing has to be loaded again.
    """
    module = sys.modules.get(mutation.module)
    if module is None or module.__file__ is None:
        install(mutation)
        return
    code = compile(mutation.spoilt(Path(module.__file__).read_text("utf-8")), module.__file__, "exec")
    found: Any = module
    for name in mutation.place.partition(":")[2].split("."):
        found = inspect.getattr_static(found, name, None)
        code = next(one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name)
        if not isinstance(found, type):
            break
    function = _function_in(found)
    if function is None or function.__code__.co_freevars != code.co_freevars:
        raise Failure(f"{mutation.place} is not a function that can be spoilt in place.")
    function.__code__ = code


def _function_in(found: Any) -> FunctionType | None:
    """The function that a property, a class method or a decorator wraps."""
    for name in ("fget", "func", "__func__", "__wrapped__"):
        found = getattr(found, name, found)
    return found if isinstance(found, FunctionType) else None


class Finder(MetaPathFinder):
    """Loads some modules by loaders of its own, made from a module's name and path; all others load as ever."""

    def __init__(
        self, is_changed: Callable[[str], bool], loader: Callable[[str, str], SourceFileLoader]
    ) -> None:
        self._is_changed = is_changed
        self._loader = loader

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        """The specification of a changed module; None for others."""
        if not self._is_changed(fullname):
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None and spec.origin is not None:
                return importlib.util.spec_from_file_location(
                    fullname, spec.origin, loader=self._loader(fullname, spec.origin)
                )
        return None


class _Spoilt(SourceFileLoader):
    def __init__(self, change: Change, fullname: str, path: str) -> None:
        super().__init__(fullname, path)
        self._change = change

    def get_code(self, fullname: str) -> CodeType:
        """Compiled from the changed tree, and not kept on disk."""
        path = self.get_filename(fullname)
        code: CodeType = compile(self._change.spoilt(self.get_data(path).decode()), path, "exec")
        return code
